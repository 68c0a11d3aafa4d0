"""Three gateways share a log on three NATS brokers; an owner, a broker and a standby die in the middle, and the books close.

    cluster.py --program .build/release/freshet

Clients that Freshet did not write (httpx over HTTP/2) register hosts and push to any of the gateways. What is answered 503 they send to
the next one. At the end two gateways hand over what they have, and the last one tells what became of every push.
"""

import argparse
import asyncio
import collections
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from machines import APP, Cluster, Gateway, Machine
from traffic import Traffic

ROOT = pathlib.Path(__file__).resolve().parents[2]


def say(text: str = "") -> None:
    print(text, flush=True)


class Demo:
    def __init__(self, cluster: Cluster, told: argparse.Namespace) -> None:
        self.cluster = cluster
        self.told = told
        self.answers = cluster.folder / "answers.ndjson"
        self.traffic = Traffic(cluster, APP, self.answers, seed=1)
        self.traffic.hosts_max = told.hosts

    def show(self) -> None:
        """What an operator sees."""
        view = self.cluster.view() or {"nodes": [], "partitions": []}
        for node in view["nodes"]:
            say(f"  {node['name']:<10} {node['state']:<8} {node['partitions']:>2} partitions")

    async def go_on(self, pushes: int) -> None:
        """Until so many more pushes were accepted."""
        wanted = self.traffic.counts["push"] + pushes
        while self.traffic.counts["push"] < wanted:
            await asyncio.sleep(0.05)
            if self.running.done():
                self.running.result()

    async def owners(self, besides: Gateway | None = None) -> collections.Counter:
        view = await asyncio.to_thread(self.cluster.view, besides)
        return collections.Counter(one.get("owner") for one in (view or {}).get("partitions", []) if one["state"] == "running")

    async def standbys(self) -> collections.Counter:
        view = await asyncio.to_thread(self.cluster.view)
        return collections.Counter(one.get("standby") for one in (view or {}).get("partitions", []))

    async def kill(self, gateway: Gateway, why: str) -> None:
        had = (await self.owners())[gateway.name]
        before = self.traffic.counts["push"]
        say(f"kill -9 of {gateway.name}, {why}: it has {had} partitions")
        gateway.kill()
        begun = time.monotonic()
        while True:
            owners = await self.owners(gateway)
            if owners[gateway.name] == 0 and sum(owners.values()) == self.told.partitions:
                break
            if time.monotonic() - begun > 300:
                raise RuntimeError(f"the others have not taken over within 300 s: {dict(owners)}")
            await asyncio.sleep(0.05)
        say(f"  after {time.monotonic() - begun:.1f} s the others have them; {self.traffic.counts['push'] - before} pushes were accepted meanwhile")
        await self.go_on(100)
        say(f"  {gateway.name} starts again, and gets its share back")
        gateway.start()
        await asyncio.to_thread(self.cluster.wait_ready, gateway)
        await asyncio.to_thread(self.cluster.wait_settled)
        self.show()

    async def kill_broker(self, broker: Machine) -> None:
        say(f"kill -9 of the broker {broker.name}: its streams choose another leader, and pushes wait for that")
        broker.kill()
        begun = time.monotonic()
        await self.go_on(100)
        say(f"  100 more pushes were accepted after {time.monotonic() - begun:.1f} s; {broker.name} starts again")
        broker.start()
        await asyncio.to_thread(self.cluster.wait_settled)

    async def play(self) -> bool:
        say("registering hosts and pushing to all three gateways")
        self.running = asyncio.create_task(self.traffic.run())
        try:
            await self.go_on(300)
            owners = await self.owners()
            first = max(self.cluster.gateways, key=lambda one: owners[one.name])
            await self.kill(first, "the owner of the most")
            await self.kill_broker(self.cluster.brokers[1])
            followed = await self.standbys()
            others = [one for one in self.cluster.gateways if one is not first]
            second = max(others, key=lambda one: followed[one.name])
            await self.kill(second, f"which stands by for {followed[second.name]} partitions of the others")
            await self.go_on(200)
        finally:
            self.traffic.is_over = True
            await self.running
        say("the clients stop; what is outstanding is acknowledged")
        await self.traffic.acknowledge_all()
        await self.traffic.close()
        return await asyncio.to_thread(self.close_books)

    def close_books(self) -> bool:
        last, *others = self.cluster.gateways
        for gateway in others:
            say(f"SIGTERM to {gateway.name}: it hands over what it has, and ends with {gateway.end(120)}")
        self.cluster.wait_settled(nodes=1)
        total: collections.Counter = collections.Counter()
        ids = [line["id"] for line in self.accepted() if line["what"] in ("push", "targeted")]
        matched = unknown = 0
        for identifier in ids:
            push = self.cluster.ask(last, f"/v1/pushes/{identifier}", timeout=60)
            if push is None:
                unknown += 1
                continue
            matched += push["matched"]
            total.update(push["outcomes"])
        stats = self.cluster.ask(last, "/v1/stats", timeout=60) or {}
        say()
        say(f"{len(ids):,} pushes were accepted, by three gateways of which two died, and {unknown} are unknown")
        say(f"they matched {matched:,} widgets")
        for name, count in total.most_common():
            say(f"  {name:<12} {count:>8,}")
        adds_up = sum(total.values()) == matched
        say(f"  {'sum':<12} {sum(total.values()):>8,}   {'= matched, the books are closed' if adds_up else 'DOES NOT ADD UP'}")
        say(f"sent again after 503 or no answer: {self.traffic.counts['again']} times; never answered: {self.traffic.counts['unanswered']}")
        return adds_up and unknown == 0 and stats.get("pushes", {}).get("balanced") is True

    def accepted(self) -> list[dict]:
        return [one for one in map(json.loads, self.answers.read_text().splitlines()) if one["status"] == 200]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, required=True, help="the program freshet")
    parser.add_argument("--nats", type=pathlib.Path, default=ROOT / ".venv/bin/nats-server", help="the program nats-server")
    parser.add_argument("--hosts", type=int, default=200)
    parser.add_argument("--partitions", type=int, default=8)
    told = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="freshet-demo-cluster-"))
    cluster = Cluster(folder, str(told.program.resolve()), str(told.nats), told.partitions)
    begun = time.monotonic()
    try:
        say("starting three brokers and three gateways")
        cluster.start()
        status = ["cluster", "status", "--server", f"https://localhost:{cluster.gateways[0].ops_port}", "--ca", str(cluster.ca), "--data",
                  str(cluster.gateways[0].data)]
        say(subprocess.run([cluster.program, *status], capture_output=True, text=True).stdout)
        is_good = asyncio.run(Demo(cluster, told).play())
    except BaseException as error:
        say(f"the demo did not come to its end: {error}")
        say(f"what the gateways and brokers said is in {folder}")
        raise
    finally:
        cluster.stop()
    say(f"{time.monotonic() - begun:.0f} s")
    if is_good:
        shutil.rmtree(folder)
    else:
        say(f"this is wrong; what the gateways and brokers said is in {folder}")
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
