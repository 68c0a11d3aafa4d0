"""Attacks one by one: what each costs the gateway, and what another team feels of it.

    Tests/Fuzz/Routes/attacks.py --program .build/release/freshet

Each sends the same kind of request again and again, as fast as it is answered, with credentials of one team. The table says how
it was answered, what one costs in CPU time with all that it brings along, what memory was left behind, and what another team's
pushes waited meanwhile, beside those to a gateway that is left alone.
"""

import argparse
import collections
import dataclasses
import json
import pathlib
import sys
import time
import types
import typing

from client import Request
from neighbour import Neighbour
from run import Run
from target import ADMIN, BLUE_APP, BLUE_TOKEN, RED, RED_APPS, Target, garbled, resident_kib

APP = RED_APPS[0]


@dataclasses.dataclass
class Attack:
    name: str
    what: str
    request: typing.Callable[[Target, int], Request]
    # Statuses that it may be answered with; anything else is told.
    expected: set[int]
    batch: int = 20


def post(target: Target, path: str, value, listener: str = "push", method: str = "POST", bearer: str | None = None) -> Request:
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    headers = [("authorization", f"bearer {bearer or target.token(RED)}"), ("content-type", "application/json")]
    return Request(listener, method, path, headers, body)


def push(target: Target, freshet: dict, **headers: str) -> Request:
    request = post(target, f"/v1/apps/{APP}/pushes", {"aps": {"content-changed": True}, "freshet": freshet})
    return dataclasses.replace(request, headers=request.headers + [(name.replace("_", "-"), value) for name, value in headers.items()])


def registration(target: Target, number: int, instances: list[dict], context: dict | None = None) -> Request:
    value = {"app": APP, "host": f"attack-{number}", "instances": instances} | ({"context": context} if context else {})
    return post(target, f"/v1/hosts/{0xA77AC << 32 | number:064x}/widgets", value, "host", "PUT")


def instance(name: str, text: str = "a") -> dict:
    return {"id": name, "kind": "scores", "family": "systemSmall", "configuration": {"team": text}}


def host_credential(target: Target, audience: str) -> str:
    now = int(time.time())
    return target.token(RED, {"iss": RED, "aud": audience, "app": APP, "sub": "00" * 32, "iat": now, "exp": now + 3600})


def unsigned_upload(target: Target, _: int) -> Request:
    return dataclasses.replace(post(target, f"/v1/apps/{APP}/hosts", b"x" * (1 << 20), "host"), headers=[("content-type", "application/x-ndjson")])


def forged_token(target: Target, number: int) -> Request:
    request = push(target, {"kind": "scores", "match": {}})
    return dataclasses.replace(request, headers=[("authorization", f"bearer {garbled(target.token(RED, {'iss': RED, 'iat': int(time.time()), 'n': number}), number)}")])


def web_page(target: Target, _: int) -> Request:
    headers = [("authorization", f"bearer {ADMIN}"), ("content-type", "text/plain"), ("origin", "https://evil.example"), ("sec-fetch-site", "cross-site")]
    return Request("ops", "POST", "/v1/orders", headers, b'{"action":"cancel","of":{"sender":"REDREDRED1"}}')


WILDCARDS = [{"wildcard": "*" + "a" * (504 - place) + "b*"} for place in range(26)]
ATTACKS = [
    Attack("match-all", "pushes that match every widget of the app, without a pause", lambda t, n: push(t, {"kind": "scores", "match": {}}), {200, 503}),
    Attack("wildcards", "26 alternatives like `*aaa…(504)b*` on 960 widgets that almost match", lambda t, n: push(t, {"kind": "scores", "match": {"team": WILDCARDS}}), {200, 400, 503}),
    Attack("max-matched", "a match-all with `maxMatched: 1`", lambda t, n: push(t, {"kind": "scores", "match": {}, "maxMatched": 1}), {409, 503}),
    Attack("dry-run", "dry runs of a match-all", lambda t, n: post(t, f"/v1/apps/{APP}/pushes?dry-run=true", {"aps": {"content-changed": True}, "freshet": {"match": {}}}), {200, 409, 503}),
    Attack("attributes", "an attribute of a push with a thousand elements", lambda t, n: push(t, {"all": True, "attributes": {"team": ["a"] * 1000}}), {400, 413}),
    Attack("environment", "a registration with 30,000 environment variants", lambda t, n: registration(t, 1, [instance("w")], {"environmentVariants": {f"v{i}": ["a"] for i in range(30_000)}}), {400, 413}, 4),
    Attack("tombstones", "a host that gives its 200 widgets new ids each time", lambda t, n: registration(t, 2, [instance(f"w{n}-{i}") for i in range(200)]), {200, 429, 503}),
    Attack("hosts", "a new host with each request", lambda t, n: registration(t, 1000 + n, [instance("w")]), {200, 507, 503}),
    Attack("forged tokens", "provider tokens with a wrong signature, each another one", forged_token, {403, 429}),
    Attack("uploads", "bodies of 1 MiB without a credential", unsigned_upload, {401, 413}),
    Attack("nesting", "16,000 arrays in one another", lambda t, n: post(t, f"/v1/apps/{APP}/pushes", b"[" * 16_000), {400, 413}),
    Attack("cursors", "a cursor at the end of its type", lambda t, n: Request("ops", "GET", f"/v1/instances?cursor=0.{2**64 - 1}", [("authorization", f"bearer {ADMIN}")]), {400}),
    Attack("other's host", "another team's host read, written and followed", lambda t, n: [
        Request("host", "GET", f"/v1/hosts/{BLUE_TOKEN}/state", [("authorization", f"bearer {t.token(RED)}")]),
        Request("host", "DELETE", f"/v1/hosts/{BLUE_TOKEN}/widgets", [("authorization", f"bearer {t.token(RED)}")]),
        Request("host", "GET", f"/v1/apps/{BLUE_APP}/hosts", [("authorization", f"bearer {t.token(RED)}")]),
        Request("host", "GET", f"/v1/hosts/{BLUE_TOKEN}/events", [("authorization", f"bearer {t.token(RED)}")], is_stream=True)][n % 4], {404, 403}),
    Attack("host as sender", "a host's credential, and one whose audience has a typo, as a provider token", lambda t, n: post(t, f"/v1/apps/{APP}/pushes", {"aps": {}}, bearer=host_credential(t, ["freshet-host", "freshet-hots"][n % 2])), {403, 429}, 4),
    Attack("web page", "an order of a page of another origin, in an administrator's browser", web_page, {403, 415}),
]


def run_attack(run: Run, attack: Attack, seconds: float) -> dict:
    target, began, number = run.target, time.monotonic(), 0
    cpu, memory = run.cpu_now(), resident_kib(target.process.pid)
    statuses: collections.Counter = collections.Counter()
    while time.monotonic() - began < seconds:
        requests = [attack.request(target, number + place) for place in range(attack.batch)]
        number += attack.batch
        for answer in run.send(requests):
            statuses[answer.status or (answer.cut.split(":")[0] or "cut")] += 1
    sent = time.monotonic() - began
    cost = run.settled_cost(cpu)
    return {
        "name": attack.name, "what": attack.what, "requests": number, "perSecond": number / sent, "statuses": dict(statuses),
        "cpuMilliseconds": 1000 * cost / number, "memoryMiB": (resident_kib(target.process.pid) - memory) / 1024,
        "unexpected": [s for s in statuses if isinstance(s, int) and s not in attack.expected],
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="attacks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="the freshet to start")
    parser.add_argument("--seconds", type=float, default=15, help="of each attack (15)")
    parser.add_argument("--only", nargs="+", help="only these")
    parser.add_argument("--json", type=pathlib.Path, help="write the figures")
    options = parser.parse_args()
    settings = types.SimpleNamespace(program=str(pathlib.Path(options.program).resolve()), patience=120, cost=1.0)
    results = []
    print("| attack | requests | answers | CPU ms each | memory MiB | neighbour's p99 ms | twin's | worst |\n|---|---|---|---|---|---|---|---|")
    for attack in ATTACKS:
        if options.only and attack.name not in options.only:
            continue
        run = Run(settings, 2)
        neighbour = Neighbour(settings, run)
        try:
            result = run_attack(run, attack, options.seconds)
        finally:
            result["neighbour"] = neighbour.finish(run)
            run.target.stop()
            run.target.remove()
        results.append(result)
        waited = result["neighbour"]
        answers = ", ".join(f"{count:,} {status}" for status, count in sorted(result["statuses"].items(), key=str))
        print(f"| {attack.what} | {result['requests']:,} | {answers} | {result['cpuMilliseconds']:.2f} | {result['memoryMiB']:+.0f} | "
              f"{waited['fuzzed']['p99']:.1f} | {waited['twin']['p99']:.1f} | {waited['fuzzed']['max']:.0f} |", flush=True)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    bad = [f"{r['name']} was answered with {r['unexpected']}" for r in results if r["unexpected"]]
    for line in bad:
        print(f"FOUND {line}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
