"""Holds deploy/compose and deploy/kubernetes to their schemas, to each other, and to what the program reads."""

import copy
import os
import pathlib
import re
import subprocess
import sys

import kubernetes_validate
import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("FRESHET", ROOT / ".build/debug/freshet"))
COMPOSE = ROOT / "deploy/compose/compose.yaml"
KUBERNETES = ROOT / "deploy/kubernetes"
# The oldest that has unhealthyPodEvictionPolicy as a stable field, and the newest that the schemas are there for.
VERSIONS = ["1.31", kubernetes_validate.latest_version()]
# The secrets that the operator of a cluster makes, and the keys that they have to hold.
SECRETS = {"freshet-tls": {"tls.crt", "tls.key", "ca.crt"}, "freshet-keys": {"provider-key.public.pem"},
           "freshet-operators": {"tokens"}, "freshet-prometheus": {"token"}}


def read(path: pathlib.Path) -> dict:
    return yaml.safe_load(path.read_text())


def resources() -> dict[str, dict]:
    """Every object of the bases, by the path of its file, as their kustomizations list them."""
    found = {}
    for folder in ("base", "monitoring"):
        for name in read(KUBERNETES / folder / "kustomization.yaml")["resources"]:
            found[f"{folder}/{name}"] = read(KUBERNETES / folder / name)
    return found


STATEFUL = resources()["base/statefulset.yaml"]
POD = STATEFUL["spec"]["template"]
CONTAINER = POD["spec"]["containers"][0]


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
    tree = copy.deepcopy(STATEFUL)
    damage(tree)
    with pytest.raises(kubernetes_validate.ValidationError):
        validate(tree, VERSIONS[-1])


def test_every_file_is_listed() -> None:
    there = {str(path.relative_to(KUBERNETES)) for path in KUBERNETES.rglob("*.yaml")}
    kustomizations = {"base/kustomization.yaml", "monitoring/kustomization.yaml"}
    generated = {f"base/{name}" for one in read(KUBERNETES / "base/kustomization.yaml")["configMapGenerator"]
                 for name in one["files"]}
    assert there == set(resources()) | kustomizations | generated
    assert [one["name"] for one in read(KUBERNETES / "base/kustomization.yaml")["images"]] == [CONTAINER["image"]]


def test_selectors_find_the_pod_and_its_ports() -> None:
    labels = POD["metadata"]["labels"]
    ports = {port["name"]: port["containerPort"] for port in CONTAINER["ports"]}
    found = resources()
    assert STATEFUL["spec"]["selector"]["matchLabels"].items() <= labels.items()
    assert found["base/poddisruptionbudget.yaml"]["spec"]["selector"]["matchLabels"].items() <= labels.items()
    for name in ("base/service.yaml", "base/service-operators.yaml"):
        assert found[name]["spec"]["selector"].items() <= labels.items()
        for port in found[name]["spec"]["ports"]:
            assert ports[port["targetPort"]] == port["port"]
    assert STATEFUL["spec"]["serviceName"] == found["base/service.yaml"]["metadata"]["name"]
    for probe in ("livenessProbe", "readinessProbe"):
        assert CONTAINER[probe]["httpGet"]["port"] in ports


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


def test_volumes_hold_what_the_configuration_names() -> None:
    mounts = {mount["name"]: mount["mountPath"] for mount in CONTAINER["volumeMounts"]}
    volumes = {volume["name"]: volume for volume in POD["spec"]["volumes"]}
    claims = {claim["metadata"]["name"] for claim in STATEFUL["spec"]["volumeClaimTemplates"]}
    assert set(mounts) == set(volumes) | claims
    files = {f"{mounts[name]}/{key}" for name, volume in volumes.items() if "secret" in volume
             for key in SECRETS[volume["secret"]["secretName"]]}
    named = set(re.findall(r"/run/freshet/[\w./-]+\w", (KUBERNETES / "base/freshet.yaml").read_text()))
    assert named and named <= files
    assert read(KUBERNETES / "base/freshet.yaml")["dataDirectory"] == mounts["log"]


def test_no_service_becomes_a_variable_that_sets_nothing() -> None:
    assert POD["spec"]["enableServiceLinks"] is False


def test_the_pod_is_the_images_user_and_has_time_to_drain() -> None:
    security = POD["spec"]["securityContext"]
    assert security["runAsUser"] == security["fsGroup"] == image()["user"]
    timeouts = read(ROOT / "deploy/freshet.example.yaml")["timeouts"]
    lame = read(KUBERNETES / "base/freshet.yaml")["timeouts"]["lameDuck"]
    needed = sum(int(time.removesuffix("s")) for time in [timeouts["drain"], timeouts["lastSnapshot"], lame])
    assert POD["spec"]["terminationGracePeriodSeconds"] > needed
    assert int(read(COMPOSE)["services"]["gateway"]["stop_grace_period"].removesuffix("s")) > needed


@pytest.mark.parametrize("environment", [
    {one["name"]: one["value"] for one in CONTAINER["env"]}, read(COMPOSE)["services"]["gateway"]["environment"],
], ids=["kubernetes", "compose"])
def test_the_program_takes_configuration_and_environment(environment: dict, tmp_path: pathlib.Path) -> None:
    run = lambda *words, **more: subprocess.run(words, capture_output=True, text=True, check=False, **more)
    made = run(PROGRAM, "certs", "--out", tmp_path / "certs")
    assert made.returncode == 0, made.stderr
    places = {"tls/tls.crt": "server.pem", "tls/tls.key": "server.key", "keys/provider-key.public.pem": "provider-key.public.pem"}
    text = (KUBERNETES / "base/freshet.yaml").read_text()
    for place, name in places.items():
        text = text.replace(f"/run/freshet/{place}", str(tmp_path / "certs" / name))
    (tmp_path / "tokens").write_text("0123456789abcdef read prometheus\n")
    text = text.replace("/run/freshet/operators/tokens", str(tmp_path / "tokens"))
    (tmp_path / "freshet.yaml").write_text(text)
    checked = run(PROGRAM, "check-config", "--config", tmp_path / "freshet.yaml", "--show",
                  env=os.environ | image()["environment"] | environment)
    assert checked.returncode == 0, checked.stderr + checked.stdout
    assert "0.0.0.0" in checked.stdout


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
