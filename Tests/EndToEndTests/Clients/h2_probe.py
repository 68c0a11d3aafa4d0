"""Opens one HTTP/2 connection with the h2 library and prints what happens on it, one JSON object a line.

Beside what h2 does by itself (acknowledging SETTINGS and PING) it sends one push for each --token, one after the other,
and then only listens until the server closes the connection.
"""

import argparse
import json
import socket
import ssl

import h2.config
import h2.connection
import h2.events
import h2.exceptions
import h2.settings


def tell(**what):
    print(json.dumps(what), flush=True)


def push(connection, tokens):
    """Sends the next push, if there is one."""
    token = next(tokens, None)
    if not token:
        return False
    headers = [
        (":method", "POST"), (":scheme", "https"), (":authority", "localhost"),
        (":path", f"/3/device/{token}"), ("apns-push-type", "widgets"),
    ]
    headers += [("apns-topic", options.topic)] if options.topic else []
    headers += [("authorization", f"bearer {options.bearer}")] if options.bearer else []
    headers += [("apns-id", options.id)] if options.id else []
    stream = connection.get_next_available_stream_id()
    connection.send_headers(stream, headers)
    body = b'{"aps":{"content-changed":true}}'
    connection.send_data(stream, body[:-1] if options.unfinished else body, end_stream=not options.unfinished)
    return True


parser = argparse.ArgumentParser()
parser.add_argument("port", type=int)
parser.add_argument("ca")
parser.add_argument("--cert")
parser.add_argument("--key")
parser.add_argument("--no-alpn", action="store_true")
parser.add_argument("--token", action="append", default=[])
parser.add_argument("--topic")
parser.add_argument("--bearer")
parser.add_argument("--id", help="the apns-id of each push, told of each answer")
parser.add_argument("--unfinished", action="store_true", help="keep the last byte of each push back")
parser.add_argument("--close-after", choices=["settings", "response"], help="leave after that event, of the last push")
options = parser.parse_args()

context = ssl.create_default_context(cafile=options.ca)
if not options.no_alpn:
    context.set_alpn_protocols(["h2"])
if options.cert:
    context.load_cert_chain(options.cert, options.key)
connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))
with socket.create_connection(("127.0.0.1", options.port), timeout=300) as plain:
    with context.wrap_socket(plain, server_hostname="localhost") as secure:
        tell(event="tls", version=secure.version(), cipher=secure.cipher()[0], alpn=secure.selected_alpn_protocol())
        connection.initiate_connection()
        tokens = iter(options.token)
        push(connection, tokens)
        secure.sendall(connection.data_to_send())
        isOpen = True
        while isOpen:
            try:
                data = secure.recv(65536)
            except (ConnectionError, ssl.SSLError) as error:
                tell(event="error", error=type(error).__name__)
                break
            if not data:
                break
            try:
                events = connection.receive_data(data)
            except h2.exceptions.ProtocolError as error:
                tell(event="error", error=str(error))
                break
            for event in events:
                match event:
                    case h2.events.RemoteSettingsChanged():
                        code = h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS
                        changed = event.changed_settings.get(code)
                        tell(event="settings", streams=changed.new_value if changed else None)
                        isOpen = isOpen and options.close_after != "settings"
                    case h2.events.ResponseReceived():
                        fields = dict(event.headers)
                        tell(event="response", status=int(fields[b":status"]))
                        if options.id:
                            tell(event="id", id=fields.get(b"apns-id", b"").decode())
                    case h2.events.DataReceived():
                        tell(event="body", body=json.loads(event.data))
                    case h2.events.StreamEnded():
                        isOpen = isOpen and (push(connection, tokens) or options.close_after != "response")
                    case h2.events.PingReceived():
                        tell(event="ping")
                    case h2.events.ConnectionTerminated():
                        debug = (event.additional_data or b"").decode()
                        tell(event="goaway", code=int(event.error_code), last=event.last_stream_id, debug=debug)
            try:
                secure.sendall(connection.data_to_send())
            except (ConnectionError, ssl.SSLError):
                break
tell(event="closed")
