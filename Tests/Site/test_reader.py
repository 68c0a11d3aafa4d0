"""The reader's test of docs/developing.md: from the README, two clicks lead to each answer."""

import os
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\(([^)\s]+)\)")


def links(page: str) -> set[str]:
    """Where a page's links lead to, relative to the repository, and its own headings."""
    text = re.sub(r"(?ms)^ *```.*?^ *```", "", (ROOT / page).read_text())
    there = {os.path.normpath(os.path.join(os.path.dirname(page), link)) for link in LINK.findall(text) if ":" not in link}
    headings = {re.sub(r"[^\w -]", "", line.lstrip("# ").lower()).replace(" ", "-")
                for line in text.splitlines() if line.startswith("#")}
    return there | {link.split("#")[0] for link in there} | {f"{page}#{heading}" for heading in headings}


def rows() -> list[tuple[str, list[str]]]:
    page = (ROOT / "docs/developing.md").read_text().split("## The reader's test")[1]
    cells = [line.strip("|").split("|") for line in page.splitlines() if line.startswith("| ")][1:]
    return [(row[0].strip(), [f"docs/{link}" for cell in row[1:] for link in LINK.findall(cell)]) for row in cells]


def test_there_are_questions() -> None:
    assert len(rows()) >= 5


@pytest.mark.parametrize("question, clicks", rows())
def test_an_answer_is_two_clicks_away(question: str, clicks: list[str]) -> None:
    assert 1 <= len(clicks) <= 2
    page = "README.md"
    for click in clicks:
        assert click in links(page), f"{question}: {page} does not lead to {click}"
        page = click.split("#")[0]


def test_a_link_that_is_not_there_is_missed() -> None:
    assert "docs/wire.md" in links("README.md")
    assert "docs/nowhere.md" not in links("README.md")
