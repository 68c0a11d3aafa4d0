// CRoaring as an index of the same instances: a bitmap for each value of each parameter, found by the value's text as any index
// has to. `roaring FILE`, then on standard input `match QUERY MILLISECONDS`, as BenchmarkRows answers it.
#include "peer.h"
#include <roaring/roaring.h>

// Bitmaps by text, in a table of a power of two with linear probing.
struct entry {
    char key[24];
    roaring_bitmap_t *bitmap;
};

static struct entry *table;
static size_t room = 1 << 12, used;
static roaring_bitmap_t *everything;

static struct entry *place(const char *key) {
    uint64_t hash = 0xCBF29CE484222325;
    for (const char *at = key; *at; at++) hash = (hash ^ (unsigned char)*at) * 0x100000001B3;
    size_t slot = hash & (room - 1);
    while (table[slot].bitmap && strcmp(table[slot].key, key)) slot = (slot + 1) & (room - 1);
    return table + slot;
}

static void grow(void) {
    struct entry *old = table;
    size_t old_room = room;
    room = table ? room * 2 : room;
    table = calloc(room, sizeof *table);
    if (!table) exit(2);
    for (size_t i = 0; old && i < old_room; i++) {
        if (old[i].bitmap) *place(old[i].key) = old[i];
    }
    free(old);
}

static void add(const char *parameter, uint32_t value, uint32_t id) {
    char key[24];
    snprintf(key, sizeof key, "%s-%u", parameter, value);
    if (!table || used * 2 > room) grow();
    struct entry *entry = place(key);
    if (!entry->bitmap) {
        strcpy(entry->key, key);
        entry->bitmap = roaring_bitmap_create();
        used++;
    }
    roaring_bitmap_add(entry->bitmap, id);
}

// The bitmap of a value. It is there: the questions ask for values that some instance has.
static roaring_bitmap_t *find(const char *key) {
    roaring_bitmap_t *bitmap = place(key)->bitmap;
    if (!bitmap) exit(3);
    return bitmap;
}

// Reads every id, in batches, as the index's answer is read.
static struct answer read_ids(const roaring_bitmap_t *bitmap) {
    struct answer answer = {0, 0};
    uint32_t ids[4096];
    roaring_uint32_iterator_t iterator;
    roaring_init_iterator(bitmap, &iterator);
    for (;;) {
        uint32_t count = roaring_read_uint32_iterator(&iterator, ids, 4096);
        if (count == 0) return answer;
        answer.hits += count;
        for (uint32_t i = 0; i < count; i++) answer.sum += ids[i];
    }
}

static struct answer read_and_free(roaring_bitmap_t *bitmap) {
    struct answer answer = read_ids(bitmap);
    roaring_bitmap_free(bitmap);
    return answer;
}

// The values that are in the first and in any of the others: each of the others is cut down by the first before the
// union.
static struct answer both(roaring_bitmap_t *first, roaring_bitmap_t **others, size_t count) {
    roaring_bitmap_t *parts[101];
    for (size_t i = 0; i < count; i++) parts[i] = roaring_bitmap_and(first, others[i]);
    roaring_bitmap_t *result = roaring_bitmap_or_many(count, (const roaring_bitmap_t **)parts);
    for (size_t i = 0; i < count; i++) roaring_bitmap_free(parts[i]);
    return read_and_free(result);
}

// The names of all accounts, in the order in which they are asked about.
static char (*account_names)[24];
static uint32_t accounts;

static struct answer ask(void *context, uint32_t number) {
    const char *query = context;
    if (!strcmp(query, "accounts")) return read_ids(find(account_names[number]));
    if (!strcmp(query, "account")) return read_ids(find("account-77"));
    if (!strcmp(query, "team")) return read_and_free(roaring_bitmap_and(find("topic-3"), find("team-700")));
    if (!strcmp(query, "league")) {
        roaring_bitmap_t *leagues[] = {find("league-1"), find("league-2"), find("league-3")};
        return both(find("topic-1"), leagues, 3);
    }
    if (!strcmp(query, "range") || !strcmp(query, "range-only")) {
        roaring_bitmap_t *healths[34];
        char key[24];
        for (int i = 0; i < 34; i++) {
            snprintf(key, sizeof key, "health-%d", 25 + i);
            healths[i] = find(key);
        }
        if (!strcmp(query, "range")) return both(find("topic-1"), healths, 34);
        return read_and_free(roaring_bitmap_or_many(34, (const roaring_bitmap_t **)healths));
    }
    if (!strcmp(query, "array")) return read_ids(find("alliance-7"));
    if (!strcmp(query, "wide")) {
        roaring_bitmap_t *result = roaring_bitmap_and(find("topic-0"), find("family-0"));
        roaring_bitmap_and_inplace(result, find("premium-1"));
        return read_and_free(result);
    }
    if (!strcmp(query, "broad")) return read_ids(find("topic-0"));
    if (!strcmp(query, "negation")) {
        const roaring_bitmap_t *teams[] = {find("team-0"), find("team-1"), find("team-2")};
        roaring_bitmap_t *named = roaring_bitmap_or_many(3, teams);
        roaring_bitmap_t *result = roaring_bitmap_andnot(everything, named);
        roaring_bitmap_free(named);
        return read_and_free(result);
    }
    return read_ids(everything);
}

int main(int argc, char **argv) {
    static const char *names[FIELDS] = {"topic", "team", "league", "account", "health", "premium", "family"};
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (!file) return fprintf(stderr, "usage: roaring FILE\n"), 2;
    struct instance row;
    uint32_t count = 0;
    size_t bytes = 0;
    double start = microseconds_now();
    for (; read_instance(file, &row); count++) {
        for (int field = 0; field < FIELDS; field++) add(names[field], row.field[field], row.id);
        for (int i = 0; i < row.alliance_count; i++) add("alliance", row.alliances[i], row.id);
    }
    everything = roaring_bitmap_from_range(0, count, 1);
    for (size_t i = 0; i < room; i++) {
        if (!table[i].bitmap) continue;
        roaring_bitmap_run_optimize(table[i].bitmap);
        roaring_bitmap_shrink_to_fit(table[i].bitmap);
        bytes += roaring_bitmap_size_in_bytes(table[i].bitmap);
    }
    double took = microseconds_now() - start;
    printf("{\"row\": \"load\", \"perSecond\": %f, \"bytes\": %f}\n", count / took * 1e6, (double)bytes / count);
    fflush(stdout);
    char query[32];
    double milliseconds;
    accounts = count < 100 ? 1 : count / 100;
    account_names = calloc(accounts, sizeof *account_names);
    if (!account_names) return 2;
    for (uint32_t n = 0; n < accounts; n++)
        snprintf(account_names[n], sizeof *account_names, "account-%u", nth_account(n, accounts));
    while (scanf(" match %31s %lf", query, &milliseconds) == 2)
        measure(query, milliseconds, ask, query, strcmp(query, "accounts") ? 1 : accounts);
    return 0;
}
