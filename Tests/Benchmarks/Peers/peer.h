// Shared code of the peers in C: reading the instances that BenchmarkRows writes, and timing.
#pragma once
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TOPIC, TEAM, LEAGUE, ACCOUNT, HEALTH, PREMIUM, FAMILY, FIELDS };

struct instance {
    uint32_t id;
    uint32_t field[FIELDS];
    uint32_t alliances[3];
    int alliance_count;
};

// Reads the next line; 0 at the end.
static inline int read_instance(FILE *file, struct instance *out) {
    char line[256];
    if (!fgets(line, sizeof line, file)) return 0;
    char *at = line;
    out->id = (uint32_t)strtoul(at, &at, 10);
    for (int field = 0; field < FIELDS; field++) out->field[field] = (uint32_t)strtoul(at, &at, 10);
    out->alliance_count = 0;
    while (*at == '\t' || *at == ',') out->alliances[out->alliance_count++] = (uint32_t)strtoul(at + 1, &at, 10);
    return 1;
}

static inline double microseconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct answer {
    uint64_t hits, sum;
};

// The account that is asked about in the n-th place where each question is about another one.
static inline uint32_t nth_account(uint32_t n, uint32_t accounts) { return (uint32_t)((uint64_t)n * 7919 % accounts); }

// Asks again and again for so long, in groups where one answer is too short to time, and prints a line of JSON. There are
// `count` questions, asked in turn; the answer's hits are the mean of all of them, its sum that of all of them.
static inline void measure(const char *name, double milliseconds, struct answer (*ask)(void *, uint32_t), void *context,
                           uint32_t count) {
    static double times[100000];
    int runs = 0, group = 1;
    uint32_t next = 0;
    double end = microseconds_now() + milliseconds * 1000;
    do {
        double start = microseconds_now();
        for (int i = 0; i < group; i++) {
            ask(context, next);
            next = next + 1 == count ? 0 : next + 1;
        }
        times[runs] = (microseconds_now() - start) / group;
        if (runs++ == 0) group = times[0] < 20.0 / 64 ? 64 : times[0] > 20 ? 1 : (int)(20 / times[0]);
    } while (microseconds_now() < end && runs < 100000);
    qsort(times, (size_t)runs, sizeof *times, compare_doubles);
    struct answer all = {0, 0};
    for (uint32_t i = 0; i < count; i++) {
        struct answer answer = ask(context, i);
        all.hits += answer.hits;
        all.sum += answer.sum;
    }
    printf("{\"row\": \"%s\", \"hits\": %f, \"sum\": %llu, \"p50\": %f, \"p99\": %f, \"least\": %f, \"runs\": %d}\n", name,
           (double)all.hits / count, (unsigned long long)all.sum, times[runs / 2], times[runs * 99 / 100], times[0], runs);
    fflush(stdout);
}
