"""A gateway's day in two minutes, driven by clients that Freshet did not write.

Registers hosts, follows their reloads on an event stream, sends pushes with aioapns (an APNs client from PyPI) and
httpx, and prints what became of each matched widget until the books are closed: matched = the sum of all outcomes.
"""

import argparse
import asyncio
import collections
import json
import random
import ssl
import sys
import time
import uuid

import httpx
from aioapns import NotificationRequest
from aioapns.connection import APNsProductionClientProtocol
from aioapns.client import APNs

APP = "com.example.scores"
TEAMS = [
    "seahawks", "49ers", "rams", "cardinals", "packers", "bears", "lions", "vikings", "cowboys", "eagles", "giants",
    "commanders", "saints", "falcons", "panthers", "buccaneers", "chiefs", "raiders", "chargers", "broncos", "bills",
    "dolphins", "patriots", "jets", "ravens", "steelers", "browns", "bengals", "colts", "texans", "jaguars", "titans",
]
CHARACTERS = ["panda", "egghead", "spouty", "power-panda"]
FINAL = ["reloaded", "exempt", "coalesced", "superseded", "expired", "unchanged", "removed", "cancelled", "failed"]
OUTCOMES = FINAL + ["deferred", "issued"]


class WidgetsPushType:
    """aioapns knows no widget pushes yet; all it needs of a push type is its value."""

    value = "widgets"


def say(text: str = "") -> None:
    print(text, flush=True)


def host_token(number: int) -> str:
    return f"{number:064x}"


def registration(number: int) -> dict:
    """Host `number`: two score widgets for two teams and one game character, as in Apple's articles."""
    generator = random.Random(number)
    first, second = generator.sample(TEAMS, 2)
    return {
        "token": host_token(number),
        "host": f"phone-{number}",
        "app": APP,
        "revision": 1,
        "instances": [
            {"id": "scores-1", "kind": "scores", "family": "systemSmall",
             "configuration": {"team": first, "league": "nfl"}},
            {"id": "scores-2", "kind": "scores", "family": "systemMedium",
             "configuration": {"team": second, "league": "nfl"}},
            {"id": "character", "kind": "character", "family": "accessoryCircular",
             "configuration": {"character": generator.choice(CHARACTERS), "level": generator.randrange(1, 60)}},
        ],
    }


class Demo:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.token = open(options.token).read().strip()
        self.bearer = {"authorization": f"bearer {self.token}"}
        self.tls = ssl.create_default_context(cafile=options.ca)
        limits = httpx.Limits(max_connections=8)
        self.host = self.client(options.host_port, limits)
        self.push = self.client(options.push_port, limits)
        self.ops = self.client(options.ops_port, limits)
        self.ops.headers["authorization"] = f"bearer {open(options.operator_token).read().strip()}"
        self.pushes: list[tuple[str, str]] = []
        self.reloads: collections.Counter = collections.Counter()
        self.to_acknowledge: asyncio.Queue = asyncio.Queue()
        self.reload_seen = asyncio.Event()
        #: Of the event stream, and of what it brings.
        self.readers: list[asyncio.Task] = []

    def client(self, port: int, limits: httpx.Limits) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            http2=True, verify=self.tls, base_url=f"https://localhost:{port}", timeout=60, limits=limits
        )

    # Hosts

    async def register(self) -> None:
        say(f"registering {self.options.hosts:,} hosts with {3 * self.options.hosts:,} widget instances")
        started = time.monotonic()
        refused = 0
        for start in range(0, self.options.hosts, 500):
            end = min(start + 500, self.options.hosts)
            lines = "\n".join(json.dumps(registration(number)) for number in range(start, end))
            while True:
                answer = await self.host.post(f"/v1/apps/{APP}/hosts", headers=self.bearer, content=lines)
                # On a busy machine this client may be too slow with a body. The same lines again register the same.
                if answer.status_code != 408:
                    break
            answer.raise_for_status()
            refused += sum(json.loads(line)["status"] != 200 for line in answer.text.splitlines())
            if sys.stdout.isatty():
                print(f"\r  {end:,} of {self.options.hosts:,} hosts", end="", flush=True)
        seconds = time.monotonic() - started
        say(f"{chr(13) if sys.stdout.isatty() else ''}  {self.options.hosts:,} hosts in {seconds:.1f} s, {refused} refused")
        assert refused == 0, "a registration was refused"

    async def follow(self) -> None:
        """Reads the app's event stream and hands every reload to the acknowledger: the hosts have reloaded."""
        timeout = httpx.Timeout(60, read=None)
        async with self.host.stream("GET", f"/v1/apps/{APP}/events", headers=self.bearer, timeout=timeout) as stream:
            stream.raise_for_status()
            async for line in stream.aiter_lines():
                if line.startswith("data: {\"id\""):
                    reload = json.loads(line[6:])
                    self.reloads[",".join(reload["causes"])] += 1
                    self.reload_seen.set()
                    await self.take(reload)

    async def take(self, reload: dict) -> None:
        await self.to_acknowledge.put(reload["id"])

    async def acknowledge(self) -> None:
        while True:
            batch = [await self.to_acknowledge.get()]
            while len(batch) < 2000 and not self.to_acknowledge.empty():
                batch.append(self.to_acknowledge.get_nowait())
            lines = "\n".join(json.dumps({"reload": reload}) for reload in batch)
            answer = await self.host.post(f"/v1/apps/{APP}/acknowledgements", headers=self.bearer, content=lines)
            answer.raise_for_status()
            for _ in batch:
                self.to_acknowledge.task_done()

    async def signal(self, number: int, signal: dict) -> None:
        answer = await self.host.post(f"/v1/hosts/{host_token(number)}/signals", headers=self.bearer, json=signal)
        answer.raise_for_status()

    # Pushes

    async def targeted(self, label: str, match: dict, priority: int = 10, digest: str = "", **headers: str) -> str:
        identifier = str(uuid.uuid4())
        about = {"kind": "scores", "match": match}
        if digest:
            about["digest"] = digest
        answer = await self.push.post(
            f"/v1/apps/{APP}/pushes",
            headers={**self.bearer, "apns-id": identifier, "apns-priority": str(priority), **headers},
            json={"aps": {"content-changed": True}, "freshet": about},
        )
        assert answer.status_code == 200, answer.text
        self.pushes.append((label, identifier))
        return identifier

    async def device(self, label: str, numbers: range) -> None:
        """Apple's own shape, sent by aioapns: the only changes are the host name, the port and the CA."""
        APNsProductionClientProtocol.APNS_SERVER = "localhost"
        APNsProductionClientProtocol.APNS_PORT = self.options.push_port
        client = APNs(
            key=open(self.options.key).read(), key_id=self.options.kid, team_id=self.options.team,
            topic=f"{APP}.push-type.widgets", max_connections=2, ssl_context=self.tls,
        )
        requests = []
        for number in numbers:
            identifier = str(uuid.uuid4())
            self.pushes.append((label, identifier))
            requests.append(
                NotificationRequest(
                    device_token=host_token(number), message={"aps": {"content-changed": True}},
                    notification_id=identifier, priority=10, push_type=WidgetsPushType(),
                )
            )
        results = await asyncio.gather(*(client.send_notification(request) for request in requests))
        failed = [result for result in results if not result.is_successful]
        assert not failed, f"{len(failed)} device pushes failed: {failed[0].description}"
        client.pool.close()

    # Books

    async def outcome(self, identifier: str) -> dict:
        """A push is answered once it is in the log; a moment later, when it is applied, it is known by its id."""
        for _ in range(600):
            answer = await self.ops.get(f"/v1/pushes/{identifier}")
            if answer.status_code != 404:
                break
            await asyncio.sleep(0.05)
        answer.raise_for_status()
        return answer.json()

    async def settled(self, identifier: str) -> dict:
        """The push once none of its reloads is on its way any more; deferred ones may stay so for minutes."""
        for _ in range(2400):
            push = await self.outcome(identifier)
            if push["outcomes"].get("issued", 0) == 0 and push["appliedBy"] == push["partitions"]:
                return push
            await asyncio.sleep(0.05)
        raise TimeoutError(f"push {identifier} still has reloads on their way after two minutes")

    async def joined(self, identifier: str, count: int) -> None:
        """Waits until so many instances of a push have reloaded without a charge."""
        for _ in range(600):
            outcomes = (await self.outcome(identifier))["outcomes"]
            if outcomes.get("exempt", 0) + outcomes.get("coalesced", 0) >= count:
                return
            await asyncio.sleep(0.05)
        raise TimeoutError(f"push {identifier} did not reload {count} instances within half a minute")

    async def show(self, label: str, identifier: str) -> None:
        push = await self.settled(identifier)
        parts = ", ".join(f"{count:,} {name}" for name, count in push["outcomes"].items())
        say(f"  {label:<58} matched {push['matched']:>6,}: {parts or 'nothing'}")

    async def drained(self) -> None:
        """Waits until every reload that was issued has been acknowledged."""
        for _ in range(2400):
            await self.to_acknowledge.join()
            stats = (await self.ops.get("/v1/stats")).json()
            if stats["reloads"]["outstanding"] == 0:
                return
            await asyncio.sleep(0.05)
        raise TimeoutError("reloads are still outstanding after two minutes")

    async def summary(self) -> bool:
        total: collections.Counter = collections.Counter()
        matched = 0
        for _, identifier in self.pushes:
            push = await self.settled(identifier)
            matched += push["matched"]
            total.update(push["outcomes"])
        say()
        say(f"{len(self.pushes):,} pushes matched {matched:,} widget instances")
        for name in OUTCOMES:
            if total[name]:
                say(f"  {name:<12} {total[name]:>8,}")
        adds_up = sum(total.values()) == matched
        say(f"  {'sum':<12} {sum(total.values()):>8,}   {'= matched, the books are closed' if adds_up else 'DOES NOT ADD UP'}")
        stats = (await self.ops.get("/v1/stats")).json()
        say()
        reloads = stats["reloads"]
        say(f"reloads issued {reloads['issued']:,}, charged {reloads['charged']:,}, exempt {sum(reloads['exempt'].values()):,},"
            f" acknowledged {reloads['acknowledged']:,}, outstanding {reloads['outstanding']:,}")
        for causes, count in sorted(self.reloads.items()):
            say(f"  seen on the event stream for {causes:<24} {count:>8,}")
        return adds_up and stats["pushes"]["balanced"]

    async def run(self) -> bool:
        await self.register()
        self.readers = [asyncio.create_task(self.follow()), asyncio.create_task(self.acknowledge())]
        try:
            return await self.play()
        finally:
            await self.end_readers()
            for client in (self.host, self.push, self.ops):
                await client.aclose()

    async def end_readers(self) -> None:
        for reader in self.readers:
            reader.cancel()
        await asyncio.gather(*self.readers, return_exceptions=True)

    async def play(self) -> bool:
        say("following the reloads of all hosts on one event stream; each is acknowledged as it arrives")
        await self.drained()
        say(f"  {sum(self.reloads.values()):,} first reloads, since every instance was just added (not charged)")
        say()
        say("the Seahawks score: one push for every widget of theirs, priority 10")
        first = await self.targeted("score: seahawks", {"team": ["seahawks"]}, digest="seahawks:7-0")
        await self.show("score", first)
        say("the same news again: those who show it already need no reload")
        again = await self.targeted("repeat of the score", {"team": ["seahawks"]}, digest="seahawks:7-0")
        await self.show("same digest", again)
        say("another score within five minutes: the minimum interval defers it")
        second = await self.targeted("score: seahawks again", {"team": ["seahawks"]}, digest="seahawks:14-0")
        await self.show("second score", second)
        say("a flash that is worth nothing later (apns-expiration: 0) expires where it cannot be shown now")
        flash = await self.targeted("flash", {"team": ["seahawks"]}, **{"apns-expiration": "0"})
        await self.show("flash", flash)
        say("a correction with the collapse id of the one before takes its place")
        await self.targeted("draft", {"team": ["seahawks"]}, **{"apns-collapse-id": "final"})
        await self.show("correction", await self.targeted(
            "correction", {"team": ["seahawks"]}, **{"apns-collapse-id": "final"}))
        await self.show("draft", self.pushes[-2][1])
        fans = [number for number in range(self.options.hosts)
                if any(i["configuration"].get("team") == "seahawks" for i in registration(number)["instances"])][:100]
        say(f"{len(fans)} of the fans open the app: what waited for them reloads soon, not charged")
        await asyncio.gather(*(self.signal(number, {"signal": "appForeground"}) for number in fans))
        # Exempt reloads keep 15 seconds of distance from the reload before, so this takes a moment.
        await self.joined(second, len(fans))
        await self.show("second score, after the app was opened", second)
        say("plain APNs pushes to 300 device tokens, sent by aioapns")
        start = self.options.hosts // 2
        await self.device("device pushes", range(start, start + min(300, self.options.hosts - start)))
        await self.drained()
        await self.show("the last device push", self.pushes[-1][1])
        say("the divisional round: one push for half of the league, priority 5 keeps the pace of the budget")
        await self.show("division", await self.targeted("division", {"team": TEAMS[:16]}, priority=5))
        return await self.summary()


def options(about: str | None) -> argparse.ArgumentParser:
    """What everything that plays with the demo's gateway is told."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--ca", required=True)
    parser.add_argument("--token", required=True, help="a file with a provider token")
    parser.add_argument("--key", required=True, help="the provider key, for aioapns")
    parser.add_argument("--kid", required=True)
    parser.add_argument("--team", required=True)
    parser.add_argument("--push-port", type=int, required=True)
    parser.add_argument("--host-port", type=int, required=True)
    parser.add_argument("--ops-port", type=int, required=True)
    parser.add_argument("--operator-token", required=True, help="the file with the token that the gateway made for operators")
    parser.add_argument("--hosts", type=int, default=10_000)
    return parser


def main() -> int:
    demo_options = options(__doc__).parse_args()

    async def play() -> bool:
        return await Demo(demo_options).run()

    return 0 if asyncio.run(play()) else 1


if __name__ == "__main__":
    sys.exit(main())
