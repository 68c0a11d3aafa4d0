"""Takes pictures of the dashboard of a gateway that is empty, on a quiet day, in a burst, in an incident and with many widgets, and of
the host page, of a gateway that the demo has played with and goes on using. The dashboard is pictured wide and on a phone, light and dark.

Chromium takes them while pushes come and reloads are acknowledged, so what they show has happened.
"""

import argparse
import asyncio
import json
import os
import pathlib
import random
import signal
import sys
import tempfile
import time
import uuid

import demo

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "Tests" / "EndToEndTests" / "Clients"))
from browser import Browser  # noqa: E402
from dashboard import Dashboard  # noqa: E402

PAGE_APP = "com.example.page"
#: At most so many reloads of the page's widgets are on their way while its provider is away: it shows nothing then.
PAGE_RELOADS = 10
#: Pushes until the dashboard's charts have something to show.
PUSHES = 600
#: Pushes of a quiet day, two a second, each to another host.
QUIET = 90


class Night(demo.Demo):
    """A quiet day, the demo's, and then a night with many games, in which a timeline provider dies."""

    def __init__(self, options: argparse.Namespace) -> None:
        super().__init__(options)
        #: Signals that are on their way.
        self.signals: set[asyncio.Task] = set()

    async def register(self) -> None:
        await asyncio.to_thread(self.picture_dashboard, "empty", "system")
        await super().register()

    async def play(self) -> bool:
        await self.drained()
        for number in range(QUIET):
            await self.to_host(number * self.options.hosts // QUIET)
            await asyncio.sleep(0.5)
        await self.drained()
        await asyncio.to_thread(self.picture_dashboard, "quiet", "hosts", "senders", "apps", "forecast", "system")
        adds_up = await super().play()
        self.pushes.clear()
        load = asyncio.create_task(self.games())
        try:
            while len(self.pushes) < PUSHES:
                load.done() and load.result()
                await asyncio.sleep(0.5)
            await asyncio.to_thread(self.picture_dashboard, "burst", "pushes", f"pushes/{self.pushes[-1][1]}")
            await self.picture_page()
            await self.provider_dies()
            await asyncio.to_thread(self.picture_dashboard, "incident", "upstreams")
        finally:
            load.cancel()
            await asyncio.gather(load, return_exceptions=True)
        if self.options.widgets:
            await self.register_many()
            await asyncio.to_thread(self.picture_dashboard, "many", "apps", f"instances?app={demo.APP}&kind=scores")
        return adds_up

    async def register_many(self) -> None:
        """Hosts until there are so many widgets. The program plays them, since these clients would take an hour for a million."""
        # What still waits would reload after these clients have ended.
        (await self.ops.post("/v1/orders", json={"action": "cancel", "of": {"app": demo.APP}})).raise_for_status()
        await self.to_acknowledge.join()
        await self.end_readers()
        told = self.options
        hosts = max(0, told.widgets // 3 - told.hosts)
        scenario = self.options.folder / "many.yaml"
        scenario.write_text(f"for: 1s\nsettle: 30m\nhosts: {{count: {hosts}, widgets: 3, app: true}}\nloads: [{{send: pushes, rate: 10}}]\n")
        demo.say(f"registering {hosts:,} hosts more, which acknowledge what they show first")
        started = time.monotonic()
        generator = await asyncio.create_subprocess_exec(
            told.program, "bench", str(scenario), "--push-port", str(told.push_port), "--host-port", str(told.host_port), "--ca", told.ca,
            "--key", told.key, "--kid", told.kid, "--team", told.team, stdout=asyncio.subprocess.DEVNULL)
        if await generator.wait() != 0:
            raise RuntimeError(f"freshet bench {scenario} ended with {generator.returncode}")
        demo.say(f"  {told.widgets:,} widgets after {time.monotonic() - started:.0f} s")
        # All are acknowledged, and counted, which the gateway does now and then.
        while True:
            stats, budget = [(await self.ops.get(path)).json() for path in ("/v1/stats", "/v1/budget")]
            if stats["reloads"]["outstanding"] <= PAGE_RELOADS and budget.get("instances", 0) >= 3 * (told.hosts + hosts):
                return
            await asyncio.sleep(1)

    async def take(self, reload: dict) -> None:
        """What a push brought is seen at once: its host says so, and that is the acknowledgement."""
        if "push" not in reload["causes"]:
            return await super().take(reload)
        shown = {"signal": "entryShown", "reload": reload["id"], "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
        task = asyncio.create_task(self.signal(int(reload["host"].removeprefix("phone-")), shown))
        self.signals.add(task)
        task.add_done_callback(self.signals.discard)

    async def to_host(self, number: int) -> None:
        headers = {**self.bearer, "apns-push-type": "widgets", "apns-topic": f"{demo.APP}.push-type.widgets", "apns-priority": "10"}
        answer = await self.push.post(f"/3/device/{demo.host_token(number)}", headers=headers, json={"aps": {"content-changed": True}})
        assert answer.status_code == 200, answer.text

    async def provider_dies(self) -> None:
        """Until the gateway says so; meanwhile an operator has paused the characters."""
        os.kill(self.options.provider_pid, signal.SIGTERM)
        order = {"action": "pause", "of": {"app": PAGE_APP, "kind": "character"}}
        (await self.ops.post("/v1/orders", json=order)).raise_for_status()
        while True:
            await self.score_page()
            answer = await self.ops.get("/v1/providers")
            if any(one["health"]["state"] == "inTrouble" for one in answer.json()["providers"]):
                return
            await asyncio.sleep(1)

    async def score_page(self) -> None:
        about = {"kind": "scores", "match": {"team": ["seahawks"]}}
        answer = await self.push.post(
            f"/v1/apps/{PAGE_APP}/pushes",
            headers={**self.bearer, "apns-id": str(uuid.uuid4()), "apns-priority": "10"},
            json={"aps": {"content-changed": True}, "freshet": about},
        )
        assert answer.status_code == 200, answer.text

    async def games(self) -> None:
        """Scores of games that go on, some ten a second: urgent ones, paced ones, and repeats of what is shown."""
        luck = random.Random(1)
        scores: dict[str, int] = {}
        while True:
            team = luck.choice(demo.TEAMS)
            scores[team] = scores.get(team, 0) + luck.choice([0, 3, 7])
            await self.targeted("score", {"team": [team]}, luck.choice([5, 10]), f"{team}:{scores[team]}")
            await asyncio.sleep(luck.uniform(0.02, 0.15))

    def picture_dashboard(self, name: str, *places: str) -> None:
        token = pathlib.Path(self.options.operator_token).read_text().strip()
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
            browser = Dashboard(Dashboard.shell, profile)
            try:
                browser.open(f"https://localhost:{self.options.ops_port}/#token={token}")
                # Until it has taken the token out of its address, and shows a view.
                browser.wait("document.getElementById('main')?.dataset.shown !== undefined")
                browser.wait("document.getElementById('status').innerText.trim() === 'Live'")
                browser.pictures(self.options.folder, f"dashboard-{name}", list(places))
            finally:
                browser.close()

    async def picture_page(self) -> None:
        state = json.loads(self.options.state.read_text())
        game = state["scores"]["seahawks"]
        before, after = (f"{us}-{game['them']}" for us in (game["us"], game["us"] + 7))
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
            browser = Browser(Browser.shell, profile)
            try:
                await asyncio.to_thread(self.open_page, browser, before)
                game["us"] += 7
                self.options.state.write_text(json.dumps(state))
                await self.score_page()
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
    parser.add_argument("--provider-pid", required=True, type=int, help="the timeline provider, which is ended for the picture of an incident")
    parser.add_argument("--folder", required=True, type=pathlib.Path, help="where the pictures go")
    parser.add_argument("--program", required=True, help="the program freshet")
    parser.add_argument("--widgets", type=int, default=0, help="how many there are in the last picture; 0 for no such picture")
    told = parser.parse_args()

    async def play() -> bool:
        return await Night(told).run()

    return 0 if asyncio.run(play()) else 1


if __name__ == "__main__":
    sys.exit(main())
