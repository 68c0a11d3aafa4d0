"""Row of the restart: from the start of the process to ready, with everything that was registered before."""

import argparse
import os
import pathlib
import sqlite3
import subprocess
import time

from gateway import Gateway, service_environment, wait_until_ready
from rows import Row


def start_again(gateway: Gateway, program: str) -> float:
    """Ends the gateway in order and starts it on the same log; seconds to ready."""
    gateway.process.terminate()
    gateway.process.wait(timeout=120)
    start = time.monotonic()
    with open(gateway.folder / "gateway.log", "w") as log:
        gateway.process = subprocess.Popen(
            [pathlib.Path(program).resolve(), "serve", "--config", gateway.folder / "freshet.yaml"], stderr=log,
            env=os.environ | service_environment(),
        )
    wait_until_ready(gateway.process, gateway.folder / "gateway.log")
    return time.monotonic() - start


def newest_snapshot(gateway: Gateway) -> int:
    """The log position of the newest snapshot, 0 if there is none."""
    names = [path.name for path in (gateway.folder / "data" / "snapshots").glob("*.snapshot")]
    return max((int(name.split("-")[1]) for name in names), default=0)


def wait_for_snapshot(gateway: Gateway) -> None:
    """Until a snapshot holds all that is registered; nothing is registered meanwhile."""
    log = max((gateway.folder / "data").glob("journal-*.sqlite"))
    with sqlite3.connect(f"file:{log}?mode=ro", uri=True) as database:
        (last,) = database.execute("SELECT max(position) FROM entries_0").fetchone()
    deadline = time.monotonic() + 600
    while newest_snapshot(gateway) < last:
        if time.monotonic() > deadline:
            raise RuntimeError(f"no snapshot at position {last} within ten minutes")
        time.sleep(0.2)


def scan_log(gateway: Gateway) -> float:
    """Seconds in which SQLite reads every byte of the log: a replay that reads it all cannot be faster."""
    start = time.monotonic()
    for file in sorted((gateway.folder / "data").glob("journal-*.sqlite")):
        with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as database:
            for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                for _ in database.execute(f'SELECT * FROM "{name}"'):
                    pass
    return time.monotonic() - start


def scan_rows(gateway: Gateway, instances: int) -> float:
    """Seconds in which SQLite goes through a table of the same instances, a row each, and touches every byte."""
    path = gateway.folder / "rows.sqlite"
    if not path.exists():
        with sqlite3.connect(path) as database:
            database.execute("CREATE TABLE instances (host TEXT, id TEXT, kind TEXT, family INTEGER, state BLOB)")
            state = bytes(120)
            database.executemany(
                "INSERT INTO instances VALUES (?, ?, 'scores', 0, ?)",
                ((f"h{number // 3}", f"s{number % 3}", state) for number in range(instances)),
            )
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        start = time.monotonic()
        database.execute("SELECT sum(length(host) + length(id) + length(kind) + family + length(hex(state))) FROM instances").fetchone()
        return time.monotonic() - start


def restart_rows(options: argparse.Namespace) -> list[Row]:
    """Restart: the process begins, replays its log or reads its snapshot, and is ready."""
    instances = 3 * options.restart_hosts
    rounds = range(min(3, options.rounds))
    # No snapshot is made before there is any need.
    gateway = Gateway(options.program, options.restart_hosts, settings="snapshots: {interval: 1d}\n")
    try:
        replayed = [(start_again(gateway, options.program), scan_log(gateway)) for _ in rounds]
        settings = gateway.folder / "freshet.yaml"
        settings.write_text(settings.read_text().replace("interval: 1d", "interval: 1s"))
        start_again(gateway, options.program)
        wait_for_snapshot(gateway)
        settings.write_text(settings.read_text().replace("interval: 1s", "interval: 1d"))
        read = [(start_again(gateway, options.program), scan_rows(gateway, instances)) for _ in rounds]
    finally:
        gateway.stop()
    name = f"restart to ready, {instances:,} instances"
    rows = []
    for how, pairs, peer in (
        ("from a snapshot", read, "SQLite goes through the rows"), ("from the log alone", replayed, "SQLite reads the log"),
    ):
        seconds = [own for own, _ in pairs]
        target = 1 if instances >= 1_000_000 and pairs is read else None
        rows.append(Row("P10", f"{name}, {how}", "s", seconds, target=target, at_least=False))
        rows.append(Row("P10", f"{name}, {how}", "s", seconds, peer, [other for _, other in pairs], times_faster=True))
    return rows
