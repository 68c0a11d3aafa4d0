"""Holds deploy/compose and deploy/kubernetes to their schemas, to each other, and to what the program reads."""

import copy
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys

import kubernetes_validate
import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("FRESHET_TEST_PROGRAM", ROOT / ".build/debug/freshet"))
COMPOSE = ROOT / "deploy/compose/compose.yaml"
KUBERNETES = ROOT / "deploy/kubernetes"
# The oldest that has unhealthyPodEvictionPolicy as a stable field, and the newest that the schemas are there for.
VERSIONS = ["1.31", kubernetes_validate.latest_version()]
# The secrets that the operator of a cluster makes, and the keys that they have to hold.
SECRETS = {"freshet-tls": {"tls.crt", "tls.key", "ca.crt"}, "freshet-keys": {"provider-key.public.pem"},
           "freshet-operators": {"tokens"}, "freshet-prometheus": {"token"},
           "freshet-brokers": {"password", "system-password", "ca.crt"}}
# One gateway, and several.
BASES = ["base", "cluster"]
KUBECTL = shutil.which("kubectl")


def read(path: pathlib.Path) -> dict:
    return yaml.safe_load(path.read_text())


def merged(base, patch):
    """What kustomize makes of a patch: lists are merged by their members' names, and null removes."""
    if isinstance(base, dict) and isinstance(patch, dict):
        both = base | {key: merged(base.get(key), value) for key, value in patch.items()}
        return {key: value for key, value in both.items() if value is not None}
    if isinstance(base, list) and isinstance(patch, list):
        old = {one["name"]: one for one in base}
        new = {one["name"]: merged(old.get(one["name"]), one) for one in patch}
        return list((new | old | new).values())
    return patch


def kustomized(folder: pathlib.Path) -> dict[tuple[str, str], dict]:
    """What kustomize itself makes of a folder, by kind and name. It asks no cluster."""
    run = subprocess.run([KUBECTL, "kustomize", folder], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return {identity(tree): tree for tree in yaml.safe_load_all(run.stdout)}


def identity(tree: dict) -> tuple[str, str]:
    return tree["kind"], tree["metadata"]["name"]


@functools.cache
def resources() -> dict[str, dict]:
    """Every object of the bases, by the path of its file: as kustomize makes it where kubectl is installed, and else as the
    kustomizations list and patch it."""
    found = {}
    for folder in [*BASES, "monitoring"]:
        kustomization = read(KUBERNETES / folder / "kustomization.yaml")
        for name in kustomization["resources"]:
            if name == "../base":
                found |= {path.replace("base", folder): tree for path, tree in found.items()}
            else:
                found[f"{folder}/{name}"] = read(KUBERNETES / folder / name)
        for patch in kustomization.get("patches", []):
            path = f"{folder}/{patch['path']}"
            found[path] = merged(found[path], read(KUBERNETES / path))
        if KUBECTL:
            made = kustomized(KUBERNETES / folder)
            found |= {path: made.pop(identity(tree)) for path, tree in found.items() if path.startswith(f"{folder}/")}
            # The rest is the configuration.
            assert set(made) <= {("ConfigMap", "freshet")}
    return found


STATEFUL = {base: resources()[f"{base}/statefulset.yaml"] for base in BASES}
POD = {base: tree["spec"]["template"] for base, tree in STATEFUL.items()}
CONTAINER = {base: pod["spec"]["containers"][0] for base, pod in POD.items()}


def image() -> dict:
    """What the image says of itself, from the program that makes it."""
    text = (ROOT / "deploy/package/image.py").read_text()
    environment = dict(re.findall(r'"([A-Z_]+)=([^"]*)"', text))
    return {"environment": environment, "user": int(re.search(r"^USER = (\d+)$", text, re.MULTILINE)[1])}


def validate(tree: dict, version: str) -> None:
    kubernetes_validate.validate(tree, version, strict=True)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("path", [path for path in resources() if path != "monitoring/servicemonitor.yaml"])
def test_a_resource_is_what_kubernetes_takes(path: str, version: str) -> None:
    validate(resources()[path], version)


@pytest.mark.parametrize("damage", [
    lambda tree: tree["spec"].update(replica=1), lambda tree: tree["spec"].update(replicas="one"),
    lambda tree: tree["spec"]["template"]["spec"]["containers"][0]["livenessProbe"].update(period=3),
])
def test_a_damaged_resource_is_refused(damage) -> None:
    tree = copy.deepcopy(STATEFUL["base"])
    damage(tree)
    with pytest.raises(kubernetes_validate.ValidationError):
        validate(tree, VERSIONS[-1])


def test_every_file_is_listed() -> None:
    there = {str(path.relative_to(KUBERNETES)) for path in KUBERNETES.rglob("*.yaml")}
    kustomizations = {f"{folder}/kustomization.yaml" for folder in [*BASES, "monitoring"]}
    generated = {f"{base}/{name}" for base in BASES
                 for one in read(KUBERNETES / base / "kustomization.yaml")["configMapGenerator"] for name in one["files"]}
    used = {path for path in resources() if (KUBERNETES / path).exists()}
    assert there == used | kustomizations | generated
    images = [one["name"] for one in read(KUBERNETES / "base/kustomization.yaml")["images"]]
    assert images == [CONTAINER["base"]["image"].partition(":")[0]]


@pytest.mark.skipif(not KUBECTL, reason="kubectl is not installed")
def test_kustomize_makes_what_the_guide_says(tmp_path: pathlib.Path) -> None:
    guide = (ROOT / "docs/guides/install.md").read_text()
    text = re.search(r"^```yaml\n(apiVersion: kustomize.*?)```", guide, re.MULTILINE | re.DOTALL)[1]
    here = os.path.relpath(ROOT, tmp_path)
    text = re.sub(r"https://github.com/OWNER/freshet//([\w/]+)\?ref=vVERSION", rf"{here}/\1", text)
    (tmp_path / "kustomization.yaml").write_text(text)
    (tmp_path / "freshet.yaml").write_text("teams: []\n")
    made = kustomized(tmp_path)
    assert all(tree["metadata"]["namespace"] == "widgets" for tree in made.values())
    assert made["ConfigMap", "freshet"]["data"] == {"freshet.yaml": "teams: []\n"}
    container = made["StatefulSet", "freshet"]["spec"]["template"]["spec"]["containers"][0]
    assert container["image"] == "registry.example.com/freshet:VERSION"
    assert {kind for kind, _ in made} >= {"Service", "PodDisruptionBudget", "ServiceMonitor"}


@pytest.mark.parametrize("base", BASES)
def test_selectors_find_the_pod_and_its_ports(base: str) -> None:
    labels = POD[base]["metadata"]["labels"]
    ports = {port["name"]: port["containerPort"] for port in CONTAINER[base]["ports"]}
    found = {path: tree for path, tree in resources().items() if path.startswith(base)}
    assert STATEFUL[base]["spec"]["selector"]["matchLabels"].items() <= labels.items()
    assert found[f"{base}/poddisruptionbudget.yaml"]["spec"]["selector"]["matchLabels"].items() <= labels.items()
    services = {tree["metadata"]["name"]: tree["spec"] for tree in found.values() if tree["kind"] == "Service"}
    for service in services.values():
        assert service["selector"].items() <= labels.items()
        for port in service["ports"]:
            assert ports[port["targetPort"]] == port["port"]
    assert STATEFUL[base]["spec"]["serviceName"] in services
    for probe in ("livenessProbe", "readinessProbe"):
        assert CONTAINER[base][probe]["httpGet"]["port"] in ports


def test_each_of_several_gateways_has_a_name_and_one_at_a_time_may_go() -> None:
    environment = variables("cluster", pod="freshet-2")
    assert environment["FRESHET_JOURNAL_JETSTREAM_NODE_NAME"] == "freshet-2"
    service = resources()["cluster/service-nodes.yaml"]
    # A service without an address of its own has a name for each pod of the set that names it.
    assert service["spec"]["clusterIP"] == "None" and STATEFUL["cluster"]["spec"]["serviceName"] == service["metadata"]["name"]
    address = f"https://freshet-2.{service['metadata']['name']}:{service['spec']['ports'][0]['port']}"
    assert environment["FRESHET_JOURNAL_JETSTREAM_NODE_ADDRESS"] == address
    budget = resources()["cluster/poddisruptionbudget.yaml"]["spec"]
    assert budget["maxUnavailable"] == 1 and "minAvailable" not in budget
    assert STATEFUL["cluster"]["spec"]["replicas"] == 3


def test_the_monitor_finds_the_operators_service() -> None:
    monitor = resources()["monitoring/servicemonitor.yaml"]
    service = resources()["base/service-operators.yaml"]
    assert monitor["apiVersion"] == "monitoring.coreos.com/v1"
    assert monitor["spec"]["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    endpoint = monitor["spec"]["endpoints"][0]
    assert endpoint["port"] in [port["name"] for port in service["spec"]["ports"]]
    assert endpoint["tlsConfig"]["serverName"] in read(KUBERNETES / "base/freshet.yaml")["ops"]["names"]
    for place in (endpoint["authorization"]["credentials"], endpoint["tlsConfig"]["ca"]["secret"]):
        assert place["key"] in SECRETS[place["name"]]


@pytest.mark.parametrize("base", BASES)
def test_volumes_hold_what_the_configuration_names(base: str) -> None:
    mounts = {mount["name"]: mount["mountPath"] for mount in CONTAINER[base]["volumeMounts"]}
    volumes = {volume["name"]: volume for volume in POD[base]["spec"]["volumes"]}
    claims = {claim["metadata"]["name"] for claim in STATEFUL[base]["spec"]["volumeClaimTemplates"]}
    assert set(mounts) == set(volumes) | claims
    files = {f"{mounts[name]}/{key}" for name, volume in volumes.items() if "secret" in volume
             for key in SECRETS[volume["secret"]["secretName"]]}
    named = set(re.findall(r"/run/freshet/[\w./-]+\w", (KUBERNETES / base / "freshet.yaml").read_text()))
    assert named and named <= files
    assert read(KUBERNETES / base / "freshet.yaml")["dataDirectory"] == mounts["log"]


def test_no_service_becomes_a_variable_that_sets_nothing() -> None:
    assert all(pod["spec"]["enableServiceLinks"] is False for pod in POD.values())


@pytest.mark.parametrize("base", BASES)
def test_the_pod_is_the_images_user_and_has_time_to_drain(base: str) -> None:
    security = POD[base]["spec"]["securityContext"]
    assert security["runAsUser"] == security["fsGroup"] == image()["user"]
    timeouts = read(ROOT / "deploy/freshet.example.yaml")["timeouts"]
    lame = read(KUBERNETES / base / "freshet.yaml")["timeouts"]["lameDuck"]
    needed = sum(int(time.removesuffix("s")) for time in [timeouts["drain"], timeouts["lastSnapshot"], lame])
    assert POD[base]["spec"]["terminationGracePeriodSeconds"] > needed
    assert int(read(COMPOSE)["services"]["gateway"]["stop_grace_period"].removesuffix("s")) > needed


def variables(base: str, pod: str = "freshet-0") -> dict[str, str]:
    """The environment of a pod's container, as the node makes it."""
    made = {}
    for one in CONTAINER[base]["env"]:
        if "valueFrom" in one:
            assert one["valueFrom"] == {"fieldRef": {"fieldPath": "metadata.name"}}
        value = one.get("value", pod)
        made[one["name"]] = re.sub(r"\$\((\w+)\)", lambda name: made[name[1]], value)
    return made


@pytest.mark.parametrize("base, environment", [
    *((base, variables(base)) for base in BASES), ("base", read(COMPOSE)["services"]["gateway"]["environment"]),
], ids=[*BASES, "compose"])
def test_the_program_takes_configuration_and_environment(base: str, environment: dict, tmp_path: pathlib.Path) -> None:
    run = lambda *words, **more: subprocess.run(words, capture_output=True, text=True, check=False, **more)
    made = run(PROGRAM, "certs", "--out", tmp_path / "certs")
    assert made.returncode == 0, made.stderr
    places = {"tls/tls.crt": "server.pem", "tls/tls.key": "server.key", "keys/provider-key.public.pem": "provider-key.public.pem"}
    places |= {"brokers/ca.crt": "ca.pem", "brokers/password": "password", "brokers/system-password": "system-password"}
    text = (KUBERNETES / base / "freshet.yaml").read_text()
    for name in ("password", "system-password"):
        (tmp_path / "certs" / name).write_text("0123456789abcdef\n")
    for place, name in places.items():
        text = text.replace(f"/run/freshet/{place}", str(tmp_path / "certs" / name))
    (tmp_path / "tokens").write_text("0123456789abcdef read prometheus\n")
    text = text.replace("/run/freshet/operators/tokens", str(tmp_path / "tokens"))
    (tmp_path / "freshet.yaml").write_text(text)
    checked = run(PROGRAM, "check-config", "--config", tmp_path / "freshet.yaml", "--show",
                  env=os.environ | image()["environment"] | environment)
    assert checked.returncode == 0, checked.stderr + checked.stdout
    assert "0.0.0.0" in checked.stdout
    assert all(value in checked.stdout for name, value in environment.items() if name.startswith("FRESHET_JOURNAL"))


def test_compose_is_what_compose_takes(tmp_path: pathlib.Path) -> None:
    check = [pathlib.Path(sys.executable).parent / "check-jsonschema", "--builtin-schema", "vendor.compose-spec"]
    good = subprocess.run([*check, COMPOSE], capture_output=True, text=True, check=False)
    assert good.returncode == 0, good.stdout
    (tmp_path / "compose.yaml").write_text(COMPOSE.read_text().replace("cap_drop:", "cap_dropp:"))
    assert subprocess.run([*check, tmp_path / "compose.yaml"], capture_output=True, check=False).returncode != 0


def test_every_place_says_the_programs_version() -> None:
    source = (ROOT / "Sources/Settings/FreshetVersion.swift").read_text()
    version = re.search(r'static let current = "([\d.]+)"', source)[1]
    assert read(ROOT / "docs/openapi.yaml")["info"]["version"] == version
    assert [image["newTag"] for image in read(KUBERNETES / "base/kustomization.yaml")["images"]] == [version]
    assert re.search(r"^## ([\d.]+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[1] == version


CHANGES = """# Changelog

## 0.3.0 (unreleased)

Not yet.

## 0.2.1 (2026-12-24)

A fix.

### Fixed

- one

## 0.2.0 (2026-12-01)

The first.
"""


@pytest.mark.parametrize(("version", "printed", "refusal"), [
    ("0.2.1", "Freshet 0.2.1 (2026-12-24)\n\nA fix.\n\n### Fixed\n\n- one\n\n", ""),
    ("0.2.0", "Freshet 0.2.0 (2026-12-01)\n\nThe first.\n", ""),
    ("0.3.0", "", '"## 0.3.0 (unreleased)" has no day'),
    ("0.2", "", "has no section about 0.2"),
    ("0x2.0", "", "has no section about 0x2.0"),
])
def test_a_releases_notes_are_its_section_of_the_changelog(
    version: str, printed: str, refusal: str, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "CHANGELOG.md").write_text(CHANGES)
    words = [ROOT / "deploy/release-notes.sh", version, tmp_path / "CHANGELOG.md"]
    notes = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (notes.stdout, notes.returncode) == (printed, 1 if refusal else 0)
    assert refusal in notes.stderr


def test_every_version_of_the_changelog_has_a_day_but_for_the_next() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    headings = re.findall(r"^## .*", text, re.MULTILINE)
    assert all(re.fullmatch(r"## \d+\.\d+\.\d+ \((unreleased|\d{4}-\d\d-\d\d)\)", one) for one in headings)
    # Only the version that is worked on has no day.
    assert not any("unreleased" in one for one in headings[1:])


@pytest.mark.parametrize(("subject", "refused"), [
    ("index: judge wildcards in steps", False), ("log verify: " + "x" * 60, False), ("log verify: " + "x" * 61, True),
    ("Judge wildcards in steps", True), ("index:judge wildcards", True),
])
def test_a_commit_names_its_area_in_a_short_subject(subject: str, refused: bool, tmp_path: pathlib.Path) -> None:
    run = lambda *words: subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    check = lambda *base: run(ROOT / "Tests/subjects.sh", *base)
    # A plain export has no history.
    assert check().returncode == 0
    commit = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--allow-empty", "--quiet", "-m"]
    run("git", "init", "--quiet", "--initial-branch=main")
    assert run(*commit, "an old subject that stays").returncode == 0
    run("git", "checkout", "--quiet", "-b", "branch")
    assert check().returncode == 0
    assert run(*commit, subject).returncode == 0
    done = check()
    assert done.returncode == int(refused) and (subject in done.stderr) == refused
    assert check("HEAD").returncode == 0
