"""Rows of the intent index: against PostgreSQL, CRoaring, SQLite and Redis on the same instances, and alone as it grows."""

import argparse
import pathlib
import shutil
import statistics
import subprocess

import postgres
import redis_sets
from rows import Row, absent
from session import Session, lines

PEERS = pathlib.Path(__file__).parents[2] / "Tests" / "Benchmarks" / "Peers"
SELECTIVE, MEDIUM = "accounts", "league"
QUERIES = {
    "accounts": "match, 100 hits, each time others",
    "account": "match, 100 hits, the same again",
    "team": "match, topic and team",
    "league": "match, 10 k hits, topic and three leagues",
    "range": "match, 10 k hits, topic and a range",
    "array": "match, 10 k hits, an array's element",
    "wide": "match, three wide conditions",
    "broad": "match, a tenth of all",
    "range-only": "match, a range alone",
    "negation": "match, a negation alone",
}


# The questions that PostgreSQL's GIN index can answer at all, and their words for a client.
POSTGRES = {*postgres.WHERE, "accounts"}


def compiled(name: str, library: str, folder: pathlib.Path) -> pathlib.Path | None:
    """A peer in C; None if its library is not installed."""
    program = folder / name
    command = ["cc", "-O3", "-march=native", "-I/usr/include/postgresql", "-o", program, PEERS / f"{name}.c", f"-l{library}"]
    built = subprocess.run(command, capture_output=True, text=True)
    if built.returncode == 0:
        return program
    if "No such file or directory" in built.stderr or f"cannot find -l{library}" in built.stderr:
        return None
    raise RuntimeError(f"{name}.c does not compile:\n{built.stderr}")


def same(query: str, own: dict, other: dict, peer: str) -> None:
    """A faster wrong answer is no figure."""
    for member in ("hits", "sum"):
        if member in other and own[member] != other[member]:
            raise RuntimeError(f"{peer} answers {query} with {member} {other[member]}, not {own[member]}")


class Peers:
    """What is installed of the index's peers, each with the same instances."""

    def __init__(self, file: pathlib.Path, folder: pathlib.Path, count: int) -> None:
        self.sessions: dict[str, Session] = {}
        self.servers: dict[str, postgres.Postgres | redis_sets.Redis] = {}
        self.why: dict[str, str] = {}
        for name, program, library in (("CRoaring", "roaring", "roaring"), ("SQLite", "sqlite", "sqlite3")):
            built = compiled(program, library, folder)
            if built:
                self.sessions[name] = Session(built, file)
            else:
                self.why[name] = f"lib{library} is not installed"
        self.postgres = postgres.Postgres() if postgres.programs() else None
        if self.postgres:
            self.postgres.load("instance", file)
            self.bytes = self.postgres.index()
            self.servers["PostgreSQL GIN, server alone"] = self.postgres
            client = compiled("postgres", "pq", folder)
            if client:
                self.sessions["PostgreSQL GIN"] = Session(client, self.postgres.folder, str(count))
            else:
                self.why["PostgreSQL GIN"] = "libpq is not installed"
        else:
            self.why |= {"PostgreSQL GIN": "no initdb", "PostgreSQL GIN, server alone": "no initdb"}
        if shutil.which("redis-server"):
            redis = redis_sets.Redis()
            self.redis_bytes = redis.load(file)
            self.servers["Redis"] = redis
        else:
            self.why["Redis"] = "no redis-server"

    def stop(self) -> None:
        for peer in [*self.sessions.values(), *self.servers.values()]:
            peer.stop()


def targets(query: str, peer: str) -> float | None:
    if peer == "PostgreSQL GIN":
        return {SELECTIVE: 100, MEDIUM: 500}.get(query)
    if peer == "CRoaring":
        return {SELECTIVE: 2, "team": 2, MEDIUM: 2, "range": 2, "array": 2, "negation": 0.5, "wide": 0.5}.get(query)
    return None


def matching(own: Session, peers: Peers, rounds: int) -> list[Row]:
    """All of them in turn, the same question, every id read; medians of each turn."""
    found = []
    for query, name in QUERIES.items():
        figures, references = [], {}
        for _ in range(rounds):
            answer = own.ask("match", query, 60)
            figures.append(answer["p50"])
            for peer, session in peers.sessions.items():
                if peer == "PostgreSQL GIN" and query not in POSTGRES:
                    continue
                other = session.ask("match", query, 60)
                same(query, answer, other, peer)
                references.setdefault(peer, []).append(other["p50"])
            for peer, server in peers.servers.items():
                words = postgres.WHERE if peer.startswith("Postgres") else redis_sets.COMMANDS
                if query not in words:
                    continue
                other = server.match(query, 3 if figures[0] > 2 else 20)
                same(query, answer, other, peer)
                references.setdefault(peer, []).append(other["p50"])
                if "execution" in other:
                    references.setdefault("PostgreSQL GIN, execution", []).append(other["execution"])
        for peer in ["PostgreSQL GIN", "PostgreSQL GIN, server alone", "PostgreSQL GIN, execution", "CRoaring", "SQLite", "Redis"]:
            id = "P6" if query in (SELECTIVE, MEDIUM) and peer == "PostgreSQL GIN" else "index"
            target = targets(query, peer)
            if peer in peers.why:
                found.append(absent(id, name, peer, peers.why[peer], unit="us", figures=figures, times_faster=True,
                                    target=target))
            elif peer in references:
                found.append(Row(id, name, "us", figures, peer, references[peer], target, times_faster=True))
        print(f"  {name}: {statistics.median(figures):.3g} us, "
              + ", ".join(f"{peer} {statistics.median(spans):.4g}" for peer, spans in references.items()), flush=True)
    return found


def reregistering(own: Session, peers: Peers, data: pathlib.Path, count: int, rounds: int) -> list[Row]:
    """Instances that get another team; PostgreSQL's rows by upsert in one statement."""
    if peers.postgres:
        peers.postgres.load("fresh", data)
    figures, references = [], []
    for number in range(rounds):
        figures.append(own.ask("reregister", min(count, 200_000))["perSecond"])
        if peers.postgres:
            references.append(peers.postgres.upsert(number * 10_000, 10_000))
    name = "instances re-registered a second, index alone"
    rows = [Row("P7", name, "/s", figures, target=1e6)]
    if peers.postgres:
        rows.append(Row("P7", name, "/s", figures, "PostgreSQL upsert", references, times_faster=False))
    else:
        rows.append(absent("P7", name, "PostgreSQL upsert", "no initdb", unit="/s", figures=figures,
                           times_faster=False))
    steps = own.ask("steps", 100_000)
    rows.append(Row("index", "one re-registration, 99.9 % of them", "us", [steps["p999"]], target=1000, at_least=False))
    return rows


def memory(own: Session, peers: Peers) -> list[Row]:
    name = "bytes an instance, nine fields"
    figures = [own.loaded["bytes"]]
    found = [Row("index", name, "B", figures)]
    sizes = {peer: session.loaded["bytes"] for peer, session in peers.sessions.items() if "bytes" in session.loaded}
    if "Redis" in peers.servers:
        sizes["Redis"] = peers.redis_bytes
    if peers.postgres:
        sizes["PostgreSQL GIN, with its table"] = peers.bytes["index"] + peers.bytes["heap"]
    return found + [Row("index", name, "B", figures, peer, [size], times_faster=True) for peer, size in sizes.items()]


def index_rows(options: argparse.Namespace) -> list[Row]:
    """The intent index and its peers, a million instances."""
    folder, count = options.folder, options.instances
    file, other = folder / "instances.tsv", folder / "changed.tsv"
    for path, version in ((file, 0), (other, 1)):
        with open(path, "w") as output:
            subprocess.run([options.rows_program, "data", str(count), str(version)], check=True, stdout=output)
    own = Session(options.rows_program, "index", str(count))
    peers = Peers(file, folder, count)
    try:
        found = matching(own, peers, options.rounds)
        found += memory(own, peers)
        found += reregistering(own, peers, other, count, options.rounds)
        return found
    finally:
        own.stop()
        peers.stop()
        file.unlink()
        other.unlink()


def subscription_rows(options: argparse.Namespace) -> list[Row]:
    """Conditions on the instances' side, 100,000 of them."""
    runs = [lines(options.rows_program, "subscriptions", "100000") for _ in range(min(3, options.rounds))]

    def column(row: str, member: str) -> list[float]:
        return [run[row][member] for run in runs]

    found = [
        Row("when", "conditions inserted a second", "/s", column("insert", "perSecond"), target=1e6),
        Row("when", "bytes a condition", "B", column("insert", "bytes"), target=150, at_least=False),
    ]
    for kind in ("rare kind", "3 % kind", "10 % kind"):
        matched, held = (statistics.median(column(kind, member)) for member in ("matched", "held"))
        found.append(Row("when", f"a push's conditions, {kind}: {matched:.0f} match, of {held:.0f} instances", "us",
                         column(kind, "p50")))
        found.append(Row("when", f"the same, 99 % of them, {kind}", "us", column(kind, "p99")))
    return found


def size_rows(options: argparse.Namespace) -> list[Row]:
    """What grows as instances do, and what does not."""
    found = []
    costs: dict[str, dict[int, list[float]]] = {}
    for count in options.sizes:
        own = Session(options.rows_program, "index", str(count))
        try:
            size = f"{count // 1000:,} k instances"
            queries = {"account": "100 hits", MEDIUM: "topic and leagues", "broad": "a tenth of all"}
            for query, name in queries.items():
                answers = [own.ask("match", query, 100) for _ in range(options.rounds)]
                hits = answers[0]["hits"]
                found.append(Row("P12", f"match, {name}, {size}, {hits:,.0f} hits", "us", [a["p50"] for a in answers],
                                 target=500 if count == 10_000_000 and query == "broad" else None, at_least=False))
                each = [a["p50"] * 1000 / max(1, hits) for a in answers]
                found.append(Row("P12", f"match a hit, {name}, {size}", "ns", each))
                costs.setdefault(f"match a hit, {name}", {})[count] = each
            rates = [own.ask("reregister", min(count, 200_000))["perSecond"] for _ in range(options.rounds)]
            each = [1e6 / rate for rate in rates]
            found.append(Row("P12", f"one re-registration in the index, {size}", "us", each))
            costs.setdefault("one re-registration in the index", {})[count] = each
            found.append(Row("P12", f"bytes an instance in the index, {size}", "B", [own.loaded["bytes"]]))
            found.append(Row("P12", f"loaded a second, {size}", "/s", [own.loaded["perSecond"]],
                             target=2e6 if count == 10_000_000 else None))
        finally:
            own.stop()
    # From where a question's fixed cost is no longer what counts.
    first, last = min(size for size in options.sizes if size >= min(100_000, max(options.sizes))), max(options.sizes)
    if first < last:
        for name, by_size in costs.items():
            growth = [late / early for early, late in zip(by_size[first], by_size[last])]
            found.append(Row("P12", f"{name}: at {last:,} over {first:,}", "x", growth, target=3, at_least=False))
    own = Session(options.rows_program, "index", str(max(options.sizes)), "10000")
    own.stop()
    found.append(Row("P8", f"bytes an instance in the index, {max(options.sizes):,} instances, 10,000 configurations", "B",
                     [own.loaded["bytes"]], target=60, at_least=False))
    return found
