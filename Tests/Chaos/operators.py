"""Operators that change an app by requests, at any gateway: each adds and removes kinds of its own, all of one app, so that a change which
another gateway works out at the same time may take it back. httpx, as the other clients.

A request that was not answered may be done later, behind the one that was sent again: so a kind is never made twice, and one that was asked
for twice is not removed.
"""

import asyncio
import json
import random

import httpx

from traffic import Traffic

#: A kind's policy, which the log names.
BUDGETS = ["unlimited", "trmnl"]


class Operators:
    #: How many there are, and how many kinds each lets grow that it may remove.
    count, kinds_max = 2, 8

    def __init__(self, traffic: Traffic, seed: int) -> None:
        self.traffic = traffic
        self.random = random.Random(seed)

    async def run(self) -> None:
        await asyncio.gather(*(self.change(number) for number in range(self.count)))

    async def change(self, number: int) -> None:
        made, removable = 0, []
        while not self.traffic.is_over:
            await asyncio.sleep(self.random.uniform(0.5, 3))
            if len(removable) > self.random.randrange(self.kinds_max):
                await self.remove(removable.pop(self.random.randrange(len(removable))))
            else:
                made += 1
                kind = f"changed-{number}-{made}"
                if await self.add(kind, self.random.choice(BUDGETS)):
                    removable.append(kind)

    async def add(self, kind: str, budget: str) -> bool:
        """Whether it was answered at once."""
        answer, times = await self.traffic.send("ops", "PUT", self.path(kind), {"budget": budget}, {"content-type": "application/json"})
        is_made = answer is not None and answer.is_success
        self.note(answer, is_made, kind, budget)
        return is_made and times == 0

    async def remove(self, kind: str) -> None:
        answer, times = await self.traffic.send("ops", "DELETE", self.path(kind), None)
        # Not found: the request before this one, which was not answered, has removed it.
        self.note(answer, answer is not None and (answer.is_success or (times > 0 and answer.status_code == 404)), kind, None)

    def path(self, kind: str) -> str:
        return f"/v1/apps/{self.traffic.app}/kinds/{kind}"

    def note(self, answer: httpx.Response | None, is_done: bool, kind: str, budget: str | None) -> None:
        line = {"what": "change", "id": kind, "budget": budget, "status": 200 if is_done else None}
        if answer is not None and not is_done:
            line |= {"status": answer.status_code, "body": answer.text[:300]}
        self.traffic.answers.write(json.dumps(line) + "\n")
