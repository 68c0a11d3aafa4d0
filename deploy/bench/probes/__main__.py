"""Abuse probes: what hostile peers do to a gateway, one after the other, and what it costs everybody else.

Starts a gateway of its own with short deadlines and small caps. While a probe runs, an honest client on another connection
must get its answers; afterwards memory is back at its level and no descriptor is left behind.
"""

import argparse
import dataclasses
import json
import pathlib
import signal
import ssl
import sys
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import connections  # noqa: E402, F401
import frames  # noqa: E402, F401
from catalogue import PROBES, Patience, Probe  # noqa: E402
from gateway import APP, KID, TEAM, TOPIC, Gateway, descriptors, resident_kib, token  # noqa: E402
from peer import Peer, Surprise  # noqa: E402
from witness import Witness  # noqa: E402

LIMITS = {"maxConnections": 100, "maxConnectionsPerAddress": 40, "maxHandshakes": 20}
TIMEOUTS = {"handshake": 2, "firstRequest": 2, "headers": 2, "request": 4, "idle": 20, "idleHTTP1": 6, "writeStall": 3}
# Connections of push and host together may take half of what the start leaves of them.
DESCRIPTORS = 260
# Where no probe waits for a deadline, none of them is to come in the way on a busy machine.
PATIENT_TIMEOUTS = dict.fromkeys(TIMEOUTS, 300)
# The same of everything that a probe waits for.
PATIENCE = 20
# No probe takes longer than this, or it fails.
PROBE_SECONDS = 60
# How long memory and descriptors may take to come back: the longest deadline, and a little.
SETTLE_SECONDS = 15


def give_up(*_) -> None:
    raise Surprise(f"it took more than {PROBE_SECONDS * Patience.factor} s")


class Target:
    """The gateway as probes see it."""

    def __init__(self, program: str, timeouts: dict[str, int]) -> None:
        limits = ", ".join(f"{key}: {value}" for key, value in LIMITS.items())
        deadlines = ", ".join(f"{key}: {value}s" for key, value in timeouts.items())
        settings = (f"limits: {{{limits}, maxImportBytes: 2MiB, maxConnectionBytes: 4MiB, maxListenerBytes: 4MiB}}\n"
                    f"timeouts: {{{deadlines}}}\n")
        self.gateway = Gateway(program, 10, under=["prlimit", f"--nofile={DESCRIPTORS}"], settings=settings)
        self.push, self.host, self.ops = self.gateway.push, self.gateway.host, self.gateway.ops
        self.ca, self.bearer, self.pid = str(self.gateway.ca), self.gateway.bearer, self.gateway.process.pid
        self.operator = self.gateway.operator
        self.token, self.topic, self.team, self.kid, self.app = token(0), TOPIC, TEAM, KID, APP
        self.limits, self.timeouts, self.descriptors_max = LIMITS, timeouts, DESCRIPTORS
        self.context = ssl.create_default_context(cafile=self.ca)

    def stats(self) -> dict:
        request = urllib.request.Request(f"https://localhost:{self.ops}/v1/stats", headers=self.operator)
        with urllib.request.urlopen(request, context=self.context) as answer:
            return json.load(answer)["listeners"]

    def count(self, path: str | None) -> int:
        """A counter such as push.limits.maxResets."""
        value = self.stats()
        for name in (path or "").split("."):
            value = value.get(name, 0) if path else 0
        return value

    def descriptors(self) -> int:
        """Without those of the log, which a gateway opens as the log grows, by any sender's requests."""
        return descriptors(self.pid, besides=self.gateway.folder / "data")

    def resident_mib(self) -> float:
        return resident_kib(self.pid) / 1024


@dataclasses.dataclass
class Result:
    name: str
    what: str
    passed: bool
    problems: list[str]
    seconds: float
    witness_milliseconds: float
    witness_answers: int
    memory_before_mib: float
    memory_after_mib: float
    descriptors_before: int
    descriptors_after: int


def settle(target: Target, memory: float, files: int, patience: int = 1) -> tuple[float, int]:
    """Waits until memory and descriptors are back; gives what they are then, or at the end of patience."""
    end = time.monotonic() + SETTLE_SECONDS * patience
    while True:
        now, open_now = target.resident_mib(), target.descriptors()
        if (now <= memory and open_now <= files) or time.monotonic() > end:
            return now, open_now
        time.sleep(0.1)


def is_counted(target: Target, name: str, before: int, patience: int) -> bool:
    """Waits until the gateway has counted something: it may do so after the answer."""
    end = time.monotonic() + SETTLE_SECONDS * patience
    while target.count(name) <= before:
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def run(probe: Probe, target: Target, witness: Witness, options: argparse.Namespace) -> Result:
    problems = []
    memory, files, counted = target.resident_mib(), target.descriptors(), target.count(probe.counts)
    witness.begin()
    began = time.monotonic()
    try:
        signal.alarm(PROBE_SECONDS * Patience.factor)
        probe.run(target)
    except Exception as error:
        problems.append(f"{type(error).__name__}: {error}")
    finally:
        signal.alarm(0)
    seconds = time.monotonic() - began
    waited, answers, trouble = witness.finish()
    if trouble:
        problems.append(f"the other connection: {trouble}")
    if waited > options.within:
        problems.append(f"the other connection waited {waited:.2f} s")
    memory_after, files_after = settle(target, memory + options.memory, files, Patience.factor)
    if memory_after > memory + options.memory:
        problems.append(f"memory grew by {memory_after - memory:.1f} MiB")
    if files_after > files:
        problems.append(f"{files_after - files} descriptors are left")
    if probe.counts and not is_counted(target, probe.counts, counted, Patience.factor):
        problems.append(f"{probe.counts} did not count it")
    return Result(probe.name, (probe.run.__doc__ or "").strip(), not problems, problems, round(seconds, 2),
                  round(waited * 1000, 1), answers, round(memory, 1), round(memory_after, 1), files, files_after)


def line(number: int, count: int, result: Result) -> str:
    return (f"{number:3}/{count} {'pass' if result.passed else 'FAIL'}  {result.name:32} {result.seconds:6.1f} s"
            f"  others {result.witness_milliseconds:6.0f} ms"
            f"  memory {result.memory_before_mib:6.1f} -> {result.memory_after_mib:6.1f} MiB"
            f"  descriptors {result.descriptors_before} -> {result.descriptors_after}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="probes", description=__doc__)
    parser.add_argument("--program", required=True, help="the freshet to start")
    parser.add_argument("--quick", action="store_true", help="only those that wait for no deadline")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="only these")
    parser.add_argument("--within", type=float, default=1, help="seconds that an honest answer may take (1)")
    parser.add_argument("--memory", type=float, default=16, help="MiB that memory may stay above its level (16)")
    parser.add_argument("--json", metavar="FILE", help="write the results to a file; - is standard output")
    options = parser.parse_args()
    chosen = [p for p in PROBES if (not options.quick or p.is_quick) and (not options.only or p.name in options.only)]
    if unknown := set(options.only or []) - {p.name for p in PROBES}:
        parser.error(f"there is no probe {', '.join(sorted(unknown))}")

    Patience.factor = PATIENCE if options.quick else 1
    signal.signal(signal.SIGALRM, give_up)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    progress = sys.stderr if options.json == "-" else sys.stdout
    target = Target(options.program, PATIENT_TIMEOUTS if options.quick else TIMEOUTS)
    witness = None
    results = []
    try:
        witness = Witness(
            f"https://localhost:{target.push}/3/device/{target.token}", target.ca,
            {"authorization": f"bearer {target.bearer}", "apns-topic": TOPIC, "apns-push-type": "widgets"},
        )
        # The level: what a gateway takes that has met its first peers.
        for _ in range(50):
            for port in (target.push, target.host, target.ops):
                Peer(target, port, greet=False).tls.close()
        witness.begin()
        witness.finish()
        target.stats()
        settle(target, target.resident_mib(), 0)
        level = target.resident_mib()
        for number, probe in enumerate(chosen, 1):
            results.append(run(probe, target, witness, options))
            print(line(number, len(chosen), results[-1]), file=progress, flush=True)
            for problem in results[-1].problems:
                print(f"{'':12}{problem}", file=progress, flush=True)
        last = target.resident_mib()
        is_alive = target.gateway.process.poll() is None
    finally:
        if witness:
            witness.stop()
        target.gateway.stop()
    failed = [result.name for result in results if not result.passed]
    print(f"{len(results) - len(failed)} of {len(results)} probes passed; memory {level:.1f} -> {last:.1f} MiB"
          + ("" if is_alive else "; THE GATEWAY HAS ENDED"), file=progress)
    if options.json:
        text = json.dumps({"level_mib": round(level, 1), "last_mib": round(last, 1), "within_seconds": options.within,
                           "memory_tolerance_mib": options.memory, "probes": [dataclasses.asdict(r) for r in results]}, indent=1)
        if options.json == "-":
            print(text)
        else:
            pathlib.Path(options.json).write_text(text)
    return 0 if results and not failed and is_alive else 1


if __name__ == "__main__":
    sys.exit(main())
