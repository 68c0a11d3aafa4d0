"""What a gateway asks, answered by somebody who means it ill: timeline providers, an upstream, a webhook's receiver."""

import asyncio
import http.server
import json
import random
import socket
import threading

from hypercorn.asyncio import serve
from hypercorn.config import Config

import values

WAITS = [str(number) for number in values.INTEGERS if number > 0] + ["-1", "1e30", "", "Fri, 31 Dec 9999 23:59:59 GMT", "0"]


def timeline(luck: random.Random, question: dict) -> bytes:
    """An answer to a question, mostly good, with something in it that is not."""
    answers = []
    for request in question.get("requests", []):
        entries = [
            {"date": question["now"], "content": luck.choice(values.TEXTS[:8]),
             "relevance": {"score": luck.choice(values.DOUBLES), "duration": values.integer(luck)}}
            for _ in range(luck.randrange(3))
        ]
        value = {
            "id": request["id"],
            "timeline": {"entries": entries, "policy": luck.choice(["atEnd", "never", {"after": luck.choice(values.DATES)}])},
            "entry": {"content": 1}, "recommendations": [{"configuration": {"team": "a"}, "description": "b"}],
            "relevance": [{"configuration": {"team": "a"}, "from": luck.choice(values.DATES), "to": luck.choice(values.DATES)}],
        }
        answers.append(values.damaged(luck, value) if luck.random() < 0.5 else value)
    return values.written(luck, {"answers": answers})


class HostileServices:
    """Serves until the process ends. `provider` is a port of HTTP/1.1, `upstream` one of HTTP/2 over TLS."""

    def __init__(self, seed: int, certificate: str, key: str) -> None:
        self.asked = 0
        self._luck = random.Random(seed)
        self._lock = threading.Lock()
        self._start_provider()
        self._start_upstream(certificate, key)

    def _status(self, good: int, bad: list[int]) -> tuple[int, list[tuple[str, str]]]:
        with self._lock:
            self.asked += 1
            if self._luck.random() < 0.5:
                return good, []
            fields = [("retry-after", self._luck.choice(WAITS))] if self._luck.random() < 0.7 else []
            return self._luck.choice(bad), fields

    def _start_provider(self) -> None:
        services = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                question = json.loads(self.rfile.read(int(self.headers["content-length"])))
                status, fields = services._status(200, [202, 204, 301, 400, 429, 500, 503, 599])
                with services._lock:
                    body = timeline(services._luck, question) if status in (200, 202) else b"{"
                    length = len(body) if services._luck.random() < 0.97 else values.integer(services._luck)
                self.send_response(status)
                for name, value in fields:
                    self.send_header(name, value)
                self.send_header("content-length", str(length))
                self.end_headers()
                self.wfile.write(body)
                if length != len(body):
                    self.close_connection = True

            def log_message(self, *_: object) -> None:
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.handle_error = lambda *_: None
        server.daemon_threads = True
        self.provider = server.server_port
        threading.Thread(target=server.serve_forever, daemon=True).start()

    def _start_upstream(self, certificate: str, key: str) -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        self.upstream = listener.getsockname()[1]
        config = Config()
        config.bind = [f"fd://{listener.fileno()}"]
        config.certfile, config.keyfile, config.loglevel = certificate, key, "CRITICAL"
        self._listener = listener

        async def app(scope: dict, receive, send) -> None:
            if scope["type"] == "lifespan":
                while (event := await receive())["type"] != "lifespan.shutdown":
                    await send({"type": event["type"] + ".complete"})
                return
            while (await receive()).get("more_body", False):
                pass
            status, fields = self._status(200, [400, 403, 404, 410, 413, 429, 500, 503, 999])
            with self._lock:
                body = values.written(self._luck, {
                    "reason": self._luck.choice(["BadDeviceToken", "Unregistered", "ExpiredProviderToken", "", "x" * 900]),
                    "timestamp": values.integer(self._luck),
                })
            headers = [(name.encode(), value.encode()) for name, value in fields]
            await send({"type": "http.response.start", "status": status, "headers": headers})
            await send({"type": "http.response.body", "body": b"" if status == 200 else body})

        threading.Thread(
            target=lambda: asyncio.run(serve(app, config, shutdown_trigger=lambda: asyncio.Future())), daemon=True
        ).start()
