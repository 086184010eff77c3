"""`codesearch doctor`: what is installed, which device, whether indexes are whole, and proof of working offline."""

from __future__ import annotations

import platform
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

import codesearch
from codesearch.cli.options import DeviceOption, HomeOption, resolve_home
from codesearch.errors import CodeSearchError


@dataclass(frozen=True, slots=True)
class Check:
    """One finding; only a failure makes the command fail."""

    name: str
    state: str
    detail: str


def doctor(
    offline: Annotated[
        bool, typer.Option("--offline", help="Index and query a small tree with the network taken away.")
    ] = False,
    device: DeviceOption = "auto",
    home: HomeOption = None,
) -> int:
    """Check the installation, the model and every index."""
    checks = _offline_checks(device) if offline else _checks(resolve_home(home), device)
    failed = False
    for check in checks:
        print(f"{check.state:4}  {check.name:12} {check.detail}")
        failed |= check.state == "FAIL"
    return 2 if failed else 0


def _checks(home: Path, device: str) -> Iterator[Check]:
    yield Check(
        "codesearch",
        "ok",
        f"{codesearch.__version__}, Python {platform.python_version()}, {platform.platform()}",
    )
    yield from _package_checks()
    yield from _grammar_checks()
    yield from _model_checks()
    yield _device_check(device)
    yield from _home_checks(home)


def _package_checks() -> Iterator[Check]:
    runtimes = [name for name in ("onnxruntime", "onnxruntime-gpu") if _version(name)]
    if len(runtimes) == 2:
        cure = "`pip uninstall onnxruntime onnxruntime-gpu`, then install one extra, cpu or gpu"
        yield Check("runtime", "FAIL", f"onnxruntime and onnxruntime-gpu break each other: {cure}")
    elif not runtimes:
        yield Check("runtime", "FAIL", "no ONNX Runtime: run `pip install 'codesearch-local[cpu]'`")
    else:
        yield Check("runtime", "ok", f"{runtimes[0]} {_version(runtimes[0])}")
    hnsw = _version("hnswlib")
    yield Check(
        "hnsw", "ok" if hnsw else "none", f"hnswlib {hnsw}" if hnsw else "extra `hnsw`; exact search is used"
    )


def _grammar_checks() -> Iterator[Check]:
    from codesearch.parsing.languages import LANGUAGES, grammar_version, is_installed, load_query

    present = [spec for spec in LANGUAGES if is_installed(spec)]
    for spec in present:
        try:
            load_query(spec)
        except Exception as error:  # A query that a grammar refuses: which type it raises is the grammar's.
            yield Check("grammar", "FAIL", f"{spec.name} {grammar_version(spec)}: {error}")
    names = ", ".join(f"{spec.name} {grammar_version(spec)}" for spec in present)
    yield Check("grammars", "ok", names)
    if absent := [spec.name for spec in LANGUAGES if spec not in present]:
        yield Check("grammars", "none", f"{', '.join(absent)}: extra `langs`")


def _model_checks() -> Iterator[Check]:
    from codesearch.encoding.bundle import SHIPPED, load_bundle

    try:
        bundle = load_bundle(SHIPPED)
    except CodeSearchError as error:
        yield Check("model", "FAIL", str(error))
    else:
        what = f"{bundle.name} ({bundle.model_id}), {bundle.dim} dimensions, {bundle.licence}"
        yield Check("model", "ok", what)


def _device_check(device: str) -> Check:
    from codesearch.encoding.encoder import choose_device

    try:
        return Check("device", "ok", f"{choose_device(device)} (asked for {device})")
    except CodeSearchError as error:
        return Check("device", "FAIL", str(error))


def _home_checks(home: Path) -> Iterator[Check]:
    from codesearch.index.catalogue import list_indexes
    from codesearch.segments.digest import check_digests

    existing = next(folder for folder in (home.absolute(), *home.absolute().parents) if folder.exists())
    free = shutil.disk_usage(existing).free
    yield Check("home", "ok", f"{home}, {free / 1e9:.1f} GB free")
    for entry in list_indexes(home):
        if entry.manifest is None:
            yield Check("index", "FAIL", f"{entry.folder}: {entry.error}")
            continue
        try:
            check_digests(entry.folder / entry.manifest.folder, entry.manifest.files, entry.manifest.root)
        except CodeSearchError as error:
            yield Check("index", "FAIL", str(error))
        else:
            yield Check(
                "index",
                "ok",
                f"{entry.manifest.root}: {entry.manifest.documents:,} documents, every byte checked",
            )


def _offline_checks(device: str) -> Iterator[Check]:
    """Index and query a tree of this package's own sources without a network."""
    from codesearch.cli.offline import NetworkWatch, leave_network

    isolated = leave_network()
    yield Check(
        "network",
        "ok" if isolated else "none",
        "this process runs in a namespace without interfaces"
        if isolated
        else "no namespace to be had here: only watching for attempts to use the network",
    )
    watch = NetworkWatch()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "tree")
        shutil.copytree(Path(codesearch.__file__).parent / "parsing", root)
        try:
            best = _index_and_query(root, Path(folder, "home"), device)
        except CodeSearchError as error:
            yield Check("offline", "FAIL", str(error))
            return
    if watch.attempts:
        yield Check("offline", "FAIL", f"the network was asked for: {', '.join(watch.attempts)}")
    else:
        yield Check("offline", "ok", f"indexed and queried without a network; best answer {best}")


def _index_and_query(root: Path, home: Path, device: str) -> str:
    from codesearch.cli.index import update_index
    from codesearch.encoding.bundle import SHIPPED
    from codesearch.encoding.encoder import OnnxEncoder
    from codesearch.index.catalogue import index_folder
    from codesearch.index.reader import IndexReader
    from codesearch.search.searcher import Searcher

    update_index(root, home, device=device)
    index = IndexReader.open(index_folder(home, root))
    hits = Searcher([index], OnnxEncoder.load(SHIPPED, device)).search(
        "split an identifier into subtokens", 1
    )
    index.close()
    if not hits:
        raise CodeSearchError("the query found nothing: install the model again")
    return f"{hits[0].path}:{hits[0].start_line} {hits[0].qualified_name}"


def _version(distribution: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""
