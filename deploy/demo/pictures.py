"""Renews the pictures of the README: the dashboard and the host page, of a gateway that the demo has played with and goes on using.

Chromium takes them while one push after the other comes and every reload is acknowledged, so what they show has happened.
"""

import argparse
import asyncio
import json
import pathlib
import random
import sys
import tempfile
import time
import uuid

import demo

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "Tests" / "EndToEndTests" / "Clients"))
from browser import Browser  # noqa: E402
from dashboard import Dashboard  # noqa: E402

PAGE_APP = "com.example.page"
#: Pushes until the dashboard's charts have something to show.
PUSHES = 600


class Night(demo.Demo):
    """The demo's day, and then a night with many games."""

    def __init__(self, options: argparse.Namespace) -> None:
        super().__init__(options)
        #: Signals that are on their way.
        self.signals: set[asyncio.Task] = set()

    async def play(self) -> bool:
        adds_up = await super().play()
        self.pushes.clear()
        load = asyncio.create_task(self.games())
        try:
            while len(self.pushes) < PUSHES:
                load.done() and load.result()
                await asyncio.sleep(0.5)
            await asyncio.to_thread(self.picture_dashboard)
            await self.picture_page()
        finally:
            load.cancel()
            await asyncio.gather(load, return_exceptions=True)
        return adds_up

    async def take(self, reload: dict) -> None:
        """What a push brought is seen at once: its host says so, and that is the acknowledgement."""
        if "push" not in reload["causes"]:
            return await super().take(reload)
        shown = {"signal": "entryShown", "reload": reload["id"], "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
        task = asyncio.create_task(self.signal(int(reload["host"].removeprefix("phone-")), shown))
        self.signals.add(task)
        task.add_done_callback(self.signals.discard)

    async def games(self) -> None:
        """Scores of games that go on, some ten a second: urgent ones, paced ones, and repeats of what is shown."""
        luck = random.Random(1)
        scores: dict[str, int] = {}
        while True:
            team = luck.choice(demo.TEAMS)
            scores[team] = scores.get(team, 0) + luck.choice([0, 3, 7])
            await self.targeted("score", {"team": [team]}, luck.choice([5, 10]), f"{team}:{scores[team]}")
            await asyncio.sleep(luck.uniform(0.02, 0.15))

    def picture_dashboard(self) -> None:
        token = pathlib.Path(self.options.operator_token).read_text().strip()
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
            browser = Dashboard("chromium", profile)
            try:
                browser.open(f"https://localhost:{self.options.ops_port}/#token={token}")
                # Until it has taken the token out of its address, and shows a view.
                browser.wait("document.getElementById('main')?.dataset.shown !== undefined")
                browser.show("wide", "light")
                browser.view("now")
                browser.wait_for_drawing()
                browser.keep_picture(self.options.folder / "dashboard.png")
            finally:
                browser.close()

    async def picture_page(self) -> None:
        state = json.loads(self.options.state.read_text())
        game = state["scores"]["seahawks"]
        before, after = (f"{us}-{game['them']}" for us in (game["us"], game["us"] + 7))
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
            browser = Browser("chromium", profile)
            try:
                await asyncio.to_thread(self.open_page, browser, before)
                game["us"] += 7
                self.options.state.write_text(json.dumps(state))
                answer = await self.push.post(
                    f"/v1/apps/{PAGE_APP}/pushes",
                    headers={**self.bearer, "apns-id": str(uuid.uuid4()), "apns-priority": "10"},
                    json={"aps": {"content-changed": True}, "freshet": {"kind": "scores", "match": {"team": ["seahawks"]}}},
                )
                assert answer.status_code == 200, answer.text
                await asyncio.to_thread(browser.wait, self.shows(after))
                await asyncio.to_thread(browser.picture, self.options.folder / "host-page.png", "wide", "light")
            finally:
                browser.close()

    def open_page(self, browser: Browser, score: str) -> None:
        browser.open(self.options.page)
        browser.wait(self.shows(score))
        browser.wait("document.querySelector('#widget-panda [data-health]') !== null")

    @staticmethod
    def shows(score: str) -> str:
        return f"document.querySelector('#widget-seahawks [data-score=\"{score}\"]') !== null"


def main() -> int:
    parser = demo.options(__doc__)
    parser.add_argument("--page", required=True, help="the host page's address, with what it is told")
    parser.add_argument("--state", required=True, type=pathlib.Path, help="what the page's timeline provider tells")
    parser.add_argument("--folder", required=True, type=pathlib.Path, help="where the pictures go")
    told = parser.parse_args()

    async def play() -> bool:
        return await Night(told).run()

    return 0 if asyncio.run(play()) else 1


if __name__ == "__main__":
    sys.exit(main())
