"""Thousands of host streams: what an idle one costs the gateway in memory, and how long a push takes to reach them all.

    python3 deploy/bench/streams.py --program .build/release/freshet --streams 10000

Every stream is a connection of its own over TLS and HTTP/2, as hosts have it. Idle HTTP/2 connections are opened to nghttpd
in the same run, for comparison: at most 2,000, since it closes what is silent for a minute. Resident memory is read before and after; the process that opens the
streams is another one. Then one targeted push reloads a widget of each host, and each stream's arrival is timed: what this
client needs to read them is part of that. Needs as many file descriptors as there are streams in either process.
"""

import argparse
import json
import pathlib
import resource
import selectors
import socket
import ssl
import struct
import subprocess
import tempfile
import time

from gateway import Gateway, resident_kib, token
from load import targeted_push

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS, SETTINGS_ACK = struct.pack(">I", 0)[1:] + b"\x04\x00\0\0\0\0", struct.pack(">I", 0)[1:] + b"\x04\x01\0\0\0\0"


def field(name: str, value: str) -> bytes:
    """A literal field that is not indexed (RFC 7541, 6.2.2); both texts below 128 or 16,384 bytes."""
    def text(raw: bytes) -> bytes:
        if len(raw) < 127:
            return bytes([len(raw)]) + raw
        rest, out = len(raw) - 127, b"\x7f"
        while rest >= 128:
            out += bytes([rest % 128 + 128])
            rest //= 128
        return out + bytes([rest]) + raw
    return b"\x00" + text(name.encode()) + text(value.encode())


def request(path: str, bearer: str) -> bytes:
    block = b"".join(
        field(name, value)
        for name, value in [(":method", "GET"), (":scheme", "https"), (":authority", "localhost"), (":path", path),
                            ("authorization", f"bearer {bearer}")]
    )
    return PREFACE + SETTINGS + struct.pack(">I", len(block))[1:] + b"\x01\x05" + struct.pack(">I", 1) + block


class Streams:
    """Open connections with one request each; reads what comes on any of them."""

    def __init__(self, port: int, context: ssl.SSLContext) -> None:
        self.port, self.context = port, context
        self.selector = selectors.DefaultSelector()
        self.open: list[ssl.SSLSocket] = []

    def add(self, path: str, bearer: str) -> None:
        raw = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        peer = self.context.wrap_socket(raw, server_hostname="localhost")
        peer.sendall(request(path, bearer))
        peer.setblocking(False)
        self.selector.register(peer, selectors.EVENT_READ, len(self.open))
        self.open.append(peer)

    def read(self, wanted: bytes, until: int, seconds: float) -> dict[int, float]:
        """When each stream had these bytes for the first time, until so many have, or the time is over."""
        seen: dict[int, float] = {}
        deadline = time.monotonic() + seconds
        while len(seen) < until and time.monotonic() < deadline:
            for key, _ in self.selector.select(timeout=0.2):
                try:
                    while data := key.fileobj.recv(65_536):
                        if wanted in data and key.data not in seen:
                            seen[key.data] = time.monotonic()
                    else:
                        raise RuntimeError(f"stream {key.data} ended")
                except ssl.SSLWantReadError:
                    pass
        return seen

    def close(self) -> None:
        for peer in self.open:
            peer.close()


def client_context(ca: pathlib.Path) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=ca)
    context.set_alpn_protocols(["h2"])
    return context


def quantile(values: list[float], share: float) -> float:
    return sorted(values)[max(0, -(-int(len(values) * share * 1000) // 1000) - 1)]


def measure_gateway(program: str, count: int, rounds: int) -> dict:
    settings = f"limits: {{maxConnections: {count + 100}, maxConnectionsPerAddress: {count + 100}}}\n"
    gateway = Gateway(program, count, settings=settings, widgets=1)
    try:
        # The first connection brings code and tables into memory that no other needs again.
        streams = Streams(gateway.host, client_context(gateway.ca))
        streams.add(f"/v1/hosts/{token(0)}/events", gateway.bearer)
        streams.read(b"id: ", 1, 60)
        before = resident_kib(gateway.process.pid)
        for number in range(1, count):
            streams.add(f"/v1/hosts/{token(number)}/events", gateway.bearer)
        opened = len(streams.read(b"id: ", count - 1, 120))
        after = resident_kib(gateway.process.pid)
        # Heartbeats have gone out to all of them once.
        beaten = len(streams.read(b": heartbeat", count, 60))
        idle = resident_kib(gateway.process.pid)
        waits = []
        for _ in range(rounds):
            began = time.monotonic()
            # The app is in the foreground of no host, and none was charged before.
            targeted_push(gateway)
            seen = streams.read(b"event: reload", count, 120)
            if len(seen) < count:
                raise RuntimeError(f"{count - len(seen)} streams were not told")
            waits.append([when - began for when in seen.values()])
        streams.close()
        return {
            "streams": count, "opened": opened + 1, "beaten": beaten,
            "kibPerStreamOpened": round((after - before) / (count - 1), 1),
            "kibPerStreamIdle": round((idle - before) / (count - 1), 1),
            "delivery": [{"p50": round(quantile(w, 0.5), 3), "p99": round(quantile(w, 0.99), 3), "max": round(max(w), 3)}
                         for w in waits],
        }
    finally:
        gateway.stop()


def measure_nghttpd(certs: pathlib.Path, count: int) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "index.html").write_text("")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        server = subprocess.Popen(
            ["nghttpd", "-a", "127.0.0.1", "-d", folder, str(port), certs / "server.key", certs / "server.pem"],
            stdout=subprocess.DEVNULL,
        )
        try:
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=5).close()
                    break
                except ConnectionRefusedError:
                    time.sleep(0.05)
            streams = Streams(port, client_context(certs / "ca.pem"))
            streams.add("/", "none")
            streams.read(b"\0\0\0\1", 1, 60)
            before = resident_kib(server.pid)
            for _ in range(1, count):
                streams.add("/", "none")
            streams.read(b"\0\0\0\1", count - 1, 60)
            after = resident_kib(server.pid)
            streams.close()
            return {"connections": count, "kibPerConnection": round((after - before) / (count - 1), 1)}
        finally:
            server.terminate()
            server.wait(timeout=30)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=".build/release/freshet")
    parser.add_argument("--streams", type=int, default=10_000)
    parser.add_argument("--pushes", type=int, default=1, help="each reloads every host; a second one waits for budgets")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    certs = pathlib.Path(tempfile.mkdtemp(prefix="freshet-streams-"))
    subprocess.run([options.program, "certs", "--out", certs], check=True, stdout=subprocess.DEVNULL)
    result = measure_gateway(options.program, options.streams, options.pushes)
    result["nghttpd"] = measure_nghttpd(certs, min(options.streams, 2000))
    print(json.dumps(result, indent=2))
    if options.json:
        options.json.write_text(json.dumps(result))


if __name__ == "__main__":
    main()
