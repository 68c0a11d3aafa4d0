"""A timeline provider that fails now and then, and the pushes that make a gateway ask it."""

import http.server
import json
import subprocess
import threading

from gateway import APP, TOPIC, Gateway

KIND = "weather"


class FailingProvider:
    """Answers what a gateway asks about one kind: always, for half of what it is asked, or never, a round each in turn."""

    def __init__(self) -> None:
        self.round, self.asked, self.failed = 0, 0, 0
        self._lock = threading.Lock()
        provider = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                question = json.loads(self.rfile.read(int(self.headers["content-length"])))
                body = json.dumps({"answers": provider.answers(question)}).encode()
                is_failing = provider.fails()
                self.send_response(500 if is_failing else 200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(0 if is_failing else len(body)))
                self.end_headers()
                if not is_failing:
                    self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        # A gateway that ends does not wait for its answers.
        self._server.handle_error = lambda *_: None
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def settings(self) -> str:
        """The kind, as the last lines of the gateway's configuration."""
        return f"""      - kind: {KIND}
        budget: unlimited
        parameters: [{{name: city, type: string, required: true}}]
        timelineProvider: {{url: "http://127.0.0.1:{self._server.server_port}/timelines"}}
"""

    def fails(self) -> bool:
        with self._lock:
            self.asked += 1
            is_failing = (False, self.asked % 2 == 0, True)[self.round % 3]
            self.failed += is_failing
            return is_failing

    def answers(self, question: dict) -> list[dict]:
        now = question["now"]
        entry = {"date": now, "content": {"degrees": 7}}
        return [
            {"id": request["id"], "timeline": {"entries": [entry], "policy": "never"}} for request in question["requests"]
        ]

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def register(gateway: Gateway, program: str, hosts: int) -> None:
    """Hosts with one widget of the kind each."""
    lines = [
        json.dumps({
            "token": f"{0xFA11 << 32 | number:064x}", "host": f"provided-{number}", "app": APP, "revision": 1,
            "instances": [{"id": "s0", "kind": KIND, "family": "systemSmall", "configuration": {"city": "Kyiv"}}],
        })
        for number in range(hosts)
    ]
    file = gateway.folder / "provided.ndjson"
    file.write_text("\n".join(lines))
    subprocess.run(
        [program, "import", "--server", f"https://localhost:{gateway.host}", "--ca", gateway.ca, *gateway.sender,
         "--app", APP, file],
        check=True, stderr=subprocess.DEVNULL,
    )


def push(gateway: Gateway) -> None:
    """One push for every widget of the kind."""
    body = json.dumps({"aps": {"content-changed": True}, "freshet": {"kind": KIND, "match": {}}})
    subprocess.run(
        ["curl", "--silent", "--fail", "--http2", "--cacert", gateway.ca, "-H", f"authorization: bearer {gateway.bearer}",
         "-H", f"apns-topic: {TOPIC}", "-H", "apns-push-type: widgets", "-H", "apns-priority: 10", "-d", body,
         f"https://localhost:{gateway.push}/v1/apps/{APP}/pushes"],
        check=True, stdout=subprocess.DEVNULL,
    )
