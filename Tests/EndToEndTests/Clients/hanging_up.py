"""Gives an order many times, each by a client that hangs up right behind the body, without waiting for an answer.

    hanging_up.py PORT CA --bearer TOKEN --body '{"action": …}' --first 0 --count 100

Every other one over HTTP/1.1, whose connection is reset; the others over HTTP/2, whose stream is. Each has its number in
x-request-id.
"""

import argparse
import json
import socket
import ssl
import struct

import h2.config
import h2.connection

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("port", type=int)
parser.add_argument("ca")
parser.add_argument("--bearer", default="")
parser.add_argument("--body", required=True)
parser.add_argument("--first", type=int, default=0)
parser.add_argument("--count", type=int, required=True)
options = parser.parse_args()
fields = [("content-type", "application/json"), ("content-length", str(len(options.body)))]
fields += [("authorization", f"bearer {options.bearer}")] if options.bearer else []


def connect(protocol: str) -> ssl.SSLSocket:
    context = ssl.create_default_context(cafile=options.ca)
    context.set_alpn_protocols([protocol])
    return context.wrap_socket(socket.create_connection(("localhost", options.port)), server_hostname="localhost")


def by_http1(name: str) -> None:
    connection = connect("http/1.1")
    lines = ["POST /v1/orders HTTP/1.1", f"host: localhost:{options.port}", f"x-request-id: {name}"]
    lines += [f"{field}: {value}" for field, value in fields]
    connection.sendall(("\r\n".join(lines) + "\r\n\r\n" + options.body).encode())
    # The bytes that wait to be read are thrown away, and the peer gets a reset.
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def by_http2(name: str) -> None:
    connection = connect("h2")
    state = h2.connection.H2Connection(config=h2.config.H2Configuration(header_encoding="utf-8"))
    state.initiate_connection()
    head = [(":method", "POST"), (":scheme", "https"), (":authority", f"localhost:{options.port}"), (":path", "/v1/orders")]
    state.send_headers(1, head + [("x-request-id", name)] + fields)
    state.send_data(1, options.body.encode(), end_stream=True)
    state.reset_stream(1)
    connection.sendall(state.data_to_send())
    connection.close()


for number in range(options.first, options.first + options.count):
    (by_http1 if number % 2 else by_http2)(f"hung-up-{number}")
print(json.dumps({"sent": options.count}))
