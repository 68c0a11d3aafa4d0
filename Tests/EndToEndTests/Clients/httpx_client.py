"""Sends widget pushes with httpx over one HTTP/2 connection and prints what it was answered, one JSON object a line."""

import asyncio
import ssl
import uuid

import httpx

import arguments


async def main() -> None:
    told = arguments.parse(__doc__)
    context = ssl.create_default_context(cafile=told.ca)
    headers = {"apns-topic": told.topic, "apns-push-type": "widgets"}
    if told.certificate:
        context.load_cert_chain(told.certificate)
    else:
        headers["authorization"] = f"bearer {told.bearer}"
    ids = [str(uuid.uuid4()) for _ in told.tokens]
    # No HTTP/1.1 to fall back to: an answer is an answer over HTTP/2.
    async with httpx.AsyncClient(
        timeout=300,
        http1=False, http2=True, verify=context, base_url=f"https://localhost:{told.port}", headers=headers,
        limits=httpx.Limits(max_connections=1),
    ) as client:
        answers = await asyncio.gather(*(
            client.post(f"/3/device/{token}", headers={"apns-id": id}, json={"aps": {"content-changed": True}})
            for token, id in zip(told.tokens, ids)
        ))
    for id, answer in zip(ids, answers):
        body = answer.json() if answer.content else {}
        arguments.answered(
            answer.status_code, body.get("reason"), body.get("timestamp"), answer.headers["apns-id"] == id
        )


asyncio.run(main())
