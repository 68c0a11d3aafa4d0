"""A gateway for tests of a sender, whose clock the test moves: pytest's fixture `gateway`. Python's standard library only.

It needs `freshet` on the PATH and a configuration: the file that SCORES_YAML names, or freshet.yaml in the working directory.
"""
import json, os, pathlib, ssl, subprocess, threading, time, urllib.error, urllib.request
import pytest

APP, TEAM, KID = "com.example.scores", "A1B2C3D4E5", "F6G7H8J9K0"


class Gateway:
    """`freshet serve` in memory, on ports that the system chooses."""

    def __init__(self, configuration: pathlib.Path) -> None:
        certs = configuration.parent / "certs"
        subprocess.run(["freshet", "certs", "--out", certs], check=True, stdout=subprocess.DEVNULL)
        self.key, self.ca = certs / "provider-key.p8", certs / "ca.pem"
        self.trust = ssl.create_default_context(cafile=self.ca)
        mint = ["freshet", "token", "mint", "--key", self.key, "--kid", KID, "--team", TEAM]
        token = subprocess.run(mint, check=True, capture_output=True, text=True).stdout.strip()
        self.authorization = {"authorization": f"bearer {token}"}
        settings = ["ops.open=true", "log.format=json"] + [f"listeners.{name}.port=0" for name in ("push", "host", "ops")]
        self.process = subprocess.Popen(
            ["freshet", "serve", "--config", configuration, "--in-memory", "--movable-clock"]
            + [f"--set={setting}" for setting in settings], stderr=subprocess.PIPE, text=True)
        self.log: list[str] = []
        for line in self.process.stderr:
            self.log.append(line)
            entry = json.loads(line) if line.startswith("{") else {}
            if entry.get("message") == "ready":
                self.push, self.host, self.ops = (f"https://localhost:{entry[name]}" for name in ("push", "host", "ops"))
                break
        else:
            raise RuntimeError("the gateway did not start:\n" + "".join(self.log))
        threading.Thread(target=lambda: self.log.extend(self.process.stderr), daemon=True).start()

    def call(self, method: str, url: str, body: object = None) -> dict:
        """The JSON of a route's answer; the host and ops listeners speak HTTP/1.1, too."""
        request = urllib.request.Request(url, json.dumps(body).encode() if body is not None else None,
                                         self.authorization | {"content-type": "application/json"}, method=method)
        with urllib.request.urlopen(request, context=self.trust) as answer:
            return json.loads(answer.read() or "{}")

    def advance(self, minutes: float) -> None:
        """Moves the clock; all events until then happen."""
        self.call("POST", f"{self.ops}/v1/clock", {"advance": round(minutes * 60)})

    def register(self, host: str, *instances: dict) -> None:
        """A host that shows these widgets. `host` is its push token in hex."""
        self.call("PUT", f"{self.host}/v1/hosts/{host}/widgets", {"app": APP, "instances": instances})

    def reload(self, host: str) -> int:
        """The host does its reloads; returns their number."""
        told = self.call("GET", f"{self.host}/v1/hosts/{host}/state").get("outstanding", [])
        if told:
            signals = [{"signal": "reloaded", "reload": reload["id"]} for reload in told]
            self.call("POST", f"{self.host}/v1/hosts/{host}/signals", {"signals": signals})
        return len(told)

    def outcomes(self, push: str) -> dict:
        """The outcomes of a push: {"reloaded": 2, "deferred": 1}."""
        while True:
            try:
                state = self.call("GET", f"{self.ops}/v1/pushes/{push}")
                if state["appliedBy"] == state["partitions"]:
                    return state["outcomes"]
            except urllib.error.HTTPError as error:
                if error.code != 404:
                    raise
            time.sleep(0.01)  # It is accepted, and applied in a moment.


@pytest.fixture
def gateway(monkeypatch: pytest.MonkeyPatch):
    gateway = Gateway(pathlib.Path(os.environ.get("SCORES_YAML", "freshet.yaml")).resolve())
    # The settings of the sender under test.
    for name, value in {"GATEWAY": gateway.push, "CA": gateway.ca, "APP": APP, "KEY": gateway.key, "KID": KID,
                        "TEAM": TEAM}.items():
        monkeypatch.setenv(name, str(value))
    yield gateway
    gateway.process.terminate()
    gateway.process.wait()
