"""Run searches in a few threads. A request waits for a free one, and is refused if too many wait."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from starlette.requests import Request

from codesearch.web.refusal import Refusal

T = TypeVar("T")
_RETRY = {"Retry-After": "1"}


class Gone(Exception):
    """The client disconnected before its work began."""


class Work:
    """Limits how many requests run and wait. A late thread cannot be stopped and keeps its place until it ends."""

    def __init__(self, threads: int = 4, waiting: int = 32, deadline_s: float = 10.0) -> None:
        self._free = asyncio.Semaphore(threads)
        self._waiting, self._most, self._deadline_s = 0, waiting, deadline_s

    async def run(self, request: Request, work: Callable[[], T]) -> T:
        """Return what `work` returns, called in a thread.

        Raises:
            Refusal: too many wait, or it takes too long.
            Gone: the client is gone.
        """
        if self._waiting >= self._most:
            raise Refusal(503, "too many requests wait", "try again in a second", _RETRY)
        try:
            async with asyncio.timeout(self._deadline_s):
                await self._enter(request)
                return await self._in_thread(work)
        except TimeoutError:
            raise Refusal(
                504, f"no answer within {self._deadline_s:g} s", "try again, or use filters", _RETRY
            ) from None

    async def _enter(self, request: Request) -> None:
        """Wait for a free thread."""
        self._waiting += 1
        try:
            await self._free.acquire()
        finally:
            self._waiting -= 1
        try:
            if await request.is_disconnected():
                raise Gone
        except BaseException:
            self._free.release()
            raise

    async def _in_thread(self, work: Callable[[], T]) -> T:
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()

        def finish(value: T | None, error: BaseException | None) -> None:
            self._free.release()
            if done.done():
                return
            if error:
                done.set_exception(error)
            else:
                done.set_result(value)  # type: ignore[arg-type]

        def run() -> None:
            value, error = None, None
            try:
                value = work()
            except BaseException as raised:  # The request reports it.
                error = raised
            with suppress(RuntimeError):  # The loop may have been closed meanwhile.
                loop.call_soon_threadsafe(finish, value, error)

        threading.Thread(target=run, daemon=True).start()  # A daemon does not delay the end of the process.
        return await done
