#include "CReading.h"

#if defined(__x86_64__) && defined(__linux__)
#define CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define CLONES
#endif

CLONES uint64_t creading_sum(const uint32_t *ids, size_t count) {
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) sum += ids[i];
    return sum;
}
