"""Probes with connections: slow ones, many, half-open, and a gateway without descriptors."""

import contextlib
import socket
import struct
import time

from catalogue import Patience, probe
from peer import (
    END_STREAM, HEAD, HEADERS, NO_ERROR, PREFACE, Peer, Surprise, block, credit, data, device, frame, get, is_closed, request,
    settings, tcp,
)

# A TLS 1.3 ClientHello as far as its record's head: 512 bytes are announced.
CLIENT_HELLO = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"


def cpu_seconds(pid: int) -> float:
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def close_all(connections: list[socket.socket]) -> None:
    for connection in connections:
        connection.close()


def expect_closed(connections: list[socket.socket], wanted: int, seconds: float = 15) -> None:
    """Expects so many of the connections to be closed by the gateway."""
    end = time.monotonic() + seconds * Patience.factor
    while True:
        closed = sum(is_closed(connection, 0.001) for connection in connections)
        if closed >= wanted:
            return
        if time.monotonic() > end:
            raise Surprise(f"{closed} of {len(connections)} connections were closed, not {wanted}")


# --- Before HTTP


@probe("push.timeouts.handshake", slow=True)
def silent_connections(gateway) -> None:
    """Connections that say nothing."""
    connections = [tcp(gateway.push) for _ in range(20)]
    try:
        expect_closed(connections, 20)
    finally:
        close_all(connections)


@probe("push.timeouts.handshake", slow=True)
def dripping_handshake(gateway) -> None:
    """A ClientHello that comes byte by byte, slowly."""
    with tcp(gateway.push) as connection:
        for byte in CLIENT_HELLO + bytes(100):
            try:
                connection.send(bytes([byte]))
            except OSError:
                return
            if is_closed(connection, 0.1):
                return
    raise Surprise("the handshake was never given up")


@probe("push.handshakesFailed")
def garbage_for_tls(gateway) -> None:
    """Bytes that are no TLS at all."""
    for first in (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", PREFACE, b"\0" * 300, b"\x16\x03\x01\xff\xff" + b"\xff" * 300,
                  b"\x80\x2e\x01\x00\x02", b"\x15\x03\x01\x00\x02\x02\x28", b"\x17\x03\x03\x00\x10" + bytes(16)):
        with tcp(gateway.push) as connection:
            connection.sendall(first)
            connection.shutdown(socket.SHUT_WR)
            if not is_closed(connection, 10 * Patience.factor):
                raise Surprise(f"the connection survived {first[:10]!r}")


@probe()
def garbage_within_tls(gateway) -> None:
    """A forged record in the middle of a connection."""
    with Peer(gateway, gateway.push) as peer:
        raw = socket.socket(fileno=socket.dup(peer.tls.fileno()))
        with raw:
            raw.sendall(b"\x17\x03\x03\x00\x40" + bytes(64))
        peer.ended()


@probe("push.limits.maxHandshakes")
def half_open_handshakes(gateway) -> None:
    """More half-open handshakes than may be, from many addresses; an honest one still comes through."""
    connections = []
    try:
        for number in range(gateway.limits["maxHandshakes"] * 2):
            connection = tcp(gateway.push, f"127.0.4.{number % 200 + 1}")
            # One too many may be closed before it has said anything.
            with contextlib.suppress(ConnectionResetError, BrokenPipeError):
                connection.sendall(CLIENT_HELLO)
            connections.append(connection)
        with Peer(gateway, gateway.push) as peer:
            peer.works()
        expect_closed(connections, gateway.limits["maxHandshakes"])
    finally:
        close_all(connections)


@probe("push.limits.maxConnectionsPerAddress")
def connections_of_one_address(gateway) -> None:
    """More connections than one address may have; another address still comes in."""
    most = gateway.limits["maxConnectionsPerAddress"]
    peers = []
    try:
        for _ in range(most):
            peers.append(Peer(gateway, gateway.push, source="127.0.5.1"))
        refused = 0
        for _ in range(20):
            with tcp(gateway.push, "127.0.5.1") as connection:
                refused += is_closed(connection, 10 * Patience.factor)
        if refused < 20:
            raise Surprise(f"{refused} of 20 were refused")
        with Peer(gateway, gateway.push, source="127.0.5.2") as peer:
            peer.works()
    finally:
        for peer in peers:
            peer.tls.close()


@probe("push.limits.maxConnections")
def connections_in_all(gateway) -> None:
    """More connections than the listener takes, from several addresses; those that are there go on."""
    peers, late = [], []
    try:
        # One place is the honest client's.
        for number in range(gateway.limits["maxConnections"] - 1):
            peers.append(Peer(gateway, gateway.push, source=f"127.0.6.{number % 5 + 1}"))
        late = [tcp(gateway.push, "127.0.6.9") for _ in range(10)]
        expect_closed(late, 10)
        for peer in peers:
            peer.works()
    finally:
        close_all(late + [peer.tls for peer in peers])


@probe()
def connect_and_reset(gateway) -> None:
    """Connections that are reset as soon as they are there."""
    for _ in range(500):
        connection = tcp(gateway.push)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()


@probe()
def handshake_and_reset(gateway) -> None:
    """The same in the middle and right after the handshake."""
    for number in range(60):
        if number % 2:
            connection = tcp(gateway.push)
            connection.sendall(CLIENT_HELLO)
        else:
            connection = Peer(gateway, gateway.push, greet=False).tls
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()


@probe("host.acceptsFailed")
def descriptors_are_kept(gateway) -> None:
    """Connections beyond those that leave the gateway descriptors of its own: listeners wait, and go on when some close."""
    peers, waiting = [], []
    try:
        for number in range(gateway.limits["maxConnections"] - 10):
            peers.append(Peer(gateway, gateway.push, source=f"127.0.6.{number % 5 + 1}"))
        # The last ones are not let in.
        for number in range(gateway.descriptors_max // 2 - len(peers)):
            waiting.append(tcp(gateway.host, f"127.0.7.{number + 1}"))
        busy = cpu_seconds(gateway.pid)
        time.sleep(1.5)
        busy = cpu_seconds(gateway.pid) - busy
        if busy > 0.9:
            raise Surprise(f"{busy:.1f} s of processor time in 1.5 s: the listener spins")
    finally:
        for peer in peers:
            peer.tls.close()
        close_all(waiting)
    with Peer(gateway, gateway.push) as peer:
        peer.works()


# --- Slow HTTP/2


@probe("push.timeouts.firstRequest", slow=True)
def silence_after_the_handshake(gateway) -> None:
    """TLS is made, and nothing comes."""
    with Peer(gateway, gateway.push, greet=False) as peer:
        peer.ended()


@probe("push.timeouts.firstRequest", slow=True)
def dripping_preface(gateway) -> None:
    """A preface that comes byte by byte, slowly."""
    with Peer(gateway, gateway.push, greet=False) as peer:
        for byte in PREFACE:
            peer.send(bytes([byte]))
            time.sleep(0.2)
        peer.ended()


@probe("push.timeouts.headers", slow=True)
def headers_without_end(gateway) -> None:
    """A header block that waits for its CONTINUATION."""
    with Peer(gateway, gateway.push) as peer:
        peer.send(frame(HEADERS, END_STREAM, 1, block(HEAD)))
        peer.goaway(11, "header block")


@probe("push.timeouts.headers", slow=True)
def dripping_headers(gateway) -> None:
    """A HEADERS frame that comes byte by byte, slowly."""
    with Peer(gateway, gateway.push) as peer:
        for byte in request(1):
            peer.send(bytes([byte]))
            time.sleep(0.1)
            if peer.has_ended:
                break
        peer.goaway(11, "header block")


@probe("push.timeouts.request", slow=True)
def dripping_bodies(gateway) -> None:
    """Hundreds of bodies that come byte by byte: 408."""
    with Peer(gateway, gateway.push) as peer:
        peer.send(*[request(2 * number + 1, *device(gateway), last=False) for number in range(200)])
        end = time.monotonic() + gateway.timeouts["request"] - 1
        while time.monotonic() < end:
            peer.send(*[data(2 * number + 1, b"x") for number in range(200)])
            time.sleep(0.2)
        for number in range(200):
            peer.status(2 * number + 1, 408)


@probe("push.timeouts.idle", slow=True)
def idle_connections(gateway) -> None:
    """Connections that do nothing any more."""
    peers = [Peer(gateway, gateway.push) for _ in range(20)]
    try:
        for peer in peers:
            peer.goaway(NO_ERROR, "Idle", 30)
    finally:
        for peer in peers:
            peer.tls.close()


@probe(slow=True)
def answers_that_are_not_read(gateway) -> None:
    """Requests without end whose answers stay in the socket: reading stops, or they are too many; the connection ends."""
    with Peer(gateway, gateway.ops, first=settings((4, 1 << 30)), receive_buffer=4096) as peer:
        peer.send(credit(0, 1 << 30))
        peer.tls.settimeout(1)
        try:
            for number in range(100_000):
                peer.tls.sendall(get(2 * number + 1, "/v1/stats", gateway.operator))
                if number % 20 == 0:
                    time.sleep(0.005)
        except TimeoutError:
            # The gateway reads no more; it closes when nothing has moved for long enough.
            time.sleep(gateway.timeouts["writeStall"] + 2)
        except OSError:
            return
        if not is_closed(peer.tls, 10):
            raise Surprise("the connection is still there")


# --- HTTP/1.1


def http1(gateway, *pieces: bytes, pause: float = 0, port: int | None = None) -> bytes:
    """Sends pieces over HTTP/1.1 to the host listener; what comes back until the end, or until nothing comes for 10 s."""
    with Peer(gateway, port or gateway.host, greet=False, alpn="http/1.1") as peer:
        for piece in pieces:
            peer.send(piece)
            time.sleep(pause)
        received = b""
        peer.tls.settimeout(10)
        try:
            while more := peer.tls.recv(65_536):
                received += more
        except OSError:
            pass
        return received


@probe("host.timeouts.firstRequest", slow=True)
def dripping_head(gateway) -> None:
    """An HTTP/1.1 head that comes byte by byte."""
    http1(gateway, *[bytes([byte]) for byte in b"GET /v1/apps/x/hosts HTTP/1.1\r\n"], pause=0.1)


@probe("host.timeouts.request", slow=True)
def dripping_body(gateway) -> None:
    """An HTTP/1.1 body that comes byte by byte."""
    head = f"POST /v1/apps/{gateway.app}/hosts HTTP/1.1\r\nHost: x\r\nAuthorization: bearer {gateway.bearer}\r\n"
    answer = http1(gateway, head.encode() + b"Content-Length: 1000\r\n\r\n", *[b"x"] * 40, pause=0.1)
    if b" 408 " not in answer:
        raise Surprise(f"no 408: {answer[:60]!r}")


@probe("host.timeouts.idleHTTP1", slow=True)
def idle_http1(gateway) -> None:
    """An HTTP/1.1 connection without a second request."""
    answer = http1(gateway, b"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n")
    if not answer.startswith(b"HTTP/1.1 "):
        raise Surprise(f"no answer: {answer[:60]!r}")


@probe()
def heads_without_end(gateway) -> None:
    """HTTP/1.1 heads that never end: one long line, and lines without number."""
    for piece in (b"A" * 10_000, b"X: " + b"v" * 10_000 + b"\r\n", b"X-Y: z\r\n" * 2000):
        answer = http1(gateway, b"GET / HTTP/1.1\r\nHost: x\r\n", *[piece] * 10)
        if answer and not answer.startswith((b"HTTP/1.1 431", b"HTTP/1.1 400")):
            raise Surprise(f"{answer[:60]!r}")


@probe()
def request_smuggling(gateway) -> None:
    """HTTP/1.1 requests whose end can be read in two ways."""
    for fields in (b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", b"Content-Length: 4\r\nContent-Length: 5\r\n",
                   b"Transfer-Encoding: chunked, identity\r\n", b"Content-Length: +4\r\n", b"Content-Length: 4 5\r\n",
                   b"Transfer-Encoding : chunked\r\n", b"Transfer-Encoding: \x0bchunked\r\n"):
        answer = http1(gateway, b"POST /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + fields
                       + b"\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n")
        if answer.count(b"HTTP/1.1 ") > 1 and b" 200 " in answer:
            raise Surprise(f"{fields!r} gave {answer[:200]!r}")


@probe()
def pipelined_requests(gateway) -> None:
    """Thousands of HTTP/1.1 requests in one piece."""
    with Peer(gateway, gateway.host, greet=False, alpn="http/1.1") as peer:
        peer.send(b"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n" * 2000)
        received = 0
        peer.tls.settimeout(20 * Patience.factor)
        while received < 2000:
            more = peer.tls.recv(65_536)
            if not more:
                raise Surprise(f"{received} answers, then the end")
            received += more.count(b"HTTP/1.1 404")


@probe("ops.limits.maxBodyBytes")
def chunks_without_end(gateway) -> None:
    """An HTTP/1.1 body in chunks that never ends: 413."""
    chunk = b"10000\r\n" + bytes(65_536) + b"\r\n"
    fields = "".join(f"{name}: {value}\r\n" for name, value in gateway.operator.items())
    head = f"POST /v1/orders HTTP/1.1\r\nHost: localhost\r\n{fields}Transfer-Encoding: chunked\r\n\r\n".encode()
    answer = http1(gateway, head, *[chunk] * 20, port=gateway.ops)
    if answer and b" 413 " not in answer:
        raise Surprise(f"{answer[:60]!r}")


@probe("push.requests")
def http1_for_push(gateway) -> None:
    """HTTP/1.1 where only HTTP/2 is spoken: told, and closed."""
    import ssl

    context = ssl.create_default_context(cafile=gateway.ca)
    with context.wrap_socket(tcp(gateway.push), server_hostname="localhost") as connection:
        connection.sendall(b"POST /3/device/00 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
        if not is_closed(connection, 10 * Patience.factor):
            raise Surprise("the connection goes on")


@probe("host.limits.maxConnectionsPerAddress")
def http1_connections(gateway) -> None:
    """Keep-alive connections of one address, more than it may have."""
    peers, late = [], []
    try:
        for _ in range(gateway.limits["maxConnectionsPerAddress"]):
            peers.append(Peer(gateway, gateway.host, greet=False, alpn="http/1.1", source="127.0.7.1"))
            peers[-1].send(b"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n")
        late = [tcp(gateway.host, "127.0.7.1") for _ in range(10)]
        expect_closed(late, 10)
    finally:
        close_all(late + [peer.tls for peer in peers])
