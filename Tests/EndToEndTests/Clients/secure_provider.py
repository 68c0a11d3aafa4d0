"""The example timeline provider as others would run it: an ASGI application on hypercorn, over HTTP/2 and TLS, for those who
know its token.

    secure_provider.py --state state.json --certificate server.pem --key server.key --token SECRET
"""

import argparse
import asyncio
import json
import pathlib
import socket
import sys

from hypercorn.asyncio import serve
from hypercorn.config import Config

sys.path.append(str(pathlib.Path(__file__).parents[3] / "docs/examples/provider-python"))
import provider  # noqa: E402


def application(options: argparse.Namespace):
    async def app(scope: dict, receive, send) -> None:
        if scope["type"] == "lifespan":
            while (event := await receive())["type"] != "lifespan.shutdown":
                await send({"type": event["type"] + ".complete"})
            return await send({"type": "lifespan.shutdown.complete"})
        text, more = b"", True
        while more:
            event = await receive()
            text += event.get("body", b"")
            more = event.get("more_body", False)
        is_known = dict(scope["headers"]).get(b"authorization") == f"bearer {options.token}".encode()
        print(f"HTTP/{scope['http_version']} {'known' if is_known else 'unknown'}", flush=True)
        status, value = provider.answer(json.loads(text), options.state) if is_known else (401, {"error": "who is it?"})
        await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", b"application/json")]})
        await send({"type": "http.response.body", "body": json.dumps(value).encode()})

    return app


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0, help="0 lets the system choose")
    parser.add_argument("--state", type=pathlib.Path, required=True)
    parser.add_argument("--certificate", required=True)
    parser.add_argument("--key", required=True)
    parser.add_argument("--token", required=True)
    options = parser.parse_args()
    listener = socket.create_server(("127.0.0.1", options.port))
    config = Config()
    config.bind = [f"fd://{listener.fileno()}"]
    config.certfile, config.keyfile = options.certificate, options.key
    print(f"listening on https://localhost:{listener.getsockname()[1]}/timelines", flush=True)
    asyncio.run(serve(application(options), config))


if __name__ == "__main__":
    main()
