#ifndef CREADING_H
#define CREADING_H

#include <stddef.h>
#include <stdint.h>

// Reads every id of an answer: what an answer is made for. The same loop as that of the index's peers in C, and, as they are,
// compiled for the processor that it runs on.
uint64_t creading_sum(const uint32_t *ids, size_t count);

#endif
