"""Sends widget pushes with kalyke and prints what it was answered, one JSON object a line."""

import asyncio
import ssl
import uuid
import warnings

import httpx2
from kalyke import ApnsClient, ApnsConfig
from kalyke.clients.voip_certificate import VoIPCertificateClient
from kalyke.exceptions import ApnsProviderException

import arguments


class WidgetsPushType:
    """kalyke knows no widget pushes yet; all it needs of a push type is its value."""

    value = "widgets"


class Redirected:
    """What a back end changes in either of kalyke's clients: the host name, the port and the CA."""

    told = None

    @property
    def _base_url(self) -> str:
        return f"https://localhost:{self.told.port}"

    def _init_client(self, apns_config: ApnsConfig) -> httpx2.AsyncClient:
        trust = ssl.create_default_context(cafile=self.told.ca)
        if self.told.certificate:
            trust.load_cert_chain(self.told.certificate)
        # kalyke makes its client with the system's CAs only; the one that it made says which headers it sends.
        headers = super()._init_client(apns_config).headers
        return httpx2.AsyncClient(headers=headers, http2=True, verify=trust, timeout=300)

    async def _send(self, client: httpx2.AsyncClient, url: str, data: dict) -> httpx2.Response:
        # kalyke tells a reason by the class of its exception, and the status not at all.
        Redirected.answer = await super()._send(client, url, data)
        return Redirected.answer


class TokenClient(Redirected, ApnsClient):
    pass


class CertificateClient(Redirected, VoIPCertificateClient):
    """kalyke's only client with a certificate; the configuration, not the class, says what is sent."""


async def main() -> None:
    told = Redirected.told = arguments.parse(__doc__)
    warnings.simplefilter("ignore", DeprecationWarning)
    if told.certificate:
        client = CertificateClient(use_sandbox=True, auth_key_filepath=told.certificate)
    else:
        client = TokenClient(
            use_sandbox=True, team_id=told.team, auth_key_id=told.kid, auth_key_filepath=told.key
        )
    for token in told.tokens:
        id = str(uuid.uuid4())
        config = ApnsConfig(topic=told.topic, push_type=WidgetsPushType(), identifier=id, collapse_id="score")
        try:
            echoed = await client.send_message(token, {"aps": {"content-changed": True}}, config)
            reason, timestamp = None, None
        except ApnsProviderException as error:
            reason, timestamp = type(error).__name__, error.error.get("timestamp")
            echoed = Redirected.answer.headers["apns-id"]
        arguments.answered(Redirected.answer.status_code, reason, timestamp, echoed == id)


asyncio.run(main())
