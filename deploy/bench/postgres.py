"""A PostgreSQL cluster of its own on a unix socket in a temporary folder. What a question takes a client is
Tests/Benchmarks/Peers/postgres.c's to say; here is what the server says that it takes."""

import os
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile

# Everything in memory, nothing synchronous, one core: as good as it gets for it.
SETTINGS = {
    "listen_addresses": "", "fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "autovacuum": "off",
    "shared_buffers": "2GB", "work_mem": "256MB", "maintenance_work_mem": "512MB", "max_wal_size": "8GB", "jit": "off",
    "max_parallel_workers_per_gather": "0", "max_parallel_maintenance_workers": "0", "random_page_cost": "1.1",
    "effective_cache_size": "8GB",
}

# The questions of BenchmarkRows in its words.
WHERE = {
    "account": """config @> '{"account": "acct-77"}'""",
    "team": """config @> '{"topic": "k3", "team": "team-700"}'""",
    "league": " OR ".join(f"""config @> '{{"topic": "k1", "league": "league-{n}"}}'""" for n in (1, 2, 3)),
    "range": """config @> '{"topic": "k1"}' AND (config ->> 'health')::int BETWEEN 25 AND 58""",
    "array": """config @> '{"alliances": ["al-7"]}'""",
    "wide": """config @> '{"topic": "k0", "premium": true, "family": 0}'""",
    "broad": """config @> '{"topic": "k0"}'""",
}

CONFIG = """jsonb_build_object('topic', 'k' || topic, 'team', 'team-' || team, 'league', 'league-' || league,
    'account', 'acct-' || account, 'health', health, 'premium', premium = 1, 'family', family,
    'alliances', string_to_array('al-' || replace(alliances, ',', ',al-'), ','))"""


def programs() -> pathlib.Path | None:
    """Where its programs are: Debian keeps them off the PATH."""
    folders = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    on_path = shutil.which("initdb")
    found = [folder for folder in folders if (folder / "initdb").exists()]
    return found[0] if found else pathlib.Path(on_path).parent if on_path else None


class Postgres:
    def __init__(self) -> None:
        self.bin = programs()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="freshet-pg-"))
        # The server refuses to run as root.
        self.as_user = []
        if os.getuid() == 0:
            self.as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
            shutil.chown(self.folder, "postgres", "postgres")
        self.run(*self.as_user, self.bin / "initdb", "-D", self.folder / "data", "--auth=trust", "--username=bench",
                 "--no-sync", "--encoding=UTF8", "--locale=C")
        options = " ".join(f"-c {name}={value or chr(39) * 2}" for name, value in SETTINGS.items())
        self.run(*self.as_user, self.bin / "pg_ctl", "-D", self.folder / "data", "-w", "-l", self.folder / "log",
                 "-o", f"{options} -k {self.folder}", "start")

    def run(self, *command, **rest) -> str:
        # It starts a server that keeps the descriptors it is given, so no pipe may be among them.
        with tempfile.TemporaryFile("w+") as output:
            try:
                subprocess.run(command, check=True, stdout=output, stderr=subprocess.STDOUT, cwd="/", **rest)
            except subprocess.CalledProcessError as error:
                output.seek(0)
                raise RuntimeError(f"{command[0]}: {output.read()}") from error
            output.seek(0)
            return output.read()

    def sql(self, *statements: str) -> str:
        commands = [argument for statement in statements for argument in ("-c", statement)]
        return self.run(self.bin / "psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", self.folder, "-U", "bench",
                        "-d", "postgres", *commands)

    def load(self, table: str, file: pathlib.Path) -> None:
        columns = "topic int, team int, league int, account int, health int, premium int, family int, alliances text"
        self.sql(
            f"CREATE UNLOGGED TABLE raw (id int, {columns})",
            f"\\copy raw FROM '{file}'",
            f"CREATE TABLE {table} AS SELECT id, {CONFIG} AS config FROM raw",
            "DROP TABLE raw",
        )

    def index(self) -> dict[str, float]:
        """Makes the GIN index; bytes per instance of it and of the table."""
        self.sql("ALTER TABLE instance ADD PRIMARY KEY (id)",
                 "CREATE INDEX by_config ON instance USING gin (config jsonb_path_ops)", "VACUUM ANALYZE instance")
        sizes = self.sql("SELECT pg_relation_size('by_config'), pg_table_size('instance'), count(*) FROM instance")
        index, heap, count = (int(size) for size in sizes.strip().split("|"))
        return {"index": index / count, "heap": heap / count}

    def match(self, query: str, times: int) -> dict[str, float]:
        """The server's own time to find the ids, with and without planning: no client, and no row that leaves the server."""
        statement = f"EXPLAIN (ANALYZE, TIMING OFF) SELECT id FROM instance WHERE {WHERE[query]}"
        # The first one fills the connection's caches.
        said = self.sql(*[statement] * (times + 1))
        if query not in ("broad", "array") and "by_config" not in said:
            raise RuntimeError(f"PostgreSQL does not use its index for {query}:\n{said}")
        planning, executing = ([float(span) * 1000 for span in re.findall(rf"{kind} Time: ([\d.]+) ms", said)[1:]]
                               for kind in ("Planning", "Execution"))
        hits = int(re.search(r"actual rows=(\d+)", said).group(1))
        return {"hits": hits, "execution": statistics.median(executing),
                "p50": statistics.median(map(sum, zip(planning, executing)))}

    def upsert(self, first: int, count: int) -> float:
        """Rows a second, by the executor's own time, in one statement."""
        said = self.sql(
            "EXPLAIN (ANALYZE, TIMING OFF) INSERT INTO instance"
            f" SELECT * FROM fresh OFFSET {first} LIMIT {count}"
            " ON CONFLICT (id) DO UPDATE SET config = EXCLUDED.config"
        )
        return count / float(re.search(r"Execution Time: ([\d.]+) ms", said).group(1)) * 1000

    def stop(self) -> None:
        self.run(*self.as_user, self.bin / "pg_ctl", "-D", self.folder / "data", "-m", "immediate", "-w", "stop")
        shutil.rmtree(self.folder)
