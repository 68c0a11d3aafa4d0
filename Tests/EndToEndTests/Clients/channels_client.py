"""Manages channels and broadcasts with httpx over HTTP/2, in Apple's shapes and in APNSwift's."""

import asyncio
import json
import ssl
import sys

import httpx


async def main(url: str, ca: str, bearer: str, app: str) -> None:
    context = ssl.create_default_context(cafile=ca)
    async with httpx.AsyncClient(http2=True, http1=False, verify=context, base_url=url, timeout=300) as client:
        client.headers["authorization"] = f"bearer {bearer}"

        async def ask(method: str, path: str, headers: dict[str, str] = {}, body: object = None) -> httpx.Response:
            answer = await client.request(method, path, headers=headers, json=body)
            assert answer.http_version == "HTTP/2" and len(answer.headers["apns-request-id"]) == 36
            print(json.dumps({"status": answer.status_code, "body": answer.text.replace(channel or "-", "ID")}))
            return answer

        channel = None
        created = await client.post(
            f"/1/apps/{app}/channels", json={"message-storage-policy": 1, "push-type": "LiveActivity"})
        channel = created.headers["apns-channel-id"]
        print(json.dumps({"status": created.status_code, "body": created.text}))
        own = {"apns-channel-id": channel}
        await ask("GET", f"/1/apps/{app}/channels", own)
        await ask("GET", f"/1/apps/{app}/all-channels")
        broadcast = {**own, "apns-push-type": "liveactivity", "apns-expiration": "0", "apns-priority": "10"}
        await ask("POST", f"/4/broadcasts/apps/{app}", broadcast, {"aps": {"event": "update", "content-state": {}}})
        # Over the same connection, many at once.
        answers = await asyncio.gather(*(
            client.post(f"/4/broadcasts/apps/{app}", headers=broadcast, json={"aps": {"event": "end", "n": n}})
            for n in range(20)
        ))
        print(json.dumps({"statuses": sorted({answer.status_code for answer in answers})}))
        await ask("DELETE", f"/1/apps/{app}/channels", own)
        await ask("DELETE", f"/1/apps/{app}/channels", own)

        # As APNSwift has it.
        channel = None
        created = await client.post(f"/1/apps/{app}/channels", json={"message-storage-policy": 0})
        channel = created.json()["channel-id"]
        print(json.dumps({"status": created.status_code, "policy": created.json()["message-storage-policy"]}))
        await ask("GET", f"/1/apps/{app}/channels/{channel}")
        await ask("GET", f"/1/apps/{app}/channels")
        await ask("DELETE", f"/1/apps/{app}/channels/{channel}")


asyncio.run(main(*sys.argv[1:]))
