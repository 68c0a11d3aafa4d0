"""Three brokers and three gateways that share a log on them, as processes on loopback: to start, kill, stop and continue.

For the demo of several gateways and for chaos. Every process is ended by its id.
"""

import http.client
import json
import os
import pathlib
import signal
import socket
import ssl
import subprocess
import time
import urllib.request

TEAM = "DEMOTEAM01"
KID = "DEMOKEY001"
APP = "com.example.scores"

# Brokers do not tell gateways their addresses: a gateway that reaches them by relays must not learn of a way past these.
BROKER = """
listen: 127.0.0.1:{port}
server_name: nats-{number}
jetstream {{ store_dir: "{store}", sync_interval: always }}
cluster {{ name: freshet, listen: 127.0.0.1:{route}, routes: {routes}, no_advertise: true }}
accounts {{
  SYS: {{ users: [ {{ user: system, password: "{system}" }} ] }}
  FRESHET: {{ jetstream: enabled, users: [ {{ user: freshet, password: "{password}" }} ] }}
}}
system_account: SYS
"""

GATEWAY = """
dataDirectory: {folder}/{name}
partitions: {partitions}
tls: {{certificate: {folder}/certs/server.pem, key: {folder}/certs/server.key}}
listeners: {{push: {{port: {push}}}, host: {{port: {host}}}, ops: {{port: {ops}}}}}
log: {{level: info, format: json}}
deliveries: {{allowedNetworks: [127.0.0.0/8]}}
journal:
  jetstream:
    servers: {servers}
    cluster: demo
    maxStreamBytes: 256MiB
    credentials: {{user: freshet, file: {folder}/password}}
    systemCredentials: {{user: system, file: {folder}/system-password}}
    node: {{name: {name}, address: "https://localhost:{push}"}}
teams:
  - id: {team}
    keys: [{{id: {kid}, file: {folder}/certs/provider-key.public.pem}}]
apps:
  - bundleID: {app}
    team: {team}
{app_settings}    kinds:
      - kind: scores
        parameters: [{{name: team, type: string, required: true}}, {{name: league, type: string}}]
      - kind: character
        parameters: [{{name: character, type: string, required: true}}, {{name: level, type: int}}]
"""


def free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def addresses(ports: list[int]) -> str:
    """Of brokers, as a list in JSON."""
    return json.dumps([f"nats://127.0.0.1:{port}" for port in ports])


class Machine:
    """A process that may die at any moment, and is started again as it was."""

    def __init__(self, name: str, command: list[str], log: pathlib.Path) -> None:
        self.name = name
        self.command = command
        self.log = log
        #: Beside what it inherits.
        self.environment: dict[str, str] = {}
        self.process: subprocess.Popen | None = None
        self.is_paused = False

    def start(self) -> None:
        with open(self.log, "a") as log:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=os.environ | self.environment)
        self.is_paused = False

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def send(self, number: int) -> None:
        if self.is_running:
            os.kill(self.process.pid, number)

    def kill(self) -> None:
        """As a machine that loses its power."""
        self.send(signal.SIGKILL)
        if self.process:
            self.process.wait()

    def pause(self) -> None:
        self.send(signal.SIGSTOP)
        self.is_paused = True

    def resume(self) -> None:
        self.send(signal.SIGCONT)
        self.is_paused = False

    def end(self, seconds: float = 30) -> int | None:
        """As a service is stopped; its status, nil if it had to be killed."""
        if not self.is_running:
            return None
        self.resume()
        self.process.terminate()
        try:
            return self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            return None

    def last_words(self, count: int = 20) -> str:
        return "".join(self.log.read_text(errors="replace").splitlines(keepends=True)[-count:]) if self.log.exists() else ""


class Gateway(Machine):
    def __init__(self, name: str, folder: pathlib.Path, program: str, ports: list[int]) -> None:
        super().__init__(name, [program, "serve", "--config", str(folder / f"{name}.yaml")], folder / f"{name}.log")
        self.push_port, self.host_port, self.ops_port = ports
        self.data = folder / name
        self.config = folder / f"{name}.yaml"

    @property
    def operator_token(self) -> str:
        return (self.data / "operator-token").read_text().strip()


class Cluster:
    """Three of each."""

    def __init__(
        self, folder: pathlib.Path, program: str, nats: str, partitions: int = 8, app_settings: str = "", relays: list[int] = []
    ) -> None:
        """The last gateway reaches the brokers at these ports instead, if there are any."""
        self.folder = folder
        self.program = program
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run([program, "certs", "--out", str(folder / "certs")], check=True, stdout=subprocess.DEVNULL)
        self.ca = folder / "certs" / "ca.pem"
        self.key = folder / "certs" / "provider-key.p8"
        self.tls = ssl.create_default_context(cafile=str(self.ca))
        passwords = {}
        for user, file in (("password", "password"), ("system", "system-password")):
            passwords[user] = os.urandom(24).hex()
            with open(os.open(folder / file, os.O_CREAT | os.O_WRONLY, 0o600), "w") as target:
                target.write(passwords[user] + "\n")
        ports = free_ports(6 + 9)
        self.broker_ports = ports[:3]
        routes = addresses(ports[3:6])
        self.brokers = []
        for number in range(3):
            config = folder / f"nats-{number + 1}.conf"
            config.write_text(BROKER.format(
                port=ports[number], number=number + 1, store=folder / f"nats-{number + 1}", route=ports[3 + number], routes=routes,
                **passwords))
            config.chmod(0o600)
            self.brokers.append(Machine(f"nats-{number + 1}", [nats, "-c", str(config)], folder / f"nats-{number + 1}.log"))
        self.gateways = []
        for number in range(3):
            own = ports[6 + 3 * number:9 + 3 * number]
            gateway = Gateway(f"gateway-{number + 1}", folder, program, own)
            servers = addresses(relays if relays and number == 2 else self.broker_ports)
            gateway.config.write_text(GATEWAY.format(
                folder=folder, name=gateway.name, partitions=partitions, push=own[0], host=own[1], ops=own[2], servers=servers,
                team=TEAM, kid=KID, app=APP, app_settings=app_settings))
            self.gateways.append(gateway)

    @property
    def machines(self) -> list[Machine]:
        return [*self.brokers, *self.gateways]

    def mint(self) -> str:
        """A provider token, good for an hour."""
        return subprocess.run(
            [self.program, "token", "mint", "--key", str(self.key), "--kid", KID, "--team", TEAM],
            check=True, capture_output=True, text=True).stdout.strip()

    def start(self, patience: float = 300) -> None:
        for broker in self.brokers:
            broker.start()
        # The first makes the streams.
        for gateway in self.gateways:
            gateway.start()
            self.wait_ready(gateway, patience)
        self.wait_settled(patience)

    def stop(self) -> None:
        """The gateways first, one after the other: they hand over, and write to the log until they have ended."""
        for machine in [*self.gateways, *self.brokers]:
            machine.end()

    def ask(self, gateway: Gateway, path: str, timeout: float = 5) -> dict | None:
        """What an operators' route answers; nil if it does not."""
        try:
            request = urllib.request.Request(
                f"https://localhost:{gateway.ops_port}{path}",
                headers={"authorization": f"bearer {gateway.operator_token}"})
            with urllib.request.urlopen(request, context=self.tls, timeout=timeout) as answer:
                return json.load(answer)
        except (OSError, ValueError, http.client.HTTPException):
            return None

    def wait_ready(self, gateway: Gateway, patience: float = 300) -> None:
        """A gateway that ended since the brokers were not there is started again, as a supervisor does."""
        end = time.monotonic() + patience
        while (self.ask(gateway, "/readyz") or {}).get("ready") is not True:
            if time.monotonic() > end:
                raise RuntimeError(f"{gateway.name} is not ready after {patience:.0f} s; it said last:\n{gateway.last_words()}")
            if not gateway.is_running:
                gateway.start()
            time.sleep(0.1)

    def view(self, besides: Gateway | None = None) -> dict | None:
        """The cluster, as one of the gateways that answers sees it."""
        for gateway in self.gateways:
            if gateway is besides or not gateway.is_running or gateway.is_paused:
                continue
            view = self.ask(gateway, "/v1/cluster", timeout=2)
            if view and view.get("nodes"):
                return view
        return None

    @staticmethod
    def is_settled(view: dict | None, nodes: int) -> bool:
        """Whether every partition runs, and so many nodes are members."""
        if not view or not all(one["state"] == "running" for one in view["partitions"]):
            return False
        return sum(one["state"] == "member" for one in view["nodes"]) == nodes

    def wait_settled(self, patience: float = 300, nodes: int = 3, hold: float = 2.5) -> float:
        """Until it is so, and stays so for as long as a node that has joined waits for its share; how long that took."""
        begun = time.monotonic()
        since = None
        while since is None or time.monotonic() - since < hold:
            if not self.is_settled(view := self.view(), nodes):
                since = None
            elif since is None:
                since = time.monotonic()
            if time.monotonic() - begun > patience:
                raise RuntimeError(f"the partitions are not shared out after {patience:.0f} s: {json.dumps(view)}")
            time.sleep(0.05)
        return since - begun
