"""Sends widget pushes with httpx over one HTTP/2 connection: so many at once, then so many a second."""

import asyncio
import ssl

import httpx

import sender


async def main() -> None:
    told = sender.options(__doc__)
    headers = {"apns-topic": told.topic, "apns-push-type": "widgets", "authorization": f"bearer {told.bearer}"}
    async with httpx.AsyncClient(
        timeout=600, http1=False, http2=True, verify=ssl.create_default_context(cafile=told.ca),
        base_url=f"https://localhost:{told.port}", headers=headers, limits=httpx.Limits(max_connections=1),
    ) as client:

        async def push() -> str:
            try:
                answer = await client.post(f"/3/device/{told.token}", json={"aps": {"content-changed": True}})
            except httpx.HTTPError as error:
                return f"{type(error).__name__} {error}"
            return "" if answer.status_code == 200 else str(answer.status_code)

        await sender.send(told, push)


asyncio.run(main())
