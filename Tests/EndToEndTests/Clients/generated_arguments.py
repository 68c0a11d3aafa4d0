"""What the clients that are generated from docs/openapi.yaml are told: where they were made, and the gateway that they drive."""

import argparse
import sys

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--generated", required=True, help="the folder that the generated package is in")
parser.add_argument("--push", required=True, help="the push listener's URL, and so on")
parser.add_argument("--host", required=True)
parser.add_argument("--ops", required=True)
parser.add_argument("--ca", required=True)
parser.add_argument("--bearer", required=True, help="a provider token")
parser.add_argument("--operator", required=True)
parser.add_argument("--app", required=True)
parser.add_argument("--topic", required=True)
parser.add_argument("--provided", required=True, help="an app whose kind `panel` has a timeline provider, and a sample")
told = parser.parse_args()
sys.path.insert(0, told.generated)

# A team and an app that the client makes.
PEM = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
KEY = {"publicKey": ec.generate_private_key(ec.SECP256R1()).public_key().public_bytes(*PEM).decode()}
TEAM, TEAM_ENTRY = "MADETEAM01", {"keys": [{"id": "MADEKEY001"} | KEY]}
APP, APP_ENTRY = "com.example.made", {"team": TEAM, "kinds": [{"kind": "made"}]}
