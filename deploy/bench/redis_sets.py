"""A Redis of its own on a unix socket, with a set of ids for each value. What a command takes is what the server says."""

import collections
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

# The questions of BenchmarkRows that sets can answer, as commands whose answers are disjoint.
COMMANDS = {
    "account": ["SMEMBERS account:77"],
    "team": ["SINTER topic:3 team:700"],
    "league": [f"SINTER topic:1 league:{n}" for n in (1, 2, 3)],
    "array": ["SMEMBERS alliance:7"],
    "wide": ["SINTER topic:0 premium:1 family:0"],
    "broad": ["SMEMBERS topic:0"],
}
FIELDS = ["topic", "team", "league", "account", "health", "premium", "family"]


class Redis:
    def __init__(self) -> None:
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="freshet-redis-"))
        path = self.folder / "socket"
        self.process = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", path, "--save", "", "--appendonly", "no", "--dir", self.folder],
            stdout=subprocess.DEVNULL,
        )
        self.socket = socket.socket(socket.AF_UNIX)
        while self.socket.connect_ex(str(path)) != 0:
            if self.process.poll() is not None:
                raise RuntimeError("redis-server did not start")
            time.sleep(0.05)
        self.input = self.socket.makefile("rb", buffering=1 << 16)

    def send(self, words: list[str]) -> None:
        parts = [f"*{len(words)}\r\n"] + [f"${len(word)}\r\n{word}\r\n" for word in words]
        self.socket.sendall("".join(parts).encode())

    def answer(self):
        line = self.input.readline()
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            raise RuntimeError(f"redis: {rest.decode()}")
        if kind == b"$":
            return self.input.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return [self.answer() for _ in range(int(rest))]
        return rest

    def ask(self, *words: str):
        self.send(list(words))
        return self.answer()

    def load(self, file: pathlib.Path) -> float:
        """Bytes of memory per instance."""
        sets = collections.defaultdict(list)
        count = 0
        with open(file) as lines:
            for line in lines:
                id, *values, alliances = line.rstrip("\n").split("\t")
                for field, value in zip(FIELDS, values):
                    sets[f"{field}:{value}"].append(id)
                for value in alliances.split(","):
                    sets[f"alliance:{value}"].append(id)
                count += 1
        before = self.used()
        for key, ids in sets.items():
            for first in range(0, len(ids), 5000):
                self.ask("SADD", key, *ids[first:first + 5000])
        return (self.used() - before) / count

    def used(self) -> int:
        info = self.ask("INFO", "memory").decode()
        return int(next(line for line in info.splitlines() if line.startswith("used_memory:")).split(":")[1])

    def match(self, query: str, times: int) -> dict[str, float]:
        """Microseconds that its commands take in the server, the forming of the reply among them."""
        self.ask("CONFIG", "RESETSTAT")
        for _ in range(times):
            hits = sum(len(self.ask(*command.split())) for command in COMMANDS[query])
        name = COMMANDS[query][0].split()[0].lower()
        info = self.ask("INFO", "commandstats").decode()
        line = next(line for line in info.splitlines() if line.startswith(f"cmdstat_{name}:"))
        taken = int(line.split("usec=")[1].split(",")[0])
        return {"hits": hits, "p50": taken / times}

    def stop(self) -> None:
        self.socket.close()
        self.process.terminate()
        self.process.wait(timeout=60)
        shutil.rmtree(self.folder)
