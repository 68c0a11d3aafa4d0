"""Another team's back end: pushes to its one host over a connection of its own, and to a gateway that nothing else uses in turn.

What both have in common is the machine and its mood; the difference is what the fuzzed gateway's other peers cost.
"""

import argparse
import json
import pathlib
import select
import statistics
import subprocess
import sys
import time

from client import Client, Request
from run import Run
from target import BLUE, BLUE_TOKEN, Target

PAUSE = 0.03
# The neighbour's longest wait: a factor of its wait at the twin, and a time beside that.
LATENCY_FACTOR, LATENCY_MILLISECONDS = 3.0, 10.0
HEADERS = [("apns-topic", "com.example.blue.push-type.widgets"), ("apns-push-type", "widgets"), ("apns-expiration", "0")]
BODY = b'{"aps":{"content-changed":true}}'


def p99(samples: list[float]) -> float:
    return statistics.quantiles(samples, n=100)[98] if len(samples) > 1 else 0


class Neighbour:
    """Another team beside all that, and a twin of the gateway that has only it."""

    def __init__(self, options: argparse.Namespace, run: Run) -> None:
        folder = Target.make_folder(options.program)
        self.twin = Target(options.program, run.services, folder, run.target.is_in_memory, options.patience)
        run.prepare(self.twin)
        self.process = subprocess.Popen(
            [sys.executable, pathlib.Path(__file__)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.tell(run)

    def tell(self, run: Run) -> None:
        places = {
            name: {"port": target.ports["push"], "ca": str(target.folder / "certs" / "ca.pem"), "token": BLUE_TOKEN, "bearer": target.token(BLUE)}
            for name, target in (("fuzzed", run.target), ("twin", self.twin))
        }
        self.starts = run.target.starts
        self.process.stdin.write(json.dumps(places) + "\n")
        self.process.stdin.flush()

    def finish(self, run: Run) -> dict:
        output, _ = self.process.communicate("{}\n", timeout=600)
        waited = json.loads(output)
        self.twin.stop()
        self.twin.remove()
        allowed = LATENCY_FACTOR * waited["twin"]["p99"] + LATENCY_MILLISECONDS
        if waited["fuzzed"]["p99"] > allowed:
            run.report(f"a neighbour's p99 is {waited['fuzzed']['p99']:.1f} ms, at the twin {waited['twin']['p99']:.1f} ms", [])
        return waited


def main() -> None:
    """Reads a line of JSON for each turn: ports and token of each gateway, or {} for the end. Prints what it waited."""
    places: dict[str, dict] = {}
    clients: dict[str, Client] = {}
    waited: dict[str, list[float]] = {"fuzzed": [], "twin": []}
    refused: dict[str, int] = {}
    while True:
        if select.select([sys.stdin], [], [], 0)[0]:
            told = json.loads(sys.stdin.readline() or "{}")
            if not told:
                break
            places = told
            for client in clients.values():
                client.close()
            clients = {}
        for name, place in places.items():
            if name not in clients:
                clients[name] = Client(place["port"], place["ca"], 300)
            request = Request("push", "POST", f"/3/device/{place['token']}", [("authorization", f"bearer {place['bearer']}"), *HEADERS], BODY)
            try:
                is_new = clients[name].tls is None
                began = time.monotonic()
                answer = clients[name].ask([request])[0]
                if answer.status == 200 and not is_new:
                    waited[name].append(time.monotonic() - began)
                elif answer.status != 200:
                    what = f"{name} {answer.status or answer.cut} {answer.body[:100].decode('utf-8', 'replace')}"
                    refused[what] = refused.get(what, 0) + 1
            except OSError as error:
                refused[f"{name} {type(error).__name__}"] = refused.get(f"{name} {type(error).__name__}", 0) + 1
        time.sleep(PAUSE)
    print(json.dumps({
        **{name: {"count": len(samples), "p50": statistics.median(samples or [0]) * 1000, "p99": p99(samples) * 1000, "max": max(samples or [0]) * 1000}
           for name, samples in waited.items()}, "refused": refused,
    }))


if __name__ == "__main__":
    main()
