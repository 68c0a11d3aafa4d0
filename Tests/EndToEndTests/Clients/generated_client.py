"""Drives every operation of docs/openapi.yaml with the client that openapi-python-client has generated from it.

Ends with a line of JSON: the operations that were not driven, and those whose answers were not what the document says.
"""

import importlib
import io
import json
import pkgutil
import ssl
import uuid

import httpx

from generated_arguments import APP, APP_ENTRY, KEY, TEAM, TEAM_ENTRY, told

import freshet_client.api as api
from freshet_client import AuthenticatedClient, models
from freshet_client.types import UNSET, File

TLS = ssl.create_default_context(cafile=told.ca)
# A slow machine is no failure of the gateway.
TIMEOUT = httpx.Timeout(3600)


def client(url: str, token: str) -> AuthenticatedClient:
    # HTTP/2 alone, which every listener speaks.
    options = {"http1": False, "http2": True}
    return AuthenticatedClient(base_url=url, token=token, verify_ssl=TLS, timeout=TIMEOUT, httpx_args=options)


push, host, ops = client(told.push, told.bearer), client(told.host, told.bearer), client(told.ops, told.operator)
operations = {
    f"{tag.name}.{module.name}": importlib.import_module(f"freshet_client.api.{tag.name}.{module.name}")
    for tag in pkgutil.iter_modules(api.__path__)
    for module in pkgutil.iter_modules([f"{api.__path__[0]}/{tag.name}"])
}
driven: set[str] = set()
wrong: list[str] = []


def drive(name: str, by, *path, status: int = 200, parsed=None, **arguments):
    """Asks, and holds the answer to a status and to the type that the document gives it."""
    driven.add(name)
    answer = operations[name].sync_detailed(*path, client=by, **arguments)
    if answer.status_code != status:
        wrong.append(f"{name}: {answer.status_code}, not {status}: {answer.content[:300]!r}")
    elif parsed and not isinstance(answer.parsed, parsed):
        wrong.append(f"{name}: {type(answer.parsed).__name__}, not {parsed.__name__}")
    return answer


def follow(name: str, by, *path) -> str:
    """Opens an event stream and gives the first line that it brings."""
    driven.add(name)
    with by.get_httpx_client().stream(**operations[name]._get_kwargs(*path)) as answer:
        kind = answer.headers.get("content-type")
        if answer.status_code != 200 or kind != "text/event-stream":
            wrong.append(f"{name}: {answer.status_code} {kind}")
            return ""
        return next((line for line in answer.iter_lines() if line), "")


def lines(*objects) -> File:
    text = "\n".join(json.dumps(each if isinstance(each, dict) else each.to_dict()) for each in objects)
    return File(payload=io.BytesIO(text.encode()))


app, token, other = told.app, "0" * 63 + "1", "0" * 63 + "2"


def widget(id: str, team: str) -> models.WidgetRegistration:
    configuration = models.Configuration.from_dict({"team": team})
    return models.WidgetRegistration(
        id=id, kind="scores", family="systemSmall", configuration=configuration, tags=["beta"],
        when=models.Pattern.from_dict({"health": {"exists": False}}),
    )


# Hosts
context = models.HostContext(
    display_size=models.HostContextDisplaySize(width=170, height=170.5), locale="en-US", time_zone="Europe/Berlin",
    environment_variants=models.HostContextEnvironmentVariants.from_dict({"colorScheme": ["light", "dark"]}),
)
registration = models.Registration(
    app=app, host="phone-1", revision=1, delivery="stream", lease=604800, context=context,
    instances=[widget("scores-1", "seahawks"), widget("scores-2", "rams")],
)
drive("hosts.register", host, token, body=registration, parsed=models.Registered)
drive("hosts.registration", host, token, parsed=models.Host)
state = drive("hosts.state", host, token).parsed
reloads = [reload.id for reload in state.outstanding]
if len(reloads) != 2:
    wrong.append(f"hosts.state: {len(reloads)} reloads are out, not 2")
event = follow("hosts.host_events", host, token)
if not event.startswith("retry:"):
    wrong.append(f"hosts.host_events: begins with {event!r}")
drive("hosts.signals", host, token, status=204, body=models.Signal(signal="reloaded", reload=reloads[0]))
drive(
    "hosts.signals", host, token, status=204,
    body=models.Signals([models.Signal(signal="appForeground"), models.Signal(signal="appBackground")]),
)
entry = models.TimelineReport.from_dict({
    "reload": reloads[1], "policy": "never", "digest": "v1",
    "entries": [{"date": state.host.registered_at.isoformat(), "relevance": {"score": 1.5, "duration": 60}}],
})
drive("hosts.timeline", host, token, "scores-2", body=entry)
drive("hosts.stack", host, token)
drive("hosts.suggestions", host, token)
line = registration.to_dict() | {"token": other, "host": "phone-2"}
imported = drive("hosts.import_hosts", host, app, body=lines(line, {"token": "no hex"}))
statuses = [json.loads(each)["status"] for each in imported.content.splitlines()]
if statuses != [200, 400]:
    wrong.append(f"hosts.import_hosts: {statuses}")
drive("hosts.export_hosts", host, app)
pattern = json.dumps({"team": ["rams"]})
found = drive("hosts.current_configurations", host, app, kind="scores", match=pattern).parsed
if [each.host for each in found.widgets] != ["phone-1", "phone-2"]:
    wrong.append(f"hosts.current_configurations: {found}")
body = models.ReloadBody(kind="scores", match=models.Pattern.from_dict({"team": "rams"}))
drive("hosts.reload", host, app, body=body, parsed=models.Matched)
drive("hosts.invalidate_relevance", host, app, body=models.InvalidateRelevanceBody(kind="scores"))
drive("hosts.invalidate_recommendations", host, app, body=models.InvalidateRecommendationsBody())
done = drive("hosts.acknowledge", host, app, body=lines({"reload": "0-1-999-00000000"})).parsed
if (done.acknowledged, done.unknown) != (0, 1):
    wrong.append(f"hosts.acknowledge: {done}")
follow("hosts.app_events", host, app)
sample = drive("hosts.gallery", host, told.provided, "panel", "placeholder").parsed
if sample.is_sample is not True:
    wrong.append(f"hosts.gallery: {sample}")
drive("hosts.call_back", host, told.provided, "panel", body=models.TimelineAnswers(answers=[]))

# Senders
aps = models.Aps(content_changed=True)
drive("senders.push_to_device", push, token, body=models.PushBody(aps=aps), apns_topic=told.topic, apns_priority=10)
gone = drive("senders.push_to_device", push, "ff", status=400, body=models.PushBody(aps=aps), apns_topic=told.topic)
if gone.parsed.reason != "BadDeviceToken":
    wrong.append(f"senders.push_to_device: {gone.parsed}")
target = models.Target(kind="scores", match=models.Pattern.from_dict({"team": ["rams"]}), max_matched=5)
targeted = models.TargetedPushBody(aps=aps, freshet=target)
dry = drive("senders.push_to_app", push, app, body=targeted, dry_run="true")
if (summary := models.DryRun.from_dict(json.loads(dry.content))).matched != 2 or not summary.explain:
    wrong.append(f"senders.push_to_app: {summary}")
bulk = drive("senders.push_bulk_to_app", push, app, body=lines({"payload": targeted.to_dict()}, {"payload": {}}))
statuses = [json.loads(each)["status"] for each in bulk.content.splitlines()]
if statuses != [200, 400]:
    wrong.append(f"senders.push_bulk_to_app: {statuses}")
narrow = models.TargetedPushBody(aps=aps, freshet=models.Target(all_=True, max_matched=1))
refused = drive("senders.push_to_app", push, app, status=409, body=narrow, parsed=models.Problem)
if (refused.parsed.matched, refused.parsed.matched_max) != (4, 1):
    wrong.append(f"senders.push_to_app: {refused.parsed}")
id = uuid.uuid4()
headers = {"apns_id": str(id), "apns_priority": 5, "apns_expiration": 2_000_000_000, "apns_collapse_id": "score"}
accepted = drive("senders.push_to_app", push, app, body=targeted, **headers)
if accepted.headers.get("apns-id") != str(id) or accepted.content:
    wrong.append(f"senders.push_to_app: {accepted.headers} {accepted.content!r}")
# Its partition may not have come to it yet.
while operations["operators.push"].sync_detailed(id, client=push).status_code == 404:
    pass
drive("operators.push", push, id, parsed=models.Push)
if not follow("operators.push_events", push, id).startswith("event: "):
    wrong.append("operators.push_events: begins with no event")
drive("senders.cancel_push", push, id, parsed=models.Cancelled)
channel = models.ChannelConfiguration(
    message_storage_policy=1, push_type="widgets", freshet=models.ChannelConfigurationFreshet(kind="scores")
)
ids = []
for _ in range(2):
    created = drive("senders.create_channel", push, app, status=201, body=channel, apns_request_id=str(uuid.uuid4()))
    ids.append(created.headers.get("apns-channel-id", ""))
drive("senders.channel", push, app, apns_channel_id=ids[0], parsed=models.ChannelConfiguration)
drive("senders.channel_by_path", push, app, ids[1], parsed=models.ChannelConfiguration)
listed = drive("senders.channels", push, app, parsed=models.ChannelIDs).parsed
if listed.channels != sorted(ids):
    wrong.append(f"senders.channels: {listed}")
message = models.BroadcastBody(aps=models.BroadcastBodyAps.from_dict({"event": "update"}))
drive("senders.broadcast", push, app, body=message, apns_channel_id=ids[0], apns_push_type="widgets", apns_priority=10)
drive("senders.delete_channel", push, app, status=204, apns_channel_id=ids[0])
drive("senders.delete_channel_by_path", push, app, ids[1])
drive("senders.channel", push, app, status=400, apns_channel_id=ids[0], parsed=models.Rejection)

# Operators
for name in [
    "session", "audit", "configuration", "configuration_difference", "log_levels", "stats", "history", "history_marks",
    "history_senders", "apps", "kinds",
    "budget", "forecast", "instances", "hosts", "pushes", "senders", "providers", "upstreams",
    "partitions", "cluster", "orders", "clock", "openapi", "metrics",
    "reload_configuration",
]:
    drive(f"operators.{name}", ops)
drive("operators.push", ops, id, parsed=models.Push)
drive("operators.push_decisions", ops, id)
drive("operators.kind", ops, "scores")
drive("operators.instance", ops, app, "phone-1:scores-1", parsed=models.Instance)
drive("operators.why", ops, app, "phone-1:scores-1")
drive("operators.host", ops, app, "phone-1", parsed=models.Host)
asked = models.DryRunBody(freshet=models.Target(kind="scores"), priority=10)
drive("operators.dry_run", ops, app, body=asked, parsed=models.DryRun)
for action in ["pause", "resume"]:
    drive("operators.order", ops, body=models.Order(action=action, of=models.OrderOf(app=app)), parsed=models.Ordered)
# This gateway does not share its log.
drained = models.ClusterOrder(action="drain", node="gateway-2")
drive("operators.order_cluster", ops, status=404, body=drained, parsed=models.Problem)
drive("operators.try_now", ops, body=models.TryNowBody(app=told.provided, kind="panel"))
levels = models.SetLogLevelsBodyLevels.from_dict({"http": "warning"})
drive("operators.set_log_levels", ops, body=models.SetLogLevelsBody(levels=levels), parsed=models.LogLevels)
change, entry = models.EntryChange, models.Entry
drive("operators.put_team", ops, TEAM, body=entry.from_dict(TEAM_ENTRY), parsed=change)
drive("operators.put_team_key", ops, TEAM, "MADEKEY002", body=entry.from_dict(KEY), parsed=change)
drive("operators.put_app", ops, APP, body=entry.from_dict(APP_ENTRY), parsed=change)
drive("operators.put_app_kind", ops, APP, "more", body=entry(), parsed=change)
drive("operators.teams", ops)
drive("operators.team", ops, TEAM, parsed=entry)
drive("operators.team_key", ops, TEAM, "MADEKEY002", parsed=entry)
drive("operators.app", ops, APP, parsed=entry)
drive("operators.app_kind", ops, APP, "more", parsed=entry)
drive("operators.end_app_kind", ops, APP, "more", parsed=change)
drive("operators.end_team_key", ops, TEAM, "MADEKEY002", parsed=change)
drive("operators.end_app", ops, APP, parsed=change)
drive("operators.end_team", ops, TEAM, parsed=change)
drive("operators.put_team", ops, TEAM, body=entry.from_dict(TEAM_ENTRY), parsed=change)
drive("operators.put_app", ops, APP, body=entry.from_dict(APP_ENTRY), parsed=change)
drive("operators.amendments", ops)
drive("operators.revert_app", ops, APP, parsed=change)
drive("operators.revert_team", ops, TEAM, parsed=change)
# The clock of a log on disk cannot be moved.
drive("operators.move_clock", ops, status=400, body=models.MoveClockBody(advance=1), parsed=models.Problem)
follow("operators.events", ops)
for name in ["live", "ready", "version"]:
    drive(f"health.{name}", ops)

# The end
drive("hosts.unregister", host, token, status=204)
drive("hosts.registration", host, token, status=410, parsed=models.Problem)
drive("operators.erase_host", ops, app, "phone-2", parsed=models.Erased)
drive("hosts.register", host, token, body=registration)
drive("operators.erase_hosts", ops, app, parsed=models.Erased)

print(json.dumps({"driven": len(driven), "missing": sorted(set(operations) - driven), "wrong": wrong}))
