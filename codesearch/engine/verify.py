"""Check an installation: packages, grammars, the models, the device, and every byte of every index."""

from __future__ import annotations

import platform
import shutil
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import codesearch
from codesearch.engine.answer import Check
from codesearch.errors import CodeSearchError
from codesearch.installation import how_to_add
from codesearch.languages import distributions, grammar_version, is_installed, load_query
from codesearch.languages.records import LANGUAGES
from codesearch.store.catalogue import IndexEntry, list_indexes
from codesearch.store.digest import check_intact
from codesearch.structure.text import counted
from codesearch.text.bundle import SHIPPED, load_bundle
from codesearch.text.onnx import choose_device

_EXTRAS = {
    "bench": ("for `codesearch bench` with compressed data", ("zstandard",)),
    "export": ("for `codesearch export --sqlite`", ("sqlite-utils",)),
    "hnsw": ("for more than 500,000 documents; it needs a C++ compiler", ("hnswlib",)),
    "lsp": ("for `codesearch lsp`", ("pygls",)),
    "mcp": ("for `codesearch mcp`", ("mcp",)),
    "milvus": ("for `--backend milvus`", ("pymilvus",)),
    "web": ("for `codesearch serve --web`", ("pydantic", "starlette", "uvicorn")),
}
"""Extra -> what it is for, and its packages."""


def checks(home: Path, model: Path | None, device: str) -> Iterator[Check]:
    """Yield the findings one by one."""
    about = f"{codesearch.__version__}, Python {platform.python_version()}, {platform.platform()}"
    yield Check("codesearch", "ok", about)
    yield _runtime_check()
    for extra, (use, packages) in _EXTRAS.items():
        if absent := [name for name in packages if not _version(name)]:
            yield Check(extra, "none", f"{use}: {how_to_add(*absent)}")
        else:
            versions = ", ".join(f"{name} {_version(name)}" for name in packages)
            yield Check(extra, "ok", f"{versions}, {use}")
    yield from _grammar_checks()
    yield _tried("model", lambda: _model(model or SHIPPED))
    yield _tried("device", lambda: f"{choose_device(device)} (--device {device})")
    existing = next(folder for folder in (home.absolute(), *home.absolute().parents) if folder.exists())
    yield Check("home", "ok", f"{home}, {shutil.disk_usage(existing).free / 1e9:.1f} GB free")
    for entry in list_indexes(home):
        yield _index_check(entry)


def _runtime_check() -> Check:
    runtimes = [name for name in ("onnxruntime", "onnxruntime-gpu") if _version(name)]
    if len(runtimes) == 2:
        cure = f"{how_to_add('onnxruntime', without=runtimes)}, or onnxruntime-gpu for CUDA"
        return Check("runtime", "FAIL", f"onnxruntime and onnxruntime-gpu conflict: {cure}")
    if not runtimes:
        cure = f"for other models {how_to_add('onnxruntime')}"
        return Check("runtime", "none", f"no ONNX Runtime; the shipped model works without it; {cure}")
    return Check("runtime", "ok", f"{runtimes[0]} {_version(runtimes[0])}")


def _grammar_checks() -> Iterator[Check]:
    present = [spec for spec in LANGUAGES if is_installed(spec)]
    for spec in present:
        try:
            load_query(spec)
        except Exception as error:  # Each grammar package has a different exception type for a wrong query.
            yield Check("grammar", "FAIL", f"{spec.name} {grammar_version(spec)}: {error}")
    yield Check("grammars", "ok", ", ".join(f"{spec.name} {grammar_version(spec)}" for spec in present))
    if absent := [spec.name for spec in LANGUAGES if spec not in present]:
        cure = how_to_add(*distributions(absent))
        yield Check("grammars", "none", f"{', '.join(absent)}: cut into blocks; {cure}")


def _tried(name: str, describe: Callable[[], str]) -> Check:
    """Return the finding of a check that describes what it found, or raises an error."""
    try:
        return Check(name, "ok", describe())
    except CodeSearchError as error:
        return Check(name, "FAIL", str(error))


def _model(folder: Path) -> str:
    bundle = load_bundle(folder)
    return f"{bundle.name} ({bundle.model_id}), {bundle.dim} dimensions, {bundle.licence}"


def _index_check(entry: IndexEntry) -> Check:
    manifest = entry.manifest
    if manifest is None:
        return Check("index", "FAIL", f"{entry.folder}: {entry.error}")

    def describe() -> str:
        check_intact(entry.folder, manifest, is_thorough=True)
        return f"{manifest.root}: {counted(manifest.documents, 'document')}, every byte checked"

    return _tried("index", describe)


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""
