"""Sends widget pushes with aioapns over one HTTP/2 connection: so many at once, then so many a second."""

import asyncio
import ssl

from aioapns import NotificationRequest
from aioapns.client import APNs
from aioapns.connection import APNsProductionClientProtocol

import sender


class WidgetsPushType:
    """aioapns knows no widget pushes yet; all it needs of a push type is its value."""

    value = "widgets"


async def main() -> None:
    told = sender.options(__doc__)
    # A back end changes these: the host name, the port and the CA.
    APNsProductionClientProtocol.APNS_SERVER = "localhost"
    APNsProductionClientProtocol.APNS_PORT = told.port
    with open(told.key) as key:
        client = APNs(
            key=key.read(), key_id=told.kid, team_id=told.team, topic=told.topic, max_connections=1,
            max_connection_attempts=1, ssl_context=ssl.create_default_context(cafile=told.ca),
        )

    async def push() -> str:
        request = NotificationRequest(
            device_token=told.token, message={"aps": {"content-changed": True}}, push_type=WidgetsPushType(),
        )
        try:
            result = await client.send_notification(request)
        except Exception as error:
            return f"{type(error).__name__} {error}"
        return "" if result.is_successful else f"{result.status} {result.description}"

    await sender.send(told, push)
    client.pool.close()


asyncio.run(main())
