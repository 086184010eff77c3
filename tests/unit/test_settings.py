"""Where a setting comes from, and errors for invalid ones."""

import time
from pathlib import Path

import pytest

from codesearch.config import PROJECT_FILE, IndexOptions, WalkConfig
from codesearch.errors import ConfigError
from codesearch.settings import (
    SETTINGS,
    Value,
    group_folders,
    imported_options,
    index_options,
    settings_in_force,
    user_file,
    user_groups,
)


@pytest.fixture
def environment(tmp_path, monkeypatch) -> dict[str, str]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return {"XDG_CONFIG_HOME": str(tmp_path / "config")}


@pytest.fixture
def here(tmp_path) -> Path:
    (tmp_path / "project" / "src").mkdir(parents=True)
    return tmp_path / "project" / "src"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_without_files_everything_has_its_default(here, environment, tmp_path):
    found = settings_in_force(here, environment, tmp_path)
    usual = {name: setting.default for name, setting in SETTINGS.items()} | {"model": "", "hits": ""}
    assert found == {name: Value(default, "default") for name, default in usual.items()}


def test_the_environment_overrides_the_project_and_the_project_overrides_the_user(
    here, environment, tmp_path
):
    user = write(
        user_file(environment, tmp_path), 'hits = 3\nmode = "lexical"\ndevice = "cpu"\nmax_file_mb = 2\n'
    )
    text = 'hits = 4\nmode = "semantic"\nexclude = ["*.gen"]\nmax_file_mb = 3\n'
    project = write(here.parent / PROJECT_FILE, text)
    environment |= {"CODESEARCH_HITS": "5", "CODESEARCH_REFRESH": "no", "CODESEARCH_EXCLUDE": "ignored"}
    environment["CODESEARCH_MODEL"] = "/bundle"
    found = settings_in_force(here, environment, tmp_path)
    assert {name: value for name, value in found.items() if value.source != "default"} == {
        "hits": Value(5, "$CODESEARCH_HITS"),
        "refresh": Value(False, "$CODESEARCH_REFRESH"),
        "mode": Value("semantic", str(project)),
        "exclude": Value(("*.gen",), str(project)),
        "device": Value("cpu", str(user)),
        "max_file_mb": Value(2, str(user)),
        "model": Value("/bundle", "$CODESEARCH_MODEL"),
    }


def test_the_nearest_project_file_is_used(here, environment, tmp_path):
    write(here.parent / PROJECT_FILE, "hits = 4\n")
    nearest = write(here / PROJECT_FILE, "all_code = true\n")
    found = settings_in_force(here, environment, tmp_path)
    assert (found["all_code"], found["hits"].source) == (Value(True, str(nearest)), "default")


@pytest.mark.parametrize(
    ("yours", "theirs", "in_force"),
    [
        ("", "max_file_mb = 20", {}),
        ("", "max_file_mb = 3", {"max_file_bytes": 3_000_000}),
        ("max_file_mb = 2", "max_file_mb = 3", {"max_file_bytes": 2_000_000}),
        ("max_file_mb = 50", "max_file_mb = 20", {"max_file_bytes": 20_000_000}),
        ('exclude = ["mine"]', 'exclude = ["theirs"]', {"exclude": ("theirs", "mine")}),
        ('languages = ["go", "c"]', 'languages = ["c", "php"]', {"languages": ("c",)}),
        ('languages = ["go"]', 'languages = ["php"]', {"languages": ("go",)}),
        ("", 'languages = ["php"]', {"languages": ("php",)}),
        ("hidden = true", "hidden = false", {"hidden": False}),
        ("ignore_files = false", "ignore_files = true", {"ignore_files": True}),
        ("", 'content = "docs"', {"content": "docs"}),
    ],
)
def test_a_project_only_narrows_what_the_user_reads(here, environment, tmp_path, yours, theirs, in_force):
    write(user_file(environment, tmp_path), yours)
    write(here / PROJECT_FILE, theirs)
    found = index_options(here).over(WalkConfig())
    assert found == IndexOptions(**in_force).over(WalkConfig())
    shown = settings_in_force(here, environment, tmp_path)
    assert IndexOptions.of({name: shown[name].value for name in shown}).over(WalkConfig()) == found


@pytest.mark.parametrize("value", ["hidden = true", "ignore_files = false", 'exclude = ["a", "!b"]'])
def test_a_project_that_would_widen_what_is_read_is_an_error(here, environment, tmp_path, value):
    write(here / PROJECT_FILE, value)
    line = "cannot be .* in a project, which can only narrow what is read: set it in your own config.toml or with an"
    with pytest.raises(ConfigError, match=line):
        index_options(here)
    write(here / PROJECT_FILE, "")
    write(user_file(environment, tmp_path), value)
    assert index_options(here).given


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ({"follow_links": True, "hidden": True, "ignore_files": False}, {}),
        ({"max_file_bytes": 200_000_000}, {}),
        ({"max_file_bytes": 1_234_567}, {"max_file_bytes": 1_234_567}),
        ({"exclude": ["!secret.py", "gen/"]}, {"exclude": ("gen/", "mine")}),
        ({"languages": ["go"], "content": "all"}, {"languages": ("go",), "content": "all"}),
    ],
)
def test_a_portable_file_only_narrows_what_the_user_reads(here, environment, tmp_path, options, kept):
    write(user_file(environment, tmp_path), 'exclude = ["mine"]')
    assert imported_options(here, options) == IndexOptions(**kept)


def test_a_number_of_thousands_of_digits_is_a_one_line_error(here, environment, tmp_path):
    path = write(here / PROJECT_FILE, f"hits = {'9' * 5_000}\n")
    with pytest.raises(ConfigError, match=f"^{path}: not valid TOML .*: correct the line$"):
        settings_in_force(here, environment, tmp_path)


def test_a_settings_file_in_a_relative_folder_is_not_that_of_the_user(tmp_path):
    assert user_file({"XDG_CONFIG_HOME": "config"}, tmp_path) == tmp_path / ".config/codesearch/config.toml"


def test_a_file_that_changed_a_moment_ago_is_read_again(here, environment, monkeypatch):
    now = time.time_ns()
    monkeypatch.setattr("codesearch.settings.stamp_of", lambda path: (16, now, now, 1, 0o100644))
    for most in (1, 2):  # Both have the same stamp.
        write(here / PROJECT_FILE, f"max_file_mb = {most}\n")
        assert index_options(here) == IndexOptions(max_file_bytes=most * 1_000_000)


def test_index_settings_come_from_the_user_and_from_the_root(here, environment, tmp_path):
    write(user_file(environment, tmp_path), "hidden = true\nmax_file_mb = 2\nhits = 3\n")
    write(here.parent / PROJECT_FILE, "follow_links = true\n")
    write(here / PROJECT_FILE, 'hidden = false\nlanguages = ["py"]\n')
    assert index_options(here) == IndexOptions(hidden=False, languages=("py",), max_file_bytes=2_000_000)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hts = 3", "unknown setting 'hts': did you mean 'hits'?"),
        ("zzz = 3", "unknown setting 'zzz': see `codesearch config`"),
        ("hits = 'few'", "'hits' must be a whole number, not 'few'"),
        ("hits = true", "'hits' must be a whole number, not True"),
        ("refresh = 1", "'refresh' must be true or false, not 1"),
        ("exclude = '*.c'", "'exclude' must be a list of strings, not '*.c'"),
        ("exclude = [1]", "'exclude' must be a list of strings, not [1]"),
        ("model = 'here'", "'model' cannot be set by a project: set it in your own config.toml"),
        ("hits = 0", "'hits' must be from 1 to 1,000,000, not 0"),
        ("max_file_mb = 0", "'max_file_mb' must be from 1 to 1,000, not 0"),
        (f"max_file_mb = {10**21}", f"'max_file_mb' must be from 1 to 1,000, not {10**21}"),
        (f"hits = {10**21}", f"'hits' must be from 1 to 1,000,000, not {10**21}"),
        ("min_confidence = true", "'min_confidence' must be a number, not True"),
        ("min_confidence = 'x'", "'min_confidence' must be a number, not 'x'"),
        ("min_confidence = 30", "'min_confidence' must be from 0 to 1, not 30.0"),
        ("min_confidence = nan", "'min_confidence' must be from 0 to 1, not nan"),
        ("mode = 'fuzzy'", "'mode' must be one of hybrid, lexical, semantic, not 'fuzzy'"),
        ("content = 'text'", "'content' must be one of code, docs, config, all, not 'text'"),
        ("hits = = 1", "not valid TOML (Invalid value (at line 1, column 8)): correct the line"),
    ],
)
def test_an_invalid_file_is_a_one_line_error_with_its_cure(here, environment, tmp_path, text, said):
    path = write(here / PROJECT_FILE, text)
    with pytest.raises(ConfigError) as caught:
        settings_in_force(here, environment, tmp_path)
    assert str(caught.value) == f"{path}: {said}"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("CODESEARCH_HITS", "few", "$CODESEARCH_HITS must be a whole number, not 'few'"),
        ("CODESEARCH_REFRESH", "maybe", "$CODESEARCH_REFRESH must be true or false, not 'maybe'"),
        ("CODESEARCH_HITS", "0", "$CODESEARCH_HITS must be from 1 to 1,000,000, not 0"),
        ("CODESEARCH_DEVICE", "tpu", "$CODESEARCH_DEVICE must be one of auto, cpu, cuda, not 'tpu'"),
        ("CODESEARCH_MIN_CONFIDENCE", "x", "$CODESEARCH_MIN_CONFIDENCE must be a number, not 'x'"),
    ],
)
def test_an_invalid_variable_is_a_one_line_error(here, environment, tmp_path, name, text, said):
    with pytest.raises(ConfigError) as caught:
        settings_in_force(here, {**environment, name: text}, tmp_path)
    assert str(caught.value) == said
    assert settings_in_force(here, {**environment, name: ""}, tmp_path)["hits"].source == "default"


def test_a_group_has_folders_with_the_home_in_place_of_its_sign(environment, tmp_path):
    path = write(user_file(environment, tmp_path), '[groups]\nbackend = ["~/api", "/src/lib"]\nall = ["~"]\n')
    assert user_groups(environment, tmp_path) == {
        "backend": (tmp_path / "api", Path("/src/lib")),
        "all": (tmp_path,),
    }
    assert group_folders("all", environment, tmp_path) == (tmp_path,)
    found = settings_in_force(tmp_path, environment, tmp_path)["groups"]
    assert found == Value({"backend": ("~/api", "/src/lib"), "all": ("~",)}, str(path))


def test_an_unknown_group_is_an_error_with_the_known_names_and_the_file(environment, tmp_path):
    path = user_file(environment, tmp_path)
    cure = f'write it below [groups] in {path}, as NAME = ["~/src/api", "~/src/lib"]'
    with pytest.raises(ConfigError) as caught:
        group_folders("x", environment, tmp_path)
    assert str(caught.value) == f"no group 'x': {cure}"
    write(path, '[groups]\na = ["/a"]\nb = ["/b"]\n')
    with pytest.raises(ConfigError) as caught:
        group_folders("x", environment, tmp_path)
    assert str(caught.value) == f"no group 'x' (known: a, b): {cure}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("groups = 3", "'groups' must be a table, not 3: begin it with [groups]"),
        ("groups.a = '/a'", "group 'a' must be a list of folders, not '/a'"),
        ("groups.a = []", "group 'a' must be a list of folders, not []"),
        ("groups.a = [1]", "group 'a' must be a list of folders, not [1]"),
        ("groups.a = ['/a', 'src/b']", "group 'a': 'src/b' is relative: begin it with ~ or /"),
    ],
)
def test_an_invalid_group_is_a_one_line_error_with_its_cure(environment, tmp_path, text, said):
    path = write(user_file(environment, tmp_path), text)
    with pytest.raises(ConfigError) as caught:
        user_groups(environment, tmp_path)
    assert str(caught.value) == f"{path}: {said}"


def test_a_project_has_no_groups(here, environment, tmp_path):
    path = write(here / PROJECT_FILE, 'groups.a = ["/a"]')
    with pytest.raises(ConfigError) as caught:
        settings_in_force(here, environment, tmp_path)
    assert str(caught.value) == f"{path}: 'groups' cannot be set by a project: set it in your own config.toml"


def test_a_user_can_set_the_model(here, environment, tmp_path):
    path = write(user_file(environment, tmp_path), 'model = "~/bundle"\nmin_confidence = 1\n')
    found = settings_in_force(here, environment, tmp_path)
    assert found["model"] == Value("~/bundle", str(path))
    assert found["min_confidence"] == Value(1.0, str(path))
