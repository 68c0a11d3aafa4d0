"""Fuzzes every route of a gateway, as peers with good credentials that mean it ill.

    Tests/Fuzz/Routes --program .build/release/freshet --seeds 10 --minutes 60

Requests are made by docs/openapi.yaml and by grammars of their bodies, then damaged: numbers at the ends of their types, members
twice, missing, of other types, bytes cut off, cursors and ids that answers have named with another number in them. They come in
batches, so that what is wrong can be laid to few. The gateway's timeline provider, upstream and webhook answer in the same spirit.
Every second seed runs on a disk and restarts the gateway in between, by SIGTERM and by SIGKILL; the others run in memory and
move its clock. What must hold:

  - the process does not end, and starts again; the log of a seed on disk verifies at its end
  - no answer is 5xx but 503 and 507, and every request is answered
  - nothing that is another team's is answered with 2xx
  - the books balance
  - no request costs more than --cost seconds of the gateway's CPU time, with all that it brings along, a move
    of the clock ten times as much: it stops at up to 2,000 instants and asks timeline providers at each
  - memory and descriptors of a seed's last third are those of its second
  - with --neighbour, another team's p99 is at most three times what it is at a gateway that is not fuzzed

A batch that showed something is written to .build/fuzz/routes, and sent again with --replay FILE.
"""

import argparse
import dataclasses
import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from grammar import operations  # noqa: E402
from neighbour import Neighbour  # noqa: E402
from run import BATCH, Run, read_batch  # noqa: E402
from target import RED  # noqa: E402

# Requests from which on every operation has to have been answered with 2xx.
ENOUGH = 20_000


def fuzz(options: argparse.Namespace, seed: int) -> dict:
    run = Run(options, seed)
    neighbour = Neighbour(options, run) if options.neighbour else None
    began = told = time.monotonic()
    try:
        while run.batch * BATCH < options.requests and time.monotonic() - began < options.seconds:
            run.step()
            if neighbour and neighbour.starts != run.target.starts:
                neighbour.tell(run)
            if time.monotonic() - told > 30:
                told = time.monotonic()
                print(f"  {told - began:5.0f} s: {run.line()}", flush=True)
            if options.until_found and run.findings:
                break
    finally:
        waited = neighbour.finish(run) if neighbour else None
        run.finish()
    print(run.line(), flush=True)
    if waited:
        print(f"      neighbour's p99 {waited['fuzzed']['p99']:.1f} ms, twin's {waited['twin']['p99']:.1f} ms, of {waited['fuzzed']['count']:,}"
              f"; refused {waited['refused']}", flush=True)
    return {
        "seed": seed, "requests": sum(run.asked.values()), "statuses": dict(run.statuses), "cuts": dict(run.cuts), "neighbour": waited,
        "operations": {name: {f"{c}xx": run.answers[name, c] for c in range(6) if run.answers[name, c]} for name, _ in run.answers},
        "restarts": run.restarts, "memoryMiB": run.memory, "findings": [str(f) for f in run.findings],
        "seconds": round(time.monotonic() - began), "cpuSeconds": round(run.cpu, 1),
    }


def never_answered(results: list[dict]) -> list[str]:
    """Operations of the document that no request has got through to."""
    answered = {name for result in results for name, counts in result["operations"].items() if "2xx" in counts}
    return sorted({operation["id"] for operation in operations()} - answered)


def replay(options: argparse.Namespace) -> int:
    run = Run(options, 1)
    try:
        for request in read_batch(options.replay):
            # Credentials of the gateway that it was found with are not good here.
            headers = [(n, f"bearer {run.target.token(RED)}" if n == "authorization" and v.count(".") == 2 else v) for n, v in request.headers]
            request = dataclasses.replace(request, headers=headers)
            before = run.cpu_now()
            answer = run.send([request])[0]
            run.judge([request], [answer])
            print(f"{answer.status or answer.cut} after {run.settled_cost(before):.2f} CPU-seconds: {request} {answer.body[:300]!r}")
    finally:
        run.target.stop()
        run.target.remove()
    return 1 if run.findings else 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="the freshet to start")
    parser.add_argument("--seeds", type=int, default=2, help="how many (2)")
    parser.add_argument("--first-seed", type=int, default=1, help="the first of them (1)")
    parser.add_argument("--minutes", type=float, help="in all, shared by the seeds")
    parser.add_argument("--requests", type=int, default=10**9, help="of each seed at the most")
    parser.add_argument("--cost", type=float, default=1.0, help="CPU seconds that one request may cost (1)")
    parser.add_argument("--patience", type=float, default=120, help="seconds until an answer is missed (120)")
    parser.add_argument("--neighbour", action="store_true", help="measure what another team waits, beside a gateway that is not fuzzed")
    parser.add_argument("--until-found", action="store_true", help="end with the first finding")
    parser.add_argument("--replay", type=pathlib.Path, help="send a batch again that was written before")
    parser.add_argument("--json", type=pathlib.Path, help="write the figures")
    options = parser.parse_args()
    options.program = str(pathlib.Path(options.program).resolve())
    if options.replay:
        return replay(options)
    if options.minutes is None and options.requests == 10**9:
        parser.error("--minutes or --requests says how long")
    options.seconds = options.minutes * 60 / options.seeds if options.minutes else 1e9
    results = []
    for seed in range(options.first_seed, options.first_seed + options.seeds):
        results.append(fuzz(options, seed))
        if options.until_found and results[-1]["findings"]:
            break
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    found = sum(len(result["findings"]) for result in results)
    total = sum(result["requests"] for result in results)
    if never := never_answered(results):
        # A request that is always refused is not fuzzed behind its first check.
        print(f"never answered with 2xx: {', '.join(never)}")
        found += total >= ENOUGH
    print(f"{total:,} requests of {len(results)} seeds: {found or 'no'} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
