"""Sends widget pushes with httpx over HTTP/2 and prints what it was answered, one JSON object a line."""

import asyncio
import json
import ssl
import sys

import httpx


async def main(url: str, ca: str, bearer: str, topic: str, *tokens: str) -> None:
    context = ssl.create_default_context(cafile=ca)
    async with httpx.AsyncClient(http2=True, http1=False, verify=context, base_url=url) as client:
        headers = {"authorization": f"bearer {bearer}", "apns-topic": topic, "apns-push-type": "widgets"}
        answers = await asyncio.gather(*(
            client.post(f"/3/device/{token}", headers=headers, json={"aps": {"content-changed": True}})
            for token in tokens
        ))
    for answer in answers:
        reason = answer.json()["reason"] if answer.content else None
        print(json.dumps({
            "status": answer.status_code, "reason": reason, "version": answer.http_version,
            "id": answer.headers["apns-id"],
        }))


asyncio.run(main(*sys.argv[1:]))
