"""Rows of the HTTP layer alone, TLS and HTTP/2 with a handler that does nothing, against nghttpd."""

import argparse
import shutil
import statistics
import subprocess

import instructions
from gateway import Gateway
from load import device_uris, h2load
from rows import Row, absent
from server_rows import Server, free_port, loaded

# Of the same layer in C, 8 connections x 100 streams, measured once with callgrind.
C_LAYER = 28_400


def counted(name: str, gateway: Gateway, command: list, port: int | None, path: str, rounds: int) -> list[float]:
    """Instructions per request of a server, its start and its handshakes left out as for the gateway."""
    folder = gateway.folder / f"callgrind-{name}"
    folder.mkdir()
    stripped = folder / "server"
    shutil.copy(shutil.which(command[0]), stripped)
    subprocess.run(["strip", "--strip-debug", stripped], check=True)
    counter = instructions.Counter(folder)
    server = Server([*counter.command, stripped, *command[1:]], folder / "uris", path, 500, port)
    try:
        def instructions_of(requests: int) -> int:
            h2load(["-c8", "-m100", f"-n{requests}"], server.uris, gateway)
            return counter.since_last(server.pid)

        server.wait()
        instructions_of(4000)
        figures = []
        for _ in range(rounds):
            short, long = instructions_of(4000), instructions_of(12_000)
            figures.append((long - short) / 8000)
        return figures
    finally:
        server.stop()


def transport_rows(options: argparse.Namespace) -> list[Row]:
    """The HTTP layer alone: requests per CPU-second, and instructions a request."""
    gateway = Gateway(options.program, 100)
    own = peer = None
    try:
        # Writes the body of the requests, too.
        device_uris(gateway, 100)
        certificates = [gateway.folder / "certs" / name for name in ("server.pem", "server.key")]
        documents = gateway.folder / "documents"
        documents.mkdir()
        (documents / "empty").write_text("")
        command = [options.transport_program, *certificates]
        rate, count = "requests per CPU-second, HTTP layer alone", "instructions a request, HTTP layer alone"
        own = Server(command, gateway.folder / "transport.uris", "3/device/", options.hosts)
        if not shutil.which("nghttpd"):
            figures = [loaded(own.pid, own.uris, gateway, options.seconds)[1] for _ in range(options.rounds)]
            return [absent("P1", rate, "nghttpd, empty file", "not installed", unit="/s", figures=figures,
                           times_faster=False)]
        port = free_port()
        theirs = ["nghttpd", "-d", documents, str(port), *reversed(certificates)]
        peer = Server(theirs, gateway.folder / "nghttpd.uris", "empty?", options.hosts, port)
        peer.wait()
        pairs = [[loaded(server.pid, server.uris, gateway, options.seconds)[1] for server in (own, peer)]
                 for _ in range(options.rounds)]
        found = [Row("P1", rate, "/s", [pair[0] for pair in pairs], "nghttpd, empty file", [pair[1] for pair in pairs],
                     times_faster=False)]
        rounds = min(2, options.rounds)
        figures = counted("own", gateway, command, None, "3/device/", rounds)
        port = free_port()
        theirs[3] = str(port)
        references = counted("nghttpd", gateway, theirs, port, "empty?", rounds)
        found.append(Row("P3", count, "", figures, f"nghttpd {statistics.median(references):,.0f}; target from C",
                         target=1.1 * C_LAYER, at_least=False))
        return found
    finally:
        for server in (own, peer):
            if server:
                server.stop()
        gateway.stop()
