"""Mixed load for minutes: pushes by h2load, re-registrations by import, an event stream by curl; all on loopback."""

import argparse
import json
import pathlib
import ssl
import subprocess
import sys
import time
import urllib.request

from gateway import APP, Gateway, descriptors, resident_kib
from load import device_uris, h2load

# Two connections with a few streams: far below saturation, so that what grows is a leak and not a queue.
LOAD = ["-c2", "-m4", "-n20000"]


def stats(gateway: Gateway) -> dict:
    context = ssl.create_default_context(cafile=gateway.ca)
    with urllib.request.urlopen(f"https://localhost:{gateway.ops}/v1/stats", context=context) as answer:
        return json.load(answer)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--hosts", type=int, default=2000)
    options = parser.parse_args()
    gateway = Gateway(options.program, options.hosts)
    pid = gateway.process.pid
    uris = device_uris(gateway, options.hosts)
    stream = subprocess.Popen(
        ["curl", "--silent", "--no-buffer", "--http2", "--cacert", gateway.ca, "--header",
         f"authorization: bearer {gateway.bearer}", f"https://localhost:{gateway.host}/v1/apps/{APP}/events"],
        stdout=subprocess.DEVNULL,
    )
    samples = []
    try:
        end = time.monotonic() + 60 * options.minutes
        while time.monotonic() < end:
            answered = h2load(LOAD, uris, gateway)
            gateway.register(str(pathlib.Path(options.program).resolve()), options.hosts)
            now = stats(gateway)
            samples.append((resident_kib(pid), descriptors(pid)))
            print(f"{len(samples):4}: {answered:,} pushes answered, {now['pushes']['accepted']:,} in all,"
                  f" resident {samples[-1][0] / 1024:,.0f} MiB, descriptors {samples[-1][1]},"
                  f" balanced {now['pushes']['balanced']}", flush=True)
            if not now["pushes"]["balanced"]:
                print("the books do not balance")
                return 1
    finally:
        stream.terminate()
        stream.wait()
        gateway.stop()
    # Pushes are retained up to a limit, so memory may grow by what each push takes, and by no more.
    descriptors_grew = samples[-1][1] - samples[min(1, len(samples) - 1)][1]
    print(f"descriptors grew by {descriptors_grew} after the first round")
    return 1 if descriptors_grew > 8 else 0


if __name__ == "__main__":
    sys.exit(main())
