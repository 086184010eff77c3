"""`sources.toml` -> the list of packages for a corpus, and `sources.lock.json` -> their versions and download sizes.

The recipe names the packages, and the lock pins their versions, so the same corpus can be made again. The lock maps
`LANGUAGE/NAME` to `{"version": ..., "bytes": ...}`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NotRequired
from urllib.parse import quote

from typing_extensions import TypedDict

from codesearch.languages import language_named
from training.files import TrainingError, read_json, read_toml

_URL_TYPES = {
    "debian": "deb/debian",
    "debian-source": "deb/debian?arch=source",
    "pypi": "pypi",
    "npm": "npm",
    "github": "github",
}
KINDS = tuple(_URL_TYPES)
DEFAULT_RECIPE = Path(__file__).with_name("sources.toml")


@dataclass(frozen=True, slots=True)
class SourcePackage:
    """One named package.

    Attributes:
        kind: one of `KINDS`; it chooses the client that fetches the package.
        name: in its registry; `owner/name` for GitHub.
        repository: `owner/name` of the upstream on GitHub.
        train_only: never held out, so the held-out partitions do not change when a recipe grows.
    """

    language: str
    kind: str
    name: str
    repository: str
    licence: str = ""
    train_only: bool = False

    @property
    def key(self) -> str:
        """`LANGUAGE/NAME`, which identifies a package and its pin."""
        return f"{self.language}/{self.name}"

    @property
    def folder(self) -> str:
        """Path of the package's tree inside a corpus folder."""
        return f"packages/{self.language}/{self.name.replace('/', '__')}"

    def url(self, version: str) -> str:
        """Return the package URL of a version.

        >>> SourcePackage("javascript", "npm", "@babel/core", "babel/babel", "MIT").url("7.1.0")
        'pkg:npm/%40babel/core@7.1.0'
        """
        kind, _, query = _URL_TYPES[self.kind].partition("?")
        return f"pkg:{kind}/{quote(self.name)}@{quote(version)}{f'?{query}' if query else ''}"


def read_recipe(path: Path = DEFAULT_RECIPE) -> list[SourcePackage]:
    """Read the packages of a recipe; in each language those of `packages` come before those of `train_only`."""
    tables = read_toml(dict[str, dict[str, _Packages]], path, "see training/corpus/sources.toml")
    packages = []
    for language, table in tables.get("languages", {}).items():
        if language_named(language) is None:
            raise TrainingError(f"{path}: unknown language {language!r}: use a name of codesearch.languages")
        divided = [_package(path, language, fields) for fields in table["packages"]]
        trained_on = [
            _package(path, language, {**fields, "train_only": True}) for fields in table.get("train_only", ())
        ]
        both = set.intersection(*({each.repository.lower() for each in its} for its in (divided, trained_on)))
        if both:
            raise TrainingError(f"{path}: {language}: {min(both)} is in both lists: keep it in one")
        packages += divided + trained_on
    if not packages:
        raise TrainingError(f"{path}: no packages: see training/corpus/sources.toml")
    return packages


class _Packages(TypedDict):
    packages: list[dict[str, str | bool]]
    train_only: NotRequired[list[dict[str, str | bool]]]


def _package(path: Path, language: str, fields: dict[str, Any]) -> SourcePackage:
    try:
        package = SourcePackage(language=language, **fields)
    except TypeError as error:
        raise TrainingError(f"{path}: {fields.get('name', '?')}: {error}") from None
    if package.kind not in KINDS:
        raise TrainingError(f"{path}: {package.name}: kind {package.kind!r} is none of {', '.join(KINDS)}")
    return package


@dataclass(frozen=True, slots=True)
class Pin:
    """The version of a package and the size of its download; "" and 0 if not pinned."""

    version: str = ""
    bytes: int = 0


def lock_of(recipe: Path) -> Path:
    """Return the lock that belongs to a recipe."""
    return recipe.with_suffix(".lock.json")


def read_lock(recipe: Path) -> dict[str, Pin]:
    """Read the pins of a recipe; there are none if it has no lock."""
    path = lock_of(recipe)
    cure = "write it again with `corpus fetch --update`"
    return read_json(dict[str, Pin], path, cure) if path.exists() else {}


def write_lock(recipe: Path, pins: Mapping[str, Pin]) -> None:
    """Write the pins of a recipe, one package per line."""
    lines = [f"{json.dumps(key)}: {json.dumps(asdict(pin))}" for key, pin in sorted(pins.items())]
    lock_of(recipe).write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
