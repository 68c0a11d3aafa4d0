"""`make bench`: every row beside its reference in the same interleaved run, in one table.

Exits with 1 where a target is missed by more than the spread: where not even the best round meets it. A group that
fails is said at the end; the rows of the others are written.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import shutil
import sys
import tempfile
import time
import traceback

from cluster_rows import cluster_rows
from engine_rows import engine_rows, timer_rows
from host_rows import host_rows
from index_rows import index_rows, size_rows, subscription_rows
from journal_rows import journal_rows
from latency_rows import latency_rows
from restart_rows import restart_rows
from rows import Row, table
from server_rows import counted_rows, push_rows
from simulation_rows import simulation_rows
from transport_rows import transport_rows

GROUPS = {
    "push": push_rows,
    "latency": latency_rows,
    "counts": counted_rows,
    "transport": transport_rows,
    "index": index_rows,
    "conditions": subscription_rows,
    "sizes": size_rows,
    "engine": engine_rows,
    "timers": timer_rows,
    "simulation": simulation_rows,
    "hosts": host_rows,
    "journal": journal_rows,
    "restart": restart_rows,
    "cluster": cluster_rows,
}

def machine() -> dict:
    model = next((line.split(":")[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), platform.machine())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {"processor": model, "cores": os.cpu_count(), "memory": memory, "load": os.getloadavg()[0]}


def fitting(sizes: list[int]) -> list[int]:
    """The sizes that fit the free memory, at a kilobyte an instance."""
    available = next(int(line.split()[1]) for line in pathlib.Path("/proc/meminfo").read_text().splitlines()
                     if line.startswith("MemAvailable:"))
    fit = [size for size in sizes if size <= available * 0.75]
    for size in sizes:
        if size not in fit:
            print(f"left out: {size:,} instances, since only {available / 1e6:.0f} GB of memory are free", flush=True)
    return fit


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="the release build of freshet")
    parser.add_argument("--rows-program", required=True, help="the release build of BenchmarkRows")
    parser.add_argument("--hummingbird", default=".build/hummingbird/release/HummingbirdServer", help="the peer, if it is built")
    parser.add_argument("--transport-program", default=".build/release/BenchmarkTransport")
    parser.add_argument("--journal-program", default=".build/release/BenchmarkJournal")
    parser.add_argument("--only", nargs="+", choices=GROUPS, default=list(GROUPS), help="groups of rows")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=5, help="of each load on a server")
    parser.add_argument("--hosts", type=int, default=333_334, help="of the servers' rows, with three instances each")
    parser.add_argument("--beside", help="another build of freshet, which gets the same pushes in turn")
    parser.add_argument("--instances", type=int, default=1_000_000, help="of the index's rows")
    parser.add_argument("--restart-hosts", type=int, default=33_334,
                        help="with three instances each; the target is for a million instances, 333,334 hosts")
    parser.add_argument("--nats", default=".venv/bin/nats-server", help="the brokers' program, if it is installed")
    parser.add_argument("--cluster-hosts", type=int, default=10_000, help="of the rows of several gateways, with three instances each")
    parser.add_argument("--kills", type=int, default=12, help="of gateways whose partitions others take over")
    parser.add_argument("--sizes", type=int, nargs="*", default=[10_000, 100_000, 1_000_000, 10_000_000],
                        help="of the rows that show what grows; those that do not fit the free memory are left out")
    parser.add_argument("--json", nargs="?", const=f"docs/performance/{datetime.date.today()}.json",
                        help="also write the results, to docs/performance/<date>.json unless told otherwise")
    options = parser.parse_args()
    options.folder = pathlib.Path(tempfile.mkdtemp(prefix="freshet-bench-"))
    before = machine()
    options.sizes = fitting(options.sizes)
    rows: list[Row] = []
    failed: list[str] = []
    try:
        for name in options.only:
            start = time.monotonic()
            print(GROUPS[name].__doc__.splitlines()[0], flush=True)
            try:
                rows += GROUPS[name](options)
            except Exception:
                # What the other groups measured in many minutes is not lost by it.
                traceback.print_exc()
                failed.append(name)
            print(f"  {time.monotonic() - start:.0f} s", flush=True)
    finally:
        shutil.rmtree(options.folder)
    print()
    print(table(rows))
    if options.json:
        file = pathlib.Path(options.json)
        file.parent.mkdir(parents=True, exist_ok=True)
        about = {"date": str(datetime.date.today()), "machine": before, "rounds": options.rounds}
        file.write_text(json.dumps(about | {"rows": [row.as_json() for row in rows]}, indent=1) + "\n")
    missed = [row for row in rows if row.verdict == "MISSED"]
    without = [row for row in rows if row.verdict == "absent"]
    print(f"\n{len(rows)} rows, {len(missed)} missed by more than the spread, {len(without)} without a figure or a peer")
    if failed:
        print(f"not measured, since they failed (see above): {', '.join(failed)}")
    return 1 if missed or failed else 0


if __name__ == "__main__":
    sys.exit(main())
