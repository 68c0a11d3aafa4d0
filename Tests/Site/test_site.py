"""Looks at the site that `make site` has built: nothing is loaded from elsewhere, and what pages say has become elements."""

import html.parser
import pathlib
import re

import pytest

SITE = pathlib.Path(__file__).resolve().parents[2] / ".build/site"
# Attributes by which a browser fetches, by element; a link to click is none of them.
FETCHED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src", "object": "data",
           "embed": "src", "use": "href", "image": "href", "form": "action"}
FETCHING_LINKS = {"stylesheet", "preconnect", "dns-prefetch", "preload", "prefetch", "modulepreload", "icon", "manifest"}
FOREIGN = re.compile(r"\s*(?:[a-z]+:)?//", re.IGNORECASE)
STYLE = re.compile(r"(?:url\(\s*|@import\s+(?:url\(\s*)?)[\"']?(?:https?:)?//", re.IGNORECASE)
# The text that is left where Markdown did not become a list, a table, a link, code or a fence.
LEFT = re.compile(r"^(?:[-*] |\d+\. |\|)|\]\([^)]*\)|`|\\\|", re.MULTILINE)


class Faults(html.parser.HTMLParser):
    """What a page fetches from elsewhere, and Markdown that is left in its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.foreign: list[str] = []
        self.left: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        fetched = [given.get(FETCHED.get(tag, ""), "")]
        if tag == "link" and FETCHING_LINKS & set(given.get("rel", "").split()):
            fetched.append(given.get("href", ""))
        fetched += [part.split()[0] for part in given.get("srcset", "").split(",") if part.strip()]
        self.foreign += [place for place in fetched if FOREIGN.match(place)]
        if STYLE.search(given.get("style", "")):
            self.foreign.append(given["style"])
        if tag in {"code", "pre", "script", "style", "p", "td", "li"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if "style" in self.open and STYLE.search(data):
            self.foreign.append(data[:80])
        if self.open and not {"code", "pre", "script", "style"} & set(self.open) and LEFT.search(data):
            self.left.append(data[:80])


def pages() -> list[pathlib.Path]:
    return sorted(SITE.rglob("*.html"))


def test_the_site_was_built() -> None:
    built = {str(page.relative_to(SITE)) for page in pages()}
    wanted = {"index.html", "docs/wire/index.html", "docs/openapi/index.html", "docs/concepts/budget/index.html"}
    assert wanted <= built
    assert (SITE / "search/search_index.json").stat().st_size > 100_000


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(SITE)))
def test_a_page_is_whole_and_fetches_nothing_from_elsewhere(page: pathlib.Path) -> None:
    faults = Faults(page.read_text())
    assert faults.foreign == []
    assert faults.left == []


def test_no_style_fetches_from_elsewhere() -> None:
    styles = sorted(SITE.rglob("*.css")) + sorted(SITE.rglob("*.svg"))
    assert len(styles) > 3
    assert [str(style) for style in styles if STYLE.search(style.read_text())] == []


def test_every_route_is_rendered() -> None:
    text = (SITE / "docs/openapi/index.html").read_text()
    document = (SITE.parent / "site-pages/docs/openapi.yaml").read_text()
    routes = re.findall(r"^  (/\S+):$", document, re.MULTILINE)
    assert len(routes) > 40
    assert [route for route in routes if f" {route}</code>" not in text] == []


@pytest.mark.parametrize("fault", [
    '<script src="https://cdn.example/a.js"></script>', '<link rel="stylesheet" href="//fonts.example/css">',
    '<img src="http://elsewhere.example/a.png">', '<style>@import "https://fonts.example/a.css";</style>',
    '<p style="background: url(https://elsewhere.example/a.png)">', '<img srcset="https://elsewhere.example/a.png 2x">',
])
def test_what_comes_from_elsewhere_is_found(fault: str) -> None:
    assert Faults(fault).foreign != []


@pytest.mark.parametrize("fault", ["<p>One:\n- two</p>", "<p>| a | b |</p>", "<li>[a](b.md)</li>", "<td>`a</td>"])
def test_markdown_that_is_left_is_found(fault: str) -> None:
    assert Faults(fault).left != []


def test_a_link_to_click_is_none() -> None:
    assert Faults('<a href="https://www.rfc-editor.org/">RFC</a> <link rel="canonical" href="https://a.example/">').foreign == []
