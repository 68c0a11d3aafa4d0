"""Plants faults in the engine one at a time, and says which of its property tests find each.

    .venv/bin/python Tests/EngineFaults/plant.py                  # all of faults.toml, within 10,000 schedules each
    .venv/bin/python Tests/EngineFaults/plant.py --only tombstone
    .venv/bin/python Tests/EngineFaults/plant.py --check          # only that each fault's text is still there, once

The sources of the engine and of its property tests are copied to a folder of their own. All faults are built into one program,
which has the one whose number is in FRESHET_PLANTED_FAULT, or none: a build for each would take an hour more, and find the same.
Exits with 1 if a fault is not found, if its text is stale, or if the tests fail without any.
"""

import argparse
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODULES = ["CKernels", "WidgetModel", "Storage", "IntentMatching", "Timelines", "Engine"]
SUITES = ["PropertyTests", "PromiseTests", "SlicingTests", "ObligationTests", "SnapshotTests"]
# The files of the suites; the other tests of the engine are about single rules, and not asked.
TEST_FILES = SUITES + [
    "BudgetCheck", "Engine+DryRun", "Engine+Replaying", "ObligationCheck", "PolicyChangeCheck", "PolicyHistory", "RandomPolicies",
    "RandomSchedule+Rare", "RandomSchedule", "Scene", "ScheduleCoverage", "ScheduleCoverage+Rules",
]
# Times the daily seeds, and so many schedules at most.
ROUNDS = [1, 6, 40]
# How long one time the daily seeds may take: a fault may make a schedule endless, which is found, too.
SECONDS_MAX = 60

SWITCH = """import Foundation

/// The number of the fault that this process has; 0 for none.
let plantedFault = Int(ProcessInfo.processInfo.environment["FRESHET_PLANTED_FAULT"] ?? "") ?? 0
"""


def read_faults() -> list[dict]:
    faults = tomllib.loads((pathlib.Path(__file__).parent / "faults.toml").read_text())["fault"]
    return [fault | {"number": number} for number, fault in enumerate(faults, 1)]


def stale(fault: dict) -> str | None:
    file = ROOT / fault["file"]
    count = file.read_text().count(fault["text"]) if file.exists() else 0
    return None if count == 1 else f"{fault['file']} has {count} times the text of the fault \"{fault['name']}\""


def planted(fault: dict) -> str:
    number, text, other = fault["number"], fault["text"], fault.get("planted")
    if not fault.get("statement"):
        return f"(plantedFault == {number} ? ({other}) : ({text}))"
    if other is None:
        return f"if plantedFault != {number} {{ {text} }}"
    return f"if plantedFault == {number} {{ {other} }} else {{ {text} }}"


def write(path: pathlib.Path, text: str) -> None:
    """Leaves a file alone that is as it should be, so that it is not built again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def copy_sources(scratch: pathlib.Path, faults: list[dict]) -> None:
    files = {file: file.read_text() for module in MODULES for file in (ROOT / "Sources" / module).rglob("*") if file.is_file()}
    files |= {file: file.read_text() for file in (ROOT / "Tests/Support").glob("*.swift")}
    files |= {file: file.read_text() for file in (ROOT / "Tests/EngineTests" / f"{name}.swift" for name in TEST_FILES)}
    for fault in faults:
        file = ROOT / fault["file"]
        files[file] = files[file].replace(fault["text"], planted(fault))
    for module in {pathlib.Path(fault["file"]).parts[1] for fault in faults}:
        files[ROOT / "Sources" / module / "PlantedFault.swift"] = SWITCH
    wanted = {scratch / file.relative_to(ROOT): text for file, text in files.items()}
    for file in [*scratch.glob("Sources/**/*.*"), *scratch.glob("Tests/**/*.*")]:
        if file not in wanted:
            file.unlink()
    for file, text in wanted.items():
        write(file, text)
    write(scratch / "Package.swift", manifest())


def manifest() -> str:
    kept = ", ".join(f'"{name}"' for name in [*MODULES, "TestSupport", "EngineTests"])
    return (ROOT / "Package.swift").read_text() + f"""
// Of all this, what the engine's property tests need.
let kept: Set = [{kept}]
package.products = []
package.dependencies = [.package(path: "{ROOT}/.build/checkouts/swift-collections")]
package.targets = package.targets.filter {{ kept.contains($0.name) }}
for target in package.targets where target.name == "EngineTests" {{
    target.dependencies = ["Engine", "IntentMatching", "Timelines", "WidgetModel", "TestSupport"]
}}
"""


def build(scratch: pathlib.Path) -> pathlib.Path:
    command = ["swift", "build", "--build-tests", "-c", "release", "-Xswiftc", "-enable-testing", "-Xswiftc", "-gnone"]
    result = subprocess.run(command, cwd=scratch, capture_output=True, text=True)
    if result.returncode != 0:
        lines = [line for line in (result.stdout + result.stderr).splitlines() if "error:" in line]
        sys.exit("\n".join(["the sources with the faults do not build:", *lines[:20]]))
    return next(scratch.glob(".build/*/release/*.xctest"))


def run(program: pathlib.Path, number: int, seeds: int) -> tuple[str | None, int]:
    """What failed, nil if nothing did; and how many schedules there were."""
    environment = os.environ | {"FRESHET_PLANTED_FAULT": str(number), "FRESHET_SEEDS": str(seeds)}
    suites = "|".join(SUITES)
    command = [program, "--testing-library", "swift-testing", "--filter", f"^EngineTests\\.({suites})/", "--skip", "damaged"]
    try:
        result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS_MAX * (1 + seeds))
    except subprocess.TimeoutExpired:
        return "a schedule does not end", schedules(seeds)
    if result.returncode == 0:
        return None, schedules(seeds)
    output = re.sub(r"\x1b\[\d*m", "", result.stdout + result.stderr)
    tests = re.findall(r'^✘ Test "(.*?)" (?:with \d+ test cases )?failed after', output, re.MULTILINE)
    ended = f"the process ends by {signal.Signals(-result.returncode).name}" if result.returncode < 0 else "?"
    return "; ".join(sorted(set(tests))) or ended, schedules(seeds)


def shortened(failure: str | None) -> str:
    """The first test of several that failed, and how many more did."""
    tests = failure.split("; ") if failure else [""]
    return tests[0] + (f", and {len(tests) - 1} more" if len(tests) > 1 else "")


def schedules(seeds: int) -> int:
    """How many schedules the suites make, see docs/testing.md."""
    return seeds * (170 + 12 + 64)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only look whether each fault's text is still there")
    parser.add_argument("--only", default="", help="only faults with this in their name")
    parser.add_argument("--scratch", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "freshet-planted-faults")
    options = parser.parse_args()
    faults = read_faults()
    if found := [message for fault in faults if (message := stale(fault))]:
        sys.exit("\n".join(found))
    if options.check:
        return 0
    if not (ROOT / ".build/checkouts/swift-collections").exists():
        subprocess.run(["swift", "package", "resolve"], cwd=ROOT, check=True)
    copy_sources(options.scratch, faults)
    print(f"building the engine with {len(faults)} faults in {options.scratch}: some minutes", flush=True)
    program = build(options.scratch)
    failure, count = run(program, 0, 1)
    if failure:
        sys.exit(f"without any fault, this fails: {failure}")
    chosen = [fault for fault in faults if options.only in fault["name"]]
    missed = 0
    print("| fault | rule | found within schedules | by |\n|---|---|---|---|", flush=True)
    for fault in chosen:
        begun = time.monotonic()
        for seeds in ROUNDS:
            failure, count = run(program, fault["number"], seeds)
            if failure:
                break
        missed += failure is None
        found = f"{count:,}" if failure else f"**not within {count:,}**"
        print(f"| {fault['name']} | {fault['rule']} | {found} | {shortened(failure)} |", flush=True)
        print(f"  {fault['number']} of {len(faults)}, {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} found")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
