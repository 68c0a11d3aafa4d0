"""HTTP/2 requests that go out together, and what comes back of each, also where the gateway hangs up."""

import dataclasses
import socket
import ssl
import time

import h2.config
import h2.connection
import h2.events
import h2.exceptions


@dataclasses.dataclass
class Request:
    listener: str
    method: str
    path: str
    headers: list[tuple[str, str]] = dataclasses.field(default_factory=list)
    body: bytes = b""
    # An event stream goes on for ever: it is answered when its head is there, and left with the others of its batch.
    is_stream: bool = False
    operation: str = ""

    def __str__(self) -> str:
        return f"{self.method} {self.path[:200]} ({self.listener}, {len(self.body)} bytes)"


@dataclasses.dataclass
class Answer:
    status: int | None = None
    headers: dict[str, str] = dataclasses.field(default_factory=dict)
    body: bytes = b""
    # Why there is no status: the stream was reset, the connection ended, nothing came in time.
    cut: str = ""


class Client:
    """One connection to one listener, made anew where the gateway has ended it."""

    def __init__(self, port: int, ca: str, patience: float) -> None:
        self.port, self.patience = port, patience
        self.context = ssl.create_default_context(cafile=ca)
        self.context.set_alpn_protocols(["h2"])
        self.tls: ssl.SSLSocket | None = None

    def connect(self) -> None:
        self.close()
        raw = socket.create_connection(("127.0.0.1", self.port), timeout=self.patience)
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.tls = self.context.wrap_socket(raw, server_hostname="localhost")
        # The library must not mend requests on their way.
        config = h2.config.H2Configuration(
            client_side=True, validate_outbound_headers=False, normalize_outbound_headers=False, validate_inbound_headers=False
        )
        self.http = h2.connection.H2Connection(config)
        self.http.initiate_connection()
        self.tls.sendall(self.http.data_to_send())

    def close(self) -> None:
        if self.tls:
            try:
                self.tls.close()
            except OSError:
                pass
        self.tls = None

    def ask(self, requests: list[Request]) -> list[Answer]:
        """The answers, in the order of the requests. Only a gateway that is not there at all is an error (OSError)."""
        answers = [Answer() for _ in requests]
        # A connection that has shown bad credentials may have one stream at once: this is not about that.
        if self.tls is None or self.http.remote_settings.max_concurrent_streams < 2 * len(requests):
            self.connect()
        try:
            self._exchange(requests, answers)
        except (OSError, h2.exceptions.ProtocolError) as error:
            self.close()
            for answer in answers:
                if answer.status is None and not answer.cut:
                    answer.cut = f"{type(error).__name__}: {error}"
        return answers

    def _exchange(self, requests: list[Request], answers: list[Answer]) -> None:
        streams: dict[int, int] = {}
        unsent: dict[int, bytes] = {}
        open_streams: set[int] = set()
        for place, request in enumerate(requests):
            stream = self.http.get_next_available_stream_id()
            fields = [(":method", request.method), (":scheme", "https"), (":authority", "localhost"), (":path", request.path)]
            self.http.send_headers(stream, fields + request.headers, end_stream=not request.body)
            streams[stream] = place
            open_streams.add(stream)
            if request.body:
                unsent[stream] = request.body
        waiting = set(streams)
        end = time.monotonic() + self.patience
        while waiting:
            self._send_bodies(unsent, open_streams)
            self.tls.sendall(self.http.data_to_send())
            self.tls.settimeout(max(0.01, end - time.monotonic()))
            try:
                data = self.tls.recv(65_536)
            except TimeoutError:
                for stream in waiting:
                    answers[streams[stream]].cut = "nothing came in time"
                self.close()
                return
            if not data:
                raise ConnectionResetError("the connection ended")
            for event in self.http.receive_data(data):
                stream = getattr(event, "stream_id", None)
                answer = answers[streams[stream]] if stream in streams else None
                if isinstance(event, h2.events.ConnectionTerminated):
                    words = (event.additional_data or b"").decode("utf-8", "replace")
                    raise ConnectionResetError(f"GOAWAY {event.error_code} {words}")
                if answer is None:
                    continue
                if isinstance(event, h2.events.ResponseReceived):
                    fields = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in event.headers]
                    answer.headers = dict(fields)
                    answer.status = int(answer.headers[":status"])
                    if requests[streams[stream]].is_stream and answer.status == 200:
                        waiting.discard(stream)
                elif isinstance(event, h2.events.DataReceived):
                    answer.body += event.data
                    self.http.acknowledge_received_data(event.flow_controlled_length, stream)
                elif isinstance(event, h2.events.StreamReset):
                    answer.cut = f"reset {event.error_code}"
                    waiting.discard(stream)
                    open_streams.discard(stream)
                    unsent.pop(stream, None)
                elif isinstance(event, h2.events.StreamEnded):
                    waiting.discard(stream)
                    # A request that is answered early needs no more of its body.
                    if stream in unsent:
                        unsent.pop(stream)
                        self.http.reset_stream(stream, 8)
                    open_streams.discard(stream)
        for stream in open_streams:
            self.http.reset_stream(stream, 8)
        self.tls.sendall(self.http.data_to_send())

    def _send_bodies(self, unsent: dict[int, bytes], open_streams: set[int]) -> None:
        for stream in list(unsent):
            while stream in unsent:
                room = min(self.http.local_flow_control_window(stream), self.http.max_outbound_frame_size)
                if room <= 0:
                    break
                body = unsent[stream]
                is_last = len(body) <= room
                self.http.send_data(stream, body[:room], end_stream=is_last)
                if is_last:
                    del unsent[stream]
                else:
                    unsent[stream] = body[room:]
