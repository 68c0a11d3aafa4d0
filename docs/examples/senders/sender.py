"""Sends a targeted push from Python: sender.py KIND MATCH. Settings: GATEWAY, CA, APP, KEY, KID, TEAM.

Python's standard library has neither HTTP/2 nor ES256: pip install 'httpx[http2]' 'pyjwt[crypto]'
"""
import json, os, ssl, sys, time, uuid
import httpx, jwt


class Sender:
    def __init__(self) -> None:
        self.client = httpx.Client(http1=False, http2=True, base_url=os.environ.get("GATEWAY", "https://localhost:2197"),
                                   verify=ssl.create_default_context(cafile=os.environ.get("CA")))
        self.token, self.minted = "", float("-inf")

    def authorization(self) -> str:
        # A token is valid for an hour. Renew it every 20 minutes at most.
        if time.monotonic() - self.minted > 2400:
            key = open(os.environ["KEY"]).read()
            claims = {"iss": os.environ["TEAM"], "iat": int(time.time())}
            self.token = jwt.encode(claims, key, algorithm="ES256", headers={"kid": os.environ["KID"]})
            self.minted = time.monotonic()
        return f"bearer {self.token}"

    def send(self, kind: str, match: dict, priority: int = 10, attempts: int = 60) -> str:
        """The push's id. It stays the same in every attempt, so that the push counts once."""
        push = str(uuid.uuid4())
        body = {"aps": {"content-changed": True}, "freshet": {"kind": kind, "match": match}}
        for attempt in range(attempts):
            wait = min(2 ** attempt, 30)
            try:
                answer = self.client.post(f"/v1/apps/{os.environ['APP']}/pushes", json=body, headers={
                    "authorization": self.authorization(), "apns-id": push, "apns-priority": str(priority)})
                if answer.status_code == 200:
                    return push
                if answer.status_code not in (429, 500, 503):
                    raise SystemExit(f"refused {answer.status_code} {answer.text}")
                wait = int(answer.headers.get("retry-after", wait))
            except httpx.TransportError as error:
                print(f"trying again: {error}", file=sys.stderr)
            time.sleep(wait)
        raise SystemExit("the gateway does not answer")


if __name__ == "__main__":
    print("accepted", Sender().send(sys.argv[1], json.loads(sys.argv[2])))
