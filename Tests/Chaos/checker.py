"""Compares what clients were answered and told with what the log holds. It knows nothing of the gateway but its JSON.

    checker.py FOLDER --partitions 8        the folder of a run: answers, streams, deliveries, export and outputs, each .ndjson
    checker.py --self-test

Answers are what a client has at last been told, a line each: `{"what": "push" | "targeted" | "registration" | "change", "id": …,
"host": …, "revision": …, "status": …}`. A change is that of a kind with this id, with its `budget`, null if it was removed; without an answer
its status is null. Streams are what readers of event streams have met, in order; deliveries are what an upstream and a webhook
were sent. Export is of `freshet log export`, outputs of `freshet log outputs`.
"""

import argparse
import collections
import dataclasses
import json
import pathlib
import sys
from collections.abc import Iterator

#: The faults, by kind.
Wrong = dict[str, list[str]]


@dataclasses.dataclass
class Evidence:
    answers: list[dict]
    streams: list[dict]
    deliveries: list[dict]
    entries: list[dict]
    outputs: list[dict]
    partitions: int

    @classmethod
    def read(cls, folder: pathlib.Path, partitions: int) -> "Evidence":
        def lines(name: str) -> list[dict]:
            return [json.loads(line) for line in (folder / f"{name}.ndjson").read_text().splitlines() if line]

        return cls(lines("answers"), lines("streams"), lines("deliveries"), lines("export"), lines("outputs"), partitions)

    @property
    def reloads(self) -> list[dict]:
        """Each reload with where it was committed."""
        found = []
        for line in self.outputs:
            for one in [line] if line["effect"] == "reload" else line.get("reloads", []):
                found.append({**one, "place": f"partition {line['partition']} output {line['output']}"})
        return found

    @property
    def delivered_again(self) -> int:
        """How often something came once more under an id that had been answered 200."""
        ids = collections.Counter(one["id"] for one in self.deliveries if one["status"] == 200)
        return ids.total() - len(ids)


def check(evidence: Evidence) -> Wrong:
    wrong: Wrong = {kind: [] for kind in ("lost", "refused", "issued twice", "charged twice", "not issued", "not told", "told again")}
    check_answers(evidence, wrong)
    check_changes(evidence, wrong)
    check_reloads(evidence, wrong)
    check_streams(evidence, wrong)
    check_deliveries(evidence, wrong)
    return wrong


def check_answers(evidence: Evidence, wrong: Wrong) -> None:
    """What was accepted is in the log."""
    places = collections.defaultdict(set)
    revisions: dict[str, int] = {}
    for entry in evidence.entries:
        if entry["record"] == "push":
            places[entry["id"].lower()].add(entry["partition"])
        elif entry["record"] == "register":
            revisions[entry["host"]] = max(revisions.get(entry["host"], 0), entry.get("revision") or 0)
    for answer in evidence.answers:
        what, status = answer["what"], answer["status"]
        if what == "change" and status in (200, None):
            continue
        if status != 200:
            wrong["refused"].append(f"{what} {answer.get('id') or answer['host']} was answered {status} {answer.get('body', '')}")
        elif what == "registration":
            if revisions.get(answer["host"], 0) < answer["revision"]:
                wrong["lost"].append(f"revision {answer['revision']} of {answer['host']} is in no partition")
        else:
            found = len(places[answer["id"].lower()])
            if found < (evidence.partitions if what == "targeted" else 1):
                wrong["lost"].append(f"{what} push {answer['id']} is in {found} partitions")


def changed_kinds(evidence: Evidence) -> dict[str, str | None]:
    """The kinds that requests have changed, as the last answers say; without those whose last request had none."""
    kinds: dict[str, str | None] = {}
    for answer in evidence.answers:
        if answer["what"] != "change":
            continue
        if answer["status"] == 200:
            kinds[answer["id"]] = answer["budget"]
        elif answer["status"] is None:
            kinds.pop(answer["id"], None)
    return kinds


def check_changes(evidence: Evidence, wrong: Wrong) -> None:
    """What a request has changed is in force in each partition: no change of another gateway took it back."""
    versions: collections.Counter[int] = collections.Counter()
    budgets: dict[int, dict[str, str]] = collections.defaultdict(dict)
    for entry in evidence.entries:
        # A change that was worked out from settings which were no longer in force changes nothing.
        if entry["record"] == "configure" and entry["base"] == versions[entry["partition"]]:
            versions[entry["partition"]] += 1
            if "apps" in entry:
                budgets[entry["partition"]] = {kind["kind"]: kind["budget"] for app in entry["apps"] for kind in app["kinds"]}
    for kind, budget in changed_kinds(evidence).items():
        for partition in range(evidence.partitions):
            if (found := budgets[partition].get(kind)) != budget:
                wrong["lost"].append(f"the kind {kind} is {found or 'not there'} in partition {partition}, and was changed to {budget or 'none'}")


def check_reloads(evidence: Evidence, wrong: Wrong) -> None:
    """Each cause has one reload, and one charge."""
    by_id, by_cause = collections.defaultdict(list), collections.defaultdict(list)
    for one in evidence.reloads:
        widget = f"{one['app']}/{one['host']}:{one['instance']}"
        by_id[one["reload"]].append(one)
        if one.get("push"):
            by_cause[f"push {one['push']} for {widget}"].append(one)
        if "added" in one["causes"]:
            by_cause[f"the adding of {widget}"].append(one)
    for identifier, all_of in by_id.items():
        if len(all_of) > 1:
            wrong["issued twice"].append(f"reload {identifier} is in {', '.join(one['place'] for one in all_of)}")
    for cause, all_of in by_cause.items():
        ids = sorted({one["reload"] for one in all_of})
        if len(ids) > 1:
            wrong["issued twice"].append(f"{cause} has the reloads {', '.join(ids)}")
        if sum(one["charged"] for one in all_of) > 1:
            wrong["charged twice"].append(f"{cause} is charged in {', '.join(one['place'] for one in all_of)}")


def check_streams(evidence: Evidence, wrong: Wrong) -> None:
    """Each reload of the hosts that a reader acknowledges for was told to it, and none on a stream that was opened behind its
    acknowledgement."""
    hosts: dict[str, set[str]] = {}
    told = collections.defaultdict(set)
    opened: dict[tuple[str, int], int] = {}
    acknowledged: dict[str, int] = {}
    at_end = set()
    for index, line in enumerate(evidence.streams):
        reader = line["reader"]
        match line["what"]:
            case "follows":
                hosts[reader] = set(line["hosts"])
            case "connecting":
                opened[reader, line["session"]] = index
            case "told":
                told[reader].add(line["reload"])
                if acknowledged.get(line["reload"], index) < opened[reader, line["session"]]:
                    wrong["told again"].append(f"{reader} was told of {line['reload']} in session {line['session']}, which it had acknowledged")
            case "acknowledged":
                acknowledged.setdefault(line["reload"], index)
            case "refused":
                wrong["refused"].append(f"the stream of {reader} was answered {line['status']} {line['body']}")
            case "caught up":
                at_end.add(reader)
    for one in evidence.reloads:
        for reader in at_end:
            if one["host"] in hosts[reader] and one["reload"] not in told[reader]:
                wrong["not told"].append(f"{reader} was not told of {one['reload']} of {one['host']}, {one['place']}")


def check_deliveries(evidence: Evidence, wrong: Wrong) -> None:
    """A webhook gets each reload of its hosts, and none that is not committed; an upstream gets a push for a host with reloads."""
    issued = {one["reload"] for one in evidence.reloads}
    got, reached = set(), set()
    for one in evidence.deliveries:
        wrong["not issued"] += [f"a webhook got {reload}, which is in no output" for reload in one.get("reloads", []) if reload not in issued]
        if one["status"] == 200:
            got.update(one.get("reloads", []))
            reached.add(one.get("host"))
    ways = {entry["host"]: entry.get("delivery") for entry in evidence.entries if entry["record"] == "register"}
    for one in evidence.reloads:
        way = ways.get(one["host"])
        if (way == "webhook" and one["reload"] not in got) or (way == "apns" and one["host"] not in reached):
            wrong["not told"].append(f"{one['reload']} of {one['host']}, {one['place']}, was not delivered")


def is_good(wrong: Wrong) -> bool:
    return not any(wrong.values())


# MARK: Planted faults


def faults(good: Evidence) -> Iterator[tuple[str, set[str], Evidence]]:
    """The same evidence with a fault planted, and the kinds that it has to be found as; without those that there is nothing for."""
    yield from faults_of_entries(good)
    yield from faults_of_changes(good)
    yield from faults_of_reloads(good)
    yield from faults_of_streams(good)
    yield from faults_of_deliveries(good)


def faults_of_entries(good: Evidence) -> Iterator[tuple[str, set[str], Evidence]]:
    for what in ("push", "targeted", "registration"):
        told = next((one for one in good.answers if one["what"] == what and one["status"] == 200), None)
        if told is None:
            continue

        def is_it(entry: dict) -> bool:
            if what == "registration":
                return entry["record"] == "register" and entry["host"] == told["host"]
            return entry["record"] == "push" and entry["id"].lower() == told["id"].lower()

        places = [index for index, entry in enumerate(good.entries) if is_it(entry)]
        # Of one for all partitions one copy.
        gone = set(places[:1] if what == "targeted" else places)
        left = [entry for index, entry in enumerate(good.entries) if index not in gone]
        yield f"a {what} that was answered is missing", {"lost"}, dataclasses.replace(good, entries=left)
        refused = [{**one, "status": 410} if one is told else one for one in good.answers]
        yield f"a {what} was refused", {"refused"}, dataclasses.replace(good, answers=refused)


def faults_of_changes(good: Evidence) -> Iterator[tuple[str, set[str], Evidence]]:
    kind, budget = next(((kind, budget) for kind, budget in changed_kinds(good).items() if budget), (None, None))
    if kind is None:
        return
    other = {"what": "change", "id": kind, "budget": f"not {budget}", "status": 200}
    yield "a change is in force in no partition", {"lost"}, dataclasses.replace(good, answers=[*good.answers, other])
    yield "a change was refused", {"refused"}, dataclasses.replace(good, answers=[*good.answers, {**other, "status": 412}])
    first = next(index for index, entry in enumerate(good.entries) if entry["record"] == "configure")
    later = [{**entry, "base": entry["base"] + 1} if index == first else entry for index, entry in enumerate(good.entries)]
    yield "a partition has refused the first change, and so all", {"lost"}, dataclasses.replace(good, entries=later)
    left = [entry for entry in good.entries if (entry["record"], entry["partition"]) != ("configure", good.entries[first]["partition"])]
    yield "a partition lacks the changes", {"lost"}, dataclasses.replace(good, entries=left)


def faults_of_reloads(good: Evidence) -> Iterator[tuple[str, set[str], Evidence]]:
    def more(*outputs: dict) -> Evidence:
        return dataclasses.replace(good, outputs=[*good.outputs, *outputs])

    # Of hosts that no reader follows and no delivery reaches, so that a reload more is one of its kind alone.
    followed = {host for line in good.streams if line["what"] == "follows" for host in line["hosts"]}
    followed |= {entry["host"] for entry in good.entries if entry["record"] == "register" and entry.get("delivery") in ("webhook", "apns")}
    own = [one for one in good.outputs if one["effect"] == "reload" and one["host"] not in followed]
    charged = next((one for one in own if one["charged"] and one.get("push")), None)
    if charged:
        doubled = {**charged, "output": charged["output"] + 1}
        again = {**doubled, "reload": f"{charged['reload']}-again"}
        yield "an output is committed twice", {"issued twice", "charged twice"}, more(doubled)
        yield "a cause is decided by two owners", {"issued twice", "charged twice"}, more(again)
        yield "a cause is decided twice, and charged once", {"issued twice"}, more({**again, "charged": False})
    added = next((one for one in own if "added" in one["causes"] and not one.get("push")), None)
    if added:
        yield "a widget is added twice", {"issued twice"}, more({**added, "reload": f"{added['reload']}-again"})


def faults_of_streams(good: Evidence) -> Iterator[tuple[str, set[str], Evidence]]:
    for reader in sorted({line["reader"] for line in good.streams}):
        own = [line for line in good.streams if line["reader"] == reader]
        hosts = set(own[0]["hosts"])
        told = next((line for line in own if line["what"] == "told" and line["host"] in hosts), None)
        if told is None or own[-1]["what"] != "caught up":
            continue
        left = [line for line in good.streams if (line["reader"], line["what"], line.get("reload")) != (reader, "told", told["reload"])]
        yield f"{reader} was not told of a reload", {"not told"}, dataclasses.replace(good, streams=left)
        done = next((line["reload"] for line in own if line["what"] == "acknowledged"), None)
        if done:
            late = [{**own[-1], "what": "connecting", "session": 1 << 32},
                    {**told, "what": "told", "session": 1 << 32, "reload": done}]
            yield f"{reader} was told of an acknowledged reload", {"told again"}, dataclasses.replace(good, streams=[*good.streams, *late])
    follows = next((line for line in good.streams if line["what"] == "follows"), None)
    if follows:
        refused = {**follows, "what": "refused", "status": 404, "body": ""}
        yield "a stream was refused", {"refused"}, dataclasses.replace(good, streams=[*good.streams, refused])


def faults_of_deliveries(good: Evidence) -> Iterator[tuple[str, set[str], Evidence]]:
    def but(deliveries: list[dict]) -> Evidence:
        return dataclasses.replace(good, deliveries=deliveries)

    posts = [one for one in good.deliveries if one["what"] == "webhook" and one["status"] == 200]
    if posts:
        reload = posts[0]["reloads"][0]
        yield "a webhook did not get a reload", {"not told"}, but([one for one in good.deliveries if reload not in one.get("reloads", [])])
        yield "a webhook got a reload early", {"not issued"}, but([*good.deliveries, {**posts[0], "reloads": ["none"]}])
    pushes = [one for one in good.deliveries if one["what"] == "apns" and one["status"] == 200]
    if pushes:
        host = pushes[0]["host"]
        yield "an upstream did not get a push", {"not told"}, but([one for one in good.deliveries if one.get("host") != host])


def check_the_checker(good: Evidence) -> list[str]:
    """Plants faults in evidence that is good, one at a time; what was not found, or found as another."""
    missed = []
    for name, kinds, planted in faults(good):
        seen = {kind for kind, all_of in check(planted).items() if all_of}
        if seen != kinds:
            missed.append(f"{name}: found as {sorted(seen) or 'nothing'}, expected {sorted(kinds)}")
    return missed


def self_test() -> list[str]:
    """Little evidence that is good, with every fault."""
    reload = {"effect": "reload", "app": "a", "host": "host-1", "instance": "w", "partition": 0}
    own = {"reader": "host-2", "session": 1}
    good = Evidence(
        answers=[
            {"what": "registration", "host": "host-1", "revision": 1, "status": 200}, {"what": "push", "id": "a", "status": 200},
            {"what": "targeted", "id": "b", "status": 200},
            {"what": "change", "id": "k", "budget": "unlimited", "status": 200},
            {"what": "change", "id": "l", "budget": "unlimited", "status": 200}, {"what": "change", "id": "l", "budget": None, "status": None},
        ],
        streams=[
            {**own, "what": "follows", "hosts": ["host-2"]}, {**own, "what": "connecting"}, {**own, "what": "told", "reload": "r3", "host": "host-2"},
            {**own, "what": "acknowledged", "reload": "r3"},
            # Events that were on their way meanwhile.
            {**own, "what": "told", "reload": "r3", "host": "host-2"}, {**own, "what": "caught up"},
        ],
        deliveries=[
            {"what": "webhook", "id": "d", "reloads": ["r4"], "status": 503}, {"what": "webhook", "id": "d", "reloads": ["r4"], "status": 200},
            {"what": "apns", "id": "e", "host": "host-5", "status": 200},
        ],
        entries=[
            {"partition": 0, "record": "register", "host": "host-1", "revision": 1},
            {"partition": 0, "record": "register", "host": "host-4", "revision": 1, "delivery": "webhook"},
            {"partition": 0, "record": "register", "host": "host-5", "revision": 1, "delivery": "apns"},
            {"partition": 0, "record": "push", "id": "A", "host": "host-1"},
            {"partition": 0, "record": "push", "id": "B"}, {"partition": 1, "record": "push", "id": "B"},
            *(
                {"partition": partition, "record": "configure", "base": base, "apps": [{"app": "a", "kinds": kinds}]}
                for partition in (0, 1)
                # The second one came too late.
                for base, kinds in ((0, [{"kind": "k", "budget": "unlimited"}]), (0, []))
            ),
        ],
        outputs=[
            {**reload, "output": 1, "reload": "r1", "causes": ["added"], "charged": False},
            {**reload, "output": 2, "reload": "r2", "causes": ["push"], "charged": True, "push": "a"},
            {**reload, "output": 3, "host": "host-2", "reload": "r3", "causes": ["added"], "charged": False},
            {**reload, "output": 4, "host": "host-4", "reload": "r4", "causes": ["added"], "charged": False},
            {**reload, "output": 5, "host": "host-5", "reload": "r5", "causes": ["added"], "charged": False},
        ],
        partitions=2,
    )
    said = check(good)
    missed = check_the_checker(good)
    if not is_good(said):
        missed.append(f"good evidence is found bad: {said}")
    if (count := len(list(faults(good)))) != 20:
        missed.append(f"{count} faults were planted, not 20")
    return missed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, nargs="?", help="of a run of chaos")
    parser.add_argument("--partitions", type=int, default=8)
    parser.add_argument("--self-test", action="store_true")
    told = parser.parse_args()
    if told.self_test or told.folder is None:
        missed = self_test()
        print("\n".join(missed) or "the checker finds what was planted")
        return 1 if missed else 0
    wrong = check(Evidence.read(told.folder, told.partitions))
    for kind, all_of in wrong.items():
        print(f"{kind}: {len(all_of)}")
        for sentence in all_of[:20]:
            print(f"  {sentence}")
    return 0 if is_good(wrong) else 1


if __name__ == "__main__":
    sys.exit(main())
