// Holds the loops of CKernels to plain ones, byte for byte, on whatever processor this runs.
//
// The Swift tests do the same where Swift runs; this one needs a C compiler alone, so that it also runs as aarch64 under
// qemu. `Tests/Kernels/run.sh` builds and runs it.
#include "CKernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 42;

// SplitMix64, as the Swift tests have it.
static uint64_t next(void) {
    uint64_t mixed = state += 0x9E3779B97F4A7C15ULL;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9ULL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBULL;
    return mixed ^ (mixed >> 31);
}

static size_t checks = 0;

static void expect(int holds, const char *what, size_t count) {
    checks++;
    if (holds) return;
    fprintf(stderr, "KernelsTest: %s differs at %zu\n", what, count);
    exit(1);
}

static const size_t counts[] = {0, 1, 2, 15, 16, 17, 63, 64, 65, 127, 128, 129, 1000, 4096, 65535, 65536};
enum { COUNTS = sizeof counts / sizeof *counts, MOST = 65536, WORDS = MOST / 64 };

static uint8_t codes8[MOST];
static uint16_t codes16[MOST];
static uint32_t codes32[MOST];
static uint8_t table[MOST];
static uint64_t words[WORDS], wanted[WORDS];
static uint32_t numbers[MOST + 16], expected[MOST];

static int same_words(size_t count) {
    return memcmp(words, wanted, (count + 63) / 64 * 8) == 0;
}

static void plain(size_t count, int (*passes)(size_t, uint32_t), uint32_t code) {
    memset(wanted, 0, sizeof wanted);
    memset(words, 0xFF, sizeof words);
    for (size_t index = 0; index < count; index++)
        if (passes(index, code)) wanted[index / 64] |= 1ULL << (index % 64);
}

static int equal8(size_t index, uint32_t code) { return codes8[index] == code; }
static int equal16(size_t index, uint32_t code) { return codes16[index] == code; }
static int equal32(size_t index, uint32_t code) { return codes32[index] == code; }
static int table8(size_t index, uint32_t code) { return (void)code, table[codes8[index]]; }
static int table16(size_t index, uint32_t code) { return (void)code, table[codes16[index]]; }

static void test_codes(size_t count, uint64_t few) {
    for (size_t index = 0; index < count; index++) {
        uint64_t drawn = next();
        codes32[index] = (uint32_t)(few ? drawn % few : drawn);
        codes16[index] = (uint16_t)codes32[index];
        codes8[index] = (uint8_t)codes32[index];
    }
    for (size_t code = 0; code < MOST; code++) table[code] = next() % 3 == 0;
    for (uint32_t round = 0; round < 4; round++) {
        uint32_t code = count && round ? codes32[next() % count] : round;
        plain(count, equal8, (uint8_t)code);
        ckernels_equal_8(codes8, count, (uint8_t)code, words);
        expect(same_words(count), "equal_8", count);
        plain(count, equal16, (uint16_t)code);
        ckernels_equal_16(codes16, count, (uint16_t)code, words);
        expect(same_words(count), "equal_16", count);
        plain(count, equal32, code);
        ckernels_equal_32(codes32, count, code, words);
        expect(same_words(count), "equal_32", count);
    }
    plain(count, table8, 0);
    ckernels_table_8(codes8, count, table, words);
    expect(same_words(count), "table_8", count);
    plain(count, table16, 0);
    ckernels_table_16(codes16, count, table, words);
    expect(same_words(count), "table_16", count);
}

// Every other row, each kept by its code.
static void test_rows(size_t count) {
    static const uint32_t few[][4] = {{3, 3, 3, 3}, {1, 2, 2, 2}, {5, 0, 1, 2}, {9, 259, 65539, 7}};
    static uint32_t rows[MOST];
    size_t length = 0, filled;
    for (size_t index = 0; index < count; index++) {
        codes8[index] = codes16[index] = (uint16_t)(codes32[index] = (uint32_t)(next() % 6));
        if (next() % 2) rows[length++] = (uint32_t)index;
    }
    for (size_t round = 0; round < sizeof few / sizeof *few; round++) {
        filled = 0;
        for (size_t index = 0; index < length; index++)
            for (int place = 0; place < 4; place++)
                if (codes32[rows[index]] == few[round][place]) {
                    expected[filled++] = rows[index];
                    break;
                }
        expect(ckernels_keep_8(rows, length, codes8, count, few[round], numbers) == filled, "the count of keep_8", count);
        expect(memcmp(numbers, expected, filled * 4) == 0, "keep_8", count);
        expect(ckernels_keep_16(rows, length, codes16, count, few[round], numbers) == filled, "the count of keep_16", count);
        expect(memcmp(numbers, expected, filled * 4) == 0, "keep_16", count);
        expect(ckernels_keep_32(rows, length, codes32, count, few[round], numbers) == filled, "the count of keep_32", count);
        expect(memcmp(numbers, expected, filled * 4) == 0, "keep_32", count);
    }
    for (size_t code = 0; code < MOST; code++) table[code] = code % 3 == 1;
    filled = 0;
    for (size_t index = 0; index < length; index++)
        if (table[codes32[rows[index]]]) expected[filled++] = rows[index];
    expect(ckernels_pick_8(rows, length, codes8, count, table, numbers) == filled, "the count of pick_8", count);
    expect(memcmp(numbers, expected, filled * 4) == 0, "pick_8", count);
    expect(ckernels_pick_16(rows, length, codes16, count, table, numbers) == filled, "the count of pick_16", count);
    expect(memcmp(numbers, expected, filled * 4) == 0, "pick_16", count);
    // In its own place, and with a row that is none.
    if (length == 0) return;
    expect(ckernels_keep_8(rows, length, codes8, rows[length - 1], few[0], numbers) == SIZE_MAX, "a row beyond", count);
    filled = ckernels_keep_8(rows, length, codes8, count, few[0], numbers);
    expect(ckernels_keep_8(rows, length, codes8, count, few[0], rows) == filled, "keep_8 in its place", count);
    expect(memcmp(rows, numbers, filled * 4) == 0, "the rows of keep_8 in their place", count);
}

static void test_numbers(size_t count, uint64_t density) {
    size_t filled = 0, length = (count + 63) / 64;
    memset(words, 0, sizeof words);
    for (size_t index = 0; index < length * 64; index++)
        if (next() % 64 < density) {
            words[index / 64] |= 1ULL << (index % 64);
            expected[filled++] = (uint32_t)(70000 + index);
        }
    expect(ckernels_decode(words, length, 70000, numbers) == filled, "the count of decode", count);
    expect(memcmp(numbers, expected, filled * 4) == 0, "decode", count);
    for (size_t index = 0; index < count; index++) {
        codes16[index] = (uint16_t)next();
        expected[index] = (3u << 16) + codes16[index];
    }
    ckernels_widen(codes16, count, 3u << 16, numbers);
    expect(memcmp(numbers, expected, count * 4) == 0, "widen", count);
    for (size_t index = 0; index < count; index++) codes32[index] = (uint32_t)next();
    for (size_t index = 0; index < count; index++) expected[index] = codes32[index] - 70000u;
    ckernels_add(codes32, count, -70000u, numbers);
    expect(memcmp(numbers, expected, count * 4) == 0, "add", count);
}

// Grows and shrinks over the size from which blocks are maps of their own.
static void test_memory(void) {
    static const size_t sizes[] = {8, 4096, 1 << 19, (1 << 20) + 8, 40 << 20, 3 << 20, 1 << 18, 64};
    uint8_t *memory = NULL;
    size_t old = 0;
    for (size_t step = 0; step < sizeof sizes / sizeof *sizes; step++) {
        size_t size = sizes[step], kept = old < size ? old : size;
        memory = ckernels_resize(memory, old, size);
        if (!memory) exit(1);
        for (size_t index = 0; index < kept; index += 61)
            expect(memory[index] == (uint8_t)(index * 7), "what a block kept", size);
        if (size >= 1 << 20 && old == 0)
            for (size_t index = 0; index < size; index += 61) expect(memory[index] == 0, "a new block", size);
        for (size_t index = 0; index < size; index++) memory[index] = (uint8_t)(index * 7);
        old = size;
    }
    ckernels_free(memory, old);
    memory = ckernels_resize(NULL, 0, 2 << 20);
    for (size_t index = 0; index < 2 << 20; index += 61) expect(memory[index] == 0, "a new map", index);
    ckernels_free(memory, 2 << 20);
}

static void test_checksum(size_t count) {
    if (!ckernels_has_crc32c()) return;
    uint32_t remainder = 0xFFFFFFFF;
    for (size_t index = 0; index < count; index++) {
        remainder ^= codes8[index] = (uint8_t)next();
        for (int bit = 0; bit < 8; bit++) remainder = remainder & 1 ? remainder >> 1 ^ 0x82F63B78 : remainder >> 1;
    }
    expect(ckernels_crc32c(0xFFFFFFFF, codes8, count) == remainder, "crc32c", count);
    uint32_t first = ckernels_crc32c(0xFFFFFFFF, codes8, count / 3);
    expect(ckernels_crc32c(first, codes8 + count / 3, count - count / 3) == remainder, "crc32c of two", count);
}

int main(void) {
    for (size_t index = 0; index < COUNTS; index++) {
        for (uint64_t few = 0; few < 8; few++) test_codes(counts[index], few);
        test_rows(counts[index]);
        static const uint64_t densities[] = {0, 1, 8, 32, 60, 64};
        for (size_t density = 0; density < 6; density++) test_numbers(counts[index], densities[density]);
        test_checksum(counts[index]);
    }
    test_memory();
    printf("KernelsTest: %zu checks hold\n", checks);
    return 0;
}
