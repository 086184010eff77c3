"""The client and the service trust only what belongs to their user."""

import os
import socket
import struct
from pathlib import Path

import pytest

from codesearch.errors import ConfigError
from codesearch.service import client
from codesearch.service.client import distrusted, is_own_peer
from codesearch.service.server import Handlers, serve

pytestmark = pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs owners of files")
HANDLERS = Handlers(lambda _: pytest.fail("asked"), lambda: None, lambda _: None, lambda: None)


@pytest.fixture
def served(tmp_path: Path):
    """Yield a home with a socket that accepts connections and answers none."""
    home = tmp_path / "served"
    (home / "service").mkdir(parents=True)
    home.chmod(0o755)
    (home / "service").chmod(0o700)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(home / "service" / "socket"))
        listener.listen()
        yield home


def test_a_home_of_the_same_user_is_trusted(served, tmp_path):
    assert distrusted(str(served)) == ""
    (tmp_path / "link").symlink_to(served)
    assert distrusted(str(tmp_path / "link")) == ""
    assert distrusted(str(tmp_path / "none")) == ""


@pytest.mark.parametrize("part", ["", "service", "service/socket"])
def test_what_belongs_to_another_user_is_not_trusted(served, monkeypatch, part):
    path = served / part
    real_stat, real_lstat = os.stat, os.lstat

    def other(function):
        def seen(name, **options):
            found = function(name, **options)
            if str(name) != str(path):
                return found
            return os.stat_result((*found[:4], os.getuid() + 1, *found[5:]))

        return seen

    monkeypatch.setattr(client.os, "stat", other(real_stat))
    monkeypatch.setattr(client.os, "lstat", other(real_lstat))
    assert distrusted(str(served)) == f"{path} belongs to another user".replace("//", "/")


@pytest.mark.parametrize(("part", "mode"), [("", 0o777), ("service", 0o750), ("service", 0o707)])
def test_what_others_may_change_is_not_trusted(served, part, mode):
    (served / part).chmod(mode)
    assert distrusted(str(served)).startswith("others may ")
    with pytest.raises(ConfigError, match="others may .*: choose another home"):
        serve(served, HANDLERS)


def test_a_linked_folder_is_not_trusted(served, tmp_path):
    os.rename(served / "service", tmp_path / "elsewhere")
    (served / "service").symlink_to(tmp_path / "elsewhere")
    assert distrusted(str(served)) == f"{served / 'service'} is a link"
    with pytest.raises(ConfigError, match="is a link"):
        serve(served, HANDLERS)


def test_the_client_notes_in_one_line_that_it_does_not_ask_the_service(served, command, indexed, home):
    os.rename(served / "service", home / "service")
    (home / "service").chmod(0o755)
    done = command("query", "push", "--root", indexed)
    assert done.returncode == 0 and "push" in done.stdout
    expected = f"note: the service of {home} is not asked: others may enter {home / 'service'}\n"
    assert done.stderr == expected


@pytest.mark.skipif(not hasattr(socket, "SO_PEERCRED"), reason="needs SO_PEERCRED")
def test_a_peer_of_another_user_is_not_trusted():
    class Peer:
        def __init__(self, uid):
            self.uid = uid

        def getsockopt(self, *_):
            return struct.pack("3i", 1, self.uid, 1)

    assert is_own_peer(Peer(os.getuid())) and not is_own_peer(Peer(os.getuid() + 1))
    here, there = socket.socketpair()
    with here, there:
        assert is_own_peer(here)
