"""Judges YAML files by a JSON Schema as an editor does: schema_check.py SCHEMA FILE... A line for each fault: file, path, what."""

import json
import re
import sys

import yaml
from jsonschema import Draft7Validator


class Loader(yaml.SafeLoader):
    """YAML 1.2, which editors read: no dates, no `yes` and `on`, no digits in groups."""


Loader.yaml_implicit_resolvers = {}
for tag, pattern, first in [
    ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", list("tTfF")),
    ("int", r"^[-+]?[0-9]+$", list("-+0123456789")),
    ("float", r"^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$", list("-+.0123456789")),
]:
    Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(pattern), first)


def main() -> None:
    with open(sys.argv[1]) as file:
        schema = json.load(file)
    Draft7Validator.check_schema(schema)
    for name in sys.argv[2:]:
        with open(name) as file:
            document = yaml.load(file, Loader)
        for fault in Draft7Validator(schema).iter_errors(document):
            print(f"{name}: {'.'.join(map(str, fault.absolute_path))}: {fault.message}")


if __name__ == "__main__":
    main()
