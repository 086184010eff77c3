import json
import zipfile

import pytest

from tests.git import git, repository
from training.corpus import fetch
from training.corpus.fetch import AptLists, fetch_all, pins_of, read_marker
from training.corpus.recipe import (
    DEFAULT_RECIPE,
    Pin,
    SourcePackage,
    lock_of,
    read_lock,
    read_recipe,
    write_lock,
)
from training.files import TrainingError

ONE = SourcePackage("python", "pypi", "one", "a/one", "MIT")
TWO = SourcePackage("python", "pypi", "two", "a/two", "MIT")


class Archive:
    """Replace the clients: `pip download` writes a wheel of the newest or the pinned version."""

    def __init__(self, versions, content=b"x = 1\n"):
        self.versions = versions
        self.content = content
        self.calls = []

    def __call__(self, command, folder):
        self.calls.append(command)
        name, _, version = next(word for word in command if word.split("==")[0] in self.versions).partition(
            "=="
        )
        offered = self.versions[name]
        if not offered or (version and version not in offered):
            raise TrainingError(f"no version {version}")
        with zipfile.ZipFile(folder / f"{name}-{version or offered[-1]}-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{name}/a.py", self.content)
        return ""


@pytest.fixture
def archive(monkeypatch):
    client = Archive({"one": ["1.0", "1.1"], "two": ["2.0"]})
    monkeypatch.setattr(fetch, "run_client", client)
    return client


def test_packages_are_unpacked_counted_and_not_fetched_twice(tmp_path, archive):
    fetched, missing = fetch_all([ONE, TWO], tmp_path, AptLists(tmp_path), pins={})
    assert (tmp_path / "packages/python/one/one/a.py").read_bytes() == b"x = 1\n"
    assert missing == []
    assert (fetched["python/one"].version, fetched["python/two"].version) == ("1.1", "2.0")
    assert (fetched["python/one"].files, fetched["python/one"].bytes) == (1, 6)
    calls = len(archive.calls)
    assert fetch_all([ONE, TWO], tmp_path, AptLists(tmp_path), pins={})[0] == fetched
    assert len(archive.calls) == calls


def test_a_partly_fetched_package_is_fetched_again(tmp_path, archive):
    folder = tmp_path / ONE.folder
    folder.mkdir(parents=True)
    (folder / "half.py").write_text("x =")
    fetch_all([ONE], tmp_path, AptLists(tmp_path), pins={})
    assert not (folder / "half.py").exists()
    assert read_marker(folder).version == "1.1"


def test_the_pinned_version_is_fetched(tmp_path, archive):
    fetched, _ = fetch_all([ONE], tmp_path / "a", AptLists(tmp_path), pins={"python/one": Pin("1.0")})
    assert fetched["python/one"].version == "1.0"
    again, missing = fetch_all([ONE], tmp_path / "b", AptLists(tmp_path), pins=pins_of(fetched))
    assert (again, missing) == (fetched, [])


def test_if_the_pinned_version_is_gone_the_newest_is_fetched_with_a_warning(tmp_path, archive, caplog):
    fetched, _ = fetch_all([ONE], tmp_path, AptLists(tmp_path), pins={"python/one": Pin("0.9", 5)})
    assert fetched["python/one"].version == "1.1"
    assert caplog.messages == ["python/one: version 0.9 is gone: took 1.1"]


def test_a_download_whose_size_differs_from_the_pin_is_refused(tmp_path, archive, caplog):
    _, missing = fetch_all([ONE, TWO], tmp_path, AptLists(tmp_path), pins={"python/one": Pin("1.0", 5)})
    assert missing == ["python/one"]
    assert "bytes, expected 5: fetch again" in caplog.text
    assert not (tmp_path / ONE.folder / "package.json").exists()


def test_a_package_that_is_gone_or_has_no_source_is_a_warning(tmp_path, archive, caplog):
    ruby = SourcePackage("ruby", "pypi", "two", "a/two", "MIT")
    gone = SourcePackage("python", "npm", "@a/gone", "a/gone", "MIT")
    archive.versions["@a/gone@latest"] = []
    fetched, missing = fetch_all([ruby, gone, ONE], tmp_path, AptLists(tmp_path), pins={})
    assert (list(fetched), missing) == (["python/one"], ["python/@a/gone", "ruby/two"])
    assert "ruby/two: no ruby file in it: remove it from the recipe" in caplog.text


def test_debian_packages_are_fetched_by_version_and_sources_as_tarballs(tmp_path, monkeypatch):
    calls = []

    def run(command, folder):
        calls.append(" ".join(word for word in command if "=" not in word or not word[0].isupper()))
        listed = " ant | 1.10-1 | archive Sources\n ant | 1.9-1 | archive Packages"
        return listed if "madison" in command else ""

    monkeypatch.setattr(fetch, "run_client", run)
    sources = tmp_path / "debian.sources"
    sources.write_text("Types: deb\nURIs: file:/x\n")
    lists = AptLists(tmp_path / "lists", sources)
    assert (lists.version("ant", source=True), lists.version("ant", source=False)) == ("1.10-1", "1.9-1")
    assert lists.command("ant", "1.9-1", source=False)[-2:] == ["download", "ant=1.9-1"]
    assert lists.command("ant", "", source=True)[-4:] == ["source", "--download-only", "--tar-only", "ant"]
    assert "Types: deb deb-src\n" in (tmp_path / "lists/parts/archive.sources").read_text()
    assert sources.read_text() == "Types: deb\nURIs: file:/x\n"
    assert [call.split()[0] for call in calls] == ["apt-get", "apt-cache", "apt-cache"]


def test_a_missing_apt_source_file_and_a_missing_or_failing_client_are_errors(tmp_path):
    with pytest.raises(TrainingError, match="nowhere is not there: give --apt-sources"):
        AptLists(tmp_path, tmp_path / "nowhere").command("ant", "", source=False)
    with pytest.raises(TrainingError, match="is it installed"):
        fetch.run_client(["no-such-client"], tmp_path)
    with pytest.raises(TrainingError, match="sh: the reason"):
        fetch.run_client(["sh", "-c", "echo first >&2; echo the reason >&2; exit 3"], tmp_path)


def test_a_lock_is_read_as_written_and_an_invalid_one_is_refused(tmp_path):
    recipe = tmp_path / "r.toml"
    assert read_lock(recipe) == {}
    write_lock(recipe, {"go/b": Pin("2", 5), "go/a": Pin("1", 3)})
    assert read_lock(recipe) == {"go/a": Pin("1", 3), "go/b": Pin("2", 5)}
    assert json.loads(lock_of(recipe).read_text())["go/a"] == {"version": "1", "bytes": 3}
    lock_of(recipe).write_text('{"go/a": 3}')
    with pytest.raises(TrainingError, match=r"r\.lock\.json: damaged .*--update"):
        read_lock(recipe)


def test_every_package_of_the_recipe_is_pinned():
    pins = read_lock(DEFAULT_RECIPE)
    assert {package.key for package in read_recipe()} == pins.keys()
    assert all(pin.version and pin.bytes > 0 for pin in pins.values())


def test_a_repository_on_github_is_fetched_at_a_commit(tmp_path, monkeypatch):
    origin = repository(tmp_path / "hub" / "a" / "app", {"a.py": "x = 1\n"})
    (origin / "a.py").write_text("x = 2\n")
    git(origin, "commit", "-qam", "second")
    git(origin, "config", "uploadpack.allowAnySHA1InWant", "true")
    monkeypatch.setattr(fetch, "GITHUB", f"file://{tmp_path}/hub/")
    package = SourcePackage("python", "github", "a/app", "a/app")
    newest = fetch_all([package], tmp_path / "new", AptLists(tmp_path), pins={})[0]["python/a/app"]
    assert newest.version == git(origin, "rev-parse", "HEAD")
    assert (tmp_path / "new" / package.folder / "a.py").read_text() == "x = 2\n"
    pins = {"python/a/app": Pin(git(origin, "rev-parse", "HEAD~"))}
    fetch_all([package], tmp_path / "old", AptLists(tmp_path), pins=pins)
    assert (tmp_path / "old" / package.folder / "a.py").read_text() == "x = 1\n"
    assert package.url("abc") == "pkg:github/a/app@abc"
