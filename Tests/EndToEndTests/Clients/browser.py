"""Chromium without a window, driven over its debugging pipe: opens a page, waits for what it shows, takes pictures.

    browser.py --url … --wait 'expression' --wait 'another' --shots folder

Each expression is asked until it is true, and then said: `seen <its number>`. At the end the page is pictured light and dark,
wide and as on a phone. Exits with 1 and what the page logged if something never becomes true.
"""

import argparse
import base64
import json
import os
import pathlib
import subprocess
import tempfile
import time


class Browser:
    #: Chromium as a program without windows: it needs half of the CPU time that Chromium with its window hidden needs.
    shell = "chromium-headless-shell"
    #: Width, height and scale of windows.
    sizes = {"wide": (1120, 760, 1), "phone": (390, 844, 2)}
    #: The longest wait for one expression.
    seconds = 600.0
    #: Seconds that the page's clock is ahead of the machine's.
    ahead = 0

    def __init__(self, program: str, profile: str, trusts_all: bool = True) -> None:
        from_us, to_browser = os.pipe()
        from_browser, to_us = os.pipe()
        # Chromium reads commands from descriptor 3 and writes answers to 4.
        shell = f"exec 3<&{from_us} 4>&{to_us}; exec \"$@\""
        self.process = subprocess.Popen(
            ["bash", "-c", shell, "browser", program, "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", *(["--ignore-certificate-errors"] if trusts_all else []), "--no-first-run", "--hide-scrollbars",
             "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"],
            pass_fds=[from_us, to_us], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        os.close(from_us)
        os.close(to_us)
        self.commands = os.fdopen(to_browser, "wb", buffering=0)
        self.answers = os.fdopen(from_browser, "rb")
        self.number = 0
        self.session: str | None = None
        self.log: list[str] = []
        #: What the page logged or threw, whole.
        self.events: list[dict] = []
        self.rest = b""

    def call(self, method: str, **parameters: object) -> dict:
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.commands.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            if answer.get("method") in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
                self.log.append(json.dumps(answer["params"])[:500])
                self.events.append(answer)

    def read(self) -> dict:
        while b"\0" not in self.rest:
            part = self.answers.read1(65_536)
            if not part:
                raise RuntimeError("the browser has ended")
            self.rest += part
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def open(self, url: str) -> None:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        if self.ahead:
            script = f"const real = Date.now; Date.now = () => real() + {self.ahead * 1000};"
            self.call("Page.addScriptToEvaluateOnNewDocument", source=script)
        self.call("Page.navigate", url=url)

    def ask(self, expression: str) -> object:
        """The value of an expression, waited for if it is a promise."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, expression: str) -> None:
        """Until an expression is true."""
        deadline = time.monotonic() + self.seconds
        while self.ask(expression) is not True:
            if time.monotonic() > deadline:
                raise SystemExit(f"never true: {expression}\n{self.ask('document.body.innerText')}\n" + "\n".join(self.log[-20:]))
            self.ask("new Promise((done) => setTimeout(done, 50))")

    def show(self, size: str, scheme: str) -> None:
        """The page in a window of that size, light or dark."""
        width, height, scale = self.sizes[size]
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=size == "phone")
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme},
                                                          {"name": "prefers-reduced-motion", "value": "reduce"}])

    def picture(self, file: pathlib.Path, size: str, scheme: str) -> None:
        self.show(size, scheme)
        self.keep_picture(file)

    def keep_picture(self, file: pathlib.Path) -> None:
        """What the window shows now."""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def close(self) -> None:
        # It ends with the pipe, and its script with it.
        self.commands.close()
        self.process.wait(timeout=300)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=Browser.shell)
    parser.add_argument("--url", required=True)
    parser.add_argument("--wait", action="append", default=[])
    parser.add_argument("--shots", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=Browser.seconds, help="the longest wait for one expression")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(options.program, profile)
        try:
            browser.seconds = options.seconds
            browser.open(options.url)
            for number, expression in enumerate(options.wait):
                browser.wait(expression)
                print(f"seen {number}", flush=True)
            if options.shots:
                for size in browser.sizes:
                    for scheme in ("light", "dark"):
                        browser.picture(options.shots / f"{size}-{scheme}.png", size, scheme)
                print(f"pictures in {options.shots}", flush=True)
        finally:
            browser.close()


if __name__ == "__main__":
    main()
