"""A widget host in Python's standard library: a panel with the score of one team, as an e-ink display has.

    host.py PANEL            follows its event stream, and draws when a reload comes
    host.py PANEL --once     draws what is due and ends, for a display that sleeps in between

It draws into the file PANEL. The score comes from scores.json; your display would ask your API. Settings: GATEWAY, CA, APP,
TOKEN (its push token, hex), CREDENTIAL (its host credential) and TEAM.
"""
import hashlib, http.client, json, os, ssl, sys, time, urllib.error, urllib.request

HOST = f"{os.environ['GATEWAY']}/v1/hosts/{os.environ['TOKEN']}"
HEADERS = {"authorization": f"bearer {os.environ['CREDENTIAL']}", "content-type": "application/json"}
TRUST = ssl.create_default_context(cafile=os.environ.get("CA"))
WIDGET = {"id": "panel", "kind": "panel", "family": "systemMedium", "configuration": {"team": os.environ["TEAM"]}}
AWAY = (OSError, http.client.HTTPException)  # No answer, or none that is whole.


def call(method: str, path: str, body: object = None, headers: dict = {}):
    """An open answer. The stream has a heartbeat every fifteen seconds: after two minutes of silence the connection is dead."""
    request = urllib.request.Request(HOST + path, json.dumps(body).encode() if body is not None else None,
                                     HEADERS | headers, method=method)
    return urllib.request.urlopen(request, context=TRUST, timeout=120)


def register() -> None:
    registration = {"app": os.environ["APP"], "revision": int(time.time() * 1000), "instances": [WIDGET]}
    call("PUT", "/widgets", registration).close()


def draw(reload: dict) -> None:
    """Draws the widget again, and reports its timeline. The report acknowledges the reload."""
    score = json.load(open("scores.json"))[os.environ["TEAM"]]
    open(sys.argv[1], "w").write(f"{os.environ['TEAM']}  {score}\n")
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    digest = "sha256:" + hashlib.sha256(score.encode()).hexdigest()
    timeline = {"reload": reload["id"], "digest": digest, "policy": "never", "entries": [{"date": now}]}
    call("PUT", f"/widgets/{WIDGET['id']}/timeline", timeline).close()
    print(f"shows {score} because of {', '.join(reload['causes'])}", flush=True)


def events(stream, place: dict):
    """Server-Sent Events. `place` keeps the position to continue from, and the wait before the next try."""
    name, data = "", ""
    for line in stream:
        field, _, value = line.decode().rstrip("\n").partition(": ")
        if field == "id":
            place["id"] = value
        elif field == "retry":
            place["retry"] = int(value) / 1000
        elif field == "event":
            name = value
        elif field == "data":
            data += value
        elif not field and data:
            yield name, json.loads(data)
            name, data = "", ""


def follow() -> None:
    place, drawn, is_registered = {"id": "", "retry": 1.0}, "", False
    while True:
        try:
            if not is_registered:
                register()
                is_registered = True
            resume = {"last-event-id": place["id"]} if place["id"] else {}
            with call("GET", "/events", headers=resume) as stream:
                for name, event in events(stream, place):
                    # A reload without an acknowledgement in time comes again, with the same id.
                    if name == "reload" and event["id"] != drawn:
                        draw(event)
                        drawn = event["id"]
        except urllib.error.HTTPError as error:
            if error.code == 404 and is_registered:
                is_registered = False  # The gateway has lost the host: it is told of it again.
            elif error.code < 500 and error.code != 429:
                raise SystemExit(f"refused: {error.code} {error.read().decode()}")
        except AWAY as error:
            print(f"trying again: {error}", file=sys.stderr)
        time.sleep(place["retry"])


if sys.argv[2:] == ["--once"]:
    register()
    for reload in json.load(call("GET", "/state")).get("outstanding", []):
        draw(reload)
else:
    follow()
