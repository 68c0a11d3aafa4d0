"""Rows of the whole gateway: pushes per CPU-second against nghttpd and against servers that a team would write instead."""

import argparse
import pathlib
import shutil
import socket
import statistics
import subprocess
import time

import instructions
from disk import sync_milliseconds
from gateway import Gateway, cpu_seconds, token
from load import device_uris, h2load
from rows import Row, absent

BENCHMARKS = pathlib.Path(__file__).parents[2] / "Tests" / "Benchmarks"
LOAD = ["-c8", "-m100"]
GO, HUMMINGBIRD = "Go net/http", "Hummingbird 2"
BESIDE = "the other build"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A peer that is loaded like the gateway."""

    def __init__(self, command: list, uris: pathlib.Path, path: str, hosts: int, port: int | None = None) -> None:
        output = subprocess.PIPE if port is None else subprocess.DEVNULL
        self.process = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL, text=True)
        # Those that choose their port print it.
        self.port = port or int(self.process.stdout.readline())
        self.uris = uris
        # Paths of the same length and variety as the gateway's: HPACK has the same work.
        uris.write_text("\n".join(f"https://localhost:{self.port}/{path}{token(n)}" for n in range(hosts)))

    @property
    def pid(self) -> int:
        return self.process.pid

    def wait(self) -> None:
        """Until it accepts connections."""
        while socket.socket().connect_ex(("127.0.0.1", self.port)) != 0:
            if self.process.poll() is not None:
                raise RuntimeError(f"{self.process.args[0]} ended with {self.process.returncode}")
            time.sleep(0.05)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


def go_server(folder: pathlib.Path) -> pathlib.Path | None:
    """The peer in Go; None if Go is not installed."""
    if not shutil.which("go"):
        return None
    program = folder / "goserver"
    subprocess.run(["go", "build", "-o", program, "."], cwd=BENCHMARKS / "GoServer", check=True)
    return program


def push_rows(options: argparse.Namespace) -> list[Row]:
    """Durably accepted pushes per CPU-second of the whole gateway, 8 connections x 100 streams, against other servers."""
    gateway = Gateway(options.program, options.hosts)
    other = None
    servers: dict[str, Server] = {}
    why: dict[str, str] = {}
    try:
        if options.beside:
            other = Gateway(options.beside, options.hosts)
            others_uris = device_uris(other, options.hosts)
        certificates = [gateway.folder / "certs" / name for name in ("server.pem", "server.key")]
        documents = gateway.folder / "documents"
        documents.mkdir()
        (documents / "empty").write_text("")
        port = free_port()
        if shutil.which("nghttpd"):
            servers["nghttpd, empty file"] = Server(
                ["nghttpd", "-d", documents, str(port), *reversed(certificates)], gateway.folder / "nghttpd.uris",
                "empty?", options.hosts, port,
            )
        else:
            why["nghttpd, empty file"] = "not installed"
        go = go_server(gateway.folder)
        if go:
            servers[GO] = Server([go, *certificates], gateway.folder / "go.uris", "3/device/", options.hosts)
        else:
            why[GO] = "not installed"
        hummingbird = pathlib.Path(options.hummingbird)
        if hummingbird.exists():
            servers[HUMMINGBIRD] = Server([hummingbird, *certificates], gateway.folder / "hummingbird.uris", "3/device/",
                                          options.hosts)
        else:
            why[HUMMINGBIRD] = "not built: make bench-setup"
        for server in servers.values():
            server.wait()
        own = device_uris(gateway, options.hosts)
        figures, walls, syncs, references = [], [], [], {}
        for number in range(options.rounds):
            # The median: a slow disk makes fewer, larger commits.
            syncs.append(statistics.median(sync_milliseconds(gateway.folder, 20)))
            answered, rate = loaded(gateway.process.pid, own, gateway, options.seconds)
            figures.append(rate)
            walls.append(answered / options.seconds)
            for name, server in servers.items():
                # The slow ones take their share in less time.
                seconds = options.seconds if name.startswith("nghttpd") else max(2, options.seconds // 2)
                references.setdefault(name, []).append(loaded(server.pid, server.uris, gateway, seconds)[1])
            if other:
                references.setdefault(BESIDE, []).append(
                    loaded(other.process.pid, others_uris, other, options.seconds)[1]
                )
            others = ", ".join(f"{name} {rates[-1]:,.0f}" for name, rates in references.items())
            print(f"  round {number + 1}: freshet {rate:,.0f} (by the clock {walls[-1]:,.0f}/s), {others}", flush=True)
    finally:
        for server in servers.values():
            server.stop()
        gateway.stop()
        if other:
            other.stop()
    name = f"durable pushes per CPU-second, {3 * options.hosts:,} instances"
    found = []
    for id, peer, target in (("P1", "nghttpd, empty file", 0.6), ("P2", GO, 7), ("P2", HUMMINGBIRD, 16)):
        if peer in why:
            found.append(absent(id, name, peer, why[peer], unit="/s", figures=figures, times_faster=False, target=target))
        else:
            found.append(Row(id, name, "/s", figures, peer, references[peer], target, times_faster=False))
    if other:
        found.append(Row("P1", name, "/s", figures, BESIDE, references[BESIDE], 1, times_faster=False))
    return found + [
        Row("P1", "durable pushes a second by the clock, load and gateway on the same cores", "/s", walls),
        Row("P1", "one fdatasync of 64 KiB on the log's disk", "ms", syncs),
    ]


def loaded(pid: int, uris: pathlib.Path, gateway: Gateway, seconds: int) -> tuple[int, float]:
    """Answered requests, and how many per CPU-second of the process."""
    before = cpu_seconds(pid)
    answered = h2load([*LOAD, f"-D{seconds}"], uris, gateway)
    return answered, answered / (cpu_seconds(pid) - before)


def counted_rows(options: argparse.Namespace) -> list[Row]:
    """Instructions per durable push of the whole gateway, counted by callgrind."""
    counted = instructions.instructions_per_push(options.program, rounds=min(3, options.rounds))
    return [Row("P3", "instructions per durable push, whole gateway", "", counted["rounds"])]
