"""Compares what clients were answered with what the log holds. It knows nothing of the gateway but its JSON.

    checker.py --answers answers.ndjson --entries entries.ndjson --outputs outputs.ndjson --partitions 8
    checker.py --self-test

Answers are what a client has at last been told, a line each: `{"what": "push" | "targeted" | "registration", "id": …, "host": …,
"revision": …, "status": …}`. Entries are of `freshet log export`, outputs of `freshet log outputs`.
"""

import argparse
import collections
import copy
import json
import pathlib
import sys


def read(path: pathlib.Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines() if line]


def reloads(outputs: list[dict]) -> list[dict]:
    """Each reload with where it was committed."""
    found = []
    for line in outputs:
        for one in [line] if line["effect"] == "reload" else line.get("reloads", []):
            found.append({**one, "place": f"partition {line['partition']} output {line['output']}"})
    return found


def check(answers: list[dict], entries: list[dict], outputs: list[dict], partitions: int) -> dict[str, list[str]]:
    """What is wrong, by kind."""
    wrong: dict[str, list[str]] = {"lost": [], "refused": [], "issued twice": [], "charged twice": []}
    places = collections.defaultdict(set)
    revisions: dict[str, int] = {}
    for entry in entries:
        if entry["record"] == "push":
            places[entry["id"].lower()].add(entry["partition"])
        elif entry["record"] == "register":
            revisions[entry["host"]] = max(revisions.get(entry["host"], 0), entry.get("revision") or 0)
    for answer in answers:
        what, status = answer["what"], answer["status"]
        if status != 200:
            wrong["refused"].append(f"{what} {answer.get('id') or answer['host']} was answered {status} {answer.get('body', '')}")
        elif what == "registration":
            if revisions.get(answer["host"], 0) < answer["revision"]:
                wrong["lost"].append(f"revision {answer['revision']} of {answer['host']} is in no partition")
        else:
            found = len(places[answer["id"].lower()])
            if found < (partitions if what == "targeted" else 1):
                wrong["lost"].append(f"{what} push {answer['id']} is in {found} partitions")
    by_id, by_cause = collections.defaultdict(list), collections.defaultdict(list)
    for one in reloads(outputs):
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
    return wrong


def is_good(wrong: dict[str, list[str]]) -> bool:
    return not any(wrong.values())


def faults(answers: list[dict], entries: list[dict], outputs: list[dict]) -> list[tuple[str, set[str], list[dict], list[dict]]]:
    """The same log with a fault planted, and the kinds that it has to be found as. Those that the log has nothing for are left out."""
    found = []

    def without(what: str) -> None:
        told = next((one for one in answers if one["what"] == what and one["status"] == 200), None)
        if told is None:
            return
        if what == "registration":
            left = [one for one in entries if one["record"] != "register" or one["host"] != told["host"]]
        else:
            # Of one for all partitions one copy.
            index = next((i for i, one in enumerate(entries) if one["record"] == "push" and one["id"].lower() == told["id"].lower()), None)
            left = [one for i, one in enumerate(entries) if i != index] if what == "targeted" else [
                one for one in entries if one["record"] != "push" or one["id"].lower() != told["id"].lower()]
        found.append((f"a {what} that was answered is missing", {"lost"}, left, outputs))

    for what in ("push", "targeted", "registration"):
        without(what)
    charged = next((one for one in outputs if one["effect"] == "reload" and one["charged"] and one.get("push")), None)
    if charged:
        doubled = {**charged, "output": charged["output"] + 1}
        found.append(("an output is committed twice", {"issued twice", "charged twice"}, entries, [*outputs, doubled]))
        again = {**doubled, "reload": f"{charged['reload']}-again"}
        found.append(("a cause is decided by two owners", {"issued twice", "charged twice"}, entries, [*outputs, again]))
        found.append(("a cause is decided twice, and charged once", {"issued twice"}, entries, [*outputs, {**again, "charged": False}]))
    added = next((one for one in outputs if one["effect"] == "reload" and "added" in one["causes"] and not one.get("push")), None)
    if added:
        again = {**added, "reload": f"{added['reload']}-again"}
        found.append(("a widget is added twice", {"issued twice"}, entries, [*outputs, again]))
    return found


def check_the_checker(answers: list[dict], entries: list[dict], outputs: list[dict], partitions: int) -> list[str]:
    """Plants faults in a log that is good, one at a time; what was not found, or found as another."""
    missed = []
    for name, kinds, planted_entries, planted_outputs in faults(answers, entries, outputs):
        wrong = check(answers, planted_entries, planted_outputs, partitions)
        seen = {kind for kind, all_of in wrong.items() if all_of}
        if seen != kinds:
            missed.append(f"{name}: found as {sorted(seen) or 'nothing'}, expected {sorted(kinds)}")
    return missed


def self_test() -> list[str]:
    """A small log that is good, with every fault."""
    entries = [
        {"partition": 0, "record": "register", "host": "host-1", "revision": 1},
        {"partition": 0, "record": "push", "id": "A", "host": "host-1"},
        {"partition": 0, "record": "push", "id": "B"}, {"partition": 1, "record": "push", "id": "B"},
    ]
    reload = {"effect": "reload", "app": "a", "host": "host-1", "instance": "w", "partition": 0}
    outputs = [
        {**reload, "output": 1, "reload": "r1", "causes": ["added"], "charged": False},
        {**reload, "output": 2, "reload": "r2", "causes": ["push"], "charged": True, "push": "a"},
    ]
    answers = [
        {"what": "registration", "host": "host-1", "revision": 1, "status": 200}, {"what": "push", "id": "a", "status": 200},
        {"what": "targeted", "id": "b", "status": 200},
    ]
    said = check(answers, entries, outputs, 2)
    missed = check_the_checker(answers, entries, outputs, 2)
    if not is_good(said):
        missed.append(f"a good log is found bad: {said}")
    if len(faults(answers, entries, outputs)) != 7:
        missed.append("not every fault was planted")
    refused = copy.deepcopy(answers)
    refused[1]["status"] = 410
    if not check(refused, entries, outputs, 2)["refused"]:
        missed.append("a push that was wrongly refused is not found")
    return missed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("answers", "entries", "outputs"):
        parser.add_argument(f"--{name}", type=pathlib.Path)
    parser.add_argument("--partitions", type=int, default=8)
    parser.add_argument("--self-test", action="store_true")
    told = parser.parse_args()
    if told.self_test:
        missed = self_test()
        print("\n".join(missed) or "the checker finds what was planted")
        return 1 if missed else 0
    wrong = check(read(told.answers), read(told.entries), read(told.outputs), told.partitions)
    for kind, all_of in wrong.items():
        print(f"{kind}: {len(all_of)}")
        for sentence in all_of[:20]:
            print(f"  {sentence}")
    return 0 if is_good(wrong) else 1


if __name__ == "__main__":
    sys.exit(main())
