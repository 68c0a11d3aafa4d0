"""A timeline provider for a scores widget and a character widget, with only Python's standard library.

    python3 provider.py --port 8080 --state state.json

Freshet asks it for placeholders, snapshots, timelines, relevance and recommendations (docs/timeline-providers.yaml). It
reads its state file for every question. To change a score, write the file:

    {"scores": {"seahawks": {"opponent": "rams", "us": 14, "them": 10, "minute": 52}},
     "characters": {"panda": {"health": 80}}}
"""

import argparse
import datetime
import hashlib
import http.server
import json
import pathlib

TEAMS = ["bears", "rams", "seahawks"]
CHARACTERS = ["panda", "spouty", "egghead"]


def date(instant: datetime.datetime) -> str:
    return instant.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Kinds:
    """The scores and characters, from the state file."""

    def __init__(self, state: dict) -> None:
        self.state = state

    def score(self, configuration: dict) -> dict:
        team = configuration.get("team", "seahawks")
        game = self.state.get("scores", {}).get(team, {})
        return {"type": "score", "team": team, "opponent": game.get("opponent", "rams"), "us": game.get("us", 0),
                "them": game.get("them", 0), "minute": game.get("minute", 0)}

    def character(self, configuration: dict, after: datetime.timedelta = datetime.timedelta()) -> dict:
        name = configuration.get("character", "panda")
        health = self.state.get("characters", {}).get(name, {}).get("health", 100)
        # It recovers by five an hour, which needs no new timeline.
        return {"type": "character", "name": name, "health": min(100, health + int(after.total_seconds() // 720))}

    def content(self, kind: str, configuration: dict, after: datetime.timedelta = datetime.timedelta()) -> dict:
        return self.character(configuration, after) if kind == "character" else self.score(configuration)


def placeholder(kind: str, _: Kinds, __: dict, ___: datetime.datetime) -> dict:
    return {"entry": {"content": Kinds({}).content(kind, {}) | {"isPlaceholder": True}}}


def snapshot(kind: str, kinds: Kinds, request: dict, _: datetime.datetime) -> dict:
    return {"entry": {"content": kinds.content(kind, request["configuration"])}}


def timeline(kind: str, kinds: Kinds, request: dict, now: datetime.datetime) -> dict:
    hour = datetime.timedelta(hours=1)
    steps = range(5) if kind == "character" else range(1)
    entries = [
        {"date": date(now + step * hour), "content": kinds.content(kind, request["configuration"], step * hour),
         "relevance": {"score": 1 if kind == "character" else 10, "duration": 3600}}
        for step in steps
    ]
    # The state of the content: the same digest means that nothing has changed.
    text = json.dumps([entry["content"] for entry in entries], sort_keys=True)
    digest = "sha256:" + hashlib.sha256(text.encode()).hexdigest()
    policy = "atEnd" if kind == "character" else {"after": date(now + 2 * hour)}
    return {"timeline": {"entries": entries, "policy": policy, "digest": digest}}


def relevance(_: str, kinds: Kinds, __: dict, now: datetime.datetime) -> dict:
    return {"relevance": [
        {"configuration": {"team": team}, "from": date(now), "to": date(now + datetime.timedelta(hours=3))}
        for team in sorted(kinds.state.get("scores", {}))
    ]}


def recommendations(kind: str, _: Kinds, __: dict, ___: datetime.datetime) -> dict:
    key, values = ("character", CHARACTERS) if kind == "character" else ("team", TEAMS)
    return {"recommendations": [{"configuration": {key: value}, "description": value.title()} for value in values]}


QUESTIONS = {"placeholder": placeholder, "snapshot": snapshot, "timeline": timeline, "relevance": relevance,
             "recommendations": recommendations}


def answer(body: dict, state: pathlib.Path) -> tuple[int, dict]:
    """The status and the body of the answer to a question."""
    question = QUESTIONS.get(body["question"])
    if question is None:
        return 404, {"error": f"no such question: {body['question']}"}
    kinds = Kinds(json.loads(state.read_text()) if state.exists() else {})
    now = datetime.datetime.fromisoformat(body["now"].replace("Z", "+00:00"))
    return 200, {"answers": [{"id": request["id"]} | question(body["kind"], kinds, request, now) for request in body["requests"]]}


class Handler(http.server.BaseHTTPRequestHandler):
    state: pathlib.Path

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if findings := self.headers.get("freshet-findings"):
            print(f"findings: {findings}", flush=True)
        status, value = answer(body, self.state)
        if status == 200:
            print(f"{body['question']} {body['kind']}: {len(value['answers'])}", flush=True)
        self.answer(status, value)

    def answer(self, status: int, value: dict) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=8080, help="0 lets the system choose")
    parser.add_argument("--state", type=pathlib.Path, default=pathlib.Path("state.json"))
    options = parser.parse_args()
    Handler.state = options.state
    server = http.server.ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
    print(f"listening on http://127.0.0.1:{server.server_address[1]}/timelines", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
