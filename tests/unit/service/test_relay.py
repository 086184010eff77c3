"""What the session of an MCP client tells a server that takes the place of a service."""

import os

import pytest

from codesearch.service.relay import _Session

START = b'{"id": 1, "method": "initialize"}'
CALL = b'{"id": 2, "method": "tools/call"}'


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (b'{"id": 1, "result": {}}', [START, CALL]),
        # A client that waited too long for the answer to another protocol goes on with that one.
        (b'{"id": 1, "error": {"code": -32022}}', [CALL]),
    ],
)
def test_the_next_server_gets_the_start_unless_it_was_refused_and_what_is_not_answered(answer, told):
    session = _Session()
    session._keep(START)
    assert session._is_new(answer)
    session._keep(CALL)
    read, write = os.pipe()
    with open(read, "rb") as messages:
        session.resume(write)
        os.close(write)
        assert messages.read().splitlines() == told


ODD = [
    b'{"id": {"a": 1}, "method": "ping"}',
    b'{"id": [[]], "method": "ping"}',
    b'{"id": 1e999, "method": ["ping"]}',
    b'{"id": "\\ud83d", "method": {}}',
    b"[" * 100_000,
    b'{"id": ' + b"9" * 10_000 + b', "method": "ping"}',
    b"\xff\x00",
    b"",
    b"null",
    b"[1]",
]


@pytest.mark.parametrize("line", ODD)
def test_an_odd_message_is_passed_on_in_both_directions(line):
    session = _Session()
    session._keep(line)
    assert session._is_new(line) and session._is_new(line.replace(b"method", b"result"))
