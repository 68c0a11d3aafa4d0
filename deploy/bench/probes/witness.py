"""Somebody honest: sends pushes over one HTTP/2 connection, in a process of its own, and notes how long each takes."""

import multiprocessing
import os
import signal
import time

import httpx

from catalogue import Patience

PAUSE = 0.05
WORST, COUNT, FAILURES, STARTED = range(4)


class Witness:
    def __init__(self, url: str, ca: str, headers: dict[str, str]) -> None:
        self.numbers = multiprocessing.Array("d", [0, 0, 0, 0])
        self.problem = multiprocessing.Array("c", 200)
        self.process = multiprocessing.Process(target=self.run, args=(url, ca, headers), daemon=True)
        self.process.start()

    def run(self, url: str, ca: str, headers: dict[str, str]) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        parent = os.getppid()
        with httpx.Client(http2=True, verify=ca, timeout=30 * Patience.factor) as client:
            while os.getppid() == parent:
                began = time.monotonic()
                self.numbers[STARTED] = began
                try:
                    status = client.post(url, headers=headers, content=b'{"aps":{"content-changed":true}}').status_code
                    problem = "" if status == 200 else f"status {status}"
                except httpx.HTTPError as error:
                    problem = f"{type(error).__name__} {error}"
                self.numbers[STARTED] = 0
                self.numbers[WORST] = max(self.numbers[WORST], time.monotonic() - began)
                self.numbers[COUNT] += 1
                if problem:
                    self.numbers[FAILURES] += 1
                    self.problem.value = problem.encode()[:199]
                time.sleep(PAUSE)

    def begin(self) -> None:
        """Forgets what was."""
        for index in (WORST, COUNT, FAILURES):
            self.numbers[index] = 0

    def waited(self) -> float:
        """Seconds of the slowest answer since `begin`, one that is still awaited included."""
        started = self.numbers[STARTED]
        return max(self.numbers[WORST], time.monotonic() - started if started else 0)

    def finish(self) -> tuple[float, int, str]:
        """The slowest answer, how many there were, and what was wrong with the last that failed; after one more at least."""
        end = time.monotonic() + 30 * Patience.factor
        while self.numbers[COUNT] < 1 and time.monotonic() < end:
            time.sleep(0.01)
        problem = self.problem.value.decode() if self.numbers[FAILURES] else ""
        return self.waited(), int(self.numbers[COUNT]), problem if self.numbers[COUNT] else "no answer"

    def stop(self) -> None:
        self.process.terminate()
        self.process.join()
