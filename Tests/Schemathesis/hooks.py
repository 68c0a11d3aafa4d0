"""The operators' part of docs/openapi.yaml: a path may be on several listeners, each with methods of its own."""

import schemathesis

TAGS = {"operators", "health"}


@schemathesis.hook
def before_load_schema(context, schema):
    for item in schema["paths"].values():
        for method in [name for name, operation in item.items() if isinstance(operation, dict)]:
            if not TAGS.intersection(item[method].get("tags", [])):
                del item[method]
