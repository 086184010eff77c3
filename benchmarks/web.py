"""The web page: milliseconds from the last key to the painted hits -> `results/web.json`.

`python -m benchmarks.web URL` types queries in headless Chromium. `codesearch serve --web` prints the URL.
"""

from __future__ import annotations

import argparse
from typing import Any

from benchmarks.peers import QUERIES
from benchmarks.process import quantiles
from benchmarks.publish import record

_KEY_MS = 90
_ROUNDS = 3
# `event.timeStamp` is when the browser received the key. A task after a frame callback runs when the frame is painted.
_WATCH = """
addEventListener("keydown", (event) => { window.key = event.timeStamp; }, true);
addEventListener("DOMContentLoaded", () => {
    const hits = document.querySelector("#hits");
    new MutationObserver(() => requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => { window.painted = [hits.dataset.query, performance.now() - window.key]; };
        port2.postMessage(null);
    })).observe(hits, { attributes: true, attributeFilter: ["data-query"] });
});
"""


def main() -> None:
    """Measure and record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url", help="address that `codesearch serve --web` prints")
    url = parser.parse_args().url
    from playwright.sync_api import sync_playwright

    from tests.browser.conftest import CHROMIUM, FLAGS

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page()
        page.add_init_script(_WATCH)
        page.goto(url)
        page.wait_for_selector("#home:not([hidden])")
        first, *times = [typed_ms(page, query) for _ in range(_ROUNDS) for query in QUERIES]
        documents = page.evaluate("fetch('api/v1/status').then((answer) => answer.json())")["roots"]
        browser.close()
    rows = {
        "documents": sum(root["documents"] for root in documents),
        "queries": len(times),
        "key_interval_ms": _KEY_MS,
        "last_key_to_painted_hits": {
            **quantiles(times),
            "max_ms": round(max(times), 2),
            "first_ms": round(first, 2),
        },
    }
    record("web", rows, flat=True)


def typed_ms(page: Any, query: str) -> float:  # noqa: ANN401 - playwright is an extra.
    """Type a query; return the milliseconds from its last key to its painted hits."""
    page.locator("#query").fill("")
    page.keyboard.type(query, delay=_KEY_MS)
    page.wait_for_function("(query) => window.painted?.[0] === query", arg=query)
    return float(page.evaluate("window.painted[1]"))


if __name__ == "__main__":
    main()
