"""Types the commands of docs/jetstream.md at machines: each is an address of loopback, with a folder and a shell."""

import contextlib
import json
import os
import pathlib
import re
import shlex
import signal
import socket
import ssl
import subprocess
import time
from typing import Self

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("FRESHET_TEST_PROGRAM", ROOT / ".build/debug/freshet"))
PAGE = (ROOT / "docs/jetstream.md").read_text()
# No machine is as slow as this. A test that works does not wait for it.
SECONDS_MAX = 900


def commands(heading: str) -> list[str]:
    """What a section of the page has its reader type, block by block."""
    section = re.search(rf"^## {re.escape(heading)}\n(.*?)^## ", PAGE, re.MULTILINE | re.DOTALL)[1]
    return re.findall(r"^```sh\n(.*?)^```", section, re.MULTILINE | re.DOTALL)


def free_ports(count: int) -> list[int]:
    """Ports that are free at every address at the moment."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("", 0))
        return [one.getsockname()[1] for one in sockets]


class Machines:
    """Each is an address of loopback. Leaving the context ends all that was started, by its shell's group."""

    def __init__(self, folder: pathlib.Path, count: int) -> None:
        self.folder = folder
        self.addresses = [f"127.0.0.{number}" for number in range(1, count + 1)]
        self.shells: list[subprocess.Popen] = []
        self.push_port, self.host_port, self.ops, self.client, self.route = map(str, free_ports(5))
        for address in self.addresses:
            (folder / address).mkdir()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_) -> None:
        for shell in self.shells:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGKILL)
            shell.wait()

    def script(self, text: str) -> str:
        """Commands with the ports that are free here, after what stands for programs that are elsewhere."""
        ports = f"--push-port {self.push_port} --host-port {self.host_port} --ops-port {self.ops}"
        text = re.sub(r"\b4222\b", self.client, text)
        return f"""
            program={shlex.quote(str(PROGRAM))}
            freshet() {{
                if [ "$1" != init ]; then "$program" "$@"; return; fi
                "$program" "$@" {ports} --json > steps.json && sed -i 's/\\b6222\\b/{self.route}/g' "$2/broker.conf"
            }}
            scp() {{ cp "$1" "$2" {shlex.quote(str(self.folder))}/"${{3%:}}"; }}
            {text}
        """

    def own(self, number: int, place: str) -> dict:
        """Where a machine's commands run: with its own name and addresses, and without limits of its speed and its disk."""
        address = self.addresses[number]
        settings = {"JOURNAL_JETSTREAM_NODE_NAME": f"machine-{number + 1}", "JOURNAL_JETSTREAM_PATIENCE": "5m",
                    "JOURNAL_JETSTREAM_MAX_STREAM_BYTES": "128MiB", "SERVER": f"https://{address}:{self.ops}"}
        settings |= {f"LISTENERS_{listener}_ADDRESS": address for listener in ("PUSH", "HOST", "OPS")}
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("FRESHET")}
        environment = inherited | {f"FRESHET_{name}": value for name, value in settings.items()}
        environment["PATH"] = f"{ROOT}/.venv/bin:{environment['PATH']}"
        return {"cwd": self.folder / address / place, "env": environment, "text": True}

    def run(self, number: int, text: str, place: str = "trial") -> subprocess.CompletedProcess:
        return subprocess.run(["bash", "-euo", "pipefail", "-c", self.script(text)], capture_output=True, check=False,
                              **self.own(number, place))

    def start(self, number: int, text: str, place: str = "trial") -> None:
        """Types commands of which the last one goes on."""
        with (self.folder / f"{self.addresses[number]}.log").open("w") as log:
            self.shells.append(subprocess.Popen(["bash", "-eu", "-c", self.script(text)], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                                start_new_session=True, **self.own(number, place)))

    def logs(self) -> str:
        return "\n".join(log.read_text()[-4000:] for log in sorted(self.folder.glob("*.log")))

    def wait_members(self, number: int, status: str) -> dict:
        """Waits until a gateway finds no fault, with a member on each machine and an owner for each partition."""
        names = [f"machine-{one + 1}" for one in range(len(self.addresses))]
        end = time.monotonic() + SECONDS_MAX
        while True:
            shown = self.run(number, f"{status.rstrip()} --json")
            view = json.loads(shown.stdout) if shown.returncode == 0 else {"nodes": [], "partitions": []}
            members = [node["name"] for node in view["nodes"] if node["state"] == "member" and node["partitions"] > 0]
            if members == names and all(one["state"] == "running" for one in view["partitions"]):
                return view
            assert all(shell.poll() is None for shell in self.shells), self.logs()
            assert time.monotonic() < end, shown.stdout + shown.stderr + self.logs()

    def wait_brokers(self) -> None:
        """Waits until the brokers have a leader, for which more than half of them must have found each other."""
        end = time.monotonic() + SECONDS_MAX
        while "JetStream cluster metadata leader" not in self.logs():
            assert all(shell.poll() is None for shell in self.shells), self.logs()
            assert time.monotonic() < end, self.logs()

    def join(self, number: int, certificate: str, user: dict) -> bytes:
        """What a broker says to another that comes with a certificate of the folder: what it subscribes to, or a refusal."""
        address = self.addresses[number]
        certificates = self.folder / self.addresses[0] / "trial/certs"
        context = ssl.create_default_context(cafile=certificates / "ca.pem")
        context.load_cert_chain(certificates / f"{certificate}.pem", certificates / f"{certificate}.key")
        about = {"server_id": "GUEST", "server_name": "guest", "cluster": "freshet", "version": "2.12.0", "proto": 1, "headers": True}
        hello = json.dumps({"name": "guest", "cluster": "freshet", "tls_required": True} | user)
        with (socket.create_connection((address, int(self.route)), timeout=60) as plain,
              context.wrap_socket(plain, server_hostname=address) as route):
            route.sendall(f"CONNECT {hello}\r\nINFO {json.dumps(about)}\r\n".encode())
            said = b""
            # One of the two comes before the connection ends.
            while b"\r\nRS+ " not in said and b"\r\n-ERR " not in said:
                more = route.recv(65536)
                assert more, said
                said += more
        return said

    def push(self, number: int) -> dict:
        """Registers a host at a machine and pushes to it there, as `freshet init` says; what the sender was told."""
        made = json.loads((self.folder / self.addresses[0] / "steps.json").read_text())
        *_, register, send, _ = (step["command"] for step in made["commands"])
        for step in [register, f"{send} --json"]:
            done = self.run(number, step.replace("localhost", self.addresses[number]).replace(str(PROGRAM), "freshet"), "")
            assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


def test_one_broker_takes_four_commands(tmp_path: pathlib.Path) -> None:
    init, start = commands("With one broker, to try it")
    with Machines(tmp_path, 1) as machines:
        made = machines.run(0, init, "")
        assert made.returncode == 0, made.stderr
        machines.start(0, start, "")
        view = machines.wait_members(0, "freshet cluster status --ca certs/ca.pem")
        assert len(view["brokers"]["brokers"]) == 1
        assert machines.push(0)["status"] == 200


def test_three_machines_share_a_log(tmp_path: pathlib.Path) -> None:
    first, broker, gateway, status = commands("On three machines")
    with Machines(tmp_path, 3) as machines:
        for number, address in enumerate(machines.addresses):
            first = first.replace(f"10.0.0.{number + 1}", address)
        made = machines.run(0, first, "")
        assert made.returncode == 0, made.stderr
        for number, address in enumerate(machines.addresses):
            machines.start(number, broker.replace("10.0.0.1", address) + gateway)
        for number in range(3):
            view = machines.wait_members(number, status)
            assert len(view["brokers"]["brokers"]) == 3
            assert {stream["replicas"] for stream in view["brokers"]["streams"]} == {3}
            assert machines.push(number)["status"] == 200


def test_brokers_take_only_those_with_their_secret_among_them(tmp_path: pathlib.Path) -> None:
    """Senders may have client.pem, which is of the brokers' CA."""
    first, broker, *_ = commands("On three machines")
    with Machines(tmp_path, 3) as machines:
        for number, address in enumerate(machines.addresses):
            first = first.replace(f"10.0.0.{number + 1}", address)
        made = machines.run(0, first, "")
        assert made.returncode == 0, made.stderr
        for number, address in enumerate(machines.addresses):
            machines.start(number, broker.replace("10.0.0.1", address) + "wait\n")
        machines.wait_brokers()
        configuration = (tmp_path / machines.addresses[0] / "trial/broker.conf").read_text()
        user, secret = re.search(r'authorization \{ user: (\S+), password: "(\w+)" \}', configuration).groups()
        for certificate in ["client", "server"]:
            for guess in [{}, {"user": user, "pass": "a guess"}]:
                assert b"-ERR 'Authorization Violation'" in machines.join(0, certificate, guess)
        # What was refused is the missing secret alone.
        assert b"RS+ " in machines.join(0, "server", {"user": user, "pass": secret})
