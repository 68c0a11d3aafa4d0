"""What the senders beside this file have in common: so many pushes at once, then so many a second."""

import argparse
import asyncio
import collections
import json
import time


def options(about: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--ca", required=True, help="the CA's certificate")
    parser.add_argument("--topic", required=True)
    parser.add_argument("--bearer", required=True, help="a provider token")
    parser.add_argument("--key", help="the provider key, for clients that sign their own provider tokens")
    parser.add_argument("--kid", help="its id")
    parser.add_argument("--team", help="its team")
    parser.add_argument("--token", required=True, help="the device token that every push is for")
    parser.add_argument("--burst", type=int, required=True, help="pushes at once")
    parser.add_argument("--rate", type=int, required=True, help="pushes a second, after that")
    parser.add_argument("--seconds", type=int, required=True, help="for so long")
    return parser.parse_args()


def tally(faults: list[str]) -> dict:
    """How many were sent, and the faults of those that were not answered 200."""
    return {"sent": len(faults), "lost": collections.Counter(fault for fault in faults if fault)}


async def send(told: argparse.Namespace, push) -> None:
    """Sends with `push`, which returns nothing for a push that was answered 200, else what it was; prints what became of all."""
    at_once = tally(await asyncio.gather(*(push() for _ in range(told.burst))))
    # A client that cannot keep up is not waited for: pushes that are late are left out.
    start = time.monotonic()
    open_pushes: set[asyncio.Task] = set()
    faults: list[str] = []
    for number in range(told.rate * told.seconds):
        due = start + number / told.rate
        if due > time.monotonic():
            await asyncio.sleep(due - time.monotonic())
        while len(open_pushes) >= told.rate:
            done, open_pushes = await asyncio.wait(open_pushes, return_when=asyncio.FIRST_COMPLETED)
            faults += [task.result() for task in done]
        if time.monotonic() >= start + told.seconds:
            break
        open_pushes.add(asyncio.create_task(push()))
    faults += await asyncio.gather(*open_pushes)
    print(json.dumps({"burst": at_once, "steady": tally(faults)}), flush=True)
