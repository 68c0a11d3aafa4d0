"""Kills, stops, drains and slows down gateways that share a log, and their brokers, under load; was anything lost, or done twice?

    python Tests/Chaos --program .build/release/freshet --rounds 100 --seed 1

Three brokers and three gateways on loopback; the gateways' clocks are minutes apart. In each round one or two of them, chosen by the seed,
are killed with -9, stopped for a while, or ended in order, or the brokers are far away for one gateway (slow.py). Meanwhile clients that are
not ours (httpx) push, register, change the settings and read event streams, and the gateways deliver to an upstream and a webhook. At the
end the gateways are ended. `freshet log export` and `freshet log outputs` read their logs from the brokers, which are compared with every
answer, with what the streams told, and with what was delivered (checker.py). Then faults are planted in what was read, which the checker has to find.

It fails if something accepted is not in the log, if a known host's push or stream is refused, if a cause has two reloads or two charges, if
a reload was not told to a reader of a stream or not delivered, or delivered and not committed, if a reader was told again of one that it had
acknowledged, if the partitions are not shared out again within minutes, or if the checker misses a planted fault. Times are printed, and fail nothing.
"""

import argparse
import asyncio
import json
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "deploy" / "demo"))

import checker  # noqa: E402
from machines import APP, Cluster, Gateway, Machine  # noqa: E402
from operators import Operators  # noqa: E402
from slow import SlowNetwork  # noqa: E402
from streams import HOSTS, Streams, is_followed  # noqa: E402
from traffic import Traffic  # noqa: E402
from upstream import Upstream, delivery  # noqa: E402

PARTITIONS = 8
#: What happens in a round, and how often of 20.
ROUNDS = {
    "a gateway is killed": 4, "a gateway is stopped": 2, "a gateway is stopped for a moment": 1, "a gateway is drained": 3,
    "a broker is killed": 3, "a broker is stopped": 1, "a broker is ended in order": 1, "a gateway and a broker are killed": 2,
    "two brokers are stopped": 1, "two brokers are gone for long": 1, "a gateway's network is slow": 2,
}
LONG = "a gateway is stopped for long"


def say(text: str = "") -> None:
    print(text, flush=True)


class Chaos:
    def __init__(self, cluster: Cluster, traffic: Traffic, streams: Streams, network: SlowNetwork, told: argparse.Namespace) -> None:
        self.cluster = cluster
        self.network = network
        self.traffic = traffic
        self.streams = streams
        self.random = random.Random(told.seed)
        self.long = told.long
        self.later_brokers = told.nats_later
        #: That ends, and is started again, by what a round does.
        self.is_out: set[Gateway] = set()
        self.takeovers: list[float] = []
        self.gaps: dict[str, list[float]] = {}

    async def rounds(self, count: int) -> None:
        kinds = self.random.choices(list(ROUNDS), ROUNDS.values(), k=count)
        if self.long:
            kinds[-1] = LONG
        for number, kind in enumerate(kinds):
            gateway = self.random.choice(self.cluster.gateways)
            brokers = self.random.sample(self.cluster.brokers, 2)
            begun, first = time.monotonic(), len(self.traffic.accepted_at)
            took = await self.play(kind, gateway, brokers)
            settled = await asyncio.to_thread(self.cluster.wait_settled, 300)
            await asyncio.sleep(self.random.uniform(0.2, 1.0))
            gap = self.longest_gap(begun, first)
            self.gaps.setdefault(kind, []).append(gap)
            accepted = len(self.traffic.accepted_at) - first
            words = [f"round {number + 1} of {count}: {kind}"]
            if took is not None:
                words.append(f"taken over in {took:.1f} s")
            words += [f"shared out {settled:.1f} s later", f"{accepted} accepted, the longest pause {gap:.1f} s"]
            say(", ".join(words))

    def longest_gap(self, begun: float, first: int) -> float:
        """The longest time in which nothing was accepted."""
        times = [begun, *self.traffic.accepted_at[first:], time.monotonic()]
        return max(later - earlier for earlier, later in zip(times, times[1:]))

    async def play(self, kind: str, gateway: Gateway, brokers: list[Machine]) -> float | None:
        wait = self.random.uniform
        match kind:
            case "a gateway is killed":
                return await self.lose(gateway, gateway.kill, gateway.start)
            case "a gateway is stopped":
                return await self.lose(gateway, gateway.pause, gateway.resume)
            case "a gateway is drained":
                return await self.lose(gateway, lambda: self.drain(gateway), gateway.start)
            case "a gateway is stopped for long":
                # Longer than a broker remembers ids, and longer than any gateway or client retries, with appends on
                # their way.
                gateway.pause()
                await asyncio.sleep(self.long)
                gateway.resume()
            case "a gateway is stopped for a moment":
                await self.out([gateway], wait(0.2, 3.0))
            case "a broker is killed":
                brokers[0].kill()
                await asyncio.sleep(wait(0.1, 8))
                brokers[0].start()
            case "a broker is ended in order":
                await asyncio.to_thread(brokers[0].end)
                await asyncio.sleep(wait(0.1, 8))
                if self.later_brokers:
                    brokers[0].command[0] = str(self.later_brokers)
                brokers[0].start()
            case "a broker is stopped":
                await self.out(brokers[:1], wait(0.5, 8))
            case "a gateway and a broker are killed":
                brokers[0].kill()
                took = await self.lose(gateway, gateway.kill, gateway.start)
                brokers[0].start()
                return took
            case "two brokers are stopped":
                await self.out(brokers, wait(0.5, 5))
            case "two brokers are gone for long":
                # Longer than an append waits (`patience`): pushes get 503, and what became of some is not known.
                for broker in brokers:
                    broker.kill()
                await asyncio.sleep(wait(12, 25))
                for broker in brokers:
                    broker.start()
            case "a gateway's network is slow":
                # All goes on, late; or its beats are in time, and no append is answered in time; or its beats are late, too.
                await self.slow(self.random.choice([0.2, 0.2, 1.2, 3.0]), wait(5, 15))
        return None

    async def out(self, machines: list[Machine], seconds: float) -> None:
        for machine in machines:
            machine.pause()
        await asyncio.sleep(seconds)
        for machine in machines:
            machine.resume()

    async def slow(self, delay: float, seconds: float) -> None:
        """What the last gateway and the brokers send each other comes later."""
        say(f"  {self.cluster.gateways[-1].name} is {delay} s away from the brokers, for {seconds:.1f} s")
        self.network.delay = delay
        await asyncio.sleep(seconds)
        self.network.delay = 0.0

    def drain(self, gateway: Gateway) -> None:
        status = gateway.end(300)
        if status != 0:
            say(f"  {gateway.name} was to end in order, and ended with {status}: {gateway.last_words(2).strip()}")

    async def lose(self, gateway: Gateway, lose: Callable[[], None], give_back: Callable[[], None]) -> float | None:
        """How long it took until all that the gateway had was others'; nil if it had nothing."""
        view = await asyncio.to_thread(self.cluster.view)
        had = [one["partition"] for one in (view or {}).get("partitions", []) if one.get("owner") == gateway.name]
        begun = time.monotonic()
        end = begun + 300
        self.is_out.add(gateway)
        await asyncio.to_thread(lose)
        took = None
        while had and time.monotonic() < end:
            view = await asyncio.to_thread(self.cluster.view, gateway)
            partitions = (view or {}).get("partitions", [])
            if partitions and all(partitions[one].get("owner") != gateway.name and partitions[one]["state"] == "running" for one in had):
                took = time.monotonic() - begun
                self.takeovers.append(took)
                break
            await asyncio.sleep(0.05)
        else:
            if had:
                raise RuntimeError(f"what {gateway.name} had was not taken over within 300 s: {json.dumps(view)}")
        await asyncio.sleep(self.random.uniform(0, 2))
        give_back()
        self.is_out.discard(gateway)
        return took

    async def supervise(self) -> None:
        """Starts a gateway again that has ended by itself, as a supervisor does."""
        while True:
            for gateway in self.cluster.gateways:
                if gateway.process and gateway not in self.is_out and gateway.process.poll() not in (None, -9):
                    say(f"  {gateway.name} ended with {gateway.process.returncode} and is started again: {gateway.last_words(2).strip()}")
                    gateway.start()
            await asyncio.sleep(1)


def set_clocks(cluster: Cluster, seconds: int) -> None:
    """One gateway's clock is ahead, another one's behind."""
    shim = cluster.folder / "clock.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", shim, pathlib.Path(__file__).with_name("clock.c")], check=True)
    for gateway, offset in zip(cluster.gateways, (seconds, 0, -seconds)):
        if offset:
            gateway.environment = {"LD_PRELOAD": str(shim), "CHAOS_CLOCK_SECONDS": str(offset)}


def quantiles(values: list[float]) -> str:
    if not values:
        return "none"
    ordered = sorted(values)
    return f"{len(ordered)}, half within {ordered[len(ordered) // 2]:.1f} s, the longest {ordered[-1]:.1f} s"


def dump(cluster: Cluster, name: str) -> None:
    """Writes what a verb that reads the log on the brokers prints."""
    command = [cluster.program, "log", name, "--config", str(cluster.gateways[0].config)]
    with open(cluster.folder / f"{name}.ndjson", "w") as file:
        done = subprocess.run(command, stdout=file, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr}")


async def play(told: argparse.Namespace, cluster: Cluster, network: SlowNetwork, upstream: Upstream) -> Chaos:
    traffic = Traffic(cluster, APP, cluster.folder / "answers.ndjson", told.seed)
    traffic.is_followed, traffic.favourites, traffic.delivery = is_followed, list(HOSTS), delivery
    serving = asyncio.create_task(upstream.run())
    streams = Streams(traffic, cluster.folder / "streams.ndjson", told.seed)
    chaos = Chaos(cluster, traffic, streams, network, told)
    running, reading = asyncio.create_task(traffic.run()), asyncio.create_task(streams.run())
    changing = asyncio.create_task(Operators(traffic, told.seed).run())
    watching = asyncio.create_task(chaos.supervise())
    try:
        while len(traffic.hosts) < 20:
            await asyncio.sleep(0.1)
            if running.done():
                running.result()
        await chaos.rounds(told.rounds)
        traffic.is_over = True
        await running
        await changing
        await asyncio.to_thread(cluster.wait_settled)
        await streams.finish(reading)
        await upstream.finish(traffic)
    finally:
        for machine in cluster.machines:
            if machine.is_paused:
                machine.resume()
        watching.cancel()
        traffic.is_over = streams.is_over = True
        await asyncio.gather(running, reading, changing, return_exceptions=True)
        streams.close()
        await traffic.close()
        upstream.is_over.set()
        await serving
        upstream.close()
    return chaos


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, required=True, help="the program freshet")
    parser.add_argument("--nats", type=pathlib.Path, default=ROOT / ".venv/bin/nats-server", help="the program nats-server")
    parser.add_argument("--nats-later", type=pathlib.Path,
                        help="another version of it: a broker that is ended in order is upgraded in place to that")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--long", type=float, metavar="SECONDS",
                        help="in the last round, a gateway is stopped for so long; 150 is longer than brokers' duplicate window")
    parser.add_argument("--clocks", type=int, default=150, metavar="SECONDS", help="how far one gateway's clock is ahead, and one's behind")
    parser.add_argument("--folder", type=pathlib.Path, help="where logs and answers are kept; by default they go if all is well")
    told = parser.parse_args()
    # Ends as by ^C, with its brokers and gateways.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    folder = told.folder or pathlib.Path(tempfile.mkdtemp(prefix="freshet-chaos-"))
    say(f"seed {told.seed}, {told.rounds} rounds, in {folder}")
    folder.mkdir(parents=True, exist_ok=True)
    upstream, network = Upstream(folder, told.seed), SlowNetwork(3)
    settings = "    budget: unlimited\n" + upstream.app_settings
    cluster = Cluster(folder, str(told.program.resolve()), str(told.nats), PARTITIONS, settings, network.ports)
    network.start(cluster.broker_ports)
    set_clocks(cluster, told.clocks)
    begun = time.monotonic()
    try:
        cluster.start()
        say(f"three gateways share {PARTITIONS} partitions on three brokers; their clocks are {told.clocks} s ahead, right, and {told.clocks} s behind")
        chaos = asyncio.run(play(told, cluster, network, upstream))
        cluster.wait_settled()
        statuses = [gateway.end(120) for gateway in cluster.gateways]
        for name in ("export", "outputs"):
            dump(cluster, name)
    except BaseException:
        say(f"it did not come to an end; the logs are in {folder}, and the same again is --seed {told.seed}")
        raise
    finally:
        for machine in cluster.machines:
            machine.end()
    evidence = checker.Evidence.read(folder, PARTITIONS)
    wrong = checker.check(evidence)
    missed = checker.check_the_checker(evidence) if checker.is_good(wrong) else []
    changes = sum(one["what"] == "change" and one["status"] == 200 for one in evidence.answers)
    counts, told_of, found = chaos.traffic.counts, chaos.streams.counts, evidence.reloads
    say()
    say(f"{told.rounds} rounds in {time.monotonic() - begun:.0f} s, seed {told.seed}")
    say(f"accepted: {counts['push']} pushes to a device, {counts['targeted']} to many, {counts['repeat']} repeats, "
        f"{counts['registration']} registrations, {changes} changes of settings; "
        f"{counts['acknowledgement']} reloads acknowledged")
    say(f"sent again: {counts['again']} times; never answered: {counts['unanswered']}")
    say(f"event streams: {len(chaos.streams.readers)} readers, {told_of['session']} sessions, {told_of['told']} reloads told, "
        f"{told_of['acknowledged']} acknowledged, {told_of['gap']} gaps")
    say(f"deliveries: {len(evidence.deliveries)}, {sum(one['status'] != 200 for one in evidence.deliveries)} of them refused; "
        f"{evidence.delivered_again} came again under an id that had been answered")
    say(f"in the log: {len(evidence.entries)} records, {len(found)} reloads, {sum(one['charged'] for one in found)} of them charged")
    upgraded = sum(broker.command[0] == str(told.nats_later) for broker in cluster.brokers)
    if told.nats_later:
        say(f"brokers upgraded in place: {upgraded} of 3")
    say(f"takeovers: {quantiles(chaos.takeovers)}")
    for kind, gaps in sorted(chaos.gaps.items()):
        say(f"  pauses of what is accepted, where {kind}: {quantiles(gaps)}")
    if any(statuses):
        say(f"the gateways ended with {statuses}")
    for kind, all_of in wrong.items():
        say(f"{kind}: {len(all_of)}")
        for sentence in all_of[:20]:
            say(f"  {sentence}")
    say(f"planted faults that the checker missed: {len(missed)}")
    for sentence in missed:
        say(f"  {sentence}")
    is_good = checker.is_good(wrong) and not missed and (upgraded > 0 or not told.nats_later)
    if is_good and not told.folder:
        shutil.rmtree(folder)
    elif not is_good:
        say(f"what was answered and logged is in {folder}")
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
