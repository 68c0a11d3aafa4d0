"""The gateway that is fuzzed: two teams, an app for each way of delivery, and services around it that mean it ill."""

import base64
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import jwt

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "deploy" / "bench"))
from gateway import cpu_seconds, descriptors, resident_kib, service_environment, wait_until_ready  # noqa: E402, F401

from client import Client, Request  # noqa: E402

RED, BLUE = "REDREDRED1", "BLUEBLUE01"
UPSTREAM_APP = "com.example.red.apns"
RED_APPS = ["com.example.red", UPSTREAM_APP, "com.example.red.webhook"]
BLUE_APP = "com.example.blue"
BLUE_TOKEN = "b1" * 32
KEYS = {RED: "REDKEY0001", BLUE: "BLUEKEY001"}
KINDS = ["scores", "live", "shared"]
ADMIN, READER = "fuzz-admin-0123456789abcdef", "fuzz-reader-0123456789abcdef"

PARAMETERS = """
          - {name: team, type: string}
          - {name: league, type: enumeration, cases: [nfl, nba, mlb], default: nfl}
          - {name: level, type: int}
          - {name: ratio, type: double}
          - {name: since, type: date}
          - {name: premium, type: bool}
          - {name: alliances, type: string, array: true}
          - {name: venue.city, type: entity}"""


def configuration(provider: int, upstream: int) -> str:
    """What is kept of the past is small, so that memory that grows is memory that leaks."""
    kinds = f"""
      - kind: scores
        usesLocation: true
        parameters:{PARAMETERS}
      - kind: live
        budget: unlimited
        sample: {{score: 1}}
        timelineProvider: {{url: "http://127.0.0.1:{provider}/timelines", timeout: 2s}}
        parameters:{PARAMETERS}
      - kind: shared
        budget: fcm-collapsible
        parameters:{PARAMETERS}"""
    apps = ""
    for app in RED_APPS + [BLUE_APP]:
        apps += f"\n  - bundleID: {app}\n    team: {BLUE if app == BLUE_APP else RED}"
        if app == UPSTREAM_APP:
            apps += f"""
    upstream: {{url: "https://localhost:{upstream}", keyID: {KEYS[RED]}, key: certs/provider-key.p8, ca: certs/ca.pem, relay: sender}}"""
        if app.endswith("webhook"):
            apps += f"""
    webhook: {{url: "https://localhost:{upstream}/hook", secretFile: secret, ca: certs/ca.pem}}"""
        apps += f"\n    kinds:{kinds}"
    return f"""
dataDirectory: data
partitions: 2
tls: {{certificate: certs/server.pem, key: certs/server.key, clientCA: certs/ca.pem}}
listeners: {{push: {{port: 0}}, host: {{port: 0}}, ops: {{port: 0}}}}
snapshots: {{interval: 5s, maxLogBytes: 1MiB, history: 30s}}
teams:
  - {{id: {RED}, keys: [{{id: {KEYS[RED]}, file: certs/provider-key.public.pem}}]}}
  - {{id: {BLUE}, keys: [{{id: {KEYS[BLUE]}, file: blue/provider-key.public.pem}}]}}
apps:{apps}
deliveries: {{allowedNetworks: [127.0.0.0/8], minRetry: 100ms, maxRetry: 2s, afterServerError: 1s, minReconnect: 100ms, maxReconnect: 1s}}
streams: {{maxHistory: 500, heartbeat: 1s}}
feed: {{maxHistory: 500}}
timelines: {{maxContentBytes: 4MiB}}
limits:
  maxPushesRetained: 500
  maxDecisionsRetained: 2000
  maxRepeatEntries: 1000
  maxPendingPerInstance: 20
  pushRetention: 1m
  removedTokenRetention: 30s
  maxChannelsPerApp: 50
  maxClockStops: 2000
  hosts: {{perTeam: 400}}
  instances: {{perTeam: 4000}}
"""


class Target:
    """A gateway in a temporary folder. `is_in_memory` gives it a clock that can be moved, and takes its disk away."""

    def __init__(self, program: str, services, folder: pathlib.Path, is_in_memory: bool, patience: float) -> None:
        self.program, self.folder, self.is_in_memory, self.patience = program, folder, is_in_memory, patience
        (folder / "secret").write_text("a-secret-of-the-webhook\n")
        (folder / "freshet.yaml").write_text(configuration(services.provider, services.upstream))
        self.bearers: dict[str, tuple[float, str]] = {}
        self.process: subprocess.Popen | None = None
        self.starts = 0
        self.start()

    @staticmethod
    def make_folder(program: str) -> pathlib.Path:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="freshet-fuzz-"))
        for name in ("certs", "blue"):
            subprocess.run([program, "certs", "--out", folder / name], check=True, stdout=subprocess.DEVNULL)
        return folder

    def start(self) -> None:
        self.starts += 1
        self.log = self.folder / f"gateway-{self.starts}.log"
        options = ["--in-memory", "--movable-clock"] if self.is_in_memory else []
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                [self.program, "serve", "--config", self.folder / "freshet.yaml", *options], stderr=log, stdout=log,
                env=os.environ | service_environment() | {"FRESHET_OPS_TOKENS": f"{ADMIN},{READER} read fuzz"},
            )
        entry = wait_until_ready(self.process, self.log, self.patience)
        self.ports = {name: int(entry[name]) for name in ("push", "host", "ops")}
        self.clients: dict[str, Client] = {}

    def last_words(self) -> str:
        return self.log.read_text(errors="replace")[-2000:]

    def client(self, listener: str) -> Client:
        if listener not in self.clients:
            self.clients[listener] = Client(self.ports[listener], str(self.folder / "certs" / "ca.pem"), self.patience)
        return self.clients[listener]

    def ask(self, path: str) -> tuple[int | None, dict]:
        """A question of an operator's, over a connection that nothing else goes over."""
        client = self.clients.setdefault("questions", Client(self.ports["ops"], str(self.folder / "certs" / "ca.pem"), self.patience))
        answer = client.ask([Request("ops", "GET", path, [("authorization", f"bearer {ADMIN}")])])[0]
        try:
            return answer.status, json.loads(answer.body)
        except ValueError:
            return answer.status, {}

    def token(self, team: str, claims: dict | None = None) -> str:
        """A provider token of a team, or another with claims of one's own."""
        if claims is None and team in self.bearers and time.monotonic() - self.bearers[team][0] < 1500:
            return self.bearers[team][1]
        key = (self.folder / ("certs" if team == RED else "blue") / "provider-key.p8").read_text()
        made = jwt.encode(claims or {"iss": team, "iat": int(time.time())}, key, algorithm="ES256", headers={"kid": KEYS[team]})
        if claims is None:
            self.bearers[team] = (time.monotonic(), made)
        return made

    def is_alive(self) -> bool:
        return self.process.poll() is None

    def restart(self, is_killed: bool) -> None:
        for client in self.clients.values():
            client.close()
        self.process.send_signal(signal.SIGKILL if is_killed else signal.SIGTERM)
        self.process.wait(timeout=self.patience)
        self.start()

    def stop(self) -> int | str:
        """Its exit code after SIGTERM."""
        for client in self.clients.values():
            client.close()
        if self.is_alive():
            self.process.terminate()
        try:
            return self.process.wait(timeout=self.patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return f"nothing within {self.patience:.0f} s"

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def garbled(token: str, place: int) -> str:
    """A token with one byte of its signature changed."""
    head, _, signature = token.rpartition(".")
    raw = bytearray(base64.urlsafe_b64decode(signature + "=="))
    raw[place % len(raw)] ^= 1
    return f"{head}.{base64.urlsafe_b64encode(bytes(raw)).decode().rstrip('=')}"
