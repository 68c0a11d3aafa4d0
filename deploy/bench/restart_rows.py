"""Row of the restart: from the start of the process to ready, with everything that was registered before."""

import argparse
import os
import pathlib
import sqlite3
import subprocess
import time

from gateway import Gateway, service_environment
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
    gateway.wait_until_ready()
    return time.monotonic() - start


def scan(gateway: Gateway) -> float:
    """Seconds in which SQLite reads every byte of the log, the reference: nothing that reads it all can be faster."""
    files = [path for path in (gateway.folder / "data").rglob("*") if path.is_file() and path.name[-4:] not in ("-wal", "-shm")]
    file = max(files, key=lambda path: path.stat().st_size)
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as database:
        tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        start = time.monotonic()
        for (name,) in tables:
            for _ in database.execute(f'SELECT * FROM "{name}"'):
                pass
        return time.monotonic() - start


def restart_rows(options: argparse.Namespace) -> list[Row]:
    """Restart: the process begins, reads its log, and is ready."""
    gateway = Gateway(options.program, options.restart_hosts)
    try:
        pairs = [(start_again(gateway, options.program), scan(gateway)) for _ in range(min(3, options.rounds))]
    finally:
        gateway.stop()
    instances = 3 * options.restart_hosts
    name = f"restart to ready, {instances:,} instances"
    seconds = [own for own, _ in pairs]
    return [
        Row("P10", name, "s", seconds, target=1 if instances >= 1_000_000 else None, at_least=False),
        Row("P10", name, "s", seconds, "SQLite reads the log", [other for _, other in pairs], times_faster=True),
    ]
