"""One seed against one gateway: batches of requests, and what must hold of their answers and behind them."""

import argparse
import base64
import collections
import dataclasses
import json
import pathlib
import random
import subprocess
import time

from client import Answer, Request
from grammar import Grammar
from hostile import HostileServices
from target import BLUE, BLUE_APP, BLUE_TOKEN, RED, RED_APPS, UPSTREAM_APP, Target, cpu_seconds, descriptors, resident_kib

OUT = pathlib.Path(__file__).resolve().parents[3] / ".build" / "fuzz" / "routes"
BATCH = 40
# Batches between two restarts, by turns short and long enough to see whether memory grows; and between two looks at it.
RESTART_EVERY, LOOK_EVERY = (30, 300), 10
MEMORY_SHARE, MEMORY_MIB, DESCRIPTORS = 0.15, 24, 16
# Statuses from 500 on that say that the gateway has no room, or does not do it.
ALLOWED = {503, 507}


@dataclasses.dataclass
class Finding:
    seed: int
    batch: int
    what: str
    file: str = ""

    def __str__(self) -> str:
        return f"FOUND seed {self.seed}, batch {self.batch}: {self.what}" + (f"\n      {self.file}" if self.file else "")


def is_foreign(request: Request) -> bool:
    """Whether it asks for what is another team's with credentials of the first. Operators may; OPTIONS tells nothing."""
    if request.listener == "ops" or request.method == "OPTIONS" or is_relayed(request):
        return False
    return BLUE_TOKEN in request.path or BLUE_APP in request.path


def is_relayed(request: Request) -> bool:
    """Whether its answer is the upstream's, who means it ill: pushes of other types are handed on (`relay`)."""
    fields = dict(request.headers)
    topic, kind = fields.get("apns-topic", ""), fields.get("apns-push-type", "widgets")
    is_ours = topic.endswith((".push-type.widgets", ".push-type.controls")) and kind in ("widgets", "controls")
    return request.path.startswith("/3/device/") and topic.startswith(UPSTREAM_APP) and not is_ours


def write_batch(seed: int, batch: int, requests: list[Request]) -> str:
    OUT.mkdir(parents=True, exist_ok=True)
    file = OUT / f"seed-{seed}-batch-{batch}.json"
    fields = [dataclasses.asdict(r) | {"body": base64.b64encode(r.body).decode()} for r in requests]
    file.write_text(json.dumps(fields, indent=1))
    return str(file)


def read_batch(file: pathlib.Path) -> list[Request]:
    return [Request(**(fields | {"body": base64.b64decode(fields["body"]), "headers": [tuple(h) for h in fields["headers"]]}))
            for fields in json.loads(file.read_text())]


class Run:
    """One seed against one gateway."""

    def __init__(self, options: argparse.Namespace, seed: int) -> None:
        self.options, self.seed, self.batch, self.age = options, seed, 0, 0
        self.findings: list[Finding] = []
        self.statuses: collections.Counter = collections.Counter()
        self.cuts: collections.Counter = collections.Counter()
        self.asked: collections.Counter = collections.Counter()
        self.answers: collections.Counter = collections.Counter()
        self.samples: list[tuple[float, int]] = []
        self.memory: list[list[int]] = []
        self.cpu, self.restarts = 0.0, 0
        luck = random.Random(seed)
        self.luck = luck
        folder = Target.make_folder(options.program)
        self.services = HostileServices(seed, str(folder / "certs" / "server.pem"), str(folder / "certs" / "server.key"))
        self.target = Target(options.program, self.services, folder, seed % 2 == 1, options.patience)
        self.grammar = Grammar(luck, self.target)
        self.prepare(self.target)

    def prepare(self, target: Target) -> None:
        """The neighbour's host, and widgets enough that what each of them costs shows."""
        register(target, BLUE, BLUE_TOKEN, BLUE_APP, "panel-1", 1, "x")
        self.put_up_walls(target)

    @staticmethod
    def put_up_walls(target: Target) -> None:
        for number in range(4):
            register(target, RED, f"{0xF00 + number:064x}", RED_APPS[0], f"wall-{number}", 240, "a" * 900)

    # MARK: Batches

    def step(self) -> None:
        self.batch += 1
        requests = [self.grammar.request() for _ in range(BATCH)]
        before = self.cpu_now()
        answers = self.send(requests)
        if not self.judge(requests, answers):
            return
        cost = self.settled_cost(before)
        if not self.judge_life(requests):
            return
        self.cpu += cost
        if cost > self.options.cost:
            self.find_costly(requests)
        if self.batch % LOOK_EVERY == 0 and self.target.is_alive():
            self.look()
        self.age += 1
        if not self.target.is_in_memory and self.age >= RESTART_EVERY[self.restarts % 2] and self.target.is_alive():
            self.restart()

    def send(self, requests: list[Request]) -> list[Answer]:
        """All of them over a connection a listener; the answers in the requests' order."""
        answers: list[Answer] = [Answer(cut="not sent")] * len(requests)
        for listener in ("push", "host", "ops"):
            places = [place for place, request in enumerate(requests) if request.listener == listener]
            try:
                found = self.target.client(listener).ask([requests[place] for place in places])
            except OSError as error:
                found = [Answer(cut=f"no connection: {error}")] * len(places)
            for place, answer in zip(places, found):
                answers[place] = answer
        return answers

    def cpu_now(self) -> float:
        """CPU seconds of the gateway so far; 0 where it has ended, which is judged by itself."""
        try:
            return cpu_seconds(self.target.process.pid)
        except FileNotFoundError:
            return 0

    def judge_life(self, requests: list[Request]) -> bool:
        """False where the gateway has ended, of these requests or of what came of them."""
        if self.target.is_alive():
            return True
        code = self.target.process.wait()
        self.report(f"the gateway ended with {code}: {self.target.last_words()[-600:]}", requests)
        self.start_again()
        return False

    def judge(self, requests: list[Request], answers: list[Answer]) -> bool:
        """False where the gateway has ended."""
        if not self.judge_life(requests):
            return False
        for request, answer in zip(requests, answers):
            self.asked[request.method + " " + request.listener] += 1
            self.statuses[answer.status or 0] += 1
            self.answers[request.operation, (answer.status or 0) // 100] += 1
            if answer.status is None:
                self.cuts[answer.cut[:80]] += 1
                if "in time" in answer.cut or "no connection" in answer.cut:
                    self.report(f"no answer ({answer.cut}) to {request}", [request])
            elif answer.status >= 500 and answer.status not in ALLOWED and not (is_relayed(request) and answer.status < 600):
                self.report(f"{answer.status} {answer.body[:200]!r} to {request}", [request])
            elif is_taken(request, answer) and is_foreign(request):
                self.report(f"another team's is answered with {answer.status} {answer.body[:200]!r}: {request}", [request])
            self.grammar.learn(request, answer)
        return True

    def settled_cost(self, before: float) -> float:
        """CPU seconds of the gateway since then, once all that is logged has been applied."""
        end = time.monotonic() + self.options.patience
        while time.monotonic() < end and self.target.is_alive():
            try:
                status, answer = self.target.ask("/v1/partitions")
            except OSError:
                continue
            if status == 200 and all(p["lag"] == 0 and p["uncommittedEffects"] == 0 for p in answer["partitions"]):
                return max(0.0, self.cpu_now() - before)
            time.sleep(0.02)
        if self.target.is_alive():
            self.report("the log was not applied in time", [])
        return 0

    def find_costly(self, requests: list[Request]) -> None:
        """Which of them it was: each again, alone."""
        for request in requests:
            if not self.judge_life([request]):
                return
            before = self.cpu_now()
            self.send([request])
            cost = self.settled_cost(before)
            # A move of the clock stops at limits.maxClockStops instants, and asks timeline providers at each.
            may_cost = self.options.cost * (10 if request.path.startswith("/v1/clock") else 1)
            if cost > may_cost:
                self.report(f"one request costs {cost:.1f} CPU-seconds: {request} {request.body[:300]!r}", [request])

    def look(self) -> None:
        # The requests may have taken them away.
        self.put_up_walls(self.target)
        status, stats = self.target.ask("/v1/stats")
        if status != 200:
            self.report(f"/v1/stats answers {status}", [])
        elif not stats["pushes"]["balanced"]:
            self.report(f"the books do not balance: {stats['pushes']}", [])
        mine = Request("host", "GET", f"/v1/hosts/{BLUE_TOKEN}/widgets", [("authorization", f"bearer {self.target.token(BLUE)}")])
        answer = self.target.client("host").ask([mine])[0]
        if answer.status != 200 or b'"panel-1"' not in answer.body or answer.body.count(b'"kind"') != 1:
            self.report(f"another team's host is not what it was: {answer.status} {answer.body[:300]!r}", [])
        self.samples.append((resident_kib(self.target.process.pid) / 1024, descriptors(self.target.process.pid, self.target.folder / "data")))

    def restart(self) -> None:
        self.judge_memory()
        self.restarts += 1
        try:
            self.target.restart(is_killed=self.luck.random() < 0.5)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            self.report(f"no restart: {error}", [])
            self.start_again()
        # Another process, whose memory is no measure of the one before.
        self.samples, self.age = [], 0

    def start_again(self) -> None:
        """On an empty disk: what was found is told, and the seed goes on."""
        if self.target.is_alive():
            self.target.process.kill()
            self.target.process.wait()
        subprocess.run(["rm", "-rf", self.target.folder / "data"], check=True)
        self.target.start()
        self.prepare(self.target)
        self.samples, self.age = [], 0

    def report(self, what: str, requests: list[Request]) -> None:
        file = write_batch(self.seed, self.batch, requests) if requests else ""
        finding = Finding(self.seed, self.batch, what, file)
        self.findings.append(finding)
        print(finding, flush=True)

    def judge_memory(self) -> None:
        """Whether the last third of a process's life took more than the second. A log in memory only grows."""
        third = len(self.samples) // 3
        if third >= 4 and not self.target.is_in_memory:
            self.memory.append([round(m) for m, _ in self.samples])
            middle, last = self.samples[-2 * third:-third], self.samples[-third:]
            before, after = max(m for m, _ in middle), max(m for m, _ in last)
            if after > before * (1 + MEMORY_SHARE) + MEMORY_MIB:
                self.report(f"memory grew from {before:.0f} to {after:.0f} MiB", [])
            if max(d for _, d in last) > max(d for _, d in middle) + DESCRIPTORS:
                self.report(f"descriptors grew from {max(d for _, d in middle)} to {max(d for _, d in last)}", [])

    def finish(self) -> None:
        self.judge_memory()
        code = self.target.stop()
        if code != 0:
            self.report(f"SIGTERM ended the gateway with {code}: {self.target.last_words()[-600:]}", [])
        if not self.target.is_in_memory:
            check = subprocess.run([self.options.program, "log", "verify", "--data", self.target.folder / "data"], capture_output=True, text=True)
            if check.returncode != 0:
                self.report(f"the log does not verify: {check.stdout[-500:]}{check.stderr[-500:]}", [])
        if not self.findings:
            self.target.remove()
        else:
            print(f"      its folder is {self.target.folder}")

    def line(self) -> str:
        total = sum(self.asked.values())
        classes = collections.Counter({f"{status // 100}xx" if status else "cut": 0 for status in self.statuses})
        for status, count in self.statuses.items():
            classes[f"{status // 100}xx" if status else "cut"] += count
        counts = ", ".join(f"{count:,} {name}" for name, count in sorted(classes.items()))
        where = "in memory" if self.target.is_in_memory else f"on disk, {self.restarts} restarts"
        return (f"seed {self.seed} ({where}): {total:,} requests: {counts}; services asked {self.services.asked:,} times; "
                f"{1000 * self.cpu / max(total, 1):.2f} ms of CPU a request; {len(self.findings)} findings")


def is_taken(request: Request, answer: Answer) -> bool:
    """Whether something was granted: a bulk is answered with 200, and each of its lines for itself."""
    if not 200 <= answer.status < 300:
        return False
    return not request.path.split("?")[0].endswith("/pushes/bulk") or b'"status":200' in answer.body


def register(target: Target, team: str, token: str, app: str, host: str, count: int, text: str) -> None:
    body = {"app": app, "host": host, "instances": [
        {"id": f"w{place}", "kind": "scores", "family": "systemSmall", "configuration": {"team": f"{text}{place}"}} for place in range(count)
    ]}
    request = Request("host", "PUT", f"/v1/hosts/{token}/widgets", [("authorization", f"bearer {target.token(team)}")], json.dumps(body).encode())
    answer = target.client("host").ask([request])[0]
    # A damaged request may have registered it with a later revision: then it is there, too.
    if answer.status not in (200, 409):
        raise RuntimeError(f"no registration: {answer}")
