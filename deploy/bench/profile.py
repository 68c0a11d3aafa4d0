"""Where the CPU time of pushes goes: samples of the gateway under `freshet bench`, by function and by library.

    python3 deploy/bench/profile.py --program .build/release/freshet            # 10 s, the largest 40 functions
    python3 deploy/bench/profile.py --program … --output profile.txt --seconds 30

Samples by `perf record -e cpu-clock`, which works on virtual machines without hardware counters. Where there is no perf, or the
kernel forbids it, callgrind counts instructions instead (deploy/bench/instructions.py --functions), some forty times as slow.
"""

import argparse
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

from gateway import Gateway

SCENARIO = pathlib.Path(__file__).parents[2] / "docs" / "examples" / "bench" / "saturate.yaml"


def load(options: argparse.Namespace, gateway: Gateway, *more: str) -> list[str]:
    return [
        options.program, "bench", SCENARIO, "--push-port", str(gateway.push), "--host-port", str(gateway.host), "--ca", gateway.ca,
        "--token", gateway.bearer, "--server-pid", str(gateway.process.pid), "--scale", str(options.hosts / 20_000), *more,
    ]


def sampling(pid: int, samples: pathlib.Path) -> subprocess.Popen:
    """perf, attached and sampling: on a busy machine it takes seconds to begin, and a load would be over.

    Our ends of its pipes stay open: it gives up when one is closed.
    """
    (commands, command), (answers, answer) = os.pipe(), os.pipe()
    perf = subprocess.Popen(
        ["perf", "record", "-e", "cpu-clock", "-F", "997", "-o", samples, "-p", str(pid), "--delay", "-1",
         f"--control=fd:{commands},{answer}"],
        pass_fds=(commands, answer), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    for its in (commands, answer):
        os.close(its)
    os.write(command, b"enable\n")
    if not os.read(answers, 16):
        raise RuntimeError(f"perf ended with {perf.wait()}")
    return perf


def report(samples: pathlib.Path, sort: str, most: int) -> str:
    result = subprocess.run(
        ["perf", "report", "--input", samples, "--no-children", "--sort", sort, "--stdio", "--percent-limit", "0.3"],
        stdout=subprocess.PIPE, text=True, check=True,
    )
    lines = [line.rstrip() for line in result.stdout.splitlines() if line.strip() and not line.startswith("#")]
    return "\n".join([line for line in lines if "%" in line][:most])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--hosts", type=int, default=5000)
    parser.add_argument("--functions", type=int, default=40)
    parser.add_argument("--output", type=pathlib.Path, help="write it to a file, too")
    options = parser.parse_args()
    options.program = str(pathlib.Path(options.program).resolve())
    with tempfile.TemporaryDirectory() as folder:
        samples = pathlib.Path(folder) / "perf.data"
        can_sample = shutil.which("perf") and subprocess.run(
            ["perf", "record", "-e", "cpu-clock", "-o", samples, "true"], capture_output=True
        ).returncode == 0
        if not can_sample:
            print("no perf here: counting instructions by callgrind", flush=True)
            script = pathlib.Path(__file__).parent / "instructions.py"
            return subprocess.run(
                [sys.executable, script, "--program", options.program, "--functions", str(options.functions)]
            ).returncode
        gateway = Gateway(options.program, 1)
        try:
            # Registers the hosts and warms up.
            subprocess.run(load(options, gateway, "--stretch", "0.1", "--quiet"), check=True)
            perf = sampling(gateway.process.pid, samples)
            client = load(options, gateway, "--no-setup", "--stretch", str(options.seconds / 10))
            output = subprocess.run(client, stdout=subprocess.PIPE, text=True).stdout
            perf.send_signal(signal.SIGINT)
            perf.wait()
        finally:
            gateway.stop()
        text = "\n".join([
            output, "by library, percent of the samples", report(samples, "dso", 12), "",
            "by function", report(samples, "dso,symbol", options.functions), "",
        ])
    print(text)
    if options.output:
        options.output.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
