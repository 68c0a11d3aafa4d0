"""A gateway of its own in a temporary folder, for measurements; and what the operating system says of a process."""

import json
import math
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

APP = "com.example.scores"
TOPIC = f"{APP}.push-type.widgets"
TEAM = "BENCHTEAM1"
KID = "BENCHKEY01"
CONFIGURATION = f"""
dataDirectory: data
tls: {{certificate: certs/server.pem, key: certs/server.key}}
listeners:
  push: {{port: 0}}
  host: {{port: 0}}
  ops: {{port: 0}}
teams:
  - id: {TEAM}
    keys: [{{id: {KID}, file: certs/provider-key.public.pem}}]
apps:
  - bundleID: {APP}
    team: {TEAM}
    kinds:
      - kind: scores
        parameters: [{{name: team, type: string, required: true}}]
"""


def token(number: int) -> str:
    return f"{number:064x}"


class Gateway:
    def __init__(
        self, program: str, hosts: int, under: list[str] = [], settings: str = "", widgets: int = 3
    ) -> None:
        """Starts the program, `under` another one that watches it, and registers hosts with so many widgets each.

        `settings` are added to the configuration.
        """
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="freshet-bench-"))
        program = str(pathlib.Path(program).resolve())
        subprocess.run([program, "certs", "--out", self.folder / "certs"], check=True, stdout=subprocess.DEVNULL)
        self.ca = self.folder / "certs" / "ca.pem"
        (self.folder / "freshet.yaml").write_text(CONFIGURATION + settings)
        self.program = program
        self.minted: tuple[float, str] | None = None
        # A file, since a pipe would not be read, and a full one would hold it up.
        with open(self.folder / "gateway.log", "w") as log:
            self.process = subprocess.Popen(
                [*under, program, "serve", "--config", self.folder / "freshet.yaml"], stderr=log,
                env=os.environ | service_environment(),
            )
        try:
            entry = wait_until_ready(self.process, self.folder / "gateway.log")
            self.push, self.host, self.ops = (int(entry[name]) for name in ("push", "host", "ops"))
            self.register(program, hosts, widgets)
        except BaseException:
            # The caller has nothing yet that it could stop.
            self.stop()
            raise

    @property
    def sender(self) -> list[str]:
        """What the program's verbs are told to mint provider tokens by themselves."""
        return ["--key", str(self.folder / "certs" / "provider-key.p8"), "--kid", KID, "--team", TEAM]

    @property
    def bearer(self) -> str:
        """A provider token, a new one every half hour: they hold for an hour, and some runs take longer."""
        if self.minted is None or time.monotonic() - self.minted[0] > 1800:
            minted = subprocess.run(
                [self.program, "token", "mint", *self.sender],
                check=True, stdout=subprocess.PIPE, text=True,
            )
            self.minted = (time.monotonic(), minted.stdout.strip())
        return self.minted[1]

    @property
    def operator(self) -> dict[str, str]:
        """The header that operators come with: the gateway has made their token."""
        return {"authorization": "bearer " + (self.folder / "data" / "operator-token").read_text().strip()}

    def register(self, program: str, hosts: int, widgets: int) -> None:
        file = self.folder / "hosts.ndjson"
        file.write_text(registrations(hosts, widgets))
        subprocess.run(
            [program, "import", "--server", f"https://localhost:{self.host}", "--ca", self.ca, *self.sender, "--app", APP, file],
            check=True, stderr=subprocess.DEVNULL,
        )

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=60)
        shutil.rmtree(self.folder)


def registrations(hosts: int, widgets: int) -> str:
    """Hosts with so many widgets each, as an import reads them."""
    teams = ["seahawks", "rams", "bears", "jets", "bills", "colts", "lions", "titans"]
    lines = []
    for number in range(hosts):
        instances = [
            {"id": f"s{i}", "kind": "scores", "family": "systemSmall", "configuration": {"team": teams[(number + i) % len(teams)]}}
            for i in range(widgets)
        ]
        lines.append(json.dumps({"token": token(number), "host": f"h{number}", "app": APP, "revision": 1, "instances": instances}))
    return "\n".join(lines)


def wait_until_ready(process: subprocess.Popen, log: pathlib.Path, patience: float = math.inf) -> dict:
    """The line of a gateway's log that has the ports."""
    end = time.monotonic() + patience
    while True:
        has_ended = process.poll() is not None
        lines = log.read_text(errors="replace").splitlines(keepends=True)
        for line in lines:
            if line.startswith("{") and line.endswith("\n") and '"ready"' in line:
                return json.loads(line)
        if has_ended or time.monotonic() > end:
            raise RuntimeError("the gateway did not start:\n" + "".join(lines))
        time.sleep(0.005)


def service_environment() -> dict[str, str]:
    """The variables that the gateway gets as a service: what is measured is what is deployed."""
    unit = pathlib.Path(__file__).parent.parent / "freshet.service"
    lines = (line.removeprefix("Environment=") for line in unit.read_text().splitlines() if line.startswith("Environment="))
    return dict(line.split("=", 1) for line in lines)


def cpu_seconds(pid: int) -> float:
    """utime + stime of a process with all its threads."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_kib(pid: int) -> int:
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise RuntimeError("no VmRSS")


def descriptors(pid: int, besides: pathlib.Path | None = None) -> int:
    """Open descriptors, but for those of files in a folder."""
    count = 0
    for number in os.listdir(f"/proc/{pid}/fd"):
        try:
            place = pathlib.Path(os.readlink(f"/proc/{pid}/fd/{number}"))
        except FileNotFoundError:
            continue
        count += besides is None or besides not in place.parents
    return count
