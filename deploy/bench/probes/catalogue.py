"""What a probe is, and all of them."""

import dataclasses
from collections.abc import Callable


class Patience:
    """How many times as long as usual the gateway may take: more where no probe is about a deadline, on a machine that may be busy."""

    factor = 1


@dataclasses.dataclass
class Probe:
    name: str
    run: Callable
    # Where /v1/stats counts it: listener, "limits" or "timeouts" or a counter, and the name there.
    counts: str | None
    is_quick: bool


PROBES: list[Probe] = []


def probe(counts: str | None = None, slow: bool = False):
    """Adds a function to the catalogue; its name with hyphens is the probe's, its documentation what it does."""

    def add(function: Callable) -> Callable:
        PROBES.append(Probe(function.__name__.replace("_", "-"), function, counts, not slow))
        return function

    return add
