"""Requests by the document of the routes, with bodies that mean something, and then with something wrong in them."""

import json
import pathlib
import random
import time
import urllib.parse
import uuid

import yaml

import target as world
import values
from client import Request

DOCUMENT = yaml.safe_load((pathlib.Path(__file__).resolve().parents[3] / "docs" / "openapi.yaml").read_text())
METHODS = ("get", "put", "post", "delete", "patch")
LISTENERS = {"operators": "ops", "health": "ops", "hosts": "host", "senders": "push"}
FAMILIES = ["systemSmall", "systemMedium", "systemLarge", "accessoryInline", "accessoryCircular"]
OUTCOMES = ["deferred", "issued", "reloaded", "expired", "failed"]
# Signals with their members.
SIGNALS = {
    "reloaded": ["reload"], "refused": ["reload", "reason"], "entryShown": ["reload", "date"], "appForeground": [], "appBackground": [],
    "mediaSession": ["state"], "navigationSession": ["state"], "locationSession": ["state"], "widgetVisible": ["instance"],
    "widgetHidden": ["instance"], "appIntent": ["instance"], "localeChanged": [], "dynamicTypeChanged": [], "standBy": ["state"],
    "significantLocationChange": [], "animation": ["instance"], "lowPower": ["state"],
}
# How often the most important routes are asked for; each other route once.
WEIGHTS = {
    "pushToApp": 8, "pushBulkToApp": 2, "pushToDevice": 6, "register": 6, "signals": 5, "timeline": 4, "pushDecisions": 6, "importHosts": 2, "reload": 3,
    "moveClock": 2, "order": 3, "instances": 2, "hosts": 2, "hostEvents": 2, "acknowledge": 2, "callBack": 2, "why": 2, "dryRun": 2,
}
# Of as many parts as there are in some list's.
CURSORS = ["0", "0.0", "1.1", "0.0.0"]
# Operations that take much away: asked for as often as the rest, they would leave little.
SELDOM = {"eraseHosts", "eraseHost", "unregister"}
# Routes that change a team or an app, or show one. They have their own, or the others' would soon be gone.
ENTRIES = {"/v1/teams/{team}", "/v1/teams/{team}/keys/{key}", "/v1/apps/{app}", "/v1/apps/{app}/kinds/{kind}",
           "/v1/config/amendments/teams/{team}", "/v1/config/amendments/apps/{app}"}
ENTRY_TEAM, ENTRY_APP = "FUZZFUZZ01", "com.example.fuzz"
# Letters of a long text, within the limit of a parameter.
LONG = 900


def resolved(node: dict) -> dict:
    while isinstance(node, dict) and "$ref" in node:
        found = DOCUMENT
        for step in node["$ref"].removeprefix("#/").split("/"):
            found = found[step]
        node = found
    return node


def operations() -> list[dict]:
    """Every route with its method, parameters and listeners, as often as it is to be drawn."""
    found = []
    for path, item in DOCUMENT["paths"].items():
        for method in METHODS:
            if method not in item:
                continue
            operation = item[method]
            parameters = [resolved(p) for p in item.get("parameters", []) + operation.get("parameters", [])]
            stream = any("text/event-stream" in resolved(answer).get("content", {}) for answer in operation["responses"].values())
            entry = {
                "id": operation.get("operationId", path), "method": method.upper(), "path": path, "parameters": parameters,
                "listeners": [LISTENERS[tag] for tag in operation["tags"]], "is_stream": stream,
                "body": resolved(operation.get("requestBody", {})),
            }
            found += [entry] * WEIGHTS.get(entry["id"], 1)
    return found


class Grammar:
    def __init__(self, luck: random.Random, target: world.Target) -> None:
        self.luck, self.target = luck, target
        self.operations = operations()
        # Names from answers: cursors, ids of pushes and reloads, ids of channels.
        self.seen: dict[str, list[str]] = {}
        self.tokens = [f"{number:064x}" for number in range(1, 40)]

    # MARK: Lessons from answers

    def learn(self, request: Request, answer) -> None:
        for name in ("apns-id", "freshet-next", "apns-channel-id"):
            if name in answer.headers:
                self._remember(name, answer.headers[name])
        if answer.body[:1] in (b"{", b"["):
            try:
                self._learn_value(json.loads(answer.body[:200_000]), f"next of {request.operation}", 0)
            except ValueError:
                pass
        elif answer.body.startswith((b"id:", b"event:", b"retry:", b":")):
            for line in answer.body.decode("utf-8", "replace").splitlines():
                if line.startswith("id: "):
                    self._remember("cursor", line[4:])

    def _learn_value(self, value, cursor: str, depth: int) -> None:
        if depth > 6:
            return
        if isinstance(value, dict):
            for name, member in value.items():
                if isinstance(member, str) and name in ("next", "id", "push", "reload", "host"):
                    self._remember(cursor if name == "next" else name, member)
                else:
                    self._learn_value(member, cursor, depth + 1)
        elif isinstance(value, list):
            for element in value[:50]:
                self._learn_value(element, cursor, depth + 1)

    def _remember(self, name: str, value: str) -> None:
        known = self.seen.setdefault(name, [])
        known.append(value)
        if len(known) > 60:
            del known[self.luck.randrange(len(known))]

    def known(self, *names: str) -> str:
        found = [value for name in names for value in self.seen.get(name, [])[-30:]]
        return self.luck.choice(found) if found else str(uuid.UUID(int=self.luck.getrandbits(128)))

    # MARK: A request

    def request(self) -> Request:
        luck, operation = self.luck, self.luck.choice(self.operations)
        if operation["id"] in SELDOM and luck.random() < 0.7:
            operation = luck.choice(self.operations)
        listener = luck.choice(operation["listeners"])
        # Operators may do everything to all teams, so their orders name one team alone.
        self.may_be_foreign = listener != "ops"
        # Half of all requests have nothing wrong with them, or there would be little to be wrong about.
        self.is_good = luck.random() < 0.5
        # Host, token and app mostly go together, or little would be found.
        self.number = luck.randrange(39)
        self.app = self._app()
        path = operation["path"]
        own = {"team": ENTRY_TEAM, "app": ENTRY_APP} if path in ENTRIES else {}
        for name in [part.split("}")[0] for part in path.split("{")[1:]]:
            path = path.replace("{" + name + "}", own.get(name) or self._part(name, listener), 1)
        path += self._query(operation)
        headers = self._headers(operation, listener)
        body, kind = b"", operation["body"].get("content", {})
        if kind and not self._errs(0.03):
            body = self._body(operation)
            headers.append(("content-type", luck.choice(values.TEXTS[5:8]) if self._errs(0.03) else next(iter(kind))))
        method = operation["method"] if not self._errs(0.03) else luck.choice(["GET", "PUT", "POST", "DELETE", "HEAD", "OPTIONS", "PATCH"])
        headers = [(name, self._field(value)) for name, value in headers]
        return Request(listener, method, self._field(path), headers, body, operation["is_stream"] and method == "GET",
                       operation["id"] if method == operation["method"] else "")

    def _errs(self, share: float) -> bool:
        """Whether something is wrong here: never in a good request, else so often."""
        return not self.is_good and self.luck.random() < share

    def _number(self, *good: int) -> int:
        return values.integer(self.luck) if self._errs(0.3) else self.luck.choice(good)

    @staticmethod
    def _field(text: str) -> str:
        """What HTTP/2 can carry at all: anything else would end the connection, which the abuse probes look at."""
        return "".join(c if 32 < ord(c) < 127 or c == " " else urllib.parse.quote(c.encode("utf-8", "surrogatepass")) for c in text)[:12_000].strip() or "x"

    def _app(self) -> str:
        if self._errs(0.06) and self.may_be_foreign:
            return world.BLUE_APP
        return self.luck.choice(world.RED_APPS + values.TEXTS) if self._errs(0.06) else world.RED_APPS[self.number % 3]

    def _token(self) -> str:
        if self._errs(0.06) and self.may_be_foreign:
            return world.BLUE_TOKEN
        return self.luck.choice(self.tokens + values.TEXTS) if self._errs(0.1) else self.tokens[self.number]

    def _instance(self) -> str:
        return self.luck.choice(values.TEXTS) if self._errs(0.1) else f"w{self.luck.randrange(3)}"

    def _host(self) -> str:
        return self.luck.choice([f"h{self.luck.randrange(39)}", self.known("host"), self.luck.choice(values.TEXTS)]) if self._errs(0.2) else f"h{self.number}"

    def _part(self, name: str, listener: str) -> str:
        if name == "app":
            text = self.app
        elif name == "token":
            text = self._token()
        elif name == "instance":
            text = f"{self._host()}:{self._instance()}" if listener == "ops" else self._instance()
        elif name == "host":
            text = self._host()
        elif name == "kind":
            text = self.luck.choice(values.TEXTS if self._errs(0.1) else world.KINDS)
        elif name == "question":
            text = self.luck.choice(["placeholder", "snapshot", "recommendations", "relevance", "x"])
        elif name == "channel":
            text = self.known("apns-channel-id")
        else:
            text = self.known("apns-id", "push")
        if self._errs(0.04):
            text = values.with_extreme_number(self.luck, text)
        return urllib.parse.quote(text.encode("utf-8", "surrogatepass"), safe="")

    def _query(self, operation: dict) -> str:
        luck, pairs = self.luck, []
        # A push with a query that is not known is no route at all.
        share = 0.05 if operation["id"] == "pushToApp" else 0.5
        for parameter in operation["parameters"]:
            if parameter["in"] != "query" or luck.random() > share:
                continue
            name, schema = parameter["name"], resolved(parameter.get("schema", {}))
            if name in ("cursor", "from"):
                text = self.known(f"next of {operation['id']}", "freshet-next") if luck.random() < 0.5 else luck.choice(CURSORS)
                text = values.with_extreme_number(luck, text) if self._errs(0.7) else text
            elif name == "app":
                text = self.app
            elif name == "host":
                text = self._host()
            elif name == "kind":
                text = luck.choice(world.KINDS)
            elif name == "match":
                text = json.dumps(self._pattern())
            elif "enum" in schema:
                text = luck.choice(schema["enum"])
            elif schema.get("type") == "integer":
                text = str(self._number(1, 1, 2, 100))
            elif schema.get("type") == "boolean":
                text = luck.choice(["true", "false"])
            elif schema.get("format") == "date-time":
                text = self._date()
            elif name == "since":
                text = luck.choice(values.SPANS) if self._errs(0.5) else luck.choice(["1s", "1h", "24h"])
            elif name == "family":
                text = luck.choice(FAMILIES)
            elif name == "types":
                text = luck.choice(["sample,reload", "order", "partition,configuration", "x"])
            elif name == "configuration":
                text = json.dumps(self._configuration())
            else:
                text = luck.choice(values.TEXTS + FAMILIES + OUTCOMES)
            if self._errs(0.1):
                text = str(values.anything(luck))
            pairs.append((name, text[:3000].encode("utf-8", "surrogatepass")))
        if self._errs(0.03):
            pairs.append((b"unknown", b"1"))
        if self._errs(0.03) and pairs:
            pairs.append(pairs[0])
        return "?" + urllib.parse.urlencode(pairs) if pairs else ""

    def _headers(self, operation: dict, listener: str) -> list[tuple[str, str]]:
        luck = self.luck
        headers = self._credential(listener)
        for parameter in operation["parameters"]:
            name = parameter["name"]
            is_needed = parameter.get("required") or name == "apns-channel-id"
            if parameter["in"] != "header" or (luck.random() < 0.5 and not is_needed):
                continue
            if name == "apns-topic":
                text = self.app + (luck.choice([".push-type.controls", "", ".push-type.x"]) if self._errs(0.1) else ".push-type.widgets")
            elif name == "apns-channel-id":
                text = self.known("apns-channel-id")
            elif name == "apns-push-type" and operation["id"] == "broadcast":
                text = luck.choice(["liveactivity", "widgets"])
            elif name == "apns-expiration" and operation["id"] == "broadcast":
                text = str(self._number(0))
            elif name == "apns-push-type":
                text = luck.choice(["controls", "alert", "background"]) if self._errs(0.1) else "widgets"
            elif name == "apns-id":
                text = luck.choice([str(uuid.UUID(int=luck.getrandbits(128)))] * 4 + [self.known("apns-id")])
            elif name == "apns-priority":
                text = luck.choice(["1", "5", "10"])
            elif name == "apns-expiration":
                text = str(self._number(0, int(time.time()) + luck.randrange(100_000)))
            elif name == "last-event-id":
                text = values.with_extreme_number(luck, self.known("cursor")) if self._errs(0.5) else self.known("cursor")
            else:
                text = luck.choice(["a", "b", "c" * 64, "d" * 65])
            if self._errs(0.05):
                text = str(values.anything(luck))[:2000]
            headers.append((name, text))
            if self._errs(0.02):
                headers.append((name, text))
        if self._errs(0.06):
            headers.append((luck.choice(["traceparent", "origin", "range", "if-none-match", "expect", "x"]), str(values.anything(luck))[:500]))
        return headers

    def _credential(self, listener: str) -> list[tuple[str, str]]:
        luck, draw = self.luck, self.luck.random()
        if listener == "ops":
            return [("authorization", f"bearer {world.READER if draw < 0.1 else world.ADMIN}")]
        now = int(time.time())
        if listener == "host" and draw < 0.3:
            claims = {"iss": world.RED, "aud": "freshet-host", "app": self.app, "sub": self.tokens[self.number], "iat": now, "exp": now + 3600}
            if luck.random() < 0.3:
                claims["host"] = self._host()
            if self._errs(0.1):
                claims[luck.choice(list(claims))] = values.anything(luck)
            try:
                return [("authorization", f"bearer {self.target.token(world.RED, claims)}")]
            except (TypeError, ValueError):
                return []
        if draw < 0.985 or self.is_good:
            return [("authorization", f"bearer {self.target.token(world.RED)}")]
        if draw < 0.99:
            return []
        if draw < 0.995:
            return [("authorization", "bearer " + world.garbled(self.target.token(world.RED), luck.randrange(64)))]
        return [("authorization", luck.choice(["bearer ", "bearer a.b.c", "basic eDp5", "bearer " + "a" * 3000]))]

    # MARK: Bodies

    def _body(self, operation: dict) -> bytes:
        luck = self.luck
        if next(iter(operation["body"].get("content", {"application/json": 0}))) == "application/x-ndjson":
            lines = [self._value(operation["id"]) for _ in range(luck.choice((1, 3, 30)))]
            return b"\n".join(values.written(luck, values.damaged(luck, line)) if self._errs(0.2) else json.dumps(line).encode() for line in lines)
        value = self._value(operation["id"])
        if self.is_good:
            return json.dumps(value).encode()
        for _ in range(luck.choice((0, 1, 1, 2, 5))):
            value = values.damaged(luck, value)
        return values.written(luck, value)

    def _value(self, operation: str):
        luck = self.luck
        if operation == "dryRun":
            value = {"freshet": {"kind": luck.choice(world.KINDS), "match": self._pattern()}, "priority": luck.choice([1, 5, 10])}
            return value if luck.random() < 0.5 else {"freshet": value["freshet"]}
        if operation == "broadcast":
            return {"aps": {"event": luck.choice(["update", "end"])}, "freshet": {"digest": "d"}}
        if operation in ("pushToApp", "pushToDevice", "createChannel"):
            freshet = {"kind": luck.choice(world.KINDS), "match": self._pattern()}
            if luck.random() < 0.1:
                freshet = {"kind": "scores", "match": {"team": self._wildcards(luck.choice((8, 26, 29)), LONG // 2)}}
            for name, value in [("digest", "d" * (129 if self._errs(0.3) else 128)), ("attributes", self._attributes()),
                                ("not-before", self._number(int(time.time()) + 5)),
                                ("maxMatched", self._number(1, 1000))]:
                if luck.random() < 0.2:
                    freshet[name] = value
            if luck.random() < 0.1:
                del freshet["kind"]
            if operation == "createChannel":
                return {"message-storage-policy": self._number(0, 1), "push-type": "LiveActivity", "freshet": freshet}
            return {"aps": {"content-changed": True}, "freshet": freshet}
        if operation == "pushBulkToApp":
            line = {"payload": self._value("pushToApp"), "apns-priority": luck.choice([1, 5, 10]),
                    "apns-expiration": self._number(int(time.time()) + 60), "apns-collapse-id": "score"}
            return {name: member for name, member in line.items() if name == "payload" or luck.random() < 0.3}
        if operation in ("register", "importHosts"):
            return self._registration(operation == "importHosts")
        if operation == "signals":
            signals = [self._signal() for _ in range(luck.choice((1, 1, 4)))]
            return signals[0] if len(signals) == 1 else {"signals": signals}
        if operation == "acknowledge":
            return {"reload": self._reload()}
        if operation == "timeline":
            value = {
                "digest": "sha256:" + "0" * 64, "contentBytes": self._number(1, 20_000_000),
                "policy": luck.choice(["atEnd", "never", {"after": self._date()}]),
                "entries": [{"date": self._date(), "relevance": {"score": self._double(), "duration": self._number(0, 60)}}
                            for _ in range(luck.choice((0, 1, 1, 5, 300)))],
            }
            return value | {"reload": self._reload()} if luck.random() < 0.5 else value
        if operation == "order":
            of = luck.choice([{"app": self.app}, {"app": self.app, "kind": "scores"}, {"sender": world.RED}, {"push": self.known("apns-id")},
                              {"app": self.app, "host": self._host()}, {"app": self.app, "instance": f"{self._host()}:{self._instance()}"}])
            value = {"action": luck.choice(["pause", "resume", "resume", "cancel", "grant", "reload"]), "of": of}
            if value["action"] == "pause" or luck.random() < 0.05:
                value["until"] = self._date()
            if value["action"] == "grant" or luck.random() < 0.05:
                value["count"] = self._number(1, 10)
            return value
        if operation == "moveClock":
            return luck.choice([{"advance": self._number(1, 60, 3600, 86_400)}, {"to": self._date()}])
        if operation == "putTeam":
            return {"maxHosts": self._number(1, 1000), "keys": []}
        if operation == "putTeamKey":
            return {"publicKey": "-----BEGIN PUBLIC KEY-----\nMFkw\n-----END PUBLIC KEY-----\n", "rateLimit": {"rate": "500/s"}}
        if operation == "putApp":
            return {"team": luck.choice([ENTRY_TEAM, world.RED]), "maxMatched": self._number(1, 1000), "kinds": [{"kind": "scores"}]}
        if operation == "putAppKind":
            return {"parameters": [{"name": "team", "type": luck.choice(["string", "int"])}], "usesLocation": luck.random() < 0.5}
        if operation == "setLogLevels":
            return {"levels": {"http": luck.choice(["warning", "error", "info"])}}
        if operation in ("reload", "invalidateRelevance", "invalidateRecommendations"):
            value = {"kind": luck.choice(world.KINDS)}
            if operation != "invalidateRecommendations":
                value["host"] = self._host()
            if operation == "reload":
                value |= {"match": self._pattern(), "digest": "d"}
            return {name: member for name, member in value.items() if luck.random() < 0.4}
        return {"answers": [{"id": self._reload(), "timeline": {"entries": [{"date": self._date(), "content": 1}], "policy": "never"}}]}

    def _registration(self, is_line: bool) -> dict:
        luck = self.luck
        if is_line:
            self.number = luck.randrange(13) * 3 + self.number % 3
        token = self._token()
        value = {
            "app": self.app, "host": self._host(), "instances": [
                {"id": f"w{place}", "kind": luck.choice(world.KINDS), "family": luck.choice(FAMILIES),
                 "configuration": self._configuration(), "pushEnabled": luck.random() < 0.9}
                for place in range(luck.choice((0, 1, 2, 6)))
            ],
        }
        for name, member in [
            ("revision", self._number(int(time.time()))), ("lease", self._number(5, 3600)),
            ("delivery", "apns" if self.app.endswith("apns") else "webhook" if self.app.endswith("webhook") else "stream"),
            ("replaces", luck.choice(self.tokens)), ("addToken", luck.random() < 0.5),
            ("context", {"displaySize": {"width": self._double(), "height": 170}, "locale": "en-US",
                         "timeZone": luck.choice(["x", "", "../UTC"]) if self._errs(0.3) else "Europe/Kyiv",
                         "environmentVariants": {f"v{n}": ["a", "b"] for n in range(65 if self._errs(0.3) else 64)}}),
        ]:
            if luck.random() < (0.7 if name == "delivery" else 0.15):
                value[name] = member
        for instance in value["instances"]:
            if luck.random() < 0.2:
                instance["tags"] = [luck.choice([self.known("apns-channel-id"), "beta"]) for _ in range(17 if self._errs(0.2) else 2)]
            if luck.random() < 0.2:
                instance["when"] = self._pattern()
        if is_line:
            value["token"] = token
        return value

    def _signal(self) -> dict:
        luck = self.luck
        name = luck.choice(list(SIGNALS))
        members = {"reload": self._reload(), "instance": self._instance(), "date": self._date(),
                   "state": luck.choice(["start", "end"] if "Session" in name else ["on", "off"]), "reason": "r" * (5000 if self._errs(0.3) else 9)}
        return {"signal": name} | {member: members[member] for member in SIGNALS[name] if not self._errs(0.1)}

    def _reload(self) -> str:
        found = self.known("reload", "id")
        return values.with_extreme_number(self.luck, found) if self._errs(0.3) else found

    def _date(self) -> str:
        luck = self.luck
        if self._errs(0.3):
            return luck.choice(values.DATES)
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + luck.randrange(-90_000, 900_000)))

    def _double(self) -> float:
        return self.luck.choice(values.DOUBLES) if self._errs(0.3) else 1.5

    def _text(self) -> str:
        """Few letters, so that patterns find something; and texts on which a careless search for a pattern takes long."""
        luck = self.luck
        if luck.random() < 0.1:
            return "a" * luck.choice((LONG, LONG - 1)) + str(luck.randrange(1000))
        return "".join(luck.choice("ab") for _ in range(luck.randrange(6)))

    def _configuration(self) -> dict:
        luck = self.luck
        value = {
            "team": self._text(), "league": "x" if self._errs(0.1) else "nfl", "level": self._number(1, 2, 3),
            "ratio": self._double(), "since": self._date(), "premium": luck.random() < 0.5,
            "alliances": [self._text() for _ in range(luck.choice((0, 1, 3, 40)))], "venue.city": self._text(),
        }
        return {name: member for name, member in value.items() if luck.random() < 0.5}

    def _attributes(self) -> dict:
        luck = self.luck
        return {luck.choice(["team", "level", "health", "alliances"]): luck.choice([self._text(), self._number(20), 1.5, True,
                [self._text() for _ in range(65 if self._errs(0.2) else 3)], {"deep": {"er": 1}}]) for _ in range(luck.choice((1, 3)))}

    def _pattern(self, depth: int = 0) -> dict:
        luck = self.luck
        pattern = {}
        for _ in range(luck.choice((0, 1, 1, 2))):
            name = luck.choice(["team", "team", "league", "level", "ratio", "premium", "alliances", "venue.city", "$family", "$host", "$tags"])
            pattern[name] = self._leaf() if name != "league" else luck.choice(["nfl", ["nba", "mlb"], {"exists": True}])
        if depth < 3 and luck.random() < 0.15:
            pattern[luck.choice(["$or", "$and"])] = [self._pattern(depth + 1) for _ in range(luck.choice((1, 2, 8)))]
        return pattern

    def _leaf(self):
        luck = self.luck
        choice = luck.randrange(9)
        if choice == 0:
            return self._text()
        if choice == 1:
            return [luck.choice([self._text(), self._number(1, 2)]) for _ in range(luck.choice((1, 3, 100)))]
        if choice == 2:
            return {luck.choice(["prefix", "suffix", "equals-ignore-case"]): self._text()}
        if choice == 3:
            return {"anything-but": luck.choice([self._text(), [self._text()], {"prefix": self._text()}])}
        if choice == 4:
            return {"numeric": luck.choice([["<", 5], [">", self._number(1), "<=", self._double()], ["=", 1]])}
        if choice == 5:
            return {"exists": luck.random() < 0.5}
        if choice == 6:
            return luck.choice([self._number(1), self._double(), None, True])
        return self._wildcards(luck.choice((1, 2, 8, 40)), luck.choice((1, 3, LONG // 2)))

    def _wildcards(self, count: int, length: int) -> list[dict]:
        """Many alternatives that each almost match: what a search pays the most for."""
        luck = self.luck
        return [{"wildcard": luck.choice(["*" + "a" * (length - place % 2) + "b*"] * 3 + ["a*b*a*b*", "*" * 8 + "b", self._text() + "*"])}
                for place in range(count)]
