"""Sends widget pushes with aioapns and prints what it was answered, one JSON object a line."""

import asyncio
import json
import ssl
import sys
import uuid

from aioapns import NotificationRequest
from aioapns.client import APNs
from aioapns.connection import APNsProductionClientProtocol


class WidgetsPushType:
    value = "widgets"


async def main(port: str, ca: str, key: str, kid: str, team: str, topic: str, *tokens: str) -> None:
    # What a back end changes: the host name, the port and the CA.
    APNsProductionClientProtocol.APNS_SERVER = "localhost"
    APNsProductionClientProtocol.APNS_PORT = int(port)
    client = APNs(
        key=open(key).read(), key_id=kid, team_id=team, topic=topic, max_connections=1,
        ssl_context=ssl.create_default_context(cafile=ca),
    )
    requests = [
        NotificationRequest(
            device_token=token, message={"aps": {"content-changed": True}}, notification_id=str(uuid.uuid4()),
            priority=10, time_to_live=600, collapse_key="score", push_type=WidgetsPushType(),
        )
        for token in tokens
    ]
    for request, result in zip(requests, await asyncio.gather(*map(client.send_notification, requests))):
        echoed = result.notification_id == request.notification_id
        print(json.dumps({"status": result.status, "reason": result.description, "echoed": echoed}), flush=True)
    client.pool.close()


asyncio.run(main(*sys.argv[1:]))
