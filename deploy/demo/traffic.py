"""Clients of several gateways, which are not ours: httpx over HTTP/2. They register hosts, push, repeat, and acknowledge.

A client knows nothing of partitions. What is not answered, or answered 503, it sends again to the next gateway, the same as it was,
until it is told something final; that it writes down.
"""

import asyncio
import json
import pathlib
import random
import ssl
import time
import uuid
from collections.abc import Callable

import httpx

from machines import Cluster

TEAMS = ["seahawks", "rams", "bears", "jets", "bills", "colts", "lions", "titans"]


class Traffic:
    #: How many hosts there are at most, and how many of each client.
    hosts_max, pushers, registrars, acknowledgers = 400, 4, 2, 2
    #: A client that is not told anything final for so long gives up, and knows nothing.
    patience = 120.0

    def __init__(self, cluster: Cluster, app: str, answers: pathlib.Path, seed: int) -> None:
        self.cluster = cluster
        self.app = app
        self.random = random.Random(seed)
        self.answers = open(answers, "w")
        self.hosts: dict[int, int] = {}
        self.busy: set[int] = set()
        self.to_acknowledge: set[int] = set()
        #: Whether a host of this number is acknowledged for by others, who read event streams; those in the list get a fourth of the pushes.
        self.is_followed: Callable[[int], bool] = lambda number: False
        self.favourites: list[int] = []
        #: How the reloads of a host of this number reach it.
        self.delivery: Callable[[int], str] = lambda number: "stream"
        self.is_over = False
        self.counts = dict.fromkeys(
            ("push", "targeted", "registration", "repeat", "acknowledgement", "unanswered", "again"), 0)
        self.accepted_at: list[float] = []
        # Its own, since it offers HTTP/2.
        self.tls = ssl.create_default_context(cafile=str(cluster.ca))
        self.clients = [
            {port: httpx.AsyncClient(http1=False, http2=True, verify=self.tls, base_url=f"https://localhost:{number}", timeout=4.0,
                                     limits=httpx.Limits(max_connections=4))
             for port, number in (("push", gateway.push_port), ("host", gateway.host_port), ("ops", gateway.ops_port))}
            for gateway in cluster.gateways
        ]
        self.minted = (0.0, "")

    @property
    def bearer(self) -> str:
        if time.monotonic() - self.minted[0] > 2400 or not self.minted[1]:
            self.minted = (time.monotonic(), self.cluster.mint())
        return f"bearer {self.minted[1]}"

    def authorization(self, port: str, index: int) -> str:
        """A sender's for all gateways; each has an operator's of its own."""
        return f"bearer {self.cluster.gateways[index].operator_token}" if port == "ops" else self.bearer

    async def run(self) -> None:
        workers = [self.push() for _ in range(self.pushers)] + [self.register() for _ in range(self.registrars)]
        workers += [self.acknowledge() for _ in range(self.acknowledgers)]
        await asyncio.gather(*workers)

    async def close(self) -> None:
        self.answers.close()
        for each in self.clients:
            for client in each.values():
                await client.aclose()

    async def send(self, port: str, method: str, path: str, body: object, headers: dict = {}) -> tuple[httpx.Response | None, int]:
        """The first final answer of any gateway, and how often it was sent before; none if that took too long."""
        end = time.monotonic() + self.patience
        index = self.random.randrange(len(self.clients))
        times = 0
        while time.monotonic() < end:
            try:
                answer = await self.clients[index][port].request(
                    method, path, headers={"authorization": self.authorization(port, index), **headers},
                    content=None if body is None else json.dumps(body).encode())
                if answer.status_code not in (429, 503):
                    return answer, times
            except (httpx.HTTPError, RuntimeError, OSError):
                # It may have been done, or not.
                pass
            times += 1
            self.counts["again"] += 1
            index = (index + 1) % len(self.clients)
            await asyncio.sleep(0.02 if times % len(self.clients) else 0.1)
        self.counts["unanswered"] += 1
        return None, times

    def note(self, answer: httpx.Response, **what: object) -> None:
        if answer.status_code == 200:
            self.counts[what["what"]] += 1
            self.accepted_at.append(time.monotonic())
        else:
            what["body"] = answer.text[:300]
        self.answers.write(json.dumps({**what, "status": answer.status_code}) + "\n")

    # MARK: Clients

    async def push(self) -> None:
        while not self.is_over:
            await asyncio.sleep(self.random.uniform(0.005, 0.06))
            if self.hosts and self.random.random() < 0.97:
                await self.push_to_device(self.choose_host())
            elif self.hosts:
                await self.push_to_many()

    def choose_host(self) -> int:
        favourites = [number for number in self.favourites if number in self.hosts]
        return self.random.choice(favourites if favourites and self.random.random() < 0.25 else list(self.hosts))

    async def push_to_device(self, number: int) -> None:
        identifier = str(uuid.UUID(int=self.random.getrandbits(128), version=4))
        request = ("push", "POST", f"/3/device/{number:064x}", {"aps": {"content-changed": True}}, {
            "apns-topic": f"{self.app}.push-type.widgets", "apns-push-type": "widgets", "apns-priority": "10", "apns-id": identifier})
        answer, _ = await self.send(*request)
        if answer is None:
            return
        self.note(answer, what="push", id=identifier, host=f"host-{number}")
        self.let_acknowledge(number)
        # Senders repeat what they are not sure of.
        if answer.status_code == 200 and self.random.random() < 0.1:
            again, _ = await self.send(*request)
            if again is not None:
                self.counts["repeat"] += again.status_code == 200
                if again.status_code != 200:
                    self.note(again, what="push", id=identifier, host=f"host-{number}")

    async def push_to_many(self) -> None:
        identifier = str(uuid.UUID(int=self.random.getrandbits(128), version=4))
        answer, _ = await self.send("push", "POST", f"/v1/apps/{self.app}/pushes", {
            "aps": {"content-changed": True}, "freshet": {"kind": "scores", "match": {"team": [self.random.choice(TEAMS)]}},
        }, {"apns-id": identifier, "apns-priority": "10", "content-type": "application/json"})
        if answer is not None:
            self.note(answer, what="targeted", id=identifier)

    async def register(self) -> None:
        while not self.is_over:
            await asyncio.sleep(self.random.uniform(0.02, 0.2))
            known = [number for number in self.hosts if number not in self.busy]
            is_new = len(self.hosts) + len(self.busy) < self.hosts_max and (not known or self.random.random() < 0.5)
            number = max([0, *self.hosts, *self.busy]) + 1 if is_new else self.random.choice(known or [1])
            if number in self.busy:
                continue
            self.busy.add(number)
            try:
                await self.register_host(number)
            finally:
                self.busy.discard(number)

    async def register_host(self, number: int) -> None:
        revision = self.hosts.get(number, 0) + 1
        # Widgets are added and none is taken away, so that each is added once.
        widgets = [{"id": f"w{i}", "kind": "scores", "family": "systemSmall", "configuration": {"team": TEAMS[(number + i) % len(TEAMS)]}}
                   for i in range(min(1 + revision // 4, 3))]
        body = {"app": self.app, "host": f"host-{number}", "revision": revision, "delivery": self.delivery(number), "instances": widgets}
        # Never stale: an equal revision is applied again, and a host's next one is sent when this one has been answered.
        answer, _ = await self.send("host", "PUT", f"/v1/hosts/{number:064x}/widgets", body, {"content-type": "application/json"})
        if answer is None:
            return
        self.note(answer, what="registration", host=f"host-{number}", revision=revision)
        if answer.status_code == 200:
            self.hosts[number] = revision
            self.let_acknowledge(number)

    def let_acknowledge(self, number: int) -> None:
        if not self.is_followed(number):
            self.to_acknowledge.add(number)

    async def acknowledge(self) -> None:
        """As hosts that have reloaded."""
        while not self.is_over:
            await asyncio.sleep(0.02)
            if not self.to_acknowledge:
                continue
            number = self.random.choice(list(self.to_acknowledge))
            await self.acknowledge_host(number)

    async def acknowledge_host(self, number: int) -> int | None:
        """How many reloads of a host were outstanding; nil if no gateway said."""
        self.to_acknowledge.discard(number)
        answer, _ = await self.send("host", "GET", f"/v1/hosts/{number:064x}/state", None)
        if answer is None or answer.status_code != 200:
            return None
        signals = [{"signal": "reloaded", "reload": one["id"]} for one in answer.json()["outstanding"]]
        if signals:
            done, _ = await self.send("host", "POST", f"/v1/hosts/{number:064x}/signals", {"signals": signals},
                                      {"content-type": "application/json"})
            if done is not None and done.is_success:
                self.counts["acknowledgement"] += len(signals)
        return len(signals)

    async def acknowledge_all(self) -> None:
        """Until no host has anything outstanding."""
        left = set(self.hosts)
        while left:
            for number in sorted(left):
                if await self.acknowledge_host(number) == 0:
                    left.discard(number)
