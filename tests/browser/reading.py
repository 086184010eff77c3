"""Read the page as a person does."""

from typing import Any
from urllib.parse import parse_qs, urlsplit


def names(page: Any) -> list[str]:
    # The inner text of a hit that is not painted yet is empty.
    return page.locator("#hits .name").all_text_contents()


def search(page: Any, text: str) -> None:
    """Type a query and wait for its hits."""
    page.locator("#query").fill(text)
    wait_for(page, text)


def settle(page: Any) -> None:
    """Wait until the page shows the answer to its last request. What a user does sends the request at once."""
    page.wait_for_function("() => !document.body.classList.contains('waiting')")


def wait_for(page: Any, query: str) -> None:
    """Wait until the page shows the hits of a query, with the filters that are chosen now."""
    page.wait_for_function(
        """query => document.querySelector('#hits').dataset.query === query
            && !document.body.classList.contains('waiting') && !document.querySelector('#list').hidden""",
        arg=query,
    )


def opened(page: Any, name: str) -> None:
    """Wait until a file is shown with a definition selected."""
    page.wait_for_function(
        """name => document.querySelector('#selection .name')?.textContent === name
            && !document.querySelector('#file').hidden""",
        arg=name,
    )


def focused(page: Any) -> str:
    return page.evaluate("document.activeElement.id || document.activeElement.textContent")


def parameters(page: Any) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)
