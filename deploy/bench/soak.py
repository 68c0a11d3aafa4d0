"""Mixed load for minutes with churn, faults and reloads of the configuration: memory, descriptors and latency must stay flat.

    python3 deploy/bench/soak.py --program .build/release/freshet --minutes 60

A round is `freshet bench deploy/bench/soak.yaml` against one gateway that lives as long as the soak: pushes, targeted pushes, hosts
that register anew, signals, event streams that break and come back. After each round something goes wrong on purpose: a client is
killed amid its requests, the configuration is reloaded, then reloaded with a fault in it, which must be refused. Beside it a
kind's timelines come from a provider that answers in one round, fails every second time in the next and always in the third;
its widgets are pushed to all the while. The rounds'
first third is warm-up; the last third is judged against the middle one. Exits with 1 and the reasons where it is not flat.
"""

import argparse
import json
import os
import pathlib
import signal
import ssl
import statistics
import subprocess
import sys
import threading
import time
import urllib.request

import failing_provider
from gateway import Gateway, descriptors, resident_kib

SCENARIO = pathlib.Path(__file__).parent / "soak.yaml"
# What a push may leave behind: it is kept for questions, up to a limit.
BYTES_PER_PUSH = 1024
# What memory may grow beside that: allocators and tables that double.
MEMORY_SHARE = 0.1
# The same over a few short rounds, which end before tables have the size that they keep.
QUICK_MEMORY_SHARE = 1.0
DESCRIPTORS = 8
# Widgets whose timelines come from the provider, and how often in a round all of them are pushed to.
PROVIDED, PUSHES_A_ROUND = 200, 8
# Tails of single rounds belong to the machine's other users; their medians do not double.
LATENCY_FACTOR, LATENCY_MILLISECONDS = 2.0, 20.0


# How long the gateway may take to read its configuration, on a machine that is busy.
RELOAD_SECONDS = 600


def ask(gateway: Gateway, path: str) -> dict:
    context = ssl.create_default_context(cafile=gateway.ca)
    request = urllib.request.Request(f"https://localhost:{gateway.ops}{path}", headers=gateway.operator)
    with urllib.request.urlopen(request, context=context) as answer:
        return json.load(answer)


def command(options: argparse.Namespace, gateway: Gateway) -> list[str]:
    return [
        options.program, "bench", SCENARIO, "--push-port", str(gateway.push), "--host-port", str(gateway.host),
        "--ca", gateway.ca, *gateway.sender, "--server-pid", str(gateway.process.pid),
        "--scale", str(options.scale), "--stretch", str(options.round / 20), "--json", "--quiet",
    ]


def one_round(options: argparse.Namespace, gateway: Gateway, number: int) -> dict:
    # Always the same hosts, whose registrations go on from round to round.
    bench = subprocess.Popen(command(options, gateway), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    is_done = threading.Event()
    pushing = threading.Thread(target=push_on, args=(gateway, is_done, options.round / PUSHES_A_ROUND))
    pushing.start()
    output, errors = bench.communicate()
    is_done.set()
    pushing.join()
    result = subprocess.CompletedProcess(bench.args, bench.returncode, output, errors)
    if result.returncode not in (0, 1) or not result.stdout:
        raise RuntimeError(f"round {number} ended with {result.returncode}: {result.stderr}")
    return json.loads(result.stdout)


def failed(report: dict) -> int:
    """Operations that failed. A registration that a newer one of the same host overtook on its way did not: the newer one holds."""
    overtaken = sum(failure["count"] for load in report["loads"] for failure in load["failures"]
                    if failure["reason"] == "stale-revision")
    return sum(load["failed"] for load in report["loads"]) - overtaken


def push_on(gateway: Gateway, is_done: threading.Event, every: float) -> None:
    """Makes the gateway ask the provider, until it is told that it is enough: at least once, and no more often where the
    round takes longer than it should, so that what waits for a provider that fails has a bound."""
    for _ in range(PUSHES_A_ROUND):
        failing_provider.push(gateway)
        if is_done.wait(every):
            return


def fault(options: argparse.Namespace, gateway: Gateway, number: int) -> str:
    """One thing that goes wrong; what it was."""
    configuration = gateway.folder / "freshet.yaml"
    kind = number % 3
    if kind == 0:
        client = subprocess.Popen(command(options, gateway), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(min(2.0, options.round / 4))
        client.kill()
        client.wait()
        return "a client was killed"
    good = configuration.read_text()
    if kind == 1:
        configuration.write_text(good + f"# reloaded {number}\n")
    else:
        configuration.write_text(good + "nonsense: true\n")
    before = ask(gateway, "/v1/config")["loadedAt"]
    os.kill(gateway.process.pid, signal.SIGHUP)
    end = time.monotonic() + RELOAD_SECONDS
    while (report := ask(gateway, "/v1/config"))["loadedAt"] == before:
        if time.monotonic() > end:
            raise RuntimeError(f"the configuration was not read within {RELOAD_SECONDS} s")
        time.sleep(0.05)
    wanted = "loaded" if kind == 1 else "refused"
    if report["result"] != wanted:
        raise RuntimeError(f"the configuration was {report['result']}, not {wanted}")
    if kind == 2:
        configuration.write_text(good)
    return "the configuration was reloaded" if kind == 1 else "a faulty configuration was refused"


def judge(samples: list[dict], is_quick: bool) -> list[str]:
    """Why it is not flat; empty if it is."""
    third = max(1, len(samples) // 3)
    middle, last = samples[-2 * third:-third] or samples[:1], samples[-third:]

    def median(part: list[dict], name: str) -> float:
        return statistics.median(sample[name] for sample in part)

    reasons = []
    pushes = median(last, "accepted") - median(middle, "accepted")
    grown = (median(last, "resident") - median(middle, "resident")) * 1024
    share = QUICK_MEMORY_SHARE if is_quick else MEMORY_SHARE
    allowed = share * median(middle, "resident") * 1024 + BYTES_PER_PUSH * pushes
    if grown > allowed:
        reasons.append(f"memory grew by {grown / 2**20:.1f} MiB, {allowed / 2**20:.1f} MiB are allowed")
    opened = max(sample["descriptors"] for sample in last) - max(sample["descriptors"] for sample in middle)
    if opened > DESCRIPTORS:
        reasons.append(f"descriptors grew by {opened}")
    before, after = median(middle, "p99"), median(last, "p99")
    if not is_quick and after > LATENCY_FACTOR * before + LATENCY_MILLISECONDS:
        reasons.append(f"p99 of accepted pushes went from {before:.1f} to {after:.1f} ms")
    return reasons


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--scale", type=float, default=1.0, help="times as many hosts and operations")
    parser.add_argument("--round", type=float, default=20.0, help="seconds of a round")
    parser.add_argument("--quick", action="store_true",
                        help="eight short rounds of a small load, without judging latencies: for machines that are busy")
    parser.add_argument("--json", type=pathlib.Path, help="write the samples")
    options = parser.parse_args()
    if options.quick:
        options.minutes, options.scale, options.round = 0, 0.05, 1.0
    least = 8 if options.quick else 3
    options.program = str(pathlib.Path(options.program).resolve())
    provider = failing_provider.FailingProvider()
    gateway = Gateway(options.program, 1, settings=provider.settings)
    failing_provider.register(gateway, options.program, PROVIDED)
    samples: list[dict] = []
    reasons: list[str] = []
    try:
        end = time.monotonic() + 60 * options.minutes
        while time.monotonic() < end or len(samples) < least:
            number = len(samples)
            provider.round, asked, refused = number, provider.asked, provider.failed
            report = one_round(options, gateway, number)
            now = ask(gateway, "/v1/stats")
            pushes = next(load for load in report["loads"] if load["name"] == "pushes")
            sample = {
                "resident": resident_kib(gateway.process.pid), "descriptors": descriptors(gateway.process.pid),
                "accepted": now["pushes"]["accepted"], "balanced": now["pushes"]["balanced"],
                "p99": pushes["latencyMicroseconds"]["accepted"]["p99"] / 1000,
                "failed": failed(report), "reloads": report["hosts"]["reloads"],
                "asked": provider.asked - asked, "refused": provider.failed - refused,
            }
            samples.append(sample)
            what = fault(options, gateway, number)
            print(f"{number + 1:4}: {sample['accepted']:,} pushes in all, {sample['reloads']:,} reloads, p99 {sample['p99']:.1f} ms,"
                  f" resident {sample['resident'] / 1024:,.1f} MiB, descriptors {sample['descriptors']},"
                  f" provider asked {sample['asked']} times and failed {sample['refused']},"
                  f" failed {sample['failed']}, balanced {sample['balanced']}; then {what}", flush=True)
            if sample["failed"]:
                reasons.append(f"round {number + 1}: {sample['failed']} operations failed: "
                               + json.dumps([load["failures"] for load in report["loads"] if load["failures"]]))
            if not sample["balanced"]:
                reasons.append(f"round {number + 1}: the books do not balance")
            if gateway.process.poll() is not None:
                reasons.append(f"the gateway ended with {gateway.process.returncode}")
                break
        if not any(sample["refused"] for sample in samples):
            reasons.append("the provider was never asked, or never failed")
    finally:
        gateway.stop()
        provider.stop()
    if options.json:
        options.json.write_text(json.dumps(samples, indent=2))
    # Not in every round: after failures in a row the gateway leaves it alone for a while.
    if provider.asked == 0 or provider.failed == 0:
        reasons.append(f"the provider was asked {provider.asked} times and failed {provider.failed}")
    reasons += judge(samples, options.quick)
    for reason in reasons:
        print(f"NOT FLAT: {reason}")
    if not reasons:
        latency = "" if options.quick else ", latency"
        print(f"flat over {len(samples)} rounds: memory, descriptors{latency}; nothing failed, the books balance")
    return 1 if reasons else 0


if __name__ == "__main__":
    sys.exit(main())
