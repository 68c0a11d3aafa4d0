"""Rows of the hosts' side: durable registrations over HTTP/2, and what an idle event stream takes."""

import argparse
import json
import pathlib
import shutil
import socket
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent / "probes"))

from gateway import APP, Gateway, cpu_seconds, resident_kib, token  # noqa: E402
from peer import HEADERS, Peer, request  # noqa: E402
from rows import Row, absent  # noqa: E402
from server_rows import Server, free_port  # noqa: E402

CLIENTS = 4
STREAMS = 1000


def registering(gateway: Gateway, hosts: int, team: str) -> tuple[float, float]:
    """Every host registers anew with another team: registrations a second by the clock, and per CPU-second."""
    body = gateway.folder / f"{team}.json"
    instances = [{"id": f"s{n}", "kind": "scores", "family": "systemSmall", "configuration": {"team": f"{team}{n}"}}
                 for n in range(3)]
    body.write_text(json.dumps({"app": APP, "instances": instances}))
    loads = []
    share = hosts // CLIENTS
    for client in range(CLIENTS):
        uris = gateway.folder / f"hosts.{client}.uris"
        uris.write_text("\n".join(f"https://localhost:{gateway.host}/v1/hosts/{token(1 << 32 | client * share + n)}/widgets"
                                  for n in range(share)))
        # Each has hosts of its own, in order, once: none registers twice.
        loads.append(["h2load", "-c1", "-m100", f"-n{share}", "-i", uris, "-d", body, "-H", ":method: PUT",
                      "-H", f"authorization: bearer {gateway.bearer}"])
    before, start = cpu_seconds(gateway.process.pid), time.monotonic()
    running = [subprocess.Popen(load, stdout=subprocess.PIPE, text=True) for load in loads]
    said = [load.communicate()[0] for load in running]
    seconds, cpu = time.monotonic() - start, cpu_seconds(gateway.process.pid) - before
    if not all(f"{share} succeeded" in text and f"{share} 2xx" in text for text in said):
        raise RuntimeError("registrations failed:\n" + "\n".join(said))
    return share * CLIENTS / seconds, share * CLIENTS / cpu


def stream_bytes(gateway: Gateway, pid: int, port: int, path: str, fields: list[tuple[str, str]]) -> float:
    """Resident bytes that each of a thousand connections adds to a process, each with one request made."""
    head = [(":method", "GET"), (":scheme", "https"), (":path", path), (":authority", "localhost")]
    peers = []

    def connect(count: int) -> None:
        for _ in range(count):
            # Loopback has addresses enough for no limit by address to bite.
            peer = Peer(gateway, port, source=f"127.0.1.{1 + len(peers) % 200}")
            peers.append(peer)
            # Or the request waits 40 ms for the acknowledgement of what went before it.
            peer.tls.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            peer.send(request(1, fields, head))
            peer.wait(lambda frame: frame.type == HEADERS and frame.stream == 1, "an answer's head")

    try:
        connect(100)
        before = resident_kib(pid)
        connect(STREAMS)
        return (resident_kib(pid) - before) * 1024 / STREAMS
    finally:
        for peer in peers:
            peer.tls.close()


def host_rows(options: argparse.Namespace) -> list[Row]:
    """Hosts: durable registrations over HTTP/2, idle event streams."""
    gateway = Gateway(options.program, 100)
    peer = None
    name = "memory of an idle host stream"
    try:
        registering(gateway, 8000, "first")
        rates = [registering(gateway, 8000, f"round{number}") for number in range(options.rounds)]
        found = [
            Row("P7", "durable re-registrations a second over HTTP/2, by the clock", "/s", [rate for rate, _ in rates]),
            Row("P7", "the same per CPU-second of the gateway", "/s", [rate for _, rate in rates], target=15_000),
        ]
        authorization = [("authorization", f"bearer {gateway.bearer}")]
        own = stream_bytes(gateway, gateway.process.pid, gateway.host, f"/v1/hosts/{token(1)}/events", authorization)
        found.append(Row("P9", name, "KiB", [own / 1024], target=48, at_least=False))
        if not shutil.which("nghttpd"):
            return found + [absent("P9", name, "nghttpd, idle connection", "not installed", unit="KiB",
                                   figures=[own / 1024], times_faster=True)]
        port = free_port()
        documents = gateway.folder / "documents"
        documents.mkdir()
        (documents / "empty").write_text("")
        certificates = gateway.folder / "certs"
        peer = Server(["nghttpd", "-d", documents, str(port), certificates / "server.key", certificates / "server.pem"],
                      gateway.folder / "nghttpd.uris", "empty?", 1, port)
        peer.wait()
        other = stream_bytes(gateway, peer.pid, port, "/empty", [])
        found.append(Row("P9", name, "KiB", [own / 1024], "nghttpd, idle connection", [other / 1024], times_faster=True))
        return found
    finally:
        if peer:
            peer.stop()
        gateway.stop()
