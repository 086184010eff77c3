"""The files of a walk, their order, and reasons for skipped files."""

import os
from pathlib import Path

import pytest

from codesearch.config import ParseConfig, WalkConfig
from codesearch.errors import ConfigError
from codesearch.parsing import walker
from codesearch.parsing.walker import WalkSummary, refuse_content, walk
from tests.conftest import write_tree

PY = "x = 1\n"


def walked(root: Path, report: WalkSummary | None = None, **options: object) -> list[str]:
    return [file.path for file in walk(root, WalkConfig(**options), report or WalkSummary())]


def test_files_of_a_folder_are_sorted_and_come_before_its_subfolders(tmp_path):
    write_tree(tmp_path, dict.fromkeys(("z.py", "b/x.go", "a.py", "B/y.rb", "b/a/q.js"), PY))
    assert walked(tmp_path) == ["a.py", "z.py", "B/y.rb", "b/x.go", "b/a/q.js"]


def test_order_does_not_depend_on_how_the_system_lists_a_folder(tmp_path, monkeypatch):
    write_tree(tmp_path, dict.fromkeys(("c.py", "a.py", "b.py", "d/a.py"), PY))
    expected = walked(tmp_path)
    real = os.scandir

    class Reversed:
        def __init__(self, path):
            self.scan = real(path)

        def __enter__(self):
            return iter(sorted(self.scan, key=lambda entry: entry.name, reverse=True))

        def __exit__(self, *_):
            self.close()

        def close(self):
            self.scan.close()

    monkeypatch.setattr(walker.os, "scandir", Reversed)
    assert walked(tmp_path) == expected == ["a.py", "b.py", "c.py", "d/a.py"]


def test_a_file_has_language_size_and_stamp(tmp_path):
    write_tree(tmp_path, {"a.PY": PY})
    os.utime(tmp_path / "a.PY", ns=(5, 1_700_000_000_123_456_789))
    (file,) = walk(tmp_path, WalkConfig(), WalkSummary())
    assert (file.path, file.language, file.size) == ("a.PY", "python", 6)
    seen = (tmp_path / "a.PY").stat()
    assert file.stamp == (6, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino, seen.st_mode)


def test_files_of_unknown_languages_are_counted_by_their_extensions(tmp_path):
    others = ("notes.abc", "sub/more.ABC", "data.xml", "core", "logo.png", "v1.x/LICENSE", "tail.", "a. b c")
    write_tree(tmp_path, {"a.py": PY, **dict.fromkeys(others, "")})
    report = WalkSummary()
    assert walked(tmp_path, report) == ["a.py"]
    assert (report.skipped, report.warnings) == (
        {"other content": {".abc": 2, ".xml": 1, "": 3}, "never": {"": 1}, "binary": {".png": 1}},
        [],
    )


def test_skipped_files_and_folders_are_counted_by_reason(tmp_path, monkeypatch):
    shown = ("d.py", "e_pb2.py", "f.pyi", "out/g.py", "lib/out/h.py", "i.kt", "j.kts")
    skipped = ("node_modules/m/k.js", "lib/node_modules/l.js", "__pycache__/m.py", ".git/hook.py")
    write_tree(tmp_path, dict.fromkeys((*shown, *skipped, ".env", ".b.py", ".tool/c.py"), PY))
    write_tree(tmp_path, {".gitignore": "out/\n*_pb2.py\n*.pyi\n"})
    (tmp_path / "link.py").symlink_to("d.py")
    (tmp_path / "linked").symlink_to("lib")
    monkeypatch.setattr(walker, "is_installed", lambda spec: spec.name != "kotlin")
    report = WalkSummary()
    assert walked(tmp_path, report) == ["d.py", "i.kt", "j.kts"]
    assert report.skipped == {
        "hidden": {"": 2, ".py": 1},
        "ignored": {".py": 1, ".pyi": 1},
        "link": {".py": 1, "": 1},
    }
    assert report.missing_grammars == {"kotlin": 2}
    assert report.folders == {
        "hidden": {".tool": 1},
        "ignored": {"out": 2},
        "always": {"node_modules": 2, "__pycache__": 1},
    }


def test_files_of_languages_that_are_not_asked_for_are_counted(tmp_path):
    write_tree(tmp_path, dict.fromkeys(("a.py", "b.js", "c.cjs", "d.go", "e.txt"), PY))
    report = WalkSummary()
    assert walked(tmp_path, report, languages=("python", "go")) == ["a.py", "d.go"]
    assert report.skipped == {"other language": {".js": 1, ".cjs": 1}, "other content": {".txt": 1}}


@pytest.mark.parametrize(
    ("content", "expected", "left_out"),
    [
        ("code", ["a.py"], {".md": 1, ".toml": 1, "": 1}),
        ("docs", ["README", "a.py", "b.md"], {".toml": 1}),
        ("config", ["a.py", "c.toml"], {".md": 1, "": 1}),
        ("all", ["README", "a.py", "b.md", "c.toml"], {}),
    ],
)
def test_content_selects_documentation_and_configuration_and_the_rest_is_counted(
    tmp_path, content, expected, left_out
):
    write_tree(tmp_path, dict.fromkeys(("a.py", "b.md", "c.toml", "README", "d.js"), PY))
    report = WalkSummary()
    assert walked(tmp_path, report, content=content, languages=("python",)) == expected
    assert report.skipped.get("other content", {}) == left_out
    assert report.skipped["other language"] == {".js": 1}


def test_ignore_rules_and_hidden_names_apply_to_documentation_and_configuration(tmp_path):
    names = ("a.md", "b.md", "out/c.md", ".d.md", ".env.example", ".env", "node_modules/e.json")
    write_tree(tmp_path, dict.fromkeys(names, "text\n") | {".gitignore": "b.md\nout/\n"})
    assert walked(tmp_path, content="all") == ["a.md"]
    assert walked(tmp_path, content="all", hidden=True) == [".d.md", ".env.example", ".gitignore", "a.md"]


def test_an_executable_script_with_the_name_of_a_text_is_code(tmp_path):
    write_tree(tmp_path, {"install": "#!/bin/sh\n", "README": "#!/bin/sh\n"})
    (tmp_path / "install").chmod(0o755)
    found = {file.path: file.language for file in walk(tmp_path, WalkConfig(content="docs"), WalkSummary())}
    assert found == {"README": "text", "install": "bash"}


@pytest.mark.parametrize("rules", [".gitignore", ".codesearchignore", "--exclude"])
def test_a_rule_of_the_user_includes_a_folder_that_is_always_skipped(tmp_path, rules):
    write_tree(tmp_path, dict.fromkeys(("node_modules/m/i.js", "__pycache__/c.py", "a.js"), PY))
    options = {}
    if rules == "--exclude":
        write_tree(tmp_path, {".gitignore": "node_modules/\n"})  # The option overrides the file.
        options = {"exclude": ("!node_modules/",)}
    else:
        write_tree(tmp_path, {rules: "!node_modules/\n"})
    report = WalkSummary()
    assert walked(tmp_path, report, **options) == ["a.js", "node_modules/m/i.js"]
    assert report.folders == {"always": {"__pycache__": 1}}


def test_hidden_files_are_skipped_by_default(tmp_path):
    write_tree(tmp_path, dict.fromkeys((".a.py", ".tool/b.py", "c.py", ".git/hook.py"), PY))
    assert walked(tmp_path) == ["c.py"]
    assert walked(tmp_path, hidden=True) == [".a.py", "c.py", ".tool/b.py"]


def test_folders_of_installed_packages_are_not_entered_unless_rules_are_off(tmp_path):
    write_tree(tmp_path, dict.fromkeys(("node_modules/m/i.js", "__pycache__/c.py", "a.js"), PY))
    assert walked(tmp_path) == ["a.js"]
    assert walked(tmp_path, ignore_files=False) == ["a.js", "__pycache__/c.py", "node_modules/m/i.js"]


def test_pruned_folders_are_never_listed(tmp_path, monkeypatch):
    write_tree(tmp_path, {"node_modules/m/i.js": PY, "out/a.py": PY, ".gitignore": "out/\n", "src/a.py": PY})
    listed = []
    real = os.scandir
    monkeypatch.setattr(walker.os, "scandir", lambda path: listed.append(str(path)) or real(path))
    assert walked(tmp_path) == ["src/a.py"]
    assert {os.path.relpath(path, tmp_path) for path in listed} == {".", "src"}


def test_a_file_over_the_limit_is_skipped_with_one_warning(tmp_path):
    write_tree(tmp_path, {"small.py": PY})
    with open(tmp_path / "big.py", "wb") as file:
        file.truncate(50_000_000)
    report = WalkSummary()
    assert walked(tmp_path, report) == ["small.py"]
    assert report.skipped == {"too large": {".py": 1}}
    assert report.warnings == [
        "big.py: 50 MB, over the limit of 8 MB: left out (raise --max-file-mb to read it)"
    ]
    assert walked(tmp_path, max_file_bytes=50_000_000) == ["big.py", "small.py"]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (b"def f():\n    pass\n", None),
        (b"abc\x00def", "binary"),
        (b"#" * 9_000 + b"\x00", None),
        (b"x" * 12_000, "minified"),
        (b"x" * 9_999, None),
        (b"".join(b"%999d\n" % 1 for _ in range(20)), None),
        (b"".join(b"%1001d\n" % 1 for _ in range(20)), None),
        (b"".join(b"%1100d\n" % 1 for _ in range(20)), "minified"),
        (b"", None),
    ],
    ids="code zero late line short 999 end 1100 empty".split(),
)
def test_content_that_is_not_source_code_is_refused_with_a_reason(source, reason):
    assert refuse_content(source, "python", ParseConfig()) == reason


MINIFIED = b"/*! player 1.2 */\n" + b"\n".join(b"function a(e,t){return e.b(t)};" * 15 for _ in range(25))


@pytest.mark.parametrize(
    ("language", "source", "reason"),
    [
        ("javascript", MINIFIED, "minified"),
        ("python", MINIFIED, None),
        ("javascript", MINIFIED[:9_000], None),
        ("javascript", MINIFIED.replace(b";", b";\n"), None),
        ("javascript", MINIFIED.replace(b",", b" ,  ").replace(b"{", b" {  "), None),
        ("typescript", b"\n".join(b'expect("' + b"eyJhbGciOi" * 40 + b'");' for _ in range(30)), None),
    ],
    ids=["long lines", "another language", "small", "short lines", "white space", "data"],
)
def test_a_script_with_short_names_in_long_lines_without_white_space_is_minified(language, source, reason):
    assert refuse_content(source, language, ParseConfig()) == reason


@pytest.mark.parametrize(
    ("language", "source", "reason"),
    [
        ("typescript", b'<?xml version="1.0"?>\n<!DOCTYPE TS>\n<TS version="2.1">\n</TS>\n', "data"),
        ("typescript", b'\n<!DOCTYPE TS><TS version="2.0">\n</TS>\n', "data"),
        ("typescript", b"<Stack>items.push(item);\n", None),
        ("html", b"<!DOCTYPE html>\n<p>items</p>\n", None),
    ],
)
def test_a_translation_of_qt_is_not_typescript(language, source, reason):
    assert refuse_content(source, language, ParseConfig()) == reason


DATA = b'ICON = "' + b"iVBORw0KGgo" * 1_500 + b'"\n'
CODE = b"\n\ndef decode():\n    import base64\n\n    return base64.b64decode(ICON)\n"


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (DATA + CODE, None),
        (b"T = [" + b"0x1f, " * 5_000 + b"]\n" + CODE, None),
        (DATA, "minified"),  # It has no other lines.
        (b"x=1;f(x);" * 2_000 + CODE, "minified"),  # The long line is code.
        (DATA * 30 + CODE, "minified"),  # It is not short.
    ],
)
def test_a_short_file_with_a_long_line_of_data_is_not_minified(source, reason):
    assert refuse_content(source, "python", ParseConfig()) == reason


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("./src/", "relative to the root"),
        ("../other/", "relative to the root"),
        ("{root}/src/", "relative to the root"),
        ("!.github/", "need --hidden"),
        ("!out/keep.py", "the folder around it is ignored (add --exclude '!/out/')"),
        ("!out/", ""),
        ("!sub/a.py", ""),
        ("gone/", ""),
    ],
)
def test_an_exclude_pattern_without_effect_is_a_warning(tmp_path, pattern, reason):
    write_tree(tmp_path, dict.fromkeys(("src/a.py", "out/keep.py", ".github/b.py", "sub/a.py"), PY))
    write_tree(tmp_path, {".gitignore": "out/\n"})
    report, pattern = WalkSummary(), pattern.format(root=tmp_path)
    walked(tmp_path, report, exclude=(pattern,))
    said = [line for line in report.warnings if line.startswith(f"--exclude {pattern!r} has no effect: ")]
    assert (len(said), reason in "".join(said)) == (bool(reason), True)


def test_scripts_without_a_suffix_are_known_by_their_shebang(tmp_path):
    scripts = {
        "tool": "#!/usr/bin/env python3\n",
        "run": "#!/usr/bin/ruby -w\n",
        "serve": "#!/usr/bin/env node\n",
        "plain": "#!/usr/bin/env python3\n",
        "data": "python\n",
        "READ.ME": "#!/usr/bin/env python3\n",
    }
    write_tree(tmp_path, scripts)
    for name in ("tool", "run", "serve", "data", "READ.ME"):
        (tmp_path / name).chmod(0o755)
    found = {file.path: file.language for file in walk(tmp_path, WalkConfig(), WalkSummary())}
    assert found == {"run": "ruby", "serve": "javascript", "tool": "python"}


def test_a_file_name_that_is_not_utf8_costs_a_warning(tmp_path):
    write_tree(tmp_path, {"a.py": PY})
    with open(os.fsencode(tmp_path) + b"/caf\xe9.py", "wb") as file:
        file.write(b"x")
    report = WalkSummary()
    assert walked(tmp_path, report) == ["a.py"]
    assert report.warnings == ["'caf\\udce9.py': file name is not UTF-8: left out"]


def test_an_unreadable_folder_costs_a_warning(tmp_path, monkeypatch):
    write_tree(tmp_path, {"a.py": PY, "locked/b.py": PY, "z/c.py": PY})
    if os.geteuid():
        (tmp_path / "locked").chmod(0)
    else:  # Root can read every folder.
        real = os.scandir

        def refuse(path):
            if str(path).rstrip("/").endswith("locked"):
                raise PermissionError(13, "Permission denied", str(path))
            return real(path)

        monkeypatch.setattr(walker.os, "scandir", refuse)
    report = WalkSummary()
    assert walked(tmp_path, report) == ["a.py", "z/c.py"]
    assert report.warnings == ["locked/: Permission denied: folder left out"]


def test_a_root_that_is_not_a_folder_is_an_error(tmp_path):
    write_tree(tmp_path, {"a.py": PY})
    for root in (tmp_path / "a.py", tmp_path / "absent"):
        with pytest.raises(ConfigError, match=str(root)):
            walked(root)


def test_followed_links_enter_each_real_folder_once(tmp_path):
    write_tree(tmp_path / "tree", {"real/a.py": PY})
    write_tree(tmp_path / "outside", {"c.py": PY})
    (tmp_path / "tree" / "zlink").symlink_to("real")
    (tmp_path / "tree" / "real" / "loop").symlink_to("..")
    (tmp_path / "tree" / "away").symlink_to("../outside")
    assert walked(tmp_path / "tree", follow_links=True) == ["away/c.py", "real/a.py"]


def test_broken_links_are_not_an_error(tmp_path):
    write_tree(tmp_path, {"a.py": PY})
    (tmp_path / "gone.py").symlink_to("absent.py")
    (tmp_path / "self.py").symlink_to("self.py")
    report = WalkSummary()
    assert walked(tmp_path, report, follow_links=True) == ["a.py"]
    assert report.warnings == ["self.py: Too many levels of symbolic links: left out"]
    assert walked(tmp_path) == ["a.py"]


@pytest.mark.parametrize(
    ("files", "options", "named"),
    [
        ({".gitignore": "/*\n!/debian/\n", "a.py": PY}, {}, "the rules of .gitignore"),
        ({".codesearchignore": "*.py\n", "b/a.py": PY}, {}, "the rules of .codesearchignore"),
        ({"b/.gitignore": "*.py\n", "b/a.py": PY}, {}, "the rules of b/.gitignore"),
        ({".git/info/exclude": "*.py\n", "a.py": PY}, {}, "the rules of {root}/.git/info/exclude"),
        ({"node_modules/a.py": PY}, {}, "--exclude or usual names"),
        ({"a.py": PY}, {"exclude": ("*",)}, "--exclude or usual names"),
    ],
)
def test_rules_that_leave_nothing_are_named(tmp_path, files, options, named):
    assert walked(write_tree(tmp_path, files), report := WalkSummary(), **options) == []
    rules = named.format(root=tmp_path)
    cure = "give --no-ignore to index it, or other patterns to --exclude"
    assert report.warnings == [f"{rules} leave out everything that could be indexed: {cure}"]


def test_an_empty_folder_has_no_rules_to_blame(tmp_path):
    assert walked(tmp_path, report := WalkSummary(), ignore_files=False) == report.warnings == []


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such limit")
def test_a_folder_whose_path_is_too_long_is_left_out_if_links_are_followed(tmp_path):
    write_tree(tmp_path, {"a.py": PY})
    here, depth = os.getcwd(), 60
    try:
        os.chdir(tmp_path)
        for _ in range(depth):
            os.mkdir("e" * 80)
            os.chdir("e" * 80)
    finally:
        os.chdir(here)
    assert walked(tmp_path, report := WalkSummary(), follow_links=True) == ["a.py"]
    assert sum(report.folders["unreadable"].values()) == 1
    assert report.warnings == [f"{'e' * 80}: File name too long: folder left out"]
