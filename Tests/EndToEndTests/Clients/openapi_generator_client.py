"""Drives every operation of docs/openapi.yaml with the client that openapi-generator has generated from it.

Its models are strict: an answer with a member that has another type is an error. Ends with a line of JSON: the operations that
were not driven, and those that did not go as the document says.
"""

import asyncio
import inspect
import json
import ssl
import uuid

import httpx

from generated_arguments import APP, APP_ENTRY, KEY, TEAM, TEAM_ENTRY, told

import freshet_generated as freshet

TIMEOUT = 3600
apis = {name: api for name, api in inspect.getmembers(freshet, inspect.isclass) if name.endswith("Api")}
operations = {
    name.removesuffix("_with_http_info")
    for api in apis.values() for name in dir(api) if name.endswith("_with_http_info")
}
driven: set[str] = set()
wrong: list[str] = []


class Client(httpx.AsyncClient):
    """Takes numbers as header values, which the generated code leaves to its other library."""

    def build_request(self, *path, headers=None, **arguments):
        return super().build_request(*path, headers={name: str(value) for name, value in headers.items()}, **arguments)


class Caller:
    """Asks one listener."""

    def __init__(self, url: str, token: str):
        configuration = freshet.Configuration(host=url, access_token=token, ssl_ca_cert=told.ca)
        self.client = freshet.ApiClient(configuration)
        context = ssl.create_default_context(cafile=told.ca)
        # The generated one speaks HTTP/1.1, which the push listener does not.
        self.http = Client(http1=False, http2=True, verify=context, timeout=TIMEOUT)
        self.client.rest_client.pool_manager = self.http

    def api(self, name: str):
        return next(api(self.client) for api in apis.values() if hasattr(api, name))

    async def __call__(self, name: str, *path, status: int = 200, **arguments):
        driven.add(name)
        ask = getattr(self.api(name), f"{name}_with_http_info")
        try:
            answer = await ask(*path, _request_timeout=float(TIMEOUT), **arguments)
        except freshet.ApiException as refused:
            if refused.status != status:
                wrong.append(f"{name}: {refused.status}, not {status}: {refused.body}")
            return None
        if answer.status_code != status:
            wrong.append(f"{name}: {answer.status_code}, not {status}")
        return answer

    async def raw(self, name: str, *path, **arguments) -> None:
        """Asks for lines of JSON, of which it makes no model."""
        driven.add(name)
        answer = await getattr(self.api(name), f"{name}_without_preload_content")(*path, **arguments)
        kind = answer.headers.get("content-type")
        if (answer.status_code, kind) != (200, "application/x-ndjson"):
            wrong.append(f"{name}: {answer.status_code} {kind} {answer.text}")
        for line in answer.text.splitlines():
            json.loads(line)

    async def follow(self, name: str, *path) -> None:
        """Opens an event stream and looks at the first line that it brings."""
        driven.add(name)
        api = self.api(name)
        serialize = getattr(api, f"_{name}_serialize")
        names = [each for each in inspect.signature(serialize).parameters]
        values = dict.fromkeys(names) | dict(zip(names, path)) | {"_host_index": 0}
        method, url, headers, *_ = serialize(**values)
        async with self.http.stream(method, url, headers=headers) as answer:
            async for line in answer.aiter_lines():
                if answer.status_code != 200 or ":" not in line:
                    wrong.append(f"{name}: {answer.status_code} {line}")
                return


async def main() -> None:
    push, host, ops = Caller(told.push, told.bearer), Caller(told.host, told.bearer), Caller(told.ops, told.operator)
    app, token, other = told.app, "0" * 63 + "1", "0" * 63 + "2"

    # Hosts
    widgets = [
        {"id": f"scores-{team}", "kind": "scores", "family": "systemSmall", "configuration": {"team": team}, "tags": ["a"]}
        for team in ["seahawks", "rams"]
    ]
    context = {"displaySize": {"width": 170, "height": 170.5}, "environmentVariants": {"colorScheme": ["light"]}}
    registration = {"app": app, "host": "phone-1", "revision": 1, "context": context, "instances": widgets}
    model = freshet.Registration.from_dict(registration)
    await host("register", token, registration=model)
    await host("registration", token)
    state = (await host("state", token)).data
    reloads = {reload.instance: reload.id for reload in state.outstanding}
    await host.follow("host_events", token)
    signal = freshet.SignalsRequest(freshet.Signal.from_dict({"signal": "reloaded", "reload": reloads["scores-seahawks"]}))
    await host("signals", token, signal, status=204)
    entry = {"date": state.host.registered_at.isoformat(), "relevance": {"score": 1.5}}
    report = freshet.TimelineReport.from_dict({"reload": reloads["scores-rams"], "entries": [entry]})
    await host("timeline", token, "scores-rams", timeline_report=report)
    await host("stack", token)
    await host("suggestions", token)
    line = json.dumps(registration | {"token": other, "host": "phone-2"})
    # Lines of JSON are JSON to it, unless it is told that they are text.
    await host.raw("import_hosts", app, line, _content_type="text/plain")
    await host.raw("export_hosts", app)
    await host("current_configurations", app, match=json.dumps({"team": ["rams"]}))
    await host("reload", app, reload_request=freshet.ReloadRequest.from_dict({"kind": "scores"}))
    await host("invalidate_relevance", app)
    await host("invalidate_recommendations", app)
    await host("acknowledge", app, json.dumps({"reload": "0-1-999-00000000"}), _content_type="text/plain")
    await host.follow("app_events", app)
    await host("gallery", told.provided, "panel", "placeholder")
    await host("call_back", told.provided, "panel", freshet.TimelineAnswers.from_dict({"answers": []}))

    # Senders
    body = freshet.PushBody.from_dict({"aps": {"content-changed": True}})
    await push("push_to_device", token, push_body=body, apns_topic=told.topic, apns_priority=10)
    await push("push_to_device", "ff", status=400, push_body=body, apns_topic=told.topic)
    target = {"kind": "scores", "match": {"team": ["rams"]}, "maxMatched": 5}
    targeted = freshet.TargetedPushBody.from_dict({"aps": {"content-changed": True}, "freshet": target})
    id = str(uuid.uuid4())
    # On both listeners it is one push.
    for caller in [push, host]:
        accepted = await caller("push_to_app", app, targeted, apns_id=id, apns_priority=5, apns_expiration=2_000_000_000)
        if accepted and accepted.headers.get("apns-id") != id:
            wrong.append(f"push_to_app: {accepted.headers}")
    await push("push_to_app", app, targeted, dry_run="true")
    bulk = "\n".join(json.dumps({"payload": {"aps": {"content-changed": True}, "freshet": target}}) for _ in range(2))
    for caller in [push, host]:
        await caller.raw("push_bulk_to_app", app, bulk, _content_type="text/plain")
    narrow = {"aps": {"content-changed": True}, "freshet": {"all": True, "maxMatched": 1}}
    await push("push_to_app", app, freshet.TargetedPushBody.from_dict(narrow), status=409)
    # Its partition may not have come to it yet.
    while (await push.http.get(f"{told.push}/v1/pushes/{id}", headers={"authorization": f"bearer {told.bearer}"})).status_code == 404:
        pass
    await push("push", id)
    await push.follow("push_events", id)
    await push("cancel_push", id)
    channel = freshet.ChannelConfiguration.from_dict({"message-storage-policy": 1, "push-type": "widgets", "freshet": {}})
    created = [await push("create_channel", app, channel, status=201) for _ in range(2)]
    ids = [each.headers["apns-channel-id"] for each in created]
    await push("channel", app, apns_channel_id=ids[0])
    await push("channel_by_path", app, ids[1])
    await push("channels", app)
    message = freshet.BroadcastBody.from_dict({"aps": {}})
    await push("broadcast", app, ids[0], "widgets", message, apns_priority=10)
    await push("delete_channel", app, status=204, apns_channel_id=ids[0])
    await push("delete_channel_by_path", app, ids[1])

    # Operators
    for name in [
        "session", "audit", "configuration", "configuration_difference", "log_levels", "stats", "history", "history_marks",
        "history_senders", "apps", "kinds",
        "budget", "forecast", "instances", "hosts", "pushes", "senders", "providers", "upstreams",
        "partitions", "cluster", "orders", "clock", "openapi", "metrics",
        "reload_configuration", "live", "ready", "version",
    ]:
        await ops(name)
    await ops("push", id)
    await ops("push_decisions", id)
    await ops("kind", "scores")
    await ops("instance", app, "phone-1:scores-rams")
    await ops("why", app, "phone-1:scores-rams")
    await ops("host", app, "phone-1")
    await ops("dry_run", app, freshet.DryRunRequest.from_dict({"freshet": {"kind": "scores"}, "priority": 10}))
    for action in ["pause", "resume"]:
        await ops("order", freshet.Order.from_dict({"action": action, "of": {"app": app}}))
    # This gateway does not share its log.
    await ops("order_cluster", freshet.ClusterOrder.from_dict({"action": "drain", "node": "gateway-2"}), status=404)
    await ops("try_now", freshet.TryNowRequest.from_dict({"app": told.provided, "kind": "panel"}))
    await ops("set_log_levels", freshet.SetLogLevelsRequest.from_dict({"levels": {"http": "warning"}}))
    await ops("put_team", TEAM, TEAM_ENTRY)
    await ops("put_team_key", TEAM, "MADEKEY002", KEY)
    await ops("put_app", APP, APP_ENTRY)
    await ops("put_app_kind", APP, "more", {})
    for name in ["teams", "amendments"]:
        await ops(name)
    await ops("team", TEAM)
    await ops("team_key", TEAM, "MADEKEY002")
    await ops("app", APP)
    await ops("app_kind", APP, "more")
    await ops("end_app_kind", APP, "more")
    await ops("end_team_key", TEAM, "MADEKEY002")
    await ops("end_app", APP)
    await ops("end_team", TEAM)
    await ops("put_team", TEAM, TEAM_ENTRY)
    await ops("put_app", APP, APP_ENTRY)
    await ops("revert_app", APP)
    await ops("revert_team", TEAM)
    # The clock of a log on disk cannot be moved.
    await ops("move_clock", freshet.MoveClockRequest.from_dict({"advance": 1}), status=400)
    await ops.follow("events")

    # The end
    await host("unregister", token, status=204)
    await ops("erase_host", app, "phone-2")
    await host("register", token, registration=model)
    await ops("erase_hosts", app)


asyncio.run(main())
print(json.dumps({"driven": len(driven), "missing": sorted(operations - driven), "wrong": wrong}))
