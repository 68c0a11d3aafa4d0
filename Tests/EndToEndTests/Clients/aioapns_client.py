"""Sends widget pushes with aioapns and prints what it was answered, one JSON object a line."""

import asyncio
import ssl
import uuid

from aioapns import NotificationRequest
from aioapns.client import APNs
from aioapns.connection import APNsProductionClientProtocol

import arguments


class WidgetsPushType:
    """aioapns knows no widget pushes yet; all it needs of a push type is its value."""

    value = "widgets"


async def main() -> None:
    told = arguments.parse(__doc__)
    # A back end changes these: the host name, the port and the CA.
    APNsProductionClientProtocol.APNS_SERVER = "localhost"
    APNsProductionClientProtocol.APNS_PORT = told.port
    trust = ssl.create_default_context(cafile=told.ca)
    if told.certificate:
        client = APNs(client_cert=told.certificate, topic=told.topic, max_connections=1, ssl_context=trust)
    else:
        with open(told.key) as key:
            client = APNs(
                key=key.read(), key_id=told.kid, team_id=told.team, topic=told.topic, max_connections=1,
                ssl_context=trust,
            )
    requests = [
        NotificationRequest(
            device_token=token, message={"aps": {"content-changed": True}}, notification_id=str(uuid.uuid4()),
            priority=10, time_to_live=600, collapse_key="score", push_type=WidgetsPushType(),
        )
        for token in told.tokens
    ]
    for request, result in zip(requests, await asyncio.gather(*map(client.send_notification, requests))):
        echoed = result.notification_id == request.notification_id
        arguments.answered(int(result.status), result.description, result.timestamp, echoed)
    client.pool.close()


asyncio.run(main())
