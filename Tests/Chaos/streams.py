"""Readers of event streams of hosts and of an app, which are not ours: httpx over HTTP/2.

A reader has one stream open for some seconds, at one gateway, and goes on at another one: mostly with the place that it had, now and then
with one that it had long ago, or with none. It acknowledges what it is told, at once or when it is told again. What it is told and what it
has acknowledged it writes down, in order.
"""

import asyncio
import json
import pathlib
import random
import time

import httpx

from traffic import Traffic
from upstream import delivery

#: Hosts with a stream of their own, by number. The app's reader acknowledges for those that end with 7.
HOSTS = (3, 13, 23, 33, 43, 53)


def is_followed(number: int) -> bool:
    """Whether a reader, an upstream or a webhook acknowledges for a host, and no other client does."""
    return number in HOSTS or number % 10 == 7 or delivery(number) != "stream"


class Streams:
    #: So long nothing new has come at the end; longer than any session, so that each reader has connected again meanwhile.
    quiet = 8.0
    #: The longest wait for that.
    patience = 300.0

    def __init__(self, traffic: Traffic, file: pathlib.Path, seed: int) -> None:
        self.traffic = traffic
        self.random = random.Random(seed)
        self.file = open(file, "w")
        self.counts = dict.fromkeys(("session", "told", "gap", "acknowledged"), 0)
        self.is_ending = False
        self.is_over = False
        self.news_at = time.monotonic()
        self.readers = [Reader(self, f"host-{number}", f"/v1/hosts/{number:064x}/events", [number]) for number in HOSTS]
        self.readers.append(Reader(self, "the app", f"/v1/apps/{traffic.app}/events", range(7, traffic.hosts_max + 1, 10)))

    async def run(self) -> None:
        await asyncio.gather(*(reader.run() for reader in self.readers))

    async def finish(self, running: asyncio.Task) -> None:
        """All that is outstanding is acknowledged, until nothing more comes; then each reader looks once more what there is."""
        self.is_ending = True
        self.news_at = time.monotonic()
        end = time.monotonic() + self.patience
        while time.monotonic() - self.news_at < self.quiet or any(reader.pending for reader in self.readers):
            if time.monotonic() > end:
                raise RuntimeError(f"event streams are not quiet after {self.patience:.0f} s")
            await asyncio.sleep(0.1)
        self.is_over = True
        await running
        for reader in self.readers:
            await reader.look(end)

    def close(self) -> None:
        self.file.close()


class Reader:
    def __init__(self, streams: Streams, name: str, path: str, numbers: list[int] | range) -> None:
        self.streams = streams
        self.name = name
        self.path = path
        self.numbers = {f"host-{number}": number for number in numbers}
        self.session = 0
        #: Every place that it was ever given.
        self.places: list[str] = []
        self.acknowledged: set[str] = set()
        self.pending: set[str] = set()
        self.tasks: set[asyncio.Task] = set()
        self.note("follows", hosts=list(self.numbers))

    def note(self, what: str, **more: object) -> None:
        self.streams.file.write(json.dumps({"reader": self.name, "session": self.session, "what": what, **more}) + "\n")

    @property
    def is_known(self) -> bool:
        """Whether one of its hosts is registered."""
        return any(number in self.streams.traffic.hosts for number in self.numbers.values())

    async def run(self) -> None:
        luck = self.streams.random
        while not self.streams.is_over:
            if not self.is_known:
                await asyncio.sleep(0.2)
                continue
            last = self.places[-1] if self.places else None
            if self.places and luck.random() < 0.2:
                last = luck.choice([None, *self.places[-100:]])
            await self.read(luck.randrange(3), last, luck.uniform(0.5, 5))

    async def look(self, end: float) -> None:
        """Reads until it has been told all that is outstanding."""
        while self.is_known:
            if await self.read(self.streams.random.randrange(3), self.places[-1] if self.places else None, 10, is_last=True):
                return self.note("caught up")
            if time.monotonic() > end:
                raise RuntimeError(f"the event stream of {self.name} does not begin any more")

    async def read(self, index: int, last: str | None, seconds: float, is_last: bool = False) -> bool:
        """Has a stream open for a while. Whether it came to the end of what was outstanding when it began."""
        traffic = self.streams.traffic
        self.session += 1
        self.streams.counts["session"] += 1
        self.note("connecting", gateway=traffic.cluster.gateways[index].name, last=last)
        headers = {"authorization": traffic.bearer, **({"last-event-id": last} if last else {})}
        url = f"https://localhost:{traffic.cluster.gateways[index].host_port}"
        begun = False
        try:
            async with (
                asyncio.timeout(seconds),
                httpx.AsyncClient(http1=False, http2=True, verify=traffic.tls, base_url=url, timeout=httpx.Timeout(4, read=None)) as client,
                client.stream("GET", self.path, headers=headers) as answer,
            ):
                if answer.status_code != 200:
                    if answer.status_code not in (429, 503):
                        self.note("refused", status=answer.status_code, body=(await answer.aread()).decode()[:300])
                    await asyncio.sleep(0.2)
                    return False
                event: dict[str, str] = {}
                async for line in answer.aiter_lines():
                    if line:
                        name, _, value = line.partition(":")
                        event[name] = value.strip()
                        continue
                    begun = self.take(event, is_last) or begun
                    if begun and is_last:
                        return True
                    event = {}
        except (httpx.HTTPError, TimeoutError, RuntimeError, OSError):
            # It is over, or the gateway is away.
            await asyncio.sleep(0.05)
        return begun

    def take(self, event: dict[str, str], is_last: bool) -> bool:
        """Whether it is a place alone, as behind what was outstanding."""
        if place := event.get("id"):
            self.places.append(place)
        kind = event.get("event")
        if kind == "gap":
            self.streams.counts["gap"] += 1
            self.note("gap")
        if kind == "reload":
            reload = json.loads(event["data"])
            self.streams.counts["told"] += 1
            self.note("told", reload=reload["id"], host=reload["host"], again=reload.get("redelivered", False))
            if not is_last:
                self.consider(reload["id"], reload["host"])
        return kind is None and place is not None

    def consider(self, reload: str, host: str) -> None:
        if host not in self.numbers or reload in self.acknowledged:
            return
        self.streams.news_at = time.monotonic()
        if reload not in self.pending and (self.streams.is_ending or self.streams.random.random() < 0.7):
            self.pending.add(reload)
            task = asyncio.create_task(self.acknowledge(reload, self.numbers[host]))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    async def acknowledge(self, reload: str, number: int) -> None:
        """A host's own by its signals, those of others as a back end does."""
        traffic = self.streams.traffic
        if len(self.numbers) == 1:
            body = {"signals": [{"signal": "reloaded", "reload": reload}]}
            answer, times = await traffic.send("host", "POST", f"/v1/hosts/{number:064x}/signals", body, {"content-type": "application/json"})
        else:
            answer, times = await traffic.send(
                "host", "POST", f"/v1/apps/{traffic.app}/acknowledgements", {"reload": reload}, {"content-type": "application/x-ndjson"})
        # It is no longer outstanding where an earlier try was carried out, and its answer never came.
        if answer is not None and (answer.is_success or (answer.status_code == 404 and times > 0)):
            self.acknowledged.add(reload)
            self.streams.counts["acknowledged"] += 1
            self.note("acknowledged", reload=reload)
        elif answer is not None:
            self.note("refused", status=answer.status_code, body=answer.text[:300])
        self.pending.discard(reload)
