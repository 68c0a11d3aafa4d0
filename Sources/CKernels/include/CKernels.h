// The inner loops that a compiler makes fast only in C: the intent index's and the checksum's; and memory that grows without
// being copied.
//
// Every function is a plain loop over plain arrays and gives the same result on every processor; on x86-64 the loader
// picks the variant (baseline, AVX2, AVX-512) that the processor has; elsewhere there is the one that the compiler makes.
// StorageTests hold them to the same loops in Swift, Tests/Kernels to plain ones in C, on aarch64 as well.
#ifndef CKERNELS_H
#define CKERNELS_H

#include <stddef.h>
#include <stdint.h>

// Sets bit i of `words` if codes[i] equals `code`, clears it if not; writes (count + 63) / 64 words, spare bits 0.
void ckernels_equal_8(const uint8_t *codes, size_t count, uint32_t code, uint64_t *words);
void ckernels_equal_16(const uint16_t *codes, size_t count, uint32_t code, uint64_t *words);
void ckernels_equal_32(const uint32_t *codes, size_t count, uint32_t code, uint64_t *words);

// Sets bit i of `words` if table[codes[i]] is 1, clears it if it is 0. `table` has an entry for every code, and those
// of 8 bits have 256.
void ckernels_table_8(const uint8_t *codes, size_t count, const uint8_t *table, uint64_t *words);
void ckernels_table_16(const uint16_t *codes, size_t count, const uint8_t *table, uint64_t *words);

// Writes base + i to `out` for each set bit i, ascending, and returns how many there are. May write up to 16 places
// beyond the last one.
size_t ckernels_decode(const uint64_t *words, size_t count, uint32_t base, uint32_t *out);

// Copies those of `rows` whose code is one of the four in `wanted` to the front of `out`, in their order, and returns how
// many they are; SIZE_MAX if a row is not below `bound`, how many codes there are. `out` may be `rows`, and has room for all.
size_t ckernels_keep_8(const uint32_t *rows, size_t count, const uint8_t *codes, size_t bound, const uint32_t *wanted, uint32_t *out);
size_t ckernels_keep_16(const uint32_t *rows, size_t count, const uint16_t *codes, size_t bound, const uint32_t *wanted, uint32_t *out);
size_t ckernels_keep_32(const uint32_t *rows, size_t count, const uint32_t *codes, size_t bound, const uint32_t *wanted, uint32_t *out);

// The same for rows with table[code] = 1; the others have 0. `table` has an entry for every code of the width.
size_t ckernels_pick_8(const uint32_t *rows, size_t count, const uint8_t *codes, size_t bound, const uint8_t *table, uint32_t *out);
size_t ckernels_pick_16(const uint32_t *rows, size_t count, const uint16_t *codes, size_t bound, const uint8_t *table, uint32_t *out);

// Fetches memory that is about to be read.
static inline void ckernels_prefetch(const void *memory) { __builtin_prefetch(memory); }

// out[i] = base + lows[i].
void ckernels_widen(const uint16_t *lows, size_t count, uint32_t base, uint32_t *out);

// out[i] = numbers[i] + difference, modulo 2^32. The two do not overlap.
void ckernels_add(const uint32_t *numbers, size_t count, uint32_t difference, uint32_t *out);

// Whether the processor has an instruction for CRC-32C, without which ckernels_crc32c is not to be called.
int ckernels_has_crc32c(void);

// The remainder, not inverted, that bytes leave which follow those that left `state`.
uint32_t ckernels_crc32c(uint32_t state, const uint8_t *bytes, size_t count);

// Has the pages that lie wholly within `size` bytes of `memory` ready for writing, all of them with one call instead of a fault
// each. Changes no byte; where the system cannot, nothing happens.
void ckernels_populate(void *memory, size_t size);

// Memory of `size` bytes that starts with the contents of `memory` of `oldSize` bytes; null at first, and null if there is no more. Large
// blocks are remapped, not copied, so that growing a table of a gigabyte takes microseconds. A new block is zero where `size` is at least 1
// MiB; the bytes that a block grows by, and those of smaller blocks, are undefined.
void *ckernels_resize(void *memory, size_t oldSize, size_t size);
void ckernels_free(void *memory, size_t size);

#endif
