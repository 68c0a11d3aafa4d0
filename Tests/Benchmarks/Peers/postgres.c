// PostgreSQL as a program asks it: over its unix socket, statements prepared, every id sent and read, in binary. `postgres
// FOLDER COUNT` for a server that has the instances, then on standard input `match QUERY MILLISECONDS`.
#include "peer.h"
#include <arpa/inet.h>
#include <libpq-fe.h>

static PGconn *connection;
static uint32_t accounts;

static PGresult *checked(PGresult *result) {
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
        fprintf(stderr, "%s", PQresultErrorMessage(result));
        exit(2);
    }
    return result;
}

static struct answer ask(void *context, uint32_t number) {
    char account[48];
    const char *parameters[] = {account};
    int has_account = !strcmp(context, "accounts");
    snprintf(account, sizeof account, "{\"account\": \"acct-%u\"}", nth_account(number, accounts));
    PGresult *result = checked(PQexecPrepared(connection, context, has_account, parameters, NULL, NULL, 1));
    struct answer answer = {(uint64_t)PQntuples(result), 0};
    for (int row = 0; row < PQntuples(result); row++) {
        uint32_t id;
        memcpy(&id, PQgetvalue(result, row, 0), sizeof id);
        answer.sum += ntohl(id);
    }
    PQclear(result);
    return answer;
}

static const char *words[][2] = {
    {"account", "config @> '{\"account\": \"acct-77\"}'"},
    {"accounts", "config @> $1::jsonb"},
    {"team", "config @> '{\"topic\": \"k3\", \"team\": \"team-700\"}'"},
    {"league", "config @> '{\"topic\": \"k1\", \"league\": \"league-1\"}' OR config @> '{\"topic\": \"k1\", \"league\": "
               "\"league-2\"}' OR config @> '{\"topic\": \"k1\", \"league\": \"league-3\"}'"},
    {"range", "config @> '{\"topic\": \"k1\"}' AND (config ->> 'health')::int BETWEEN 25 AND 58"},
    {"array", "config @> '{\"alliances\": [\"al-7\"]}'"},
    {"wide", "config @> '{\"topic\": \"k0\", \"premium\": true, \"family\": 0}'"},
    {"broad", "config @> '{\"topic\": \"k0\"}'"},
};

int main(int argc, char **argv) {
    if (argc != 3) return fprintf(stderr, "usage: postgres FOLDER COUNT\n"), 2;
    const char *names[] = {"host", "user", "dbname", NULL}, *values[] = {argv[1], "bench", "postgres", NULL};
    connection = PQconnectdbParams(names, values, 0);
    if (PQstatus(connection) != CONNECTION_OK) return fprintf(stderr, "%s", PQerrorMessage(connection)), 2;
    accounts = (uint32_t)strtoul(argv[2], NULL, 10) / 100;
    if (accounts == 0) accounts = 1;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char statement[512];
        snprintf(statement, sizeof statement, "SELECT id FROM instance WHERE %s", words[i][1]);
        PQclear(checked(PQprepare(connection, words[i][0], statement, 0, NULL)));
    }
    printf("{\"row\": \"load\"}\n");
    fflush(stdout);
    char query[32];
    double milliseconds;
    while (scanf(" match %31s %lf", query, &milliseconds) == 2)
        measure(query, milliseconds, ask, query, strcmp(query, "accounts") ? 1 : accounts);
    PQfinish(connection);
    return 0;
}
