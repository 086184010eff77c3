from pathlib import Path

import pytest

import benchmarks

# `bench_tables` has no options, and `milvus` starts threads of gRPC.
ELSEWHERE = ("bench_tables", "milvus")
COMMANDS = sorted(
    path.stem
    for path in Path(benchmarks.__file__).parent.glob("*.py")
    if "\ndef main(" in path.read_text() and path.stem not in ELSEWHERE
)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_describes_a_benchmark_and_runs_nothing(name, monkeypatch, capsys):
    module = pytest.importorskip(f"benchmarks.{name}", exc_type=ModuleNotFoundError)
    monkeypatch.setattr("sys.argv", [name, "--help"])
    with pytest.raises(SystemExit) as stopped:
        module.main()
    assert stopped.value.code == 0
    assert module.__doc__.split()[:5] == capsys.readouterr().out.split("\n\n")[1].split()[:5]
