#include "CICUData.h"

#ifdef FRESHET_ICU_DATA

struct data {
    uint16_t headerBytes;
    uint8_t magic[2];
    uint16_t infoBytes, reserved;
    uint8_t isBigEndian, charsetFamily, characterBytes, padding;
    uint8_t format[4], formatVersion[4], dataVersion[4];
    uint8_t name[8];
    uint32_t count, end;
    uint8_t entry[8];
};

extern const struct data FRESHET_ICU_DATA;

__attribute__((aligned(16))) const struct data FRESHET_ICU_DATA = {
    .headerBytes = 32,
    .magic = {0xda, 0x27},
    .infoBytes = 20,
    .characterBytes = 2,
    .format = {'T', 'o', 'C', 'P'},
    .formatVersion = {1},
};

#endif
