"""The reader's test of docs/developing.md, in the built site: from the README, two clicks lead to the words of each answer."""

import html
import os
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\(([^)\s]+)\)")


def place(page: str) -> str:
    """Where the site has a page, as the folder of its index.html."""
    path = page.removesuffix(".md")
    return os.path.normpath(path.removesuffix("README") or ".")


def article(page: str) -> str:
    """What a page of the site says, without the navigation, which leads everywhere."""
    text = (ROOT / ".build/site" / place(page) / "index.html").read_text()
    return re.search(r"<article.*?</article>", text, re.DOTALL)[0]


def links(page: str) -> set[str]:
    """The places of the site that a page leads to, its own headings among them."""
    there = {os.path.normpath(os.path.join(place(page), link)) if not link.startswith("#") else place(page) + link
             for link in re.findall(r'href="([^":]+)"', article(page))}
    return there | {link.split("#")[0] for link in there} | {
        f"{place(page)}#{heading}" for heading in re.findall(r'<h\d id="([^"]+)"', article(page))}


def words(page: str, heading: str) -> str:
    """The text of a page below a heading, or of the whole page without one."""
    text = article(page)
    if heading:
        found = re.search(rf'<h\d id="{re.escape(heading)}".*?(?=<h[12] id=|</article>)', text, re.DOTALL)
        text = found[0] if found else ""
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", "", text)))


def rows() -> list[tuple[str, list[str], str]]:
    page = (ROOT / "docs/developing.md").read_text().split("## The reader's test")[1]
    cells = [line.strip("|").split("|") for line in page.splitlines() if line.startswith("| ")][1:]
    return [
        (row[0].strip(), [f"docs/{link}" for cell in row[1:3] for link in LINK.findall(cell)], re.search(r'"(.+)"', row[3])[1])
        for row in cells
    ]


def test_there_are_questions() -> None:
    assert len(rows()) >= 5


@pytest.mark.parametrize("question, clicks, answer", rows())
def test_an_answer_is_two_clicks_away(question: str, clicks: list[str], answer: str) -> None:
    assert 1 <= len(clicks) <= 2
    page = "README.md"
    for click in clicks:
        target, _, heading = click.partition("#")
        wanted = place(target) + (f"#{heading}" if heading else "")
        assert wanted in links(page), f"{question}: {page} does not lead to {click}"
        page = target
    # Whole words: `freshet-backup` says nothing of `freshet`.
    assert re.search(rf"{re.escape(answer)}(?![\w-])", words(page, clicks[-1].partition("#")[2]))


def test_a_link_and_an_answer_that_are_not_there_are_missed() -> None:
    assert "docs/wire" in links("README.md")
    assert "docs/nowhere" not in links("README.md")
    assert "freshet why" not in words("docs/history.md", "erasing")
