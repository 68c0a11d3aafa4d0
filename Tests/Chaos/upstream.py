"""Where gateways deliver the reloads of hosts that read no stream: APNs' part and a receiver of webhooks, by hypercorn over HTTP/2 and TLS.

It refuses now and then, as APNs does when it is busy. What it is sent it writes down, in order, with how it answered.
"""

import asyncio
import json
import pathlib
import random
import socket

from hypercorn.asyncio import serve
from hypercorn.config import Config

from traffic import Traffic

APNS, WEBHOOK = "apns", "webhook"


def delivery(number: int) -> str:
    """How the reloads of a host reach it."""
    return {2: WEBHOOK, 5: APNS}.get(number % 10, "stream")


class Upstream:
    #: So many of a hundred are answered 503.
    refused = 5
    #: The longest wait at the end until nothing is outstanding.
    patience = 300.0

    def __init__(self, folder: pathlib.Path, seed: int) -> None:
        """`folder` is the cluster's."""
        self.folder = folder
        self.random = random.Random(seed)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.file = open(folder / "deliveries.ndjson", "w")
        self.is_over = asyncio.Event()
        (folder / "secret").write_text("a secret of the webhook\n")

    @property
    def app_settings(self) -> str:
        """The members of an app, in YAML."""
        port, certs = self.listener.getsockname()[1], self.folder / "certs"
        return (f"    upstream: {{url: \"https://localhost:{port}\", keyID: CHAOSKEY01, key: {certs}/provider-key.p8, ca: {certs}/ca.pem}}\n"
                f"    webhook: {{url: \"https://localhost:{port}/reloads\", secretFile: {self.folder}/secret, ca: {certs}/ca.pem}}\n")

    async def run(self) -> None:
        config = Config()
        config.bind = [f"fd://{self.listener.fileno()}"]
        config.certfile, config.keyfile = str(self.folder / "certs/server.pem"), str(self.folder / "certs/server.key")
        config.loglevel, config.graceful_timeout = "CRITICAL", 1.0
        await serve(self.answer, config, shutdown_trigger=self.is_over.wait)

    async def answer(self, scope: dict, receive, send) -> None:
        """An application of ASGI."""
        if scope["type"] == "lifespan":
            while (event := await receive())["type"] != "lifespan.shutdown":
                await send({"type": event["type"] + ".complete"})
            return await send({"type": "lifespan.shutdown.complete"})
        text, is_more = b"", True
        while is_more:
            event = await receive()
            if event["type"] == "http.disconnect":
                return
            text += event.get("body", b"")
            is_more = event.get("more_body", False)
        headers = dict(scope["headers"])
        status = 503 if self.random.random() * 100 < self.refused else 200
        if scope["path"] == "/reloads":
            what = {"what": WEBHOOK, "id": headers[b"freshet-id"].decode(), "reloads": [one["id"] for one in json.loads(text)["reloads"]]}
        else:
            what = {"what": APNS, "id": headers[b"apns-id"].decode(), "host": f"host-{int(scope['path'].rpartition('/')[2], 16)}"}
        # Before the answer: what is not answered may have been done.
        self.file.write(json.dumps({**what, "status": status}) + "\n")
        await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", b"application/json")]})
        await send({"type": "http.response.body", "body": b"" if status == 200 else b'{"reason": "ServiceUnavailable"}'})

    async def finish(self, traffic: Traffic) -> None:
        """Until no host that is delivered to has anything outstanding."""
        end = asyncio.get_running_loop().time() + self.patience
        left = {number for number in traffic.hosts if delivery(number) != "stream"}
        while left:
            for number in sorted(left):
                answer, _ = await traffic.send("host", "GET", f"/v1/hosts/{number:064x}/state", None)
                if answer is not None and answer.status_code == 200 and not answer.json()["outstanding"]:
                    left.discard(number)
            if asyncio.get_running_loop().time() > end:
                raise RuntimeError(f"reloads of {len(left)} hosts are not delivered after {self.patience:.0f} s")
            await asyncio.sleep(0.2)

    def close(self) -> None:
        self.file.close()
