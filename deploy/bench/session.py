"""A process that is asked one line at a time and answers each with one JSON object a line."""

import json
import pathlib
import subprocess


class Session:
    def __init__(self, *command: str | pathlib.Path) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        # What it says by itself, once it is ready.
        self.loaded = self.answer()

    def answer(self) -> dict:
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.process.args[0]} ended with {self.process.wait()}")
        return json.loads(line)

    def ask(self, *words: object) -> dict:
        self.process.stdin.write(" ".join(str(word) for word in words) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def stop(self) -> None:
        self.process.stdin.close()
        self.process.wait(timeout=60)


def lines(*command: str | pathlib.Path) -> dict[str, dict]:
    """What a program prints, by row."""
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return {answer["row"]: answer for answer in map(json.loads, output.splitlines())}
