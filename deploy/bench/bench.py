"""Rows, each a ratio to a peer in the same interleaved run or a count. Later rows are added to ROWS."""

import argparse
import json
import pathlib
import socket
import statistics
import subprocess
import sys

from gateway import Gateway, cpu_seconds, token
from instructions import instructions_per_push, sentence
from load import device_uris, h2load


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def pushes_per_cpu_second(options: argparse.Namespace) -> dict:
    """Durably accepted pushes per CPU-second of the whole gateway, against nghttpd serving an empty file."""
    gateway = Gateway(options.program, options.hosts)
    peer = None
    try:
        documents = gateway.folder / "documents"
        documents.mkdir()
        (documents / "empty").write_text("")
        port = free_port()
        certs = gateway.folder / "certs"
        peer = subprocess.Popen(
            ["nghttpd", "-d", documents, str(port), certs / "server.key", certs / "server.pem"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        own = device_uris(gateway, options.hosts)
        other = gateway.folder / "peer.uris"
        # The peer gets paths of the same length and variety: HPACK has the same work.
        other.write_text("\n".join(f"https://localhost:{port}/empty?{token(n)}" for n in range(options.hosts)))
        rows = []
        for number in range(options.rounds):
            rates = []
            for pid, uris in ((gateway.process.pid, own), (peer.pid, other)):
                before = cpu_seconds(pid)
                answered = h2load(["-c8", "-m100", f"-D{options.seconds}"], uris, gateway)
                rates.append((answered / (cpu_seconds(pid) - before), answered / options.seconds))
            (mine, mine_wall), (theirs, theirs_wall) = rates
            rows.append({"freshet": mine, "nghttpd": theirs, "ratio": mine / theirs,
                         "freshet_wall": mine_wall, "nghttpd_wall": theirs_wall})
            print(f"  round {number + 1}: freshet {mine:,.0f}, nghttpd {theirs:,.0f} requests per CPU-second,"
                  f" ratio {mine / theirs:.2f}; wall {mine_wall:,.0f}/s and {theirs_wall:,.0f}/s", flush=True)
    finally:
        if peer:
            peer.terminate()
            peer.wait()
        gateway.stop()
    ratios = sorted(row["ratio"] for row in rows)
    return {"row": "durable pushes per CPU-second, 8 connections x 100 streams", "peer": "nghttpd, empty file",
            "ratio": statistics.median(ratios), "spread": [ratios[0], ratios[-1]], "target": 0.5, "rounds": rows}


def instructions(options: argparse.Namespace) -> dict:
    """Instructions per durable push of the whole gateway, counted by callgrind."""
    return instructions_per_push(options.program)


ROWS = [pushes_per_cpu_second, instructions]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--hosts", type=int, default=10_000)
    parser.add_argument("--json", help="also write the results to this file")
    options = parser.parse_args()
    results = []
    for row in ROWS:
        print(row.__doc__.splitlines()[0], flush=True)
        results.append(row(options))
    print()
    missed = False
    for result in results:
        if "count" in result:
            print(sentence(result))
            continue
        low, high = result["spread"]
        verdict = "met" if result["ratio"] >= result["target"] else "MISSED"
        missed |= high < result["target"]
        print(f"{result['row']}: {result['ratio']:.2f} x {result['peer']} ({low:.2f} to {high:.2f}),"
              f" target {result['target']}: {verdict}")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(results, indent=2))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
