"""Values that stand at the ends of their types, and ways to damage a value that was good."""

import json
import random
import re
import sys

# Values are nested deeper than Python follows by itself.
sys.setrecursionlimit(20_000)

INTEGERS = [
    sign * edge + step
    for edge in (0, 1 << 7, 1 << 8, 1 << 15, 1 << 16, 1 << 31, 1 << 32, 1 << 53, 1 << 62, 1 << 63, 1 << 64, 10**19, 10**30)
    for step in (-1, 0, 1) for sign in (1, -1)
]
# The ends that sums go beyond.
ENDS = [(1 << 64) - 1, (1 << 63) - 1, (1 << 64) - 1, (1 << 63) - 1, (1 << 32) - 1, 1 << 63, 1 << 64]
DOUBLES = [1e308, 1e309, -1e309, 5e-324, -0.0, 0.1, 1e15, 9.007199254740993e15, 1.7976931348623157e308]
DATES = [
    "0000-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "9999-12-31T23:59:59Z", "10000-01-01T00:00:00Z",
    "2026-06-30T23:59:60Z", "2026-02-29T00:00:00Z", "2026-11-24T00:00:00+99:99", "2026-11-24T00:00:00-23:59",
    "2026-11-24T24:00:00Z", "2026-11-24T12:00:00.99999999999999999999Z", "9999-12-31T23:59:59-23:59",
]
TEXTS = [
    "", "\0", " ", "a" * 300, "é" * 200, "e\u0301\u0302" * 40, "\u202e\ufeff", "../../etc/passwd", "%00", "%2F%2e%2e", "a/b:c",
    "\ud7ff\U0010ffff", "null", "{}", "*" * 9, "a" * 70_000, "-1", "0x10", "1e400", "+1", "１２", "0" * 500,
]
# How a span of time is written in queries and settings.
SPANS = ["0s", "1ms", "-1s", "9223372036854775807s", "18446744073709551616d", "1e9h", "99999999999999999999m", "1d", "90m"]


def integer(luck: random.Random) -> int:
    return luck.choice(INTEGERS) if luck.random() < 0.8 else luck.getrandbits(luck.choice((8, 32, 63, 64, 80))) * luck.choice((1, -1))


def anything(luck: random.Random, depth: int = 0):
    choice = luck.randrange(9 if depth < 3 else 7)
    if choice == 0:
        return integer(luck)
    if choice == 1:
        return luck.choice(DOUBLES)
    if choice == 2:
        return luck.choice(TEXTS)
    if choice == 3:
        return luck.choice(DATES)
    if choice == 4:
        return luck.choice((True, False, None))
    if choice == 5:
        return luck.choice(SPANS)
    if choice == 6:
        return luck.randrange(100)
    if choice == 7:
        return [anything(luck, depth + 1) for _ in range(luck.randrange(4))]
    return {luck.choice(TEXTS[:16]): anything(luck, depth + 1) for _ in range(luck.randrange(4))}


def with_extreme_number(luck: random.Random, text: str) -> str:
    """The same with one of its numbers at the end of a type: what a position, a count or a cursor may not be."""
    numbers = list(re.finditer(r"\d+", text))
    if not numbers:
        return text + str(integer(luck))
    found = luck.choice(numbers)
    number = luck.choice(ENDS) if luck.random() < 0.6 else abs(integer(luck))
    return text[: found.start()] + str(number) + text[found.end():]


def places(value, path=()):
    """Every place of a JSON value, by the names and numbers that lead there."""
    yield path
    if isinstance(value, dict):
        for name in value:
            yield from places(value[name], (*path, name))
    elif isinstance(value, list):
        for index, element in enumerate(value[:20]):
            yield from places(element, (*path, index))


def damaged(luck: random.Random, value):
    """A copy of a JSON value in which one place is not what it was."""
    value = json.loads(json.dumps(value))
    path = luck.choice(list(places(value)))
    if not path:
        return anything(luck)
    parent = value
    for step in path[:-1]:
        parent = parent[step]
    name, old = path[-1], parent[path[-1]]
    how = luck.randrange(8)
    if how == 0:
        del parent[name]
    elif how == 1:
        parent[name] = integer(luck)
    elif how == 2:
        parent[name] = anything(luck)
    elif how == 3:
        parent[name] = [old] * luck.choice((2, 65, 1000))
    elif how == 4 and isinstance(parent, dict):
        parent[luck.choice(TEXTS[:16])] = parent.pop(name)
    elif how == 5:
        for _ in range(luck.choice((3, 40, 600))):
            old = {"a": old} if luck.random() < 0.5 else [old]
        parent[name] = old
    elif how == 6 and isinstance(old, str):
        parent[name] = with_extreme_number(luck, old)
    else:
        parent[name] = luck.choice(DATES + SPANS + TEXTS)
    return value


def written(luck: random.Random, value) -> bytes:
    """JSON of a value; now and then a name twice, bytes that are missing, or one that is another."""
    text = json.dumps(value, ensure_ascii=luck.random() < 0.5, allow_nan=True)
    data = text.encode("utf-8", "surrogatepass")
    how = luck.random()
    if how < 0.04 and isinstance(value, dict) and value:
        name = luck.choice(list(value))
        return data[:-1] + b"," + json.dumps({name: value[name]}).encode()[1:]
    if how < 0.07 and data:
        return data[: luck.randrange(len(data))]
    if how < 0.10 and data:
        place = luck.randrange(len(data))
        return data[:place] + bytes([luck.randrange(256)]) + data[place + 1:]
    return data
