"""A collector of spans: takes OTLP in JSON over HTTP/1.1 and appends each request to a file, a line each."""

import argparse
import http.server
import json


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        known = self.path == "/v1/traces" and self.headers["content-type"] == "application/json"
        if known:
            with open(self.server.spans, "a", encoding="utf-8") as file:
                file.write(json.dumps(body) + "\n")
        self.send_response(200 if known else 404)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


parser = argparse.ArgumentParser()
parser.add_argument("--spans", required=True)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.spans = parser.parse_args().spans
print(f"listening on http://127.0.0.1:{server.server_port}/v1/traces", flush=True)
server.serve_forever()
