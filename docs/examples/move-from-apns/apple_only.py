"""Pushes to a widget with unchanged aioapns, which knows only Apple's hosts: apple_only.py KEY TOKEN

pip install aioapns
"""
import asyncio, sys
from aioapns import APNs, NotificationRequest


async def main(key: str, token: str) -> None:
    client = APNs(key=open(key).read(), key_id="F6G7H8J9K0", team_id="A1B2C3D4E5",
                  topic="com.example.scores.push-type.widgets", use_sandbox=False)
    answer = await client.send_notification(NotificationRequest(
        device_token=token, message={"aps": {"content-changed": True}}))
    print(answer.status, answer.description or "")


asyncio.run(main(*sys.argv[1:]))
