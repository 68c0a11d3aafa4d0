"""A timeline provider whose timelines have an entry of its start and one of a later time, for all widgets the same.

    later_provider.py --later SECONDS
"""

import argparse
import datetime
import http.server
import json


def entry(date: datetime.datetime, number: int) -> dict:
    return {"date": date.isoformat(timespec="milliseconds").replace("+00:00", "Z"), "content": {"number": number}}


def handler(entries: list[dict]) -> type:
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            question = json.loads(self.rfile.read(int(self.headers["content-length"])))
            is_known = question["question"] == "timeline"
            timeline = {"entries": entries, "policy": "never"}
            answers = [{"id": request["id"], "timeline": timeline} for request in question["requests"]]
            body = json.dumps({"answers": answers if is_known else []}).encode()
            self.send_response(200 if is_known else 404)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--later", type=int, required=True)
    later = datetime.timedelta(seconds=parser.parse_args().later)
    start = datetime.datetime.now(datetime.timezone.utc)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler([entry(start, 1), entry(start + later, 2)]))
    print(f"listening on http://127.0.0.1:{server.server_port}/timelines", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
