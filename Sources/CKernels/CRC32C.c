#include "CKernels.h"

#include <string.h>

// The instruction takes eight bytes as a little-endian number.
#if defined(__x86_64__)
#include <nmmintrin.h>
#define HAS_INSTRUCTION (__builtin_cpu_init(), __builtin_cpu_supports("sse4.2") != 0)
#define INSTRUCTION __attribute__((target("sse4.2")))
#define STEP_64(state, value) ((uint32_t)_mm_crc32_u64((state), (value)))
#define STEP_8(state, value) _mm_crc32_u8((state), (value))
#elif defined(__aarch64__) && defined(__linux__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#include <arm_acle.h>
#include <sys/auxv.h>
// HWCAP_CRC32 of <asm/hwcap.h>.
#define HAS_INSTRUCTION ((getauxval(AT_HWCAP) & (1UL << 7)) != 0)
#define INSTRUCTION __attribute__((target("+crc")))
#define STEP_64(state, value) __crc32cd((state), (value))
#define STEP_8(state, value) __crc32cb((state), (value))
#endif

#if defined(INSTRUCTION)

int ckernels_has_crc32c(void) {
    return HAS_INSTRUCTION;
}

INSTRUCTION uint32_t ckernels_crc32c(uint32_t state, const uint8_t *bytes, size_t count) {
    size_t index = 0;
    for (; index + 8 <= count; index += 8) {
        uint64_t word;
        memcpy(&word, bytes + index, 8);
        state = STEP_64(state, word);
    }
    for (; index < count; index++) state = STEP_8(state, bytes[index]);
    return state;
}

#else

int ckernels_has_crc32c(void) {
    return 0;
}

uint32_t ckernels_crc32c(uint32_t state, const uint8_t *bytes, size_t count) {
    (void)bytes;
    (void)count;
    return state;
}

#endif
