"""A gateway of its own in a temporary folder, for measurements; and what the operating system says of a process."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile

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
    def __init__(self, program: str, hosts: int, under: list[str] = []) -> None:
        """Starts the program, `under` another one that watches it, and registers hosts with three widgets each."""
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="freshet-bench-"))
        program = str(pathlib.Path(program).resolve())
        subprocess.run([program, "certs", "--out", self.folder / "certs"], check=True, stdout=subprocess.DEVNULL)
        self.ca = self.folder / "certs" / "ca.pem"
        (self.folder / "freshet.yaml").write_text(CONFIGURATION)
        minted = subprocess.run(
            [program, "token", "mint", "--key", self.folder / "certs" / "provider-key.p8", "--kid", KID, "--team", TEAM],
            check=True, capture_output=True, text=True,
        )
        self.bearer = minted.stdout.strip()
        self.log = open(self.folder / "gateway.log", "w+")
        self.process = subprocess.Popen(
            [*under, program, "serve", "--config", self.folder / "freshet.yaml"], stderr=subprocess.PIPE, text=True
        )
        for line in self.process.stderr:
            entry = json.loads(line)
            if entry["message"] == "ready":
                self.push, self.host, self.ops = (int(entry[name]) for name in ("push", "host", "ops"))
                break
        else:
            raise RuntimeError("the gateway did not start")
        # What it says from now on is not needed, and a full pipe would hold it up.
        os.set_blocking(self.process.stderr.fileno(), False)
        self.register(program, hosts)

    def register(self, program: str, hosts: int) -> None:
        teams = ["seahawks", "rams", "bears", "jets", "bills", "colts", "lions", "titans"]
        lines = []
        for number in range(hosts):
            instances = [
                {"id": f"s{i}", "kind": "scores", "family": "systemSmall",
                 "configuration": {"team": teams[(number + i) % len(teams)]}}
                for i in range(3)
            ]
            lines.append(json.dumps({"token": token(number), "host": f"h{number}", "app": APP, "revision": 1,
                                     "instances": instances}))
        file = self.folder / "hosts.ndjson"
        file.write_text("\n".join(lines))
        subprocess.run(
            [program, "import", "--host", "localhost", "--port", str(self.host), "--ca", self.ca, "--token", self.bearer,
             "--app", APP, file],
            check=True, stderr=subprocess.DEVNULL,
        )

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=60)
        shutil.rmtree(self.folder)


def cpu_seconds(pid: int) -> float:
    """utime + stime of a process with all its threads."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_kib(pid: int) -> int:
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise RuntimeError("no VmRSS")


def descriptors(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))
