"""The machine, the date and the versions of a measurement."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import codesearch
from codesearch.encoding.encoder import Encoder

_PACKAGES = ("numpy", "onnxruntime", "torch", "hnswlib", "tree-sitter", "tokenizers")


def describe_environment() -> dict[str, Any]:
    """Return commit ("" outside a checkout), date, machine and versions."""
    return {
        "commit": _commit(Path(codesearch.__file__).parents[1]),
        "date": time.strftime("%Y-%m-%d"),
        "machine": {"processor": _processor(), "cores": os.cpu_count(), "system": platform.system()},
        "versions": {
            "python": platform.python_version(),
            "codesearch-local": codesearch.__version__,
            **_versions(),
        },
    }


def describe_encoder(encoder: Encoder) -> dict[str, Any]:
    """Return the name, the id, the dimensions and the device of an encoder."""
    return {"name": encoder.name, "id": encoder.model_id, "dim": encoder.dim, "device": encoder.device}


def _commit(checkout: Path) -> str:
    if not (checkout / ".git").exists():
        return ""
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    try:
        return subprocess.run(
            command, cwd=checkout, capture_output=True, text=True, encoding="utf-8", check=False
        ).stdout.strip()
    except OSError:
        return ""


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text("utf-8").splitlines() if cpuinfo.exists() else []
    return next(
        (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine()
    )


def _versions() -> dict[str, str]:
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
