"""A client without manners: frames as bytes over TLS, and what the gateway answers."""

import collections
import socket
import ssl
import struct
import time

import hpack

from catalogue import Patience

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM, ACK, END_HEADERS, PADDED = 1, 1, 4, 8
NO_ERROR, PROTOCOL_ERROR, INTERNAL_ERROR, FLOW_CONTROL_ERROR, _, STREAM_CLOSED, FRAME_SIZE_ERROR = range(7)
REFUSED_STREAM, CANCEL, COMPRESSION_ERROR, _, ENHANCE_YOUR_CALM = range(7, 12)

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
HEAD = [(":method", "POST"), (":scheme", "https"), (":path", "/3/device/00"), (":authority", "localhost")]

# Attackers have addresses of their own, so that what they use up is not taken from others.
ATTACKER = "127.0.0.2"

Frame = collections.namedtuple("Frame", "type flags stream payload")


class Surprise(Exception):
    """The gateway did something else than a probe expects."""


def frame(type: int, flags: int = 0, stream: int = 0, payload: bytes = b"") -> bytes:
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", type, flags, stream) + payload


def settings(*entries: tuple[int, int]) -> bytes:
    return frame(SETTINGS, payload=b"".join(struct.pack(">HI", *entry) for entry in entries))


def ping(flags: int = 0) -> bytes:
    return frame(PING, flags, payload=b"12345678")


def reset(stream: int, code: int = CANCEL) -> bytes:
    return frame(RST_STREAM, 0, stream, struct.pack(">I", code))


def credit(stream: int, count: int) -> bytes:
    return frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", count))


def data(stream: int, payload: bytes = b"", last: bool = False) -> bytes:
    return frame(DATA, END_STREAM if last else 0, stream, payload)


def block(fields: list[tuple[str, str]]) -> bytes:
    """A header block of literals without indexing and without Huffman (RFC 7541, 6.2.2)."""
    return b"".join(b"\0" + text(name) + text(value) for name, value in fields)


def text(value: str | bytes) -> bytes:
    value = value.encode("latin-1") if isinstance(value, str) else value
    return integer(len(value), 7) + value


def integer(number: int, bits: int, first: int = 0) -> bytes:
    limit = (1 << bits) - 1
    if number < limit:
        return bytes([first | number])
    out, number = bytearray([first | limit]), number - limit
    while number >= 128:
        out.append(number % 128 | 128)
        number //= 128
    return bytes(out + bytes([number]))


def request(stream: int, extra: list[tuple[str, str]] = [], head: list[tuple[str, str]] = HEAD, last: bool = True) -> bytes:
    return headers(stream, block(head + extra), last)


def headers(stream: int, encoded: bytes, last: bool = True) -> bytes:
    """A header block in as many frames as it takes."""
    pieces = [encoded[i : i + 16_000] for i in range(0, len(encoded), 16_000)] or [b""]
    out = b""
    for index, piece in enumerate(pieces):
        flags = END_HEADERS if index == len(pieces) - 1 else 0
        if index == 0:
            out += frame(HEADERS, flags | (END_STREAM if last else 0), stream, piece)
        else:
            out += frame(CONTINUATION, flags, stream, piece)
    return out


def get(stream: int, path: str, fields: dict[str, str] = {}) -> bytes:
    head = [(":method", "GET"), (":scheme", "https"), (":path", path), (":authority", "localhost")]
    return request(stream, head=head + list(fields.items()))


def device(gateway) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Fields and head of a good push, but for its body."""
    fields = [("authorization", f"bearer {gateway.bearer}"), ("apns-topic", gateway.topic), ("apns-push-type", "widgets")]
    return fields, [*HEAD[:2], (":path", f"/3/device/{gateway.token}"), HEAD[3]]


def importing(gateway, bearer: bool = True) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Fields and head of an import, which may have the largest body."""
    fields = [("authorization", f"bearer {gateway.bearer}")] if bearer else []
    return fields, [*HEAD[:2], (":path", f"/v1/apps/{gateway.app}/hosts"), HEAD[3]]


def tcp(port: int, source: str = ATTACKER, receive_buffer: int | None = None) -> socket.socket:
    raw = socket.socket()
    if receive_buffer:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    raw.settimeout(20 * Patience.factor)
    raw.bind((source, 0))
    raw.connect(("127.0.0.1", port))
    return raw


def is_closed(connection: socket.socket, seconds: float) -> bool:
    """Waits for the end of a connection, whatever comes before it."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        connection.settimeout(left)
        try:
            if not connection.recv(65_536):
                return True
        except TimeoutError:
            return False
        except OSError:
            return True
    return False


class Peer:
    """One TLS connection. Open it by `with`, which closes it."""

    def __init__(self, gateway, port: int, *, greet: bool = True, first: bytes = settings(), source: str = ATTACKER,
                 alpn: str = "h2", receive_buffer: int | None = None) -> None:
        context = ssl.create_default_context(cafile=gateway.ca)
        context.set_alpn_protocols([alpn])
        raw = tcp(port, source, receive_buffer)
        try:
            self.tls = context.wrap_socket(raw, server_hostname="localhost")
        except OSError:
            raw.close()
            raise
        self.received = b""
        self.has_ended = False
        self.decoder = hpack.Decoder()
        self.seen: list[Frame] = []
        self.windows = collections.defaultdict(lambda: 65_535)
        if greet:
            self.send(PREFACE + first)
            self.wait(lambda f: f.type == SETTINGS and f.flags & ACK, "SETTINGS acknowledged")
            self.send(frame(SETTINGS, ACK))

    def __enter__(self) -> "Peer":
        return self

    def __exit__(self, *_) -> None:
        self.tls.close()

    def send(self, *pieces: bytes) -> None:
        """Sends; a peer that has hung up meanwhile shows when its answer is read."""
        try:
            self.tls.sendall(b"".join(pieces))
        except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
            pass

    def next(self, seconds: float) -> Frame | None:
        """The next frame; None at the end of the connection, a Surprise if nothing comes in time."""
        end = time.monotonic() + seconds
        while True:
            if len(self.received) >= 9:
                length = int.from_bytes(self.received[:3], "big")
                if len(self.received) >= 9 + length:
                    return self.take(length)
            self.tls.settimeout(max(0.01, end - time.monotonic()))
            try:
                more = self.tls.recv(65_536)
            except TimeoutError:
                raise Surprise(f"nothing came for {seconds:.0f} s; before: {self.summary()}")
            except (ConnectionResetError, ssl.SSLError):
                more = b""
            if not more:
                self.has_ended = True
                return None
            self.received += more

    def take(self, length: int) -> Frame:
        type, flags, stream = struct.unpack(">BBI", self.received[3:9])
        taken = Frame(type, flags, stream, self.received[9 : 9 + length])
        self.received = self.received[9 + length :]
        if type == HEADERS:
            taken = taken._replace(payload=self.decoder.decode(taken.payload))
        if type == WINDOW_UPDATE:
            self.windows[stream] += struct.unpack(">I", taken.payload)[0]
        self.seen.append(taken)
        return taken

    def summary(self) -> str:
        return ", ".join(f"{f.type}/{f.flags} on {f.stream}" for f in self.seen[-8:]) or "nothing"

    def wait(self, wanted, what: str, seconds: float = 15) -> Frame:
        end = time.monotonic() + seconds * Patience.factor
        while taken := self.next(max(0.01, end - time.monotonic())):
            if wanted(taken):
                return taken
        raise Surprise(f"{what} was expected, and the connection ended; before: {self.summary()}")

    def goaway(self, code: int, words: str | None = None, seconds: float = 15) -> None:
        """Expects a GOAWAY, and the end of the connection after it."""
        found = self.wait(lambda f: f.type == GOAWAY, "GOAWAY", seconds)
        last, got = struct.unpack(">II", found.payload[:8])
        debug = found.payload[8:].decode("utf-8", "replace")
        if got != code or (words and words not in debug):
            raise Surprise(f"GOAWAY {got} '{debug}' instead of {code} '{words or ''}'")
        self.ended(seconds)

    def ended(self, seconds: float = 15) -> None:
        end = time.monotonic() + seconds * Patience.factor
        while not self.has_ended:
            self.next(max(0.01, end - time.monotonic()))

    def is_reset(self, stream: int, code: int | None = None, seconds: float = 15) -> None:
        found = self.reset_of(stream) or self.wait(lambda _: self.reset_of(stream), f"RST_STREAM on {stream}", seconds)
        got = struct.unpack(">I", found.payload)[0]
        if code is not None and got != code:
            raise Surprise(f"RST_STREAM {got} instead of {code}")

    def reset_of(self, stream: int) -> Frame | None:
        return next((f for f in self.seen if f.type == RST_STREAM and f.stream == stream), None)

    def status(self, stream: int, wanted: int, seconds: float = 15) -> None:
        found = self.wait(lambda f: f.type == HEADERS and f.stream == stream, f"an answer on {stream}", seconds)
        got = dict(found.payload)[":status"]
        if got != str(wanted):
            raise Surprise(f"status {got} instead of {wanted}")

    def works(self, stream: int = 9_001) -> None:
        """Shows that the connection still answers."""
        self.send(request(stream))
        self.wait(lambda f: f.type == HEADERS and f.stream == stream, "an answer after all that")

    def body(self, stream: int, count: int) -> None:
        """Sends so many bytes of a body that does not end, as fast as credit allows; stops when the stream ends."""
        while count > 0 and not self.has_ended and not self.reset_of(stream):
            step = min(count, self.windows[0], self.windows[stream], 16_384)
            if step <= 0:
                if self.next(15 * Patience.factor) is None:
                    return
                continue
            self.send(data(stream, bytes(step)))
            self.windows[0] -= step
            self.windows[stream] -= step
            count -= step
