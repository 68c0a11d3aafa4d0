"""Takes what a Prometheus tells an Alertmanager, and says each alert on a line: `fires NAME LABELS` or `ended NAME LABELS`.

The first line is the port it listens on.
"""

import datetime
import http.server
import json


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        now = datetime.datetime.now(datetime.timezone.utc)
        for alert in json.loads(self.rfile.read(int(self.headers["content-length"]))):
            # One that fires has an end in the future, until which it is taken to fire if nothing more is heard of it.
            state = "fires" if datetime.datetime.fromisoformat(alert["endsAt"]) > now else "ended"
            labels = alert["labels"]
            print(state, labels.pop("alertname"), json.dumps(labels, sort_keys=True), flush=True)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
print(server.server_port, flush=True)
server.serve_forever()
