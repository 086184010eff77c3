"""The result of a suite, or the difference of two results -> text for a terminal, or a page for a browser."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

import codesearch
from codesearch.evaluation.qrels import QueryId
from codesearch.evaluation.result import SuiteResult
from codesearch.evaluation.significance import AVERAGE, Difference
from codesearch.evaluation.systems import DEFAULT

_NAME_WIDTH = 18
_WORST = 25
_FIRST = 5
_STYLE = """:root { color-scheme: light dark }
body { margin: 2rem auto; padding: 0 1rem; max-width: 72rem; font: 15px/1.5 system-ui, sans-serif }
table { border-collapse: collapse } th, td { padding: .2rem .6rem; text-align: right; vertical-align: top }
th:first-child, td:first-child, td:last-child { text-align: left }
meter { display: block; width: 100% } small { opacity: .7 } li, code { overflow-wrap: anywhere }
.columns { display: grid; grid-template-columns: 1fr 1fr; gap: 1.5rem }"""


def result_text(result: SuiteResult) -> str:
    """Return every metric of every system, and the time and memory of the run."""
    return "".join(f"{line}\n" for line in _result_lines(result))


def _result_lines(result: SuiteResult) -> Iterator[str]:
    yield f"{result.suite}: {result.judged_queries} judged queries, {result.documents:,} documents"
    for metric in _metrics(result):
        (_, *groups, last), *rows = _metric_rows(result, metric)
        yield f"\n{_row(metric, groups, groups)}   {last}"
        for name, *cells, note in rows:
            yield f"{_row(f'  {name}', groups, cells)}   {note}"
    yield ""
    yield from _detail_lines(result)
    if result.seconds:
        yield from _stage_lines(result)


def _metrics(result: SuiteResult) -> list[str]:
    return list(next(iter(result.systems.values())).metrics)


def _metric_rows(result: SuiteResult, metric: str) -> Iterator[list[str]]:
    """Yield the rows of a table of one metric: the groups, then each system, then what was published."""
    groups = list(next(iter(result.systems.values())).metrics[metric])
    yield ["system", *groups, "95% of average"]
    for name, system in result.systems.items():
        low, high = system.ci95[metric][AVERAGE]
        values = (f"{system.metrics[metric][group]:.3f}" for group in groups)
        yield [name, *values, f"{low:.3f} to {high:.3f}"]
    for name, average in result.published.get(metric, {}).items():
        values = (f"{average:.3f}" if group == AVERAGE else "" for group in groups)
        yield [name, *values, "published, other pool"]


def _row(name: str, groups: Sequence[str], cells: Sequence[str]) -> str:
    aligned = (cell.rjust(max(8, len(group) + 2)) for group, cell in zip(groups, cells, strict=True))
    return name.ljust(_NAME_WIDTH) + "".join(aligned)


def _detail_lines(result: SuiteResult) -> Iterator[str]:
    details = result.details
    if covered := details.get("coverage"):
        found, judged = (sum(counts[key] for counts in covered.values()) for key in ("extracted", "judged"))
        yield f"  coverage    {found:,} of {judged:,} judged functions are documents with exactly these lines"
    if model := details.get("model"):
        yield f"  model       {model['name']} ({model['id']}) on {model['device']}"
    if query_ms := details.get("query_ms"):
        times = ", ".join(f"{name} {ms['p50']:.1f} / {ms['p95']:.1f}" for name, ms in query_ms.items())
        yield f"  query ms    p50 / p95: {times}"
    if "answered_pairs" in details:
        yield f"  answered    {details['answered_pairs']} of {details['judged_pairs']} judged queries, by language"


def _stage_lines(result: SuiteResult) -> Iterator[str]:
    yield f"\n{'stage':{_NAME_WIDTH}}{'seconds':>8}{'peak MB':>9}"
    for stage, seconds in result.seconds.items():
        yield f"  {stage:{_NAME_WIDTH - 2}}{seconds:8.1f}{result.rss_bytes.get(stage, 0) / 1e6:9.0f}"
    total, peak = sum(result.seconds.values()), max(result.rss_bytes.values(), default=0)
    yield f"  {'all':{_NAME_WIDTH - 2}}{total:8.1f}{peak / 1e6:9.0f}"


def comparison_text(first: Path, second: Path, differences: Sequence[Difference]) -> str:
    """Return how much each system changed, and whether the change may be chance."""
    return "".join(f"{line}\n" for line in _comparison_lines(first, second, differences))


def _comparison_lines(first: Path, second: Path, differences: Sequence[Difference]) -> Iterator[str]:
    yield f"from {first} to {second}"
    for metric in dict.fromkeys(difference.metric for difference in differences):
        rows = [difference for difference in differences if difference.metric == metric]
        groups = [group for group in rows[0].first if group != AVERAGE]
        yield f"\n{_row(metric, groups, groups)}   average                      p"
        for row in rows:
            changes = _row(f"  {row.system}", groups, [f"{row.change(group):+.3f}" for group in groups])
            average = f"{row.first[AVERAGE]:.3f} to {row.second[AVERAGE]:.3f} ({row.change():+.3f})"
            yield f"{changes}   {average}  {row.p[AVERAGE]:6.4f}  {row.verdict()}"
    yield "\np: share of random swaps of the systems' scores with at least this difference (two-sided)"


def html_report(result: SuiteResult) -> str:
    """Return a page with all figures and the worst queries. It loads no other files."""
    title = f"codesearch {codesearch.__version__}: suite {escape(result.suite)}"
    facts = f"{result.judged_queries} judged queries, {result.documents:,} documents"
    parts = [f"<h1>{title}</h1><p>{facts}</p>"]
    for metric in _metrics(result):
        head, *rows = _metric_rows(result, metric)
        bars = [[row[0], *map(_bar, row[1:-1]), row[-1]] for row in rows]
        parts += [f"<h2>{escape(metric)}</h2>", _table(head, bars)]
    shown = DEFAULT if DEFAULT in result.systems else next(iter(result.systems))
    parts += [*_worst(result, shown), *_every_query(result)]
    stages = "\n".join(_stage_lines(result))
    return (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{title}</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<style>\n{_STYLE}\n</style>\n<body>\n'
        + "\n".join(parts)
        + f"\n<h2>Stages</h2><pre>{escape(stages)}</pre></body>\n</html>\n"
    )


def _bar(value: str) -> str:
    return value and f'{value}<meter value="{value}">{value}</meter>'


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Lay out cells of HTML."""
    lines = ["".join(f"<th>{cell}</th>" for cell in head)]
    lines += ["".join(f"<td>{cell}</td>" for cell in row) for row in rows]
    return f"<table><tr>{'</tr><tr>'.join(lines)}</tr></table>"


def _worst(result: SuiteResult, system: str) -> Iterator[str]:
    """Show the worst queries of a system: its first results, and the ranks of the right answers."""
    if system not in result.runs or not result.qrels:
        return
    metric, scores = _metrics(result)[0], result.systems[system].queries
    yield f"<h2>Worst queries of {escape(system)}, by {escape(metric)}</h2>"
    for query in sorted(scores, key=lambda query: (scores[query][metric], query))[:_WORST]:
        yield _query(result, query, result.runs[system].get(query, []), scores[query][metric])


def _query(result: SuiteResult, query: QueryId, found: Sequence[str], score: float) -> str:
    grades = result.qrels[query]
    first = "".join(f"<li>{_document(result, document, grades)}</li>" for document in found[:_FIRST])
    relevant = sorted((doc for doc in grades if grades[doc] > 0), key=lambda doc: (-grades[doc], doc))
    ranks = {document: str(rank) for rank, document in enumerate(found, 1)}
    absent = {document: "not among the results" for document in result.names}
    answers = "".join(
        f"<li><b>{(absent | ranks).get(document, 'not a document')}</b> {_document(result, document, grades)}</li>"
        for document in relevant
    )
    return (
        f"<h3>{escape(result.queries.get(query, query[1]))} <small>{escape(query[0])} {score:.3f}</small></h3>"
        f'<div class="columns"><div><small>ranked first</small><ol>{first}</ol></div>'
        f"<div><small>relevant, with their ranks</small><ul>{answers}</ul></div></div>"
    )


def _document(result: SuiteResult, document: str, grades: Mapping[str, float]) -> str:
    grade = f"grade {grades[document]:.3g}" if document in grades else "not judged"
    shown = f"<code>{escape(result.names.get(document) or document.rpartition('/')[2])}</code>"
    if document.startswith("https://"):
        shown = f'<a href="{escape(document)}">{shown}</a>'
    place = document.removeprefix("https://github.com/").partition("/blob/")[0]
    return f"{shown} <small>{escape(place)}</small> <small>{grade}</small>"


def _every_query(result: SuiteResult) -> Iterator[str]:
    metric, systems = _metrics(result)[0], result.systems.values()
    queries = sorted(next(iter(systems)).queries)
    rows = (
        [
            escape(query[0]),
            *(f"{system.queries[query][metric]:.3f}" for system in systems),
            escape(result.queries.get(query, query[1])),
        ]
        for query in queries
    )
    yield f"<h2>Every query, by {escape(metric)}</h2><details><summary>{len(queries)} rows</summary>"
    yield _table(["group", *map(escape, result.systems), "query"], rows) + "</details>"
