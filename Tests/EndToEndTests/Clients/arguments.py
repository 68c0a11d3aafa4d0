"""What the client programs beside this file are told, and how they tell what they were answered."""

import argparse
import json


def parse(about: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--ca", required=True, help="the CA's certificate")
    parser.add_argument("--topic", required=True)
    parser.add_argument("--key", help="the provider key, for clients that sign their own provider tokens")
    parser.add_argument("--kid", help="its id")
    parser.add_argument("--team", help="its team")
    parser.add_argument("--bearer", help="a provider token, for clients that do not")
    parser.add_argument("--certificate", help="a client certificate and its key in one file, instead of provider tokens")
    parser.add_argument("tokens", nargs="+", help="device tokens, each of which is sent one push")
    return parser.parse_args()


def answered(status: int, reason: str | None, timestamp: int | None, echoed: bool) -> None:
    """Prints one answer as a line: `echoed` says that the apns-id came back as it was sent."""
    print(json.dumps({"echoed": echoed, "reason": reason, "status": status, "timestamp": timestamp}), flush=True)
