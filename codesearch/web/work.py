"""Run searches in a few threads. A request waits for a free one, and is refused if too many wait."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import TypeVar

import anyio
from starlette.requests import Request

from codesearch.web.security import Refusal

T = TypeVar("T")
_RETRY = {"Retry-After": "1"}


class Gone(Exception):
    """The client disconnected before its work began."""


class Work:
    """Limits how many requests run and wait. A late thread cannot be stopped and keeps its place until it ends."""

    def __init__(self, threads: int = 4, waiting: int = 32, deadline_s: float = 10.0) -> None:
        self._limiter = anyio.CapacityLimiter(threads)
        self._waiting, self._deadline_s = waiting, deadline_s

    async def run(self, request: Request, work: Callable[[], T]) -> T:
        """Return what `work` returns, called in a thread."""
        if self._limiter.statistics().tasks_waiting >= self._waiting:
            raise Refusal(503, "too many requests wait", "try again in a second", _RETRY)
        place = object()
        try:
            with anyio.fail_after(self._deadline_s):
                await self._limiter.acquire_on_behalf_of(place)
                try:
                    if await request.is_disconnected():
                        raise Gone
                except BaseException:
                    self._limiter.release_on_behalf_of(place)
                    raise
                return await self._start(work, place)
        except TimeoutError:
            raise Refusal(
                504, f"no answer within {self._deadline_s:g} s", "try again, or use filters", _RETRY
            ) from None

    def _start(self, work: Callable[[], T], place: object) -> asyncio.Future[T]:
        """Call `work` in a thread.

        `anyio.to_thread` would free the place of a late thread at once, and its threads delay the end of the process.
        """
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()

        def finish(outcome: Future[T]) -> None:
            # Free the place before the answer: the loop may end right after it.
            self._limiter.release_on_behalf_of(place)
            if done.done():
                return  # The request timed out.
            if error := outcome.exception():
                done.set_exception(error)
            else:
                done.set_result(outcome.result())

        def call() -> None:
            outcome: Future[T] = Future()
            try:
                outcome.set_result(work())
            except BaseException as error:  # The request reports it.
                outcome.set_exception(error)
            with suppress(RuntimeError):  # The loop may have been closed meanwhile.
                loop.call_soon_threadsafe(finish, outcome)

        threading.Thread(target=call, daemon=True).start()
        return done
