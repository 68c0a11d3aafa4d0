"""Makes what a release leaves behind: a data directory after SIGTERM, one after kill -9, and what a log has come to.

    python3 Tests/Releases/make.py .build/release/freshet

It writes Tests/Releases/VERSION.tar.gz and VERSION.json. Run it once for each release, with the program that is released, and
commit both: ReleaseTests then sees that every later program goes on from there. It needs curl with HTTP/2.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time

FOLDER = os.path.dirname(os.path.abspath(__file__))
APP, TEAM, KID = "com.example.scores", "TESTTEAM01", "TESTKEY001"
CONFIGURATION = f"""
dataDirectory: data
partitions: 2
tls: {{certificate: certs/server.pem, key: certs/server.key, clientCA: certs/ca.pem}}
listeners: {{push: {{port: 0}}, host: {{port: 0}}, ops: {{port: 0}}}}
teams:
  - {{id: {TEAM}, keys: [{{id: {KID}, file: certs/provider-key.public.pem}}]}}
apps:
  - bundleID: {APP}
    team: {TEAM}
    kinds:
      - kind: scores
        parameters:
          - {{name: team, type: string, required: true}}
          - {{name: league, type: string, default: nfl}}
          - {{name: limit, type: int}}
      - kind: character
        parameters:
          - {{name: character, type: string, required: true}}
"""


def token(number):
    return f"{number:064x}"


class Gateway:
    """A gateway in a folder, from its start on."""

    def __init__(self, program, folder):
        self.folder = folder
        self.log = open(f"{folder}/log", "w+")
        self.process = subprocess.Popen(
            [program, "serve", "--config", f"{folder}/freshet.yaml"], stderr=self.log, stdout=self.log
        )
        self.ports, self.operator = {}, None
        end = time.monotonic() + 600
        while not self.ports:
            if time.monotonic() > end or self.process.poll() is not None:
                sys.exit(f"the gateway did not start: {open(f'{folder}/log').read()}")
            for line in open(f"{folder}/log"):
                entry = json.loads(line) if line.endswith("\n") else {}
                if "file" in entry and "operators" in entry["message"]:
                    self.operator = open(entry["file"]).read().strip()
                if entry.get("message") == "ready":
                    self.ports = entry
            time.sleep(0.05)

    def ask(self, method, listener, path, bearer=None, body=None, headers=()):
        """The status, the headers and the body of an answer."""
        command = ["curl", "-sS", "-i", "--http2", "--cacert", f"{self.folder}/certs/ca.pem", "-X", method]
        for header in [f"authorization: bearer {bearer or self.operator}", *headers]:
            command += ["-H", header]
        if body is not None:
            command += ["--data-binary", body]
        command.append(f"https://localhost:{self.ports[listener]}{path}")
        answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        head, _, rest = answer.replace("\r\n", "\n").partition("\n\n")
        lines = head.split("\n")
        fields = dict(line.split(": ", 1) for line in lines[1:])
        return int(lines[0].split()[1]), fields, rest

    def register(self, number, revision, bearer):
        instances = [
            {"id": f"w{at}", "kind": "scores", "family": "systemSmall", "configuration": {"team": team}}
            for at, team in enumerate(["seahawks", "kraken"])
        ]
        body = {"app": APP, "host": f"host-{number}", "revision": revision, "instances": instances}
        path = f"/v1/hosts/{token(number)}/widgets"
        status, _, text = self.ask("PUT", "host", path, bearer, json.dumps(body))
        assert status == 200, text

    def push(self, number, bearer):
        """The push's id."""
        status, fields, text = self.ask(
            "POST", "push", f"/3/device/{token(number)}", bearer, '{"aps":{"content-changed":true}}',
            [f"apns-topic: {APP}.push-type.widgets", "apns-push-type: widgets"],
        )
        assert status == 200, text
        return fields["apns-id"]

    def matched(self, push):
        """How many widgets a push met, once it is decided."""
        while True:
            status, _, text = self.ask("GET", "ops", f"/v1/pushes/{push}")
            if status == 200:
                return json.loads(text)["matched"]
            time.sleep(0.05)

    def end(self, number):
        self.process.send_signal(number)
        self.process.wait()
        self.log.close()


def traffic(gateway, bearer, revision):
    for number in range(1, 5):
        gateway.register(number, revision, bearer)
    pushes = [gateway.push(number, bearer) for number in range(1, 5) for _ in range(2)]
    return {push: gateway.matched(push) for push in pushes}


def keep(program, folder, name, pushes):
    """Keeps a data directory, but for secrets and what is of one machine.

    Returns what its log has come to.
    """
    target = f"{folder}/{name}"
    skipped = shutil.ignore_patterns("operator*", "lock", "reload", "*-shm")
    shutil.copytree(f"{folder}/data", target, ignore=skipped)
    for kept in os.listdir(target):
        # Beside the log, and made anew.
        if kept.split(".")[0] in ("timelines", "audit", "samples", "receipts", "decisions"):
            os.remove(f"{target}/{kept}")
    verified = subprocess.run(
        [program, "log", "verify", "--json", "--data", f"{folder}/data"], capture_output=True, text=True, check=True
    )
    partitions = json.loads(verified.stdout)["partitions"]
    return {
        "partitions": [
            {"partition": seen["partition"], "through": seen["replayedThrough"], "state": seen["state"]}
            for seen in partitions
        ],
        "pushes": pushes,
    }


def main():
    program = os.path.abspath(sys.argv[1])
    version = subprocess.run([program, "version"], capture_output=True, text=True, check=True).stdout.strip()
    folder = tempfile.mkdtemp(prefix="freshet-release-")
    try:
        subprocess.run([program, "certs", "--out", f"{folder}/certs"], check=True, stdout=subprocess.DEVNULL)
        with open(f"{folder}/freshet.yaml", "w") as file:
            file.write(CONFIGURATION)
        mint = [program, "token", "mint", "--key", f"{folder}/certs/provider-key.p8", "--kid", KID, "--team", TEAM]
        bearer = subprocess.run(mint, capture_output=True, text=True, check=True).stdout.strip()
        gateway = Gateway(program, folder)
        _, _, text = gateway.ask("GET", "ops", "/version")
        rules = json.loads(text)["engine"]
        pushes = traffic(gateway, bearer, 1)
        gateway.end(signal.SIGTERM)
        found = {"version": version, "rules": rules, "ended": keep(program, folder, "ended", pushes)}
        gateway = Gateway(program, folder)
        pushes = pushes | traffic(gateway, bearer, 2)
        gateway.end(signal.SIGKILL)
        found["killed"] = keep(program, folder, "killed", pushes)
        with tarfile.open(f"{FOLDER}/{version}.tar.gz", "w:gz") as archive:
            for name in ("ended", "killed"):
                archive.add(f"{folder}/{name}", name)
        with open(f"{FOLDER}/{version}.json", "w") as file:
            json.dump(found, file, indent=1)
            file.write("\n")
        print(f"{FOLDER}/{version}.tar.gz, {os.path.getsize(f'{FOLDER}/{version}.tar.gz')} bytes")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
