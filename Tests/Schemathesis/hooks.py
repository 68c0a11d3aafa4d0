"""The part of docs/openapi.yaml whose tags are in FRESHET_TAGS: a path may be on several listeners, each with methods of its own."""

import json
import os

import schemathesis

TAGS = set(os.environ["FRESHET_TAGS"].split(","))


@schemathesis.hook
def before_load_schema(context, schema):
    for item in schema["paths"].values():
        for method in [name for name, operation in item.items() if isinstance(operation, dict)]:
            if not TAGS.intersection(item[method].get("tags", [])):
                del item[method]


@schemathesis.serializer("application/x-ndjson")
def lines(context, value):
    return value.encode() if isinstance(value, str) else json.dumps(value).encode()
