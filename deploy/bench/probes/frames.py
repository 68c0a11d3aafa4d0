"""Probes with HTTP/2 frames: floods, bombs, and what the protocol forbids."""

import struct

from catalogue import probe
from peer import (
    ACK, COMPRESSION_ERROR, CONTINUATION, DATA, END_HEADERS, END_STREAM, ENHANCE_YOUR_CALM, FLOW_CONTROL_ERROR,
    FRAME_SIZE_ERROR, GOAWAY, HEAD, HEADERS, NO_ERROR, PADDED, PING, PREFACE, PRIORITY, PROTOCOL_ERROR, PUSH_PROMISE,
    REFUSED_STREAM, RST_STREAM, STREAM_CLOSED, WINDOW_UPDATE, Peer, Surprise, block, credit, data, device, frame, get,
    headers, importing, integer, ping, request, reset, settings, text,
)


def streams(count: int) -> list[int]:
    return [2 * number + 1 for number in range(count)]


# --- Floods


@probe("push.limits.maxResets")
def rapid_reset(gateway) -> None:
    """Requests that are reset at once (CVE-2023-44487)."""
    with Peer(gateway, gateway.push) as peer:
        peer.send(*[request(stream) + reset(stream) for stream in streams(1000)])
        peer.goaway(ENHANCE_YOUR_CALM, "RST_STREAM")


@probe("push.limits.maxStreamErrors")
def made_you_reset(gateway) -> None:
    """Windows that overflow, so that the gateway has to reset (CVE-2025-8671)."""
    with Peer(gateway, gateway.push) as peer:
        for stream in streams(300):
            peer.send(request(stream, last=False) + credit(stream, 0x7FFF_FFFF))
        peer.goaway(ENHANCE_YOUR_CALM, "stream errors")


@probe("push.limits.maxControlFrames")
def ping_flood(gateway) -> None:
    """PING without end."""
    with Peer(gateway, gateway.push) as peer:
        peer.send(ping() * 5000)
        peer.goaway(ENHANCE_YOUR_CALM, "PING")


@probe("push.limits.maxControlFrames")
def ping_acknowledgement_flood(gateway) -> None:
    """Acknowledgements of PINGs that were never sent."""
    with Peer(gateway, gateway.push) as peer:
        peer.send(ping(ACK) * 5000)
        peer.goaway(ENHANCE_YOUR_CALM, "PING")


@probe("push.limits.maxControlFrames")
def settings_flood(gateway) -> None:
    """SETTINGS that change the window of open streams to and fro (CVE-2019-9515)."""
    with Peer(gateway, gateway.push) as peer:
        peer.send(*[request(stream, *device(gateway), last=False) for stream in streams(500)])
        peer.send(*[settings((4, 60_000 + number % 2)) for number in range(2000)])
        peer.goaway(ENHANCE_YOUR_CALM, "SETTINGS")


@probe("push.limits.maxSettingsEntries")
def settings_entries(gateway) -> None:
    """One SETTINGS frame with thousands of entries."""
    with Peer(gateway, gateway.push) as peer:
        peer.send(settings(*[(4, 65_535)] * 2700))
        peer.goaway(ENHANCE_YOUR_CALM, "entries")


@probe("push.limits.maxControlFrames")
def goaway_flood(gateway) -> None:
    """GOAWAY again and again, with debug data."""
    with Peer(gateway, gateway.push) as peer:
        peer.send(request(1, last=False))
        peer.send(*[frame(GOAWAY, payload=struct.pack(">II", 0, 0) + bytes(1000))] * 200)
        peer.goaway(ENHANCE_YOUR_CALM, "GOAWAY")


@probe("push.limits.maxWindowUpdates")
def window_update_flood(gateway) -> None:
    """Credit of one byte without end."""
    with Peer(gateway, gateway.push) as peer:
        peer.send(credit(0, 1) * 20_000)
        peer.goaway(ENHANCE_YOUR_CALM, "WINDOW_UPDATE")


@probe("push.limits.maxPriorityFrames")
def priority_flood(gateway) -> None:
    """PRIORITY for streams that are not there (CVE-2019-9513)."""
    with Peer(gateway, gateway.push) as peer:
        peer.send(*[frame(PRIORITY, 0, stream, b"\0\0\0\0\x10") for stream in streams(5000)])
        peer.goaway(ENHANCE_YOUR_CALM, "PRIORITY")


@probe("push.limits.maxPriorityFrames")
def unknown_frame_flood(gateway) -> None:
    """Frames of types that do not exist."""
    with Peer(gateway, gateway.push) as peer:
        peer.send(*[frame(11 + number % 200, 0xFF, number, b"x" * 50) for number in range(3000)])
        peer.goaway(ENHANCE_YOUR_CALM, "unknown")


@probe("push.limits.maxEmptyData")
def empty_data_flood(gateway) -> None:
    """DATA frames without data (CVE-2019-9518)."""
    with Peer(gateway, gateway.push) as peer:
        peer.send(request(1, last=False) + data(1) * 20_000)
        peer.goaway(ENHANCE_YOUR_CALM, "empty DATA")


@probe("push.limits.maxPaddingBytes")
def padding_flood(gateway) -> None:
    """DATA frames of one byte and 255 of padding."""
    with Peer(gateway, gateway.push) as peer:
        peer.send(request(1, last=False))
        padded = frame(DATA, PADDED, 1, b"\xff" + b"a" + bytes(255))
        peer.send(padded * 400)
        peer.goaway(ENHANCE_YOUR_CALM, "padding")


@probe("push.limits.maxLateFrames")
def late_frame_flood(gateway) -> None:
    """DATA without end on a stream that was reset."""
    with Peer(gateway, gateway.push) as peer:
        peer.send(request(1, [("te", "gzip")], last=False))
        peer.is_reset(1, PROTOCOL_ERROR)
        peer.send(data(1, b"x") * 15_000)
        peer.goaway(ENHANCE_YOUR_CALM, "were reset")


# --- Header lists


@probe("push.limits.maxContinuations")
def continuation_flood(gateway) -> None:
    """CONTINUATION frames that never end (CVE-2024-28182)."""
    with Peer(gateway, gateway.push) as peer:
        fill = block([("x-fill", "v" * 1000)])
        peer.send(frame(HEADERS, END_STREAM, 1, block(HEAD)), *[frame(CONTINUATION, 0, 1, fill)] * 500)
        peer.goaway(ENHANCE_YOUR_CALM, "CONTINUATION")


@probe("push.limits.maxContinuations")
def empty_continuation_flood(gateway) -> None:
    """CONTINUATION frames without a byte."""
    with Peer(gateway, gateway.push) as peer:
        peer.send(frame(HEADERS, END_STREAM, 1, block(HEAD)), frame(CONTINUATION, 0, 1) * 10_000)
        peer.goaway(ENHANCE_YOUR_CALM, "CONTINUATION")


@probe("push.limits.maxHeaderBytes")
def large_headers(gateway) -> None:
    """A header list of 20 KB: 431, and the connection goes on."""
    with Peer(gateway, gateway.push) as peer:
        peer.send(request(1, [("x-fill", "v" * 10_000)] * 2))
        peer.status(1, 431)
        peer.works()


@probe("push.limits.maxHeaderFields")
def many_fields(gateway) -> None:
    """150 header fields: 431, and the connection goes on."""
    with Peer(gateway, gateway.push) as peer:
        peer.send(request(1, [(f"x-{number}", "") for number in range(150)]))
        peer.status(1, 431)
        peer.works()


def bomb() -> bytes:
    """4 KB in the dynamic table, and 12,000 references of a byte to it: 48 MB of fields."""
    return b"\x40" + text("x-bomb") + text("b" * 3900) + b"\xbe" * 12_000


@probe("push.limits.maxOversizedHeaders")
def header_bomb(gateway) -> None:
    """HPACK bombs: the first ones cost their stream, a few the connection."""
    with Peer(gateway, gateway.push) as peer:
        peer.send(headers(1, block(HEAD) + bomb()))
        peer.is_reset(1)
        peer.works(3)
        peer.send(*[headers(stream, block(HEAD) + bomb()) for stream in (9_003, 9_005, 9_007)])
        peer.goaway(ENHANCE_YOUR_CALM, "header lists")


@probe("push.limits.maxOversizedHeaders")
def trailer_bomb(gateway) -> None:
    """The same in trailers, which the gateway does not read."""
    with Peer(gateway, gateway.push) as peer:
        for stream in (1, 3, 5, 7):
            peer.send(request(stream, last=False) + headers(stream, bomb()))
        peer.goaway(ENHANCE_YOUR_CALM, "header lists")


@probe("push.endedByFault")
def table_index_out_of_range(gateway) -> None:
    """A reference to an entry that the table does not have."""
    with Peer(gateway, gateway.push) as peer:
        peer.send(headers(1, block(HEAD) + integer(3000, 7, 0x80)))
        peer.goaway(COMPRESSION_ERROR)


@probe("push.endedByFault")
def table_size_update(gateway) -> None:
    """A dynamic table larger than was allowed."""
    with Peer(gateway, gateway.push) as peer:
        peer.send(headers(1, integer(1 << 30, 5, 0x20) + block(HEAD)))
        peer.goaway(COMPRESSION_ERROR)


@probe("push.endedByFault")
def integer_overflow(gateway) -> None:
    """A length of a string that no integer holds."""
    with Peer(gateway, gateway.push) as peer:
        peer.send(headers(1, b"\0\x7f" + b"\xff" * 20 + b"\x7f"))
        peer.goaway(COMPRESSION_ERROR)


@probe("push.endedByFault")
def huffman_end_of_string(gateway) -> None:
    """A string with Huffman's end of string within (RFC 7541, 5.2)."""
    with Peer(gateway, gateway.push) as peer:
        peer.send(headers(1, b"\0" + text("x") + b"\x84\xff\xff\xff\xff"))
        peer.goaway(COMPRESSION_ERROR)


@probe()
def invalid_fields(gateway) -> None:
    """Names and values that HTTP does not allow cost their streams."""
    bad = [
        ("apns-topic", "a\0b"), ("apns-topic", "a\r\nb: c"), ("apns-topic", " a"), ("Apns-Topic", "a"), ("a b", "c"),
        ("connection", "close"), ("transfer-encoding", "chunked"), (":path", "/x"), (":unknown", "x"), ("", "x"),
    ]
    with Peer(gateway, gateway.push) as peer:
        for number, field in enumerate(bad):
            peer.send(request(2 * number + 1, [field]))
            peer.is_reset(2 * number + 1, PROTOCOL_ERROR)
        peer.works()


@probe()
def content_length_that_lies(gateway) -> None:
    """A body that is shorter or longer than announced."""
    with Peer(gateway, gateway.push) as peer:
        for stream, length in ((1, "5"), (3, "1"), (5, "-1"), (7, "99999999999999999999")):
            peer.send(request(stream, [("content-length", length)], last=False) + data(stream, b"abc", last=True))
            peer.is_reset(stream, PROTOCOL_ERROR)
        peer.works()


# --- Bodies, windows and streams


@probe("push.limits.maxBodyBytes")
def large_body(gateway) -> None:
    """A body above the limit is answered 413 before its end."""
    with Peer(gateway, gateway.push) as peer:
        peer.send(request(1, *device(gateway), last=False) + data(1, bytes(16_000)) + data(1, bytes(16_000)))
        peer.status(1, 413)
        peer.send(data(1, last=True))
        peer.works()


@probe("push.limits.maxDiscardedBytes")
def body_without_end(gateway) -> None:
    """A body that goes on after its 413: after a megabyte the stream is reset."""
    with Peer(gateway, gateway.push) as peer:
        peer.send(request(1, last=False))
        peer.body(1, 1_150_000)
        peer.is_reset(1, NO_ERROR)
        peer.works()


@probe("push.endedByFault")
def more_than_the_window(gateway) -> None:
    """Data beyond the credit of a stream."""
    with Peer(gateway, gateway.host) as peer:
        peer.send(request(1, last=False), *[data(1, bytes(16_384))] * 100)
        peer.wait(lambda f: f.type == GOAWAY or f.type == RST_STREAM, "an end")
    with Peer(gateway, gateway.push) as peer:
        peer.send(credit(0, 0x7FFF_FFFF))
        peer.goaway(FLOW_CONTROL_ERROR)


@probe("push.endedByFault")
def credit_of_nothing(gateway) -> None:
    """A WINDOW_UPDATE of 0 on the connection."""
    with Peer(gateway, gateway.push) as peer:
        peer.send(frame(WINDOW_UPDATE, payload=bytes(4)))
        peer.goaway(PROTOCOL_ERROR)


@probe("host.limits.maxConnectionBytes")
def unfinished_bodies(gateway) -> None:
    """Many streams with large bodies that never end, on one connection, with a good credential."""
    with Peer(gateway, gateway.host) as peer:
        for stream in streams(32):
            peer.send(request(stream, *importing(gateway), last=False))
            peer.body(stream, 150_000)
        if not any(f.type == GOAWAY for f in peer.seen):
            peer.wait(lambda f: f.type == GOAWAY, "GOAWAY")


@probe("host.limits.maxListenerBytes")
def unfinished_bodies_of_many(gateway) -> None:
    """The same on many connections, each below its own limit: the one that holds the most ends, and it is counted."""
    peers = [Peer(gateway, gateway.host, source=f"127.0.3.{number}") for number in range(1, 6)]
    try:
        for peer in peers:
            peer.send(request(1, *importing(gateway), last=False))
            peer.body(1, 1_500_000)
    finally:
        for peer in peers:
            peer.tls.close()


@probe("host.requests")
def uploads_without_a_credential(gateway) -> None:
    """Large bodies behind heads without a credential: refused at once, before a byte of them, and nothing is held."""
    peers = [Peer(gateway, gateway.host, source=f"127.0.3.{number}") for number in range(1, 31)]
    try:
        for peer in peers:
            peer.send(request(1, *importing(gateway, bearer=False), last=False))
            peer.status(1, 401)
            peer.body(1, 500_000)
        if held := gateway.count("host.heldBytes"):
            raise Surprise(f"{held} bytes are held")
        peers[0].send(request(3, *importing(gateway)))
        peers[0].status(3, 200)
    finally:
        for peer in peers:
            peer.tls.close()


@probe("push.limits.maxConcurrentStreams")
def too_many_streams(gateway) -> None:
    """More streams than may be open, before the client can know how many: refused."""
    with Peer(gateway, gateway.push, greet=False) as peer:
        peer.send(PREFACE + settings(), *[request(stream, *device(gateway), last=False) for stream in streams(1050)])
        peer.is_reset(2 * 1049 + 1, REFUSED_STREAM)
        peer.send(*[data(stream, b"x", last=True) for stream in streams(1050)])
        peer.status(1, 400)


@probe("push.limits.maxStreamErrors")
def too_many_streams_knowingly(gateway) -> None:
    """The same after the client has acknowledged the limit: refused, and ended when it goes on."""
    with Peer(gateway, gateway.push) as peer:
        peer.send(*[request(stream, *device(gateway), last=False) for stream in streams(1200)])
        peer.goaway(ENHANCE_YOUR_CALM)


# --- What the protocol forbids


@probe("push.endedByFault")
def smaller_stream(gateway) -> None:
    """A stream below one that was opened before (RFC 9113, 5.1.1)."""
    with Peer(gateway, gateway.push) as peer:
        peer.send(request(9) + request(5))
        peer.goaway(PROTOCOL_ERROR)


@probe("push.endedByFault")
def data_on_closed_stream(gateway) -> None:
    """DATA after both sides have ended the stream."""
    with Peer(gateway, gateway.push) as peer:
        peer.send(request(1))
        peer.wait(lambda f: f.stream == 1 and f.flags & END_STREAM, "an answer")
        peer.send(data(1, b"x"))
        peer.goaway(STREAM_CLOSED)


@probe("push.endedByFault")
def frame_too_large(gateway) -> None:
    """A frame above 16 KiB."""
    with Peer(gateway, gateway.push) as peer:
        peer.send(frame(DATA, 0, 1, bytes(16_385)))
        peer.goaway(FRAME_SIZE_ERROR)


@probe("push.endedByFault")
def broken_frames(gateway) -> None:
    """Frames of impossible length, on impossible streams, out of order."""
    cases = [
        frame(PING, payload=b"1234567"), frame(RST_STREAM, 0, 1, b"abc"), frame(RST_STREAM, 0, 0, bytes(4)),
        frame(WINDOW_UPDATE, 0, 0, b"abc"), frame(DATA, 0, 0, b"x"), frame(DATA, 0, 77, b"x"),
        frame(HEADERS, END_HEADERS, 0, block(HEAD)), frame(HEADERS, END_HEADERS, 2, block(HEAD)),
        frame(CONTINUATION, END_HEADERS, 1, b""), frame(PUSH_PROMISE, END_HEADERS, 1, bytes(4) + block(HEAD)),
        frame(HEADERS, 0, 1, block(HEAD)) + ping(), settings((4, 0xFFFF_FFFF)), settings((5, 1)), settings((2, 7)),
        frame(PRIORITY, 0, 5, struct.pack(">IB", 5, 1)), frame(PRIORITY, 0, 0, bytes(5)),
        request(1, last=False) + frame(DATA, PADDED, 1, b"\x09abc"), frame(GOAWAY, 0, 1, bytes(8)),
    ]
    for case in cases:
        with Peer(gateway, gateway.push) as peer:
            peer.send(case)
            peer.wait(lambda f: f.type == GOAWAY, f"GOAWAY after {case[:20].hex()}")
            peer.ended()


@probe("push.endedByFault")
def bad_preface(gateway) -> None:
    """Something else than HTTP/2 behind ALPN h2."""
    with Peer(gateway, gateway.push, greet=False) as peer:
        peer.send(b"\0" * 64)
        peer.ended()


@probe()
def random_bytes(gateway) -> None:
    """Frames of random types, flags, streams and contents, from fixed seeds."""
    import random

    for seed in range(30):
        dice = random.Random(seed)
        with Peer(gateway, gateway.push) as peer:
            for _ in range(60):
                peer.send(frame(dice.randrange(12), dice.randrange(256), dice.choice([0, 1, 3, 5, dice.getrandbits(31)]),
                                dice.randbytes(dice.randrange(200))))
            peer.send(request(9_999))


# --- What is asked, rather than how


@probe()
def json_bombs(gateway) -> None:
    """Bodies that nest, repeat or never end."""
    bodies = [
        b"[" * 4000, b'{"a":' * 800 + b"1" + b"}" * 800, b'{"aps":{"content-changed":1e999999}}', b'"' + b"\\u0000" * 600,
        b'{"aps":' + b" " * 4000 + b"}", b"\xff" * 4000, b'{"aps":{},"aps":{}}', b"", b"{" + b'"a":1,' * 600 + b'"b":2}',
    ]
    with Peer(gateway, gateway.push) as peer:
        for number, body in enumerate(bodies):
            stream = 2 * number + 1
            peer.send(request(stream, *device(gateway), last=False) + data(stream, body, last=True))
            answer = peer.wait(lambda f: f.type == HEADERS and f.stream == stream, "an answer")
            # An unknown member is none of APNs' business: the last one is a push.
            if not dict(answer.payload)[":status"].startswith(("4", "2")):
                raise RuntimeError(f"body {number}: {answer.payload}")
        peer.works()


@probe("push.limits.maxBadCredentials")
def forged_tokens(gateway) -> None:
    """Hundreds of provider tokens with signatures that do not hold: a few are looked at, then the connection ends."""
    import base64
    import json
    import time

    def part(value: dict) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    with Peer(gateway, gateway.push) as peer:
        forged = []
        for stream in streams(400):
            claims = part({"alg": "ES256", "kid": gateway.kid}) + "." + part({"iss": gateway.team, "iat": int(time.time()) - stream})
            signature = base64.urlsafe_b64encode(stream.to_bytes(2, "big") * 32).decode().rstrip("=")
            forged.append(request(stream, [("authorization", f"bearer {claims}.{signature}"), ("apns-topic", gateway.topic),
                                           ("apns-push-type", "widgets")]))
        peer.send(forged[0])
        peer.status(1, 403)
        peer.send(*forged[1:])
        peer.goaway(ENHANCE_YOUR_CALM, "refused credentials")


@probe()
def long_paths(gateway) -> None:
    """Paths and tokens at the limits of a header list."""
    with Peer(gateway, gateway.push) as peer:
        for number, path in enumerate(["/3/device/" + "a" * 7000, "/" * 7000, "/%00" * 1500, "*", "/3/device/" + "é" * 100]):
            head = [*HEAD[:2], (":path", path), HEAD[3]]
            peer.send(request(2 * number + 1, head=head))
            peer.wait(lambda f: f.type in (HEADERS, RST_STREAM) and f.stream == 2 * number + 1, "an answer")
        peer.works()


@probe("ops.timeouts.writeStall", slow=True)
def no_credit_for_answers(gateway) -> None:
    """Hundreds of answers that wait for credit which never comes."""
    with Peer(gateway, gateway.ops, first=settings((4, 0))) as peer:
        peer.send(*[get(stream, "/version") for stream in streams(300)])
        for stream in streams(100):
            peer.is_reset(stream)
