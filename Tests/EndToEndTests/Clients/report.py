"""Looks at a report's page in Chromium without a window, light and dark, wide and as on a phone.

    report.py --shots folder report.html

What it sees is one line of JSON for each look; the tests say what it has to be.
"""

import argparse
import pathlib
import tempfile

from dashboard import Dashboard, say

# Charts in which nothing is drawn.
BLANK = """[...document.querySelectorAll('canvas')].filter((canvas) => canvas.width === 0
  || !canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value !== 0))
  .map((canvas) => canvas.getAttribute('aria-label'))"""


class Report(Dashboard):
    """A report in a browser."""

    def be_hidden(self, is_hidden: bool) -> None:
        """A report asks nothing of anybody, hidden or not."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=Dashboard.shell)
    parser.add_argument("--shots", type=pathlib.Path, required=True)
    parser.add_argument("page", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        page = Report(options.program, profile)
        try:
            page.open(options.page.resolve().as_uri())
            page.wait("document.documentElement?.dataset.drawn === 'yes'")
            for size in page.sizes:
                for scheme in ("light", "dark"):
                    page.show(size, scheme)
                    page.picture(options.shots / f"{options.page.stem}-{size}-{scheme}.png", size, scheme)
                    found = page.axe()
                    say(size=size, scheme=scheme, violations=found["violations"], contrasts=found["contrasts"],
                        overflow=page.ask("document.documentElement.scrollWidth - document.documentElement.clientWidth"),
                        blank=page.ask(BLANK), canvases=page.ask("document.querySelectorAll('canvas').length"),
                        tables=page.ask("document.querySelectorAll('table').length"), focus=page.walk(),
                        verdict=page.ask("document.getElementById('verdict').innerText"),
                        figures=page.ask("[...document.querySelectorAll('.health .tile .value')].map((one) => one.innerText)"),
                        text=page.ask("document.body.innerText"),
                        asked=page.ask("performance.getEntriesByType('resource').map((one) => one.name)"))
            # The reads from canvases here make the browser complain about this test.
            say(complaints=[one for one in page.complaints() if "willReadFrequently" not in one])
        finally:
            page.close()


if __name__ == "__main__":
    main()
