"""The result of a suite -> one page for a browser. It loads no other files and has a light and a dark theme."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

import codesearch
from codesearch.evaluation.qrels import QueryId
from codesearch.evaluation.result import SuiteResult
from codesearch.evaluation.significance import AVERAGE
from codesearch.evaluation.systems import DEFAULT, SYSTEMS

_WHAT = {
    "ndcg_all": "NDCG of all results; results without a judgement have no gain",
    "ndcg_within": "NDCG of the judged results; the others are removed first",
    "recall_at_10": "share of the relevant functions among the first 10",
    "recall_at_300": "share of the relevant functions among the first 300",
    "mrr": "mean of 1 / the rank of the first right answer",
}
_STYLE = Path(__file__).with_name("report.css")
_COLOURS = 4
_WORST = 25
_FIRST = 5


def html_report(result: SuiteResult) -> str:
    """Return the page."""
    parts = [_head(result)]
    for metric in _metrics(result):
        what = f'<p class="note">{escape(_WHAT.get(metric, ""))}</p>'
        parts += [f"<h2>{escape(metric)}</h2>", what, _table(result, metric), _chart(result, metric)]
    shown = DEFAULT if DEFAULT in result.systems else next(iter(result.systems))
    parts += [*_worst(result, shown), *_stages(result), *_every_query(result)]
    title = f"codesearch bench: {escape(result.suite)}"
    return (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{title}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>\n{_STYLE.read_text('utf-8')}</style>\n<body>\n" + "\n".join(parts) + "\n</body>\n</html>\n"
    )


def _metrics(result: SuiteResult) -> list[str]:
    return list(next(iter(result.systems.values())).metrics)


def _head(result: SuiteResult) -> str:
    facts = [f"{result.judged_queries} judged queries", f"{result.documents:,} documents"]
    if model := result.details.get("model"):
        facts.append(f"model {model['name']} ({model['id']})")
    what = {system.name: system.what for system in SYSTEMS}
    legend = "".join(
        f'<span class="c{number % _COLOURS}">{escape(name)}'
        f' <small class="soft">{escape(what.get(name, ""))}</small></span>'
        for number, name in enumerate(result.systems)
    )
    return (
        f"<h1>codesearch {escape(codesearch.__version__)}: suite {escape(result.suite)}</h1>\n"
        f'<p class="note">{escape(", ".join(facts))}. Thin lines are 95% intervals.</p>\n'
        f'<div class="legend">{legend}</div>'
    )


def _table(result: SuiteResult, metric: str) -> str:
    groups = list(next(iter(result.systems.values())).metrics[metric])
    rows = [
        (
            name,
            [f"{system.metrics[metric][group]:.3f}" for group in groups],
            _interval(system.ci95[metric][AVERAGE]),
        )
        for name, system in result.systems.items()
    ]
    rows += [
        (
            name,
            [f"{average:.3f}" if group == AVERAGE else "" for group in groups],
            "published, other pool",
        )
        for name, average in result.published.get(metric, {}).items()
    ]
    body = (
        f"<tr{' class=shipped' if name == DEFAULT else ''}><td>{escape(name)}</td>"
        f"{_cells(values)}<td class=left>{note}</td></tr>"
        for name, values, note in rows
    )
    head = "".join(f"<th>{escape(group)}</th>" for group in groups)
    return (
        f'<div class="scroll"><table><thead><tr><th>system</th>{head}<th class=left>95% of average</th></tr>'
        f"</thead><tbody>{''.join(body)}</tbody></table></div>"
    )


def _interval(bounds: Sequence[float]) -> str:
    return f"{bounds[0]:.3f} to {bounds[1]:.3f}"


def _cells(values: Iterable[str]) -> str:
    return "".join(f"<td>{escape(value)}</td>" for value in values)


def _chart(result: SuiteResult, metric: str) -> str:
    groups = list(next(iter(result.systems.values())).metrics[metric])
    lines = []
    for group in groups:
        bars = "".join(
            _bar(number, system.metrics[metric][group], system.ci95[metric][group], f"{name}, {group}")
            for number, (name, system) in enumerate(result.systems.items())
        )
        lines.append(f'<div>{escape(group)}</div><div class="bars">{bars}</div>')
    return f'<div class="chart">{"".join(lines)}</div>'


def _bar(number: int, value: float, bounds: Sequence[float], title: str) -> str:
    low, high = bounds
    return (
        f'<div class="bar c{number % _COLOURS}" title="{escape(title)}: {value:.3f} ({_interval(bounds)})">'
        f'<i style="width:{value:.2%}"></i><b style="left:{low:.2%};width:{high - low:.2%}"></b>'
        f"<em>{value:.3f}</em></div>"
    )


def _worst(result: SuiteResult, system: str) -> Iterator[str]:
    """Show the worst queries of a system: its first results, and the ranks of the right answers."""
    if system not in result.runs or not result.qrels:
        return
    metric = _metrics(result)[0]
    scores = {query: given[metric] for query, given in result.systems[system].queries.items()}
    worst = sorted(scores, key=lambda query: (scores[query], query))[:_WORST]
    yield f"<h2>Worst queries of {escape(system)}, by {escape(metric)}</h2>"
    for query in worst:
        yield _worst_query(result, result.runs[system].get(query, []), query, scores[query])


def _worst_query(result: SuiteResult, found: Sequence[str], query: QueryId, score: float) -> str:
    grades = result.qrels[query]
    ranks = {document: rank for rank, document in enumerate(found, 1)}
    first = "".join(f"<li>{_document(result, document, grades)}</li>" for document in found[:_FIRST])
    relevant = sorted((doc for doc in grades if grades[doc] > 0), key=lambda doc: (-grades[doc], doc))
    answers = "".join(
        f"<li>{_rank(ranks.get(document), document in result.names)} {_document(result, document, grades)}</li>"
        for document in relevant
    )
    return (
        f'<div class="query"><h3>{escape(result.queries.get(query, query[1]))} '
        f'<span class="soft">{escape(query[0])} {score:.3f}</span></h3>'
        f'<div class="columns"><div><span class="soft">ranked first</span><ol>{first}</ol></div>'
        f'<div><span class="soft">relevant, with their ranks</span><ul>{answers}</ul></div></div></div>'
    )


def _rank(rank: int | None, extracted: bool) -> str:
    if rank:
        return f'<b class="good">{rank}</b>'
    return f'<b class="bad">{"not among the results" if extracted else "not a document"}</b>'


def _document(result: SuiteResult, document: str, grades: Mapping[str, float]) -> str:
    grade = f"grade {grades[document]:.3g}" if document in grades else "not judged"
    name = result.names.get(document) or document.rpartition("/")[2]
    shown = f"<code>{escape(name)}</code>"
    if document.startswith("https://"):
        shown = f'<a href="{escape(document)}">{shown}</a>'
    place = document.removeprefix("https://github.com/").partition("/blob/")[0]
    return f'{shown} <span class="soft">{escape(place)}</span> <span class="grade">{grade}</span>'


def _stages(result: SuiteResult) -> Iterator[str]:
    if not result.seconds:
        return
    rows = "".join(
        f"<tr><td>{escape(stage)}</td><td>{seconds:.1f}</td><td>{result.rss_bytes.get(stage, 0) / 1e6:,.0f}</td></tr>"
        for stage, seconds in result.seconds.items()
    )
    yield (
        "<h2>Stages</h2><table><thead><tr><th>stage</th><th>seconds</th><th>peak MB</th></tr></thead>"
        f"<tbody>{rows}</tbody></table>"
    )


def _every_query(result: SuiteResult) -> Iterator[str]:
    metric, systems = _metrics(result)[0], list(result.systems.values())
    head = "".join(f"<th>{escape(name)}</th>" for name in result.systems)
    rows = "".join(
        f"<tr><td>{escape(query[0])}</td><td class=left>{escape(result.queries.get(query, query[1]))}</td>"
        f"{_cells(f'{system.queries[query][metric]:.3f}' for system in systems)}</tr>"
        for query in sorted(systems[0].queries)
    )
    yield (
        f"<h2>Every query, by {escape(metric)}</h2><details><summary>{len(systems[0].queries)} rows</summary>"
        f'<div class="scroll"><table><thead><tr><th>group</th><th class=left>query</th>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div></details>"
    )
