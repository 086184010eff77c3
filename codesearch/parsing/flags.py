"""The flags of documents that match a query's words but are seldom the answer.

They come from the path of a file (tests, vendored and generated code, build output), its head and its size (generated
code), the attributes of a definition (tests of Rust) and the body of a function (stubs). Build output does not rank
lower, but of several copies another one is shown.

A folder can be a copy of another project although its name does not say so. It is where projects keep copies, such as
`public/plugins`, and its licence file names other holders than that of the root, or it has a script with a minified
copy and a manifest. Packages of a project may have other holders too, so the place of a folder counts.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from itertools import pairwise

from codesearch.parsing.identifiers import subtokens
from codesearch.treefiles import read_regular
from codesearch.types import BUILT, GENERATED, TEST, TEST_WORDS, VENDORED

_PART_ENDS = re.compile(r"[-_./]")
_VENDOR_FOLDERS = frozenset(
    "vendor vendored _vendor node_modules bower_components site-packages dist-packages third_party third-party "
    "thirdparty 3rdparty godeps externals jspm_packages".split()
)
_RELEASE = re.compile(
    r"[a-z@][\w.+-]*?(?:-|[_.@](?!v?\d{4}))v?\d+\.\d+\.\d+"  # `codemirror-5.17.0`, `log4net.2.0.8`, `chi@v5.0.1`
    r"(?:[-+.](?:alpha|beta|dev|final|m|min|pre|rc|release|snapshot|stable)[\w.+-]*)?"
)
"""The name of a folder with the files of one version of a project."""
_BUILD_FOLDERS = frozenset("amd build bundle bundles cjs dist es5 esm esm5 min out target umd".split())
_GENERATED_NAME = re.compile(
    r"""_pb2(?:_grpc)?\.pyi?$ | \.pb\.(?:go|cc|h|validate\.go|gw\.go)$           # of protocol buffers
    | (?:[._]generated|\.gen)\.\w+$ | (?:^|/)zz_generated | \.(?:g|designer|g\.i)\.cs$
    | (?:^|/)(?:parsetab|lextab|yacctab)\.py$                                   # of PLY
    | (?:\.(?:min|bundle|chunk|umd|iife|pkgd)|[.-][0-9a-f]{12,})\.[cm]?js$      # of bundlers""",
    re.IGNORECASE | re.VERBOSE,
)
_BESIDE = re.compile("(?:^|/)(?:migrations?|migrate|examples?)/", re.IGNORECASE)
_HEAD_BYTES = 2_048
_STUB_CHARS = 600
"""Longer bodies count as code without a check: the check takes time, and such long stubs are rare."""
_HEAD = re.compile(
    rb"""\A(?:\xef\xbb\xbf)?(?:\s+ | <\?\w* | (?:package\s+[\w.]+|['"]use\ strict['"]);? | (?://|\#|--|;|%)[^\n]*
    | /\*.*?(?:\*/|\Z) | <!--.*?(?:-->|\Z) | \{-.*?(?:-\}|\Z) | \(\*.*?(?:\*\)|\Z))*""",
    re.DOTALL | re.VERBOSE,
)
"""What stands before the first code in any language: comments, and the name of the package."""
_GENERATED = re.compile(
    rb"""^[^\n]*(?:\b(?:code\ generated|generated\ code)\b[^\n]*\bdo\ not\ edit\b|@generated\b)   # a mark
    | ^[^\w\n]*(?:(?:warning|note|do(?:\ not|n't)\ (?:edit|modify))\b\W*)?      # or a sentence: what stands before it,
    (?:(?:(?:this|the|these)\ )?(?:\w+\ )?(?:file|code|class|classes)\ )?       # its subject,
    (?:(?:this\ )?(?:is|are|was|has\ been|contains)\ (?:an\ )?)?                # its verb,
    (?:auto-?generated\b|automatically\ generated\b|(?:machine\ |auto\ )?generated\ (?:automatically\ )?(?:by|from)\b
    |a\ lexical\ scanner\ generated\ by\b|a\ bison\ parser,\ made\ by\b)        # and its object""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_SCRIPT = re.compile(r"\.[cm]?js$", re.IGNORECASE)
_BANNER = re.compile(
    rb"""(?:\xef\xbb\xbf)?\s*/\*(?:
    !\s*(?:\*\s*)?(?!\W*licensed)[^\n]{1,80}?[ @]v?\d+\.\d+    # a comment that minifiers keep
    |\**\s*(?:\*\s*)?(?:[\w.+-]+[ ]){1,4}v?\d+\.\d+    # a name and a version
    (?=(?:(?!\*/).){,600}?(?:licen[sc]e|copyright|\(c\)|https?://)))""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
"""How published libraries begin. A comment that has only name and version also needs a licence or an address."""
_BUNDLE_BYTES = 500_000  # Nobody writes so much JavaScript into one file
_BUNDLER = re.compile(
    rb"""\bwebpack(?:Bootstrap|UniversalModuleDefinition)\b | \[function\(require,\ ?module,\ ?exports\)\ ?\{
    | \btypeof\ exports\ ===\ ['"]object['"]\ &&\ typeof\ module\ !==\ ['"]undefined['"]\ \?     # Rollup
    | ^var\ __(?:create|defProp|getOwnPropNames)\ =\ Object\.                                  # esbuild""",
    re.MULTILINE | re.VERBOSE,
)
"""How files begin that webpack, browserify, Rollup and esbuild write."""
_COMMENTS = re.compile(r"/\*.*?\*/|(?://|#)[^\n]*", re.DOTALL)
_NOTHING = re.compile(
    r"""[{:;\s]*
    (?:
        pass | \.\.\.             # nothing, or an error that says that nothing is here
      | raise \s+ NotImplemented(?:Error)? \b [^\n]*
      | throw \s+ (?:new\s+)? \w*(?:NotImplemented|UnsupportedOperation)\w* \s* \( [^{}]* \)
      | (?:throw \s+ new \s+ \w*(?:Error|Exception) | panic | error | fatalError | TODO) \s*
        \( [^{}]* (?:not\ implemented|unimplemented|not\ supported|TODO) [^{}]* \)
      | (?:todo|unimplemented)! \s* \( [^{}]* \)
    )?
    [;\s]* (?:end|\})? [;\s]*     # the end of the body""",
    re.VERBOSE | re.IGNORECASE,
)

_LICENCE = re.compile(
    r"(?:(?:un|mit|bsd|gpl|apache)[-_]?)?(?:licen[cs]e|copying)(?:[-_.](?:mit|bsd|gpl|apache|2\.0|txt|md|rst))*",
    re.IGNORECASE,
)
_KEPT = frozenset(
    "assets contrib deps ext extern javascripts js lib libs plugins public static wwwroot".split()
)
_CACHES = _KEPT | {"mod", "packages"}
"""Folders with copies whose names have versions."""
_MANIFESTS = frozenset(("bower.json", "component.json", "composer.json", "package.json"))
_NOTICE = re.compile(
    rb"""^\W*(?:Copyright(?=\s)|COPYRIGHT(?=\s)|\([cC]\)|\xc2\xa9)
    (?!\s+(?i:notice|holder|owner|law|licen|interest|and|or)\b)    # the text of the licence itself
    (?![^\n]*(?:Free\ Software\ Foundation|[<[{]name))    # who wrote the licence, and its template
    [^\n]+""",
    re.MULTILINE | re.VERBOSE,
)
_WORD = re.compile(rb"[^\W\d]{3,}")
_OF_NOTICES = frozenset(b"copyright all rights reserved present and the http https".split())
_MOST_BYTES = 100_000


def file_flags(path: str, source: bytes) -> int:
    """Return the flags that all documents of a file share.

    >>> file_flags("api/users_pb2.py", b"") == GENERATED, file_flags("tests/vendor/a.py", b"") == TEST | VENDORED
    (True, True)
    """
    head = _HEAD.match(source[:_HEAD_BYTES])
    says_generated = head is not None and _GENERATED.search(head[0]) is not None
    generated = bool(_GENERATED_NAME.search(path)) or says_generated or _is_bundle(path, source)
    vendored = is_vendored(path) or (_is_in_a_folder_of_others(path) and _BANNER.match(source) is not None)
    return generated * GENERATED | is_test(path) * TEST | vendored * VENDORED | is_built(path) * BUILT


def is_test(path: str) -> bool:
    """Say whether the path of a file marks it as tests."""
    *folders, name = path.split("/")
    stem, _, extensions = name.partition(".")
    return _has_part("/".join(folders), TEST_WORDS) or not TEST_WORDS.isdisjoint(
        (*subtokens(stem), *extensions.split("."))
    )


def is_beside(path: str) -> bool:
    """Say whether the path of a file marks it as a migration or an example, which repeat code and are seldom meant."""
    return _BESIDE.search(path) is not None


def is_built(path: str) -> bool:
    """Say whether the path of a file marks it as the output of a build.

    >>> is_built("dist/esm/axios.js"), is_built("build/lib/attr/_make.py"), is_built("src/build.py")
    (True, True, False)
    """
    return _has_part(path.rpartition("/")[0], _BUILD_FOLDERS)


@lru_cache(maxsize=4096)
def _has_part(folders: str, words: frozenset[str]) -> bool:
    return not words.isdisjoint(_PART_ENDS.split(folders.lower()))


def is_vendored(path: str) -> bool:
    """Say whether the path of a file marks it as a copy from another project.

    A version in the name of a folder says so only where copies are kept: unpacked sources are in such a folder too.

    >>> is_vendored("static/codemirror-5.17.0/mode.js"), is_vendored("picard-3.0.2/picard/album.py")
    (True, False)
    """
    folders = path.lower().split("/")[:-1]
    return not _VENDOR_FOLDERS.isdisjoint(folders) or any(
        above in _CACHES and _RELEASE.fullmatch(name) for above, name in pairwise(folders)
    )


def _is_in_a_folder_of_others(path: str) -> bool:
    """Say whether a script is neither in the root of its project nor in a folder with its name.

    >>> [_is_in_a_folder_of_others(path) for path in ("js/fuzzy.js", "fuzzy.js", "me/fuzzy.js/lib/fuzzy.js", "js/a.py")]
    [True, False, False, False]
    """
    *folders, name = path.lower().split("/")
    return (
        bool(folders) and _SCRIPT.search(name) is not None and not {name, name.partition(".")[0]} & {*folders}
    )


def _is_bundle(path: str, source: bytes) -> bool:
    """Say whether a program joined many JavaScript files to this one."""
    if not _SCRIPT.search(path):
        return False
    return len(source) >= _BUNDLE_BYTES or _BUNDLER.search(source[:_HEAD_BYTES]) is not None


def is_stub(body: str) -> bool:
    """Say whether a body without its docstring does nothing, or only raises "not implemented"."""
    if len(body) >= _STUB_CHARS:
        return False
    if "#" in body or "/" in body:
        body = _COMMENTS.sub("", body)
    return _NOTHING.fullmatch(body) is not None


def licence_in(names: Collection[str]) -> str:
    """Return the name of the licence file among the names of a folder; "" if there is none."""
    return min(filter(_LICENCE.fullmatch, names), default="")


def holders(licence: str) -> frozenset[bytes]:
    """Return the words of the copyright notices in a licence file."""
    try:
        text, _ = read_regular(licence, _MOST_BYTES)
    except OSError:
        return frozenset()
    notices = b"\n".join(_NOTICE.findall(text)).lower()
    return frozenset(_WORD.findall(notices)) - _OF_NOTICES


def is_of_others(folder: str, licence: str, own: frozenset[bytes], names: Collection[str]) -> bool:
    """Say whether a folder such as `public/grid/` with these names is a copy; `own` holds the licence of the root."""
    if _KEPT.isdisjoint(folder.lower().split("/")):
        return False
    if licence:
        theirs = holders(licence)
        return bool(theirs) and theirs.isdisjoint(own)
    stems = (name.removesuffix(".min.js") for name in names if name.endswith(".min.js"))
    return not _MANIFESTS.isdisjoint(names) and any(f"{stem}.js" in names for stem in stems)
