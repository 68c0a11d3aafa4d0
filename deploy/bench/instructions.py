"""Instructions that one durable push takes, of the whole process: counted by callgrind, so a busy machine does not matter.

The gateway runs under `valgrind --tool=callgrind`. A first load warms it up; then loads of two lengths are counted apart, and
their difference leaves what each further push costs: start-up, registrations and handshakes cancel.
"""

import argparse
import collections
import json
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

from gateway import Gateway
from load import device_uris, h2load

CONNECTIONS, STREAMS = 8, 100


class Counter:
    """The instructions of a process under callgrind, from one dump of its counters to the next."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.output = folder / "callgrind.out"
        self.dumps = 0
        shim = folder / "sigsuspend.so"
        source = pathlib.Path(__file__).with_name("sigsuspend.c")
        subprocess.run(["cc", "-O", "-shared", "-fPIC", "-o", shim, source], check=True)
        # valgrind runs one thread at a time. --fair-sched gives each its turn, so that none starves.
        self.command = ["env", f"LD_PRELOAD={shim}", "valgrind", "--tool=callgrind", "--quiet", "--fair-sched=yes",
                        f"--callgrind-out-file={self.output}"]

    def since_last(self, pid: int) -> int:
        """Writes what was counted since the last call, and starts again from nothing."""
        self.dumps += 1
        subprocess.run(["callgrind_control", "--dump", str(pid)], check=True, stdout=subprocess.DEVNULL)
        text = pathlib.Path(f"{self.output}.{self.dumps}").read_text()
        return int(re.search(r"^(?:totals|summary): (\d+)", text, re.MULTILINE).group(1))


    def by_function(self) -> collections.Counter:
        """What was counted in the last span, by the function whose own instructions they are."""
        names, counts, name, is_call = {}, collections.Counter(), None, False
        for line in pathlib.Path(f"{self.output}.{self.dumps}").read_text().splitlines():
            if function := re.match(r"(c?)fn=\((\d+)\)(?: (.*))?", line):
                called, number, text = function.groups()
                # A name is written once; afterwards its number stands for it.
                names.setdefault(number, text)
                name = name if called else names[number]
            elif line.startswith("calls="):
                is_call = True
            elif cost := re.match(r"[-+*\d]\S* (\d+)$", line):
                # The line after a call is what the called function took: it is counted there.
                if not is_call:
                    counts[name] += int(cost.group(1))
                is_call = False
        return counts


def count(program: str, requests: int, hosts: int, rounds: int, functions: int) -> list[float]:
    """Instructions per push, once a round. The same numbers give the same figures, to a few parts in a thousand.

    Also prints as many functions as are asked for, those first that take most.
    """
    folder = pathlib.Path(tempfile.mkdtemp(prefix="freshet-callgrind-"))
    gateway = None
    try:
        # valgrind 3.19 cannot read this program's debug information; the names of functions it can.
        stripped = folder / "freshet"
        subprocess.run(["strip", "--strip-debug", "-o", stripped, program], check=True)
        counter = Counter(folder)
        gateway = Gateway(str(stripped), hosts, counter.command)
        uris = device_uris(gateway, hosts)

        def instructions(pushes: int) -> int:
            h2load([f"-c{CONNECTIONS}", f"-m{STREAMS}", f"-n{pushes}"], uris, gateway)
            return counter.since_last(gateway.process.pid)

        instructions(requests)
        figures = []
        for number in range(rounds):
            short, long = instructions(requests), instructions(3 * requests)
            figures.append((long - short) / (2 * requests))
            print(f"  round {number + 1}: {figures[-1]:,.0f} instructions per push", file=sys.stderr, flush=True)
        for name, own in counter.by_function().most_common(functions):
            text = subprocess.run(["swift", "demangle", "--compact", "--simplified", name], check=True,
                                  stdout=subprocess.PIPE, text=True).stdout.strip()
            print(f"{own / (3 * requests):9,.1f}  {text}")
        return figures
    finally:
        if gateway:
            gateway.stop()
        shutil.rmtree(folder)


def instructions_per_push(
    program: str, requests: int = 4000, hosts: int = 500, rounds: int = 4, functions: int = 0
) -> dict:
    """Instructions per durable push of the whole gateway, counted by callgrind."""
    figures = count(program, requests, hosts, rounds, functions)
    return {"row": f"instructions per durable push, {CONNECTIONS} connections x {STREAMS} streams",
            "count": statistics.median(figures), "spread": [min(figures), max(figures)], "requests": requests,
            "rounds": figures}


def sentence(result: dict) -> str:
    low, high = result["spread"]
    return f"{result['row']}: {result['count']:,.0f} ({low:,.0f} to {high:,.0f})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="a release build")
    parser.add_argument("--requests", type=int, default=4000, help="of the shorter load; the longer has three times as many")
    parser.add_argument("--hosts", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--functions", type=int, default=0, help="also print so many functions, by their own instructions")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    result = instructions_per_push(
        options.program, options.requests, options.hosts, options.rounds, options.functions
    )
    print(json.dumps(result, indent=2) if options.json else sentence(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
