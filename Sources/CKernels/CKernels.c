#define _GNU_SOURCE
#include "CKernels.h"

#include <stdlib.h>
#include <string.h>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

#if defined(__x86_64__) && defined(__linux__)
#include <immintrin.h>
#define CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define CLONES
#endif

// The function that picks a variant runs while the program is loaded, before the thread sanitiser that the compiler has
// it call.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#undef CLONES
#define CLONES
#endif
#endif

// Eight bytes of 0 or 1 as eight bits, the first byte lowest. The products of the multiplication do not overlap in the
// highest byte.
static inline uint64_t bits_of_bytes(uint64_t bytes) {
    return (bytes * 0x0102040810204080ULL) >> 56;
}

static inline uint64_t word_of_flags(const uint8_t *flags) {
    uint64_t word = 0;
    for (int part = 0; part < 8; part++) {
        uint64_t bytes;
        memcpy(&bytes, flags + 8 * part, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        bytes = __builtin_bswap64(bytes);
#endif
        word |= bits_of_bytes(bytes) << (8 * part);
    }
    return word;
}

// With clang a comparison of vectors is a vector of bits, which is the word itself.
#if defined(__clang__)
#define EQUAL_WORD(type, codes, code, word)                                                   \
    do {                                                                                      \
        typedef type lanes __attribute__((ext_vector_type(64)));                              \
        typedef _Bool flags __attribute__((ext_vector_type(64)));                             \
        lanes values;                                                                         \
        memcpy(&values, (codes), sizeof(type) * 64);                                          \
        flags equal = __builtin_convertvector(values == (lanes)(type)(code), flags);          \
        memcpy(&(word), &equal, sizeof(uint64_t));                                            \
    } while (0)
#else
#define EQUAL_WORD(type, codes, code, word)                                                   \
    do {                                                                                      \
        uint8_t flags[64];                                                                    \
        for (int lane = 0; lane < 64; lane++) flags[lane] = (codes)[lane] == (type)(code);    \
        (word) = word_of_flags(flags);                                                        \
    } while (0)
#endif

#define EQUAL(name, type)                                                                     \
    CLONES void name(const type *codes, size_t count, uint32_t code, uint64_t *words) {       \
        size_t index = 0;                                                                     \
        for (; index + 64 <= count; index += 64) {                                            \
            uint64_t word = 0;                                                                \
            EQUAL_WORD(type, codes + index, code, word);                                      \
            words[index / 64] = word;                                                         \
        }                                                                                     \
        if (index < count) {                                                                  \
            uint64_t word = 0;                                                                \
            for (size_t lane = 0; index + lane < count; lane++)                               \
                word |= (uint64_t)(codes[index + lane] == (type)code) << lane;                \
            words[index / 64] = word;                                                         \
        }                                                                                     \
    }

EQUAL(ckernels_equal_8, uint8_t)
EQUAL(ckernels_equal_16, uint16_t)
EQUAL(ckernels_equal_32, uint32_t)

#define TABLE(name, type)                                                                     \
    CLONES void name(const type *codes, size_t count, const uint8_t *table, uint64_t *words) { \
        size_t index = 0;                                                                     \
        for (; index + 64 <= count; index += 64) {                                            \
            uint8_t flags[64];                                                                \
            for (int lane = 0; lane < 64; lane++) flags[lane] = table[codes[index + lane]];   \
            words[index / 64] = word_of_flags(flags);                                         \
        }                                                                                     \
        if (index < count) {                                                                  \
            uint64_t word = 0;                                                                \
            for (size_t lane = 0; index + lane < count; lane++)                               \
                word |= (uint64_t)table[codes[index + lane]] << lane;                         \
            words[index / 64] = word;                                                         \
        }                                                                                     \
    }

TABLE(table_8_anywhere, uint8_t)
TABLE(ckernels_table_16, uint16_t)

static inline size_t decode_word(uint64_t word, uint32_t base, uint32_t *out) {
    size_t count = 0;
    while (word) {
        out[count++] = base + (uint32_t)__builtin_ctzll(word);
        word &= word - 1;
    }
    return count;
}

#if defined(__x86_64__) && defined(__linux__)

// A table of 256 bytes is two pairs of vectors; the highest bit of a code chooses the pair.
__attribute__((target("avx512f,avx512bw,avx512vbmi")))
static void table_8_vbmi(const uint8_t *codes, size_t count, const uint8_t *table, uint64_t *words) {
    __m512i first = _mm512_loadu_si512(table), second = _mm512_loadu_si512(table + 64);
    __m512i third = _mm512_loadu_si512(table + 128), fourth = _mm512_loadu_si512(table + 192);
    size_t index = 0;
    for (; index + 64 <= count; index += 64) {
        __m512i values = _mm512_loadu_si512(codes + index);
        __m512i low = _mm512_permutex2var_epi8(first, values, second);
        __m512i high = _mm512_permutex2var_epi8(third, values, fourth);
        __m512i found = _mm512_mask_blend_epi8(_mm512_movepi8_mask(values), low, high);
        words[index / 64] = _mm512_test_epi8_mask(found, found);
    }
    if (index < count) table_8_anywhere(codes + index, count - index, table, words + index / 64);
}

__attribute__((target("avx512f,popcnt")))
static size_t decode_avx512(const uint64_t *words, size_t count, uint32_t base, uint32_t *out) {
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    size_t filled = 0;
    for (size_t index = 0; index < count; index++) {
        uint64_t word = words[index];
        uint32_t first = base + (uint32_t)(64 * index);
        // Few bits are written faster one by one than by four steps over all of them.
        if (__builtin_popcountll(word) <= 4) {
            filled += decode_word(word, first, out + filled);
            continue;
        }
        for (uint32_t part = 0; part < 64; part += 16) {
            __mmask16 mask = (__mmask16)(word >> part);
            __m512i numbers = _mm512_add_epi32(lanes, _mm512_set1_epi32((int)(first + part)));
            _mm512_storeu_si512(out + filled, _mm512_maskz_compress_epi32(mask, numbers));
            filled += (size_t)__builtin_popcount(mask);
        }
    }
    return filled;
}

// All numbers of a word's bits at once, as bytes; sixteen of them become one store.
__attribute__((target("avx512f,avx512bw,avx512vbmi2,popcnt")))
static size_t decode_vbmi2(const uint64_t *words, size_t count, uint32_t base, uint32_t *out) {
    static const uint8_t numbers[64] = {
        0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
        32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63,
    };
    const __m512i lanes = _mm512_loadu_si512(numbers);
    size_t filled = 0;
    for (size_t index = 0; index < count; index++) {
        uint64_t word = words[index];
        size_t found = (size_t)__builtin_popcountll(word);
        __m512i first = _mm512_set1_epi32((int)(base + (uint32_t)(64 * index)));
        __m512i bytes = _mm512_maskz_compress_epi8((__mmask64)word, lanes);
        __m512i low = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(bytes));
        _mm512_storeu_si512(out + filled, _mm512_add_epi32(first, low));
        if (found > 16) {
            __m512i next = _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(bytes, 1));
            _mm512_storeu_si512(out + filled + 16, _mm512_add_epi32(first, next));
        }
        if (found > 32) {
            __m512i next = _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(bytes, 2));
            _mm512_storeu_si512(out + filled + 32, _mm512_add_epi32(first, next));
            next = _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(bytes, 3));
            if (found > 48) _mm512_storeu_si512(out + filled + 48, _mm512_add_epi32(first, next));
        }
        filled += found;
    }
    return filled;
}

void ckernels_table_8(const uint8_t *codes, size_t count, const uint8_t *table, uint64_t *words) {
    if (__builtin_cpu_supports("avx512vbmi")) table_8_vbmi(codes, count, table, words);
    else table_8_anywhere(codes, count, table, words);
}

size_t ckernels_decode(const uint64_t *words, size_t count, uint32_t base, uint32_t *out) {
    if (__builtin_cpu_supports("avx512vbmi2")) return decode_vbmi2(words, count, base, out);
    if (__builtin_cpu_supports("avx512f")) return decode_avx512(words, count, base, out);
    size_t filled = 0;
    for (size_t index = 0; index < count; index++)
        filled += decode_word(words[index], base + (uint32_t)(64 * index), out + filled);
    return filled;
}

#else

void ckernels_table_8(const uint8_t *codes, size_t count, const uint8_t *table, uint64_t *words) {
    table_8_anywhere(codes, count, table, words);
}

size_t ckernels_decode(const uint64_t *words, size_t count, uint32_t base, uint32_t *out) {
    size_t filled = 0;
    for (size_t index = 0; index < count; index++)
        filled += decode_word(words[index], base + (uint32_t)(64 * index), out + filled);
    return filled;
}

#endif

// The number of rows kept grows by the comparison's result, not by a jump: a wrong guess costs more than ten comparisons.
#define WALK(type, passes)                                                                    \
    do {                                                                                      \
        size_t filled = 0;                                                                    \
        for (size_t start = 0; start < count; start += 128) {                                 \
            size_t end = count - start < 128 ? count : start + 128;                           \
            uint32_t highest = 0;                                                             \
            for (size_t index = start; index < end; index++)                                  \
                highest = rows[index] > highest ? rows[index] : highest;                      \
            if (highest >= bound) return SIZE_MAX;                                            \
            for (size_t index = start; index < end; index++) {                                \
                uint32_t row = rows[index];                                                   \
                type code = codes[row];                                                       \
                out[filled] = row;                                                            \
                filled += (passes);                                                           \
            }                                                                                 \
        }                                                                                     \
        return filled;                                                                        \
    } while (0)

#define KEEP(name, type)                                                                      \
    CLONES size_t name(const uint32_t *rows, size_t count, const type *codes, size_t bound,   \
                       const uint32_t *wanted, uint32_t *out) {                               \
        uint32_t first = wanted[0], second = wanted[1], third = wanted[2], last = wanted[3];  \
        if (first == second && first == third && first == last) WALK(type, code == first);    \
        WALK(type, (code == first) | (code == second) | (code == third) | (code == last));    \
    }

KEEP(ckernels_keep_8, uint8_t)
KEEP(ckernels_keep_16, uint16_t)
KEEP(ckernels_keep_32, uint32_t)

#define PICK(name, type)                                                                      \
    CLONES size_t name(const uint32_t *rows, size_t count, const type *codes, size_t bound,   \
                       const uint8_t *table, uint32_t *out) {                                 \
        WALK(type, table[code]);                                                              \
    }

PICK(ckernels_pick_8, uint8_t)
PICK(ckernels_pick_16, uint16_t)

CLONES void ckernels_widen(const uint16_t *lows, size_t count, uint32_t base, uint32_t *out) {
    for (size_t index = 0; index < count; index++) out[index] = base + lows[index];
}

CLONES void ckernels_add(const uint32_t *numbers, size_t count, uint32_t difference, uint32_t *out) {
    for (size_t index = 0; index < count; index++) out[index] = numbers[index] + difference;
}

// From this size on blocks are maps of their own, which the kernel can move without touching them.
#define MAPPED ((size_t)1 << 20)

#if defined(__linux__)

// Large tables are read at random; with large pages that costs one miss of the address cache less for each access. Smaller
// ones keep small pages: the first touch of a large one can take milliseconds, where the host of a virtual machine takes memory back.
#define LARGE_PAGE ((size_t)2 << 20)
#define LARGE ((size_t)32 << 20)

// The size of a block's map: a map whose bounds are not those of large pages loses them whenever it moves.
static size_t mapped(size_t size) {
    return size < LARGE ? size : (size + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1);
}

void *ckernels_resize(void *memory, size_t oldSize, size_t size) {
    if (size < MAPPED && oldSize < MAPPED) return realloc(memory, size);
    void *larger;
    if (size >= MAPPED && oldSize >= MAPPED) {
        if (mapped(size) == mapped(oldSize)) return memory;
        larger = mremap(memory, mapped(oldSize), mapped(size), MREMAP_MAYMOVE);
        if (larger == MAP_FAILED) return NULL;
    } else if (size >= MAPPED) {
        larger = mmap(NULL, mapped(size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (larger == MAP_FAILED) return NULL;
        if (oldSize) memcpy(larger, memory, oldSize);
        free(memory);
    } else {
        larger = malloc(size);
        if (!larger) return NULL;
        memcpy(larger, memory, size);
        munmap(memory, mapped(oldSize));
    }
    if (size >= LARGE) madvise(larger, mapped(size), MADV_HUGEPAGE);
    return larger;
}

void ckernels_populate(void *memory, size_t size) {
#ifdef MADV_POPULATE_WRITE
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t start = ((uintptr_t)memory + page - 1) & ~(page - 1);
    uintptr_t end = ((uintptr_t)memory + size) & ~(page - 1);
    // A kernel that does not know this refuses it, and gives the pages one by one as ever.
    if (start < end) (void)madvise((void *)start, end - start, MADV_POPULATE_WRITE);
#else
    (void)memory;
    (void)size;
#endif
}

void ckernels_free(void *memory, size_t size) {
    if (size >= MAPPED) munmap(memory, mapped(size));
    else free(memory);
}

#else

void ckernels_populate(void *memory, size_t size) {
    (void)memory;
    (void)size;
}

void *ckernels_resize(void *memory, size_t oldSize, size_t size) {
    void *larger = realloc(memory, size);
    if (larger && size >= MAPPED && size > oldSize) memset((char *)larger + oldSize, 0, size - oldSize);
    return larger;
}

void ckernels_free(void *memory, size_t size) {
    (void)size;
    free(memory);
}

#endif
