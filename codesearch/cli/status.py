"""`codesearch status`: what is indexed, how large, how old, and what changed since."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from codesearch.cli.options import HomeOption, JsonOption, resolve_home
from codesearch.config import IndexConfig, WalkConfig
from codesearch.errors import IndexNotFoundError
from codesearch.index.catalogue import IndexEntry, list_indexes
from codesearch.index.manifest import Manifest


def status(
    warnings: Annotated[bool, typer.Option("--warnings", help="List the warnings of the last run.")] = False,
    changes: Annotated[
        bool, typer.Option("--changes", help="Walk each folder and count what an update would do.")
    ] = False,
    as_json: JsonOption = False,
    home: HomeOption = None,
) -> int:
    """Show what is indexed."""
    folder = resolve_home(home)
    entries = list_indexes(folder)
    if as_json:
        print(json.dumps([_fields(entry, folder, changes=changes) for entry in entries], indent=2))
        return 0 if entries else 1
    if not entries:
        raise IndexNotFoundError(f"nothing is indexed in {folder}: run `codesearch index FOLDER` first")
    for entry in entries:
        _print_entry(entry, folder, warnings=warnings, changes=changes)
    if owner := _service(folder):
        print(f"process {owner} answers queries (`codesearch serve`)")
    return 0


def _fields(entry: IndexEntry, home: Path, *, changes: bool) -> dict[str, Any]:
    manifest = entry.manifest
    if manifest is None:
        return {"folder": str(entry.folder), "error": str(entry.error)}
    fields: dict[str, Any] = {
        "root": manifest.root,
        "folder": str(entry.folder),
        "documents": manifest.documents,
        "files": manifest.source_files,
        "languages": manifest.languages,
        "skipped": manifest.skipped,
        "warnings": manifest.warnings,
        "bytes": _bytes(manifest),
        "created": manifest.created,
        "model": manifest.model,
        "settings": manifest.settings,
        "service": _service(home),
    }
    if changes:
        fields["changes"] = _changes(entry.folder, manifest)
    return fields


def _print_entry(entry: IndexEntry, home: Path, *, warnings: bool, changes: bool) -> None:
    manifest = entry.manifest
    if manifest is None:
        print(f"{entry.folder}\n  unusable   {entry.error}")
        return
    print(manifest.root + ("" if Path(manifest.root).is_dir() else "  (this folder is gone)"))
    languages = ", ".join(f"{language} {count:,}" for language, count in manifest.languages.items())
    print(f"  documents  {manifest.documents:,} from {manifest.source_files:,} files: {languages}")
    if manifest.skipped:
        skipped = ", ".join(f"{count:,} {reason}" for reason, count in manifest.skipped.items())
        print(f"  skipped    {skipped}")
    print(
        f"  indexed    {_age(manifest.created)}, in {manifest.seconds:.1f} s, {_bytes(manifest) / 1e6:.1f} MB"
    )
    print(f"  model      {manifest.model['name']} ({manifest.model['id']})")
    if options := _options(manifest):
        print(f"  options    {options}")
    if changes:
        found = _changes(entry.folder, manifest)
        print(f"  changes    {found['to_parse']:,} files new or changed, {found['removed']:,} removed")
    if manifest.warnings:
        print(f"  warnings   {len(manifest.warnings)}")
        for line in manifest.warnings if warnings else []:
            print(f"    {line}")


def _service(home: Path) -> int | None:
    from codesearch.service.server import service_at

    return service_at(home)


def _changes(folder: Path, manifest: Manifest) -> dict[str, int]:
    from codesearch.index.plan import plan_update

    if not Path(manifest.root).is_dir():
        return {"to_parse": 0, "removed": manifest.source_files}
    config = IndexConfig(walk=manifest.walk_config())
    plan = plan_update(Path(manifest.root), folder, config, manifest.model["id"])
    return {"to_parse": len(plan.to_parse), "removed": plan.removed}


def _options(manifest: Manifest) -> str:
    defaults = WalkConfig()
    made_with = manifest.walk_config()
    names = [name for name in manifest.settings if getattr(made_with, name) != getattr(defaults, name)]
    return ", ".join(f"{name} {getattr(made_with, name)}" for name in names)


def _bytes(manifest: Manifest) -> int:
    return sum(entry["bytes"] for entry in manifest.files.values())


def _age(created: str) -> str:
    seconds = int((datetime.now(UTC) - datetime.fromisoformat(created)).total_seconds())
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if count := seconds // length:
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "just now"
