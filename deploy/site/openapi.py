"""Writes an OpenAPI document as a page of Markdown: every route with its parameters, bodies and answers, then every shape."""

import re
import typing

METHODS = ("get", "put", "post", "patch", "delete")
Tree = dict[str, typing.Any]


def cell(text: object) -> str:
    """Text as it stands in a table's cell."""
    return re.sub(r"\s+", " ", str(text)).strip().replace("|", "\\|").replace("<", "&lt;")


def code(text: object) -> str:
    return f"`{cell(text).replace('&lt;', '<')}`"


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    if not rows:
        return []
    lines = ["| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows]]
    return ["", *lines, ""]


class Document:
    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.schemas: Tree = tree.get("components", {}).get("schemas", {})

    def resolved(self, part: Tree) -> Tree:
        """What a reference stands for."""
        while "$ref" in part:
            found: typing.Any = self.tree
            for name in part["$ref"].removeprefix("#/").split("/"):
                found = found[name]
            part = found
        return part

    def kind(self, schema: Tree | bool) -> str:
        """A shape in a few words, with its bounds."""
        if isinstance(schema, bool) or not schema:
            return "anything"
        if "$ref" in schema:
            name = schema["$ref"].split("/")[-1]
            return f"[{name}](#shape-{name.lower()})"
        if "const" in schema:
            return code(schema["const"])
        if "enum" in schema:
            return ", ".join(code(value) for value in schema["enum"])
        for word, between in (("anyOf", " or "), ("oneOf", " or "), ("allOf", " and ")):
            if word in schema:
                return between.join(self.kind(one) for one in schema[word])
        types = schema.get("type", "object" if "properties" in schema else "anything")
        names = types if isinstance(types, list) else [types]
        words = []
        for name in names:
            if name == "array":
                words.append(f"list of {self.kind(schema.get('items', {}))}")
            elif name == "object" and isinstance(schema.get("additionalProperties"), dict):
                words.append(f"object of {self.kind(schema['additionalProperties'])}")
            else:
                words.append(name)
        return " or ".join(words) + self.bounds(schema)

    @staticmethod
    def bounds(schema: Tree) -> str:
        said = [code(schema["format"])] if "format" in schema else []
        for low, high, unit in (("minimum", "maximum", ""), ("minLength", "maxLength", " characters"),
                                ("minItems", "maxItems", " members")):
            if low in schema and high in schema:
                said.append(f"{schema[low]} to {schema[high]}{unit}")
            elif low in schema:
                said.append(f"at least {schema[low]}{unit}")
            elif high in schema:
                said.append(f"at most {schema[high]}{unit}")
        if "pattern" in schema:
            said.append(code(schema["pattern"]))
        if "default" in schema:
            said.append("default " + code(str(schema["default"]).lower()))
        return f" ({', '.join(said)})" if said else ""

    def members(self, schema: Tree, before: str = "") -> list[list[str]]:
        """A row for each member of an object, those of objects in it included; named shapes have tables of their own."""
        rows: list[list[str]] = []
        for one in schema.get("allOf", []) + schema.get("anyOf", []) + schema.get("oneOf", []):
            if "$ref" not in one:
                rows += self.members(one, before)
        for name, member in schema.get("properties", {}).items():
            path = f"{before}{name}"
            shape = member if isinstance(member, dict) else {}
            is_required = "yes" if name in schema.get("required", []) else ""
            rows.append([code(path), self.kind(member), is_required, cell(shape.get("description", ""))])
            inner = shape
            while "$ref" not in inner and inner.get("type") == "array":
                path, inner = path + "[]", inner.get("items", {})
            if "$ref" not in inner:
                rows += self.members(inner, path + ".")
                if isinstance(inner.get("additionalProperties"), dict) and "$ref" not in inner["additionalProperties"]:
                    rows += self.members(inner["additionalProperties"], path + ".*.")
        return rows

    def shape(self, schema: Tree) -> list[str]:
        """A shape's members as a table."""
        inner, before = schema, ""
        while "$ref" not in inner and inner.get("type") == "array":
            inner, before = inner.get("items", {}), before + "[]"
        if "$ref" in inner:
            return []
        return table(["member", "type", "required", "meaning"], self.members(inner, before + "." if before else ""))

    def content(self, content: Tree) -> list[str]:
        lines: list[str] = []
        for media, body in content.items():
            schema = body.get("schema", {})
            lines += ["", f"`{media}`: {self.kind(schema)}", *self.shape(schema)]
        return lines

    def security(self, operation: Tree) -> str:
        ways = operation.get("security", self.tree.get("security", []))
        said = [" and ".join(
            code(name) + (f" with scope {', '.join(map(code, scopes))}" if scopes else "") for name, scopes in way.items()
        ) or "none" for way in ways]
        return " or ".join(said) or "none"

    def operation(self, path: str, method: str, operation: Tree, shared: list[Tree]) -> list[str]:
        name = operation.get("operationId") or re.sub(r"\W+", "-", f"{method} {path}").strip("-")
        lines = [f"### `{method.upper()} {path}` {{ #{name.lower()} }}", "", operation.get("summary", "")]
        if "description" in operation:
            lines += ["", operation["description"].strip()]
        lines += ["", f"Credential: {self.security(operation)}."]
        parameters = [self.resolved(one) for one in shared + operation.get("parameters", [])]
        lines += table(["parameter", "in", "type", "required", "meaning"], [
            [code(one["name"]), one["in"], self.kind(one.get("schema", {})), "yes" if one.get("required") else "",
             cell(one.get("description", ""))] for one in parameters
        ])
        body = self.resolved(operation.get("requestBody", {}))
        if body:
            lines += ["", "**Body**" + (f": {body['description'].strip()}" if "description" in body else "")]
            lines += self.content(body.get("content", {}))
        for status, answer in operation.get("responses", {}).items():
            said = self.resolved(answer)
            lines += ["", f"**{'other' if status == 'default' else status}**: {said.get('description', '').strip()}"]
            headers = [f"`{name}`" for name in said.get("headers", {})]
            lines += [", ".join(["; headers"] + headers).replace("; headers, ", "Headers: ")] if headers else []
            lines += self.content(said.get("content", {}))
        return [*lines, ""]

    def page(self, title: str, file: str) -> str:
        info = self.tree["info"]
        lines = [f"# {title}", "", f"This page is made from [{file}]({file}), from which you can generate clients.", "",
                 info.get("description", "").strip(), ""]
        lines += table(["listener", "address"], [[cell(one.get("description", "")), code(one["url"])]
                                                 for one in self.tree.get("servers", [])])
        credentials = self.tree.get("components", {}).get("securitySchemes", {})
        lines += table(["credential", "meaning"], [[code(name), cell(one.get("description", one["type"]))]
                                                   for name, one in credentials.items()])
        places = list(self.tree.get("paths", {}).items()) + list(self.tree.get("webhooks", {}).items())
        found = [(path, method, item[method], item.get("parameters", []))
                 for path, item in places for method in METHODS if method in item]
        tags = [tag["name"] for tag in self.tree.get("tags", [])]
        tags += sorted({one[2].get("tags", ["routes"])[0] for one in found} - set(tags))
        for tag in tags:
            lines += ["", f"## {tag.capitalize()} {{ #of-{tag.lower()} }}", ""]
            for path, method, operation, shared in found:
                if operation.get("tags", ["routes"])[0] == tag:
                    lines += self.operation(path, method, operation, shared)
        lines += ["", "## Shapes", ""]
        for name, schema in self.schemas.items():
            lines += ["", f"### {name} {{ #shape-{name.lower()} }}", ""]
            lines += [cell(schema["description"]), ""] if "description" in schema else []
            rows = self.shape(schema)
            lines += rows if rows and schema.get("type", "object") == "object" else [self.kind(schema) + ".", *rows]
        return "\n".join(lines) + "\n"
