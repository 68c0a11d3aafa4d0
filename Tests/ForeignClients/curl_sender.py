"""Sends widget pushes with curl, over one connection those at once and over another those one after the other.

curl sends at most 100 at once on one connection, and at a rate only one after the other.
"""

import json
import subprocess
import tempfile

import sender


def curl(told, count: int, options: list[str], seconds: int | None = None) -> dict:
    """Sends so many pushes, or as many of them as it comes to within so many seconds."""
    with tempfile.NamedTemporaryFile("w") as file:
        for name in ("authorization: bearer " + told.bearer, "apns-topic: " + told.topic, "apns-push-type: widgets"):
            file.write(f'header = "{name}"\n')
        file.write('data = "{\\"aps\\":{\\"content-changed\\":true}}"\nwrite-out = "%{http_code} %{errormsg}\\n"\n')
        file.write(f'cacert = "{told.ca}"\nhttp2\nmax-time = 600\n')
        for _ in range(count):
            file.write(f'url = "https://localhost:{told.port}/3/device/{told.token}"\noutput = "/dev/null"\n')
        file.flush()
        command = ["stdbuf", "-oL", "curl", "--silent", "--config", file.name] + options
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.terminate()
            output, _ = process.communicate()
            count = 0
    faults = ["" if line.split()[0] == "200" else line for line in output.splitlines()]
    return sender.tally(faults + ["not sent"] * (count - len(faults)))


told = sender.options(__doc__)
burst = curl(told, told.burst, ["--parallel", "--parallel-max", "100"])
steady = curl(told, told.rate * told.seconds, ["--rate", f"{told.rate}/s"], told.seconds)
print(json.dumps({"burst": burst, "steady": steady}))
