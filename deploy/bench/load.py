"""The load that measurements put on: device pushes by h2load, over and over the same list of hosts in no order."""

import json
import pathlib
import random
import re
import subprocess

from gateway import APP, TOPIC, Gateway, token

BODY = '{"aps":{"content-changed":true}}'


def device_uris(gateway: Gateway, hosts: int) -> pathlib.Path:
    """A file with the address of each host's token, in no order; beside it lies the body of the pushes."""
    (gateway.folder / "body.json").write_text(BODY)
    uris = gateway.folder / "own.uris"
    numbers = random.Random(1).sample(range(hosts), hosts)
    uris.write_text("\n".join(f"https://localhost:{gateway.push}/3/device/{token(n)}" for n in numbers))
    return uris


def h2load(load: list[str], uris: pathlib.Path, gateway: Gateway) -> int:
    """Puts a load on; returns the answered requests, of which none may have failed."""
    succeeded, failed, said = run_h2load(load, uris, gateway.folder / "body.json", gateway.bearer)
    if failed:
        raise RuntimeError(f"requests failed:\n{said}")
    return succeeded


def run_h2load(load: list[str], uris: pathlib.Path, body: pathlib.Path, bearer: str) -> tuple[int, int, str]:
    """Puts a load on; returns how many requests were answered 200, how many were not, and what the generator said."""
    said = subprocess.run(
        ["h2load", *load, "-i", uris, "-d", body,
         "-H", f"authorization: bearer {bearer}", "-H", f"apns-topic: {TOPIC}", "-H", "apns-push-type: widgets"],
        check=True, stdout=subprocess.PIPE, text=True,
    ).stdout
    counts = re.search(r"(\d+) succeeded, (\d+) failed, (\d+) errored, (\d+) timeout", said)
    succeeded, *bad = (int(count) for count in counts.groups())
    return succeeded, sum(bad), said


def targeted_push(gateway: Gateway, match: dict | None = None) -> None:
    """One push of high priority for the widgets that match, or for all."""
    target = {"kind": "scores"} | ({"match": match} if match else {})
    body = json.dumps({"aps": {"content-changed": True}, "freshet": target})
    subprocess.run(
        ["curl", "--silent", "--fail", "--cacert", gateway.ca, "-H", f"authorization: bearer {gateway.bearer}",
         "-H", "apns-priority: 10", "-d", body, f"https://localhost:{gateway.push}/v1/apps/{APP}/pushes"],
        check=True, stdout=subprocess.DEVNULL,
    )
