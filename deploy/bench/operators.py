"""What open dashboards cost: the CPU time of pushes at a fixed rate with and without them, and how long each question takes.

    python3 deploy/bench/operators.py --program .build/release/freshet --hosts 333334

Pushes to single hosts come at the same rate all the time. In every other stretch dashboards are open: each asks everything
that the page's views ask, and Prometheus' metrics, every two seconds, over a connection of its own. CPU seconds for each push
are compared in pairs of neighbouring stretches, and the median of the pairs is told.
"""

import argparse
import http.client
import json
import pathlib
import ssl
import statistics
import threading
import time

from gateway import APP, Gateway, cpu_seconds
from load import device_uris, h2load, targeted_push

CONNECTIONS = 8
QUESTIONS = [
    "/v1/stats", "/v1/history?step=second", "/v1/history?step=minute", "/v1/senders", "/v1/budget", "/v1/forecast", "/v1/apps",
    "/v1/kinds", "/v1/kinds/scores", "/v1/instances?limit=50", "/v1/instances?limit=50&state=waiting", f"/v1/instances/{APP}/h7:s1",
    "/v1/hosts?limit=50", f"/v1/hosts/{APP}/h7", "/v1/pushes?limit=50", "/v1/providers", "/v1/upstreams", "/v1/partitions",
    "/v1/config", "/metrics",
]


class Dashboard(threading.Thread):
    """Asks all questions every so many seconds until it is closed."""

    def __init__(self, gateway: Gateway, every: float) -> None:
        super().__init__()
        self.gateway, self.every = gateway, every
        self.closed = threading.Event()
        self.seconds: list[tuple[str, float]] = []
        self.faults: list[str] = []

    def run(self) -> None:
        context = ssl.create_default_context(cafile=self.gateway.ca)
        connection = http.client.HTTPSConnection("localhost", self.gateway.ops, context=context, timeout=60)
        while not self.closed.is_set():
            began = time.monotonic()
            for question in QUESTIONS:
                start = time.monotonic()
                connection.request("GET", question, headers=self.gateway.operator)
                answer = connection.getresponse()
                answer.read()
                self.seconds.append((question, time.monotonic() - start))
                if answer.status != 200:
                    self.faults.append(f"{question}: {answer.status}")
            self.closed.wait(max(0, self.every - (time.monotonic() - began)))
        connection.close()


def stretch(gateway: Gateway, uris: pathlib.Path, options: argparse.Namespace, dashboards: int) -> tuple[float, float, list[Dashboard]]:
    """CPU seconds for each push, pushes a second, and the dashboards that were open."""
    opened = [Dashboard(gateway, options.every) for _ in range(dashboards)]
    for dashboard in opened:
        dashboard.start()
    before, began = cpu_seconds(gateway.process.pid), time.monotonic()
    answered = h2load(
        [f"-c{CONNECTIONS}", "-m100", f"--rps={options.rate / CONNECTIONS}", f"-D{options.seconds}"], uris, gateway
    )
    seconds = time.monotonic() - began
    cpu = cpu_seconds(gateway.process.pid) - before
    for dashboard in opened:
        dashboard.closed.set()
    for dashboard in opened:
        dashboard.join()
    return cpu / answered, answered / seconds, opened


def measure(options: argparse.Namespace) -> dict:
    gateway = Gateway(options.program, options.hosts)
    try:
        uris = device_uris(gateway, min(options.hosts, 100_000))
        # So that there is something to ask about.
        targeted_push(gateway, {"team": ["rams"]})
        stretch(gateway, uris, options, options.dashboards)
        ratios, rates, questions, faults = [], [], {}, set()
        for number in range(options.rounds):
            # Which of a pair comes first takes turns.
            pair = {}
            for dashboards in (0, options.dashboards) if number % 2 else (options.dashboards, 0):
                pair[dashboards], rate, opened = stretch(gateway, uris, options, dashboards)
                rates.append(rate)
                for dashboard in opened:
                    faults |= set(dashboard.faults)
                    for question, seconds in dashboard.seconds:
                        questions.setdefault(question, []).append(seconds)
            ratios.append(pair[options.dashboards] / pair[0])
        if faults:
            raise RuntimeError(f"questions failed: {sorted(faults)}")
        return {
            "instances": 3 * options.hosts, "pushesPerSecond": round(statistics.median(rates)), "dashboards": options.dashboards,
            "cpuRatio": {"median": round(statistics.median(ratios), 3), "all": [round(ratio, 3) for ratio in ratios]},
            "questionMilliseconds": {
                question: {"count": len(all), "median": round(1000 * statistics.median(all), 1), "max": round(1000 * max(all), 1)}
                for question, all in questions.items()
            },
        }
    finally:
        gateway.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=".build/release/freshet")
    parser.add_argument("--hosts", type=int, default=333_334, help="each has three widgets")
    parser.add_argument("--rate", type=int, default=20_000, help="pushes a second")
    parser.add_argument("--seconds", type=int, default=10, help="of each stretch")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--dashboards", type=int, default=2)
    parser.add_argument("--every", type=float, default=2, help="seconds from one look of a dashboard to the next")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    result = measure(options)
    print(json.dumps(result, indent=2))
    if options.json:
        options.json.write_text(json.dumps(result))


if __name__ == "__main__":
    main()
