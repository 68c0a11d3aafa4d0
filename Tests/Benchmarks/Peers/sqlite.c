// SQLite in memory as an index of the same instances: a table with the composite indexes that a schema made for just these
// questions would have, covering them. `sqlite FILE`, then on standard input `match QUERY MILLISECONDS`.
#include "peer.h"
#include <sqlite3.h>

static sqlite3 *db;

static void run(const char *sql) {
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
        fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(db));
        exit(2);
    }
}

static sqlite3_stmt *prepare(const char *sql) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK) {
        fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(db));
        exit(2);
    }
    return statement;
}

static uint32_t accounts;

static struct answer ask(void *context, uint32_t number) {
    sqlite3_stmt *statement = context;
    struct answer answer = {0, 0};
    if (sqlite3_bind_parameter_count(statement) > 0) sqlite3_bind_int64(statement, 1, nth_account(number, accounts));
    while (sqlite3_step(statement) == SQLITE_ROW) {
        answer.hits++;
        answer.sum += (uint64_t)sqlite3_column_int64(statement, 0);
    }
    sqlite3_reset(statement);
    return answer;
}

static const char *words[][2] = {
    {"account", "SELECT id FROM instance WHERE account = 77"},
    {"accounts", "SELECT id FROM instance WHERE account = ?"},
    {"team", "SELECT id FROM instance WHERE topic = 3 AND team = 700"},
    {"league", "SELECT id FROM instance WHERE topic = 1 AND league IN (1, 2, 3)"},
    {"range", "SELECT id FROM instance WHERE topic = 1 AND health BETWEEN 25 AND 58"},
    {"array", "SELECT id FROM alliance WHERE value = 7"},
    {"wide", "SELECT id FROM instance WHERE topic = 0 AND premium = 1 AND family = 0"},
    {"broad", "SELECT id FROM instance WHERE topic = 0"},
    {"range-only", "SELECT id FROM instance WHERE health BETWEEN 25 AND 58"},
    {"negation", "SELECT id FROM instance WHERE team NOT IN (0, 1, 2)"},
    {"any", "SELECT id FROM instance"},
};

int main(int argc, char **argv) {
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (!file || sqlite3_open(":memory:", &db) != SQLITE_OK) return fprintf(stderr, "usage: sqlite FILE\n"), 2;
    run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF");
    run("CREATE TABLE instance (id INTEGER PRIMARY KEY, topic INT, team INT, league INT, account INT, health INT,"
        " premium INT, family INT);"
        "CREATE TABLE alliance (value INT, id INT, PRIMARY KEY (value, id)) WITHOUT ROWID");
    double start = microseconds_now();
    size_t count = 0;
    run("BEGIN");
    sqlite3_stmt *row = prepare("INSERT INTO instance VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
    sqlite3_stmt *element = prepare("INSERT INTO alliance VALUES (?, ?)");
    struct instance instance;
    while (read_instance(file, &instance)) {
        sqlite3_bind_int64(row, 1, instance.id);
        for (int field = 0; field < FIELDS; field++) sqlite3_bind_int64(row, 2 + field, instance.field[field]);
        sqlite3_step(row);
        sqlite3_reset(row);
        for (int i = 0; i < instance.alliance_count; i++) {
            sqlite3_bind_int64(element, 1, instance.alliances[i]);
            sqlite3_bind_int64(element, 2, instance.id);
            sqlite3_step(element);
            sqlite3_reset(element);
        }
        count++;
    }
    run("COMMIT");
    run("CREATE INDEX by_account ON instance (account); CREATE INDEX by_topic_team ON instance (topic, team);"
        "CREATE INDEX by_topic_league ON instance (topic, league); CREATE INDEX by_topic_health ON instance (topic, health);"
        "CREATE INDEX by_topic_premium ON instance (topic, premium, family); CREATE INDEX by_health ON instance (health);"
        "CREATE INDEX by_team ON instance (team); ANALYZE");
    double took = microseconds_now() - start;
    printf("{\"row\": \"load\", \"perSecond\": %f, \"bytes\": %f}\n", (double)count / took * 1e6,
           (double)sqlite3_memory_used() / (double)count);
    fflush(stdout);
    accounts = count < 100 ? 1 : (uint32_t)(count / 100);
    char command[16], argument[256];
    while (scanf(" %15s %255s", command, argument) == 2) {
        double milliseconds;
        if (strcmp(command, "match") || scanf("%lf", &milliseconds) != 1) return 2;
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
            if (strcmp(words[i][0], argument)) continue;
            sqlite3_stmt *statement = prepare(words[i][1]);
            measure(argument, milliseconds, ask, statement, strcmp(argument, "accounts") ? 1 : accounts);
            sqlite3_finalize(statement);
        }
    }
    return 0;
}
