"""Rows of three gateways that share a log on three NATS brokers, beside one gateway with its log in SQLite; and of takeovers."""

import argparse
import asyncio
import collections
import concurrent.futures
import contextlib
import json
import os
import pathlib
import random
import ssl
import statistics
import subprocess
import sys
import time
import uuid
from collections.abc import Iterable

import httpx

from gateway import APP, TOPIC, Gateway, cpu_seconds, registrations, service_environment, token
from load import BODY, device_uris, h2load, run_h2load
from rows import Row, absent
from session import Session

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "demo"))
import machines  # noqa: E402

PARTITIONS = 16
#: Of each of nine connections: pushes under way. A message to the brokers has more pushes if more are under way.
STREAMS = (100, 1000)
SQLITE = "one gateway with SQLite"
NODES, ALL = "durable pushes per CPU-second of three gateways", "durable pushes per CPU-second of three gateways and three brokers"
TAKEOVER = "kill -9 of an owner, until each of its partitions has decided a push elsewhere"


def cluster_rows(options: argparse.Namespace) -> list[Row]:
    """Pushes to three gateways on three brokers with replicas 3, and to one with SQLite, in turns; and takeovers."""
    if not pathlib.Path(options.nats).exists():
        return [absent("P14", name, "three NATS brokers", "not installed: make setup", unit=unit, target=target, at_least=at_least)
                for name, unit, target, at_least in ((NODES, "/s", 0.6, True), (ALL, "/s", 0.35, True), (f"{TAKEOVER}, p99", "s", 3, False))]
    single = Gateway(options.program, options.cluster_hosts)
    several = Several(options)
    try:
        several.start()
        uris = device_uris(single, options.cluster_hosts)
        # First: behind the greater load, brokers and gateways tidy up for a minute.
        takeovers = takeover_rows(several, options)
        pushes = [row for streams in STREAMS for row in push_rows(single, several, uris, streams, options)]
        return pushes + takeovers
    finally:
        several.cluster.stop()
        single.stop()


class Several:
    """Three gateways on three brokers, with hosts."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.folder = options.folder / "cluster"
        self.hosts = options.cluster_hosts
        self.program = str(pathlib.Path(options.program).resolve())
        self.cluster = machines.Cluster(self.folder, self.program, str(pathlib.Path(options.nats).resolve()), PARTITIONS)
        for gateway in self.cluster.gateways:
            gateway.environment = service_environment()
        #: Numbers of hosts.
        self.by_partition: dict[int, list[int]] = {}
        self.minted: tuple[float, str] | None = None

    @property
    def bearer(self) -> str:
        """A provider token, a new one every half hour: they hold for an hour, and connections may not change theirs sooner."""
        if self.minted is None or time.monotonic() - self.minted[0] > 1800:
            self.minted = (time.monotonic(), self.cluster.mint())
        return self.minted[1]

    @property
    def gateways(self) -> list[int]:
        return [gateway.process.pid for gateway in self.cluster.gateways]

    @property
    def brokers(self) -> list[int]:
        return [broker.process.pid for broker in self.cluster.brokers]

    def start(self) -> None:
        self.cluster.start()
        lines, count = registrations(self.hosts, 3).splitlines(), 12

        def register(number: int) -> None:
            file, gateway = self.folder / f"hosts-{number}.ndjson", self.cluster.gateways[number % 3]
            file.write_text("\n".join(lines[number::count]))
            subprocess.run(
                [self.program, "import", "--server", f"https://localhost:{gateway.host_port}", "--ca", self.cluster.ca,
                 "--key", self.cluster.key, "--kid", machines.KID, "--team", machines.TEAM, "--app", APP, file],
                check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        # An import waits for the answers to each of its requests: several at once go faster.
        with concurrent.futures.ThreadPoolExecutor(count) as pool:
            list(pool.map(register, range(count)))
        export = [self.program, "log", "export", "--config", self.cluster.gateways[0].config]
        log = subprocess.run(export, check=True, stdout=subprocess.PIPE, text=True).stdout
        partitions = {entry["host"]: entry["partition"] for entry in map(json.loads, log.splitlines()) if entry["record"] == "register"}
        for number in range(self.hosts):
            self.by_partition.setdefault(partitions[f"h{number}"], []).append(number)
        (self.folder / "body.json").write_text(BODY)

    def owners(self) -> dict[int, str]:
        """Who has which partition, once that is settled."""
        self.cluster.wait_settled()
        return {one["partition"]: one["owner"] for one in self.cluster.view()["partitions"]}

    def addresses(self, own: bool) -> list[pathlib.Path]:
        """For each gateway a file with the addresses of hosts' tokens: of all, or of those that it has."""
        files, owners = [], self.owners()
        for gateway in self.cluster.gateways:
            numbers = [number for partition, hosts in self.by_partition.items() if not own or owners[partition] == gateway.name
                       for number in hosts]
            random.Random(1).shuffle(numbers)
            files.append(self.folder / f"{gateway.name}-{'own' if own else 'all'}.uris")
            files[-1].write_text("\n".join(f"https://localhost:{gateway.push_port}/3/device/{token(number)}" for number in numbers))
        return files

    def load(self, seconds: int, own: bool, streams: int) -> tuple[int, int]:
        """Pushes at all three at once, by three connections with so many streams to each: how many were answered 200, and how many were not."""
        bearer = self.bearer

        def put_on(uris: pathlib.Path) -> tuple[int, int, str]:
            return run_h2load(["-c3", f"-m{streams}", f"-D{seconds}"], uris, self.folder / "body.json", bearer)

        with concurrent.futures.ThreadPoolExecutor() as pool:
            results = list(pool.map(put_on, self.addresses(own)))
        return sum(answered for answered, _, _ in results), sum(failed for _, failed, _ in results)


def spent(pids: Iterable[int]) -> float:
    return sum(cpu_seconds(pid) for pid in pids)


def written(pids: Iterable[int]) -> int:
    """What processes have had written to disks."""
    return sum(int(line.split()[1]) for pid in pids for line in pathlib.Path(f"/proc/{pid}/io").read_text().splitlines()
               if line.startswith("write_bytes:"))


def kept(folder: pathlib.Path) -> int:
    size = 0
    for path, _, names in os.walk(folder):
        for name in names:
            # Brokers remove files and folders meanwhile.
            with contextlib.suppress(FileNotFoundError):
                size += os.stat(os.path.join(path, name)).st_blocks * 512
    return size


def rest(pids: list[int], patience: float = 20) -> None:
    """Waits until gateways have decided what they accepted: until they take less than a tenth of a core."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        before = spent(pids)
        time.sleep(0.5)
        if spent(pids) - before < 0.05:
            return


# MARK: Pushes


def push_rows(single: Gateway, several: Several, uris: pathlib.Path, streams: int, options: argparse.Namespace) -> list[Row]:
    figures: dict[str, list[float]] = collections.defaultdict(list)
    asked = refused = 0
    rest(several.gateways)
    for number in range(options.rounds):
        own = [single.process.pid]
        cpu, bytes = spent(own), written(own)
        answered = h2load(["-c9", f"-m{streams}", f"-D{options.seconds}"], uris, single)
        rest(own)
        figures["single"].append(answered / (spent(own) - cpu))
        figures["single bytes"].append((written(own) - bytes) / answered)
        for way in ("any", "own"):
            nodes, brokers = several.gateways, several.brokers
            before = spent(nodes), spent(brokers), written(brokers), kept(several.folder)
            answered, failed = several.load(options.seconds, way == "own", streams)
            rest(nodes)
            used = spent(nodes) - before[0]
            figures[f"{way} nodes"].append(answered / used)
            figures[f"{way} all"].append(answered / (used + spent(brokers) - before[1]))
            figures[f"{way} a second"].append(answered / options.seconds)
            figures[f"{way} bytes"].append((written(brokers) - before[2]) / max(1, answered))
            figures[f"{way} kept"].append((kept(several.folder) - before[3]) / max(1, answered))
            asked, refused = asked + answered + failed, refused + failed
        print(f"  round {number + 1}: " + ", ".join(f"{name} {values[-1]:,.0f}" for name, values in figures.items()), flush=True)
    note = f"{refused} of {asked} were not answered 200" if refused else ""
    load = f"{9 * streams:,} under way"
    sizes = f"{load}, {3 * options.cluster_hosts:,} instances, {PARTITIONS} partitions"

    def row(name: str, way: str, target: float | None = None) -> Row:
        return Row("P14", name, "/s", figures[way], SQLITE, figures["single"], target, times_faster=False, note=note)

    at_owner = f"{load}, each push at the gateway that has its host"
    return [
        row(f"{NODES}, {sizes}", "any nodes", 0.6), row(f"{ALL}, {sizes}", "any all", 0.35),
        row(f"{NODES}, {at_owner}", "own nodes"), row(f"{ALL}, {at_owner}", "own all"),
        Row("P14", f"durable pushes a second by the clock, {load}, all of it and the load on the same cores", "/s", figures["any a second"]),
        Row("P14", f"bytes written to the disks of three brokers, a push, {load}", "B", figures["any bytes"], SQLITE, figures["single bytes"]),
        Row("P14", f"the same, {at_owner}", "B", figures["own bytes"], SQLITE, figures["single bytes"]),
        Row("P14", f"bytes that stay on the disks of three brokers, a push, {load}", "B", figures["any kept"]),
    ]


# MARK: Takeovers


def takeover_rows(several: Several, options: argparse.Namespace) -> list[Row]:
    times: list[float] = []
    stalls: list[float] = []
    stall = Session(sys.executable, pathlib.Path(__file__).with_name("stall.py"))
    try:
        for number in range(options.kills):
            owners = several.owners()
            victim, survivor = (several.cluster.gateways[(number + step) % 3] for step in (0, 1))
            lost = [partition for partition, owner in owners.items() if owner == victim.name]
            stall.ask("begin")
            begun = time.monotonic()
            victim.kill()
            took = asyncio.run(decided_again(several, survivor, lost, begun))
            stalls.append(stall.ask("end")["seconds"])
            times += took
            print(f"  kill {number + 1}: {len(lost)} partitions, half of them within {statistics.median(took):.2f} s, all within "
                  f"{max(took):.2f} s; the machine stood still for {stalls[-1]:.2f} s", flush=True)
            victim.start()
            several.cluster.wait_ready(victim)
    finally:
        stall.stop()
    if not times:
        return []
    ordered = sorted(times)
    p99 = ordered[max(0, -(-len(ordered) * 99 // 100) - 1)]
    kills = f"{len(times)} partitions in {options.kills} kills"
    peer = "longest stall of the machine meanwhile"
    return [
        Row("P14", f"{TAKEOVER}, p50 of {kills}", "s", [statistics.median(ordered)], peer, [statistics.median(stalls)]),
        Row("P14", f"{TAKEOVER}, p99", "s", [p99], peer, [max(stalls)], target=3, at_least=False),
    ]


async def decided_again(several: Several, survivor: machines.Gateway, partitions: list[int], begun: float) -> list[float]:
    """How long it took until each of the partitions had decided a push that came behind the kill."""
    tls = ssl.create_default_context(cafile=str(several.cluster.ca))
    headers = {"authorization": f"bearer {several.bearer}"}
    url = f"https://localhost:{survivor.push_port}"
    async with httpx.AsyncClient(http1=False, http2=True, verify=tls, base_url=url, headers=headers, timeout=30) as client:
        return await asyncio.gather(*(decided(client, random.choice(several.by_partition[one]), begun) for one in partitions))


async def decided(client: httpx.AsyncClient, number: int, begun: float, patience: float = 60) -> float:
    identifier = str(uuid.uuid4())
    headers = {"apns-topic": TOPIC, "apns-push-type": "widgets", "apns-priority": "10", "apns-id": identifier}
    is_accepted, said = False, "nothing"
    while time.monotonic() - begun < patience:
        try:
            if not is_accepted:
                answer = await client.post(f"/3/device/{token(number)}", content=BODY, headers=headers)
                is_accepted = answer.status_code == 200
            else:
                answer = await client.get(f"/v1/pushes/{identifier}")
                if answer.status_code == 200 and (push := answer.json())["matched"] and push["appliedBy"]:
                    return time.monotonic() - begun
            said = f"{answer.status_code} {answer.text}"
        except httpx.HTTPError as error:
            said = repr(error)
        await asyncio.sleep(0.01)
    raise RuntimeError(f"a push to a partition whose owner was killed was not decided within {patience:.0f} s; the last answer was {said}")
