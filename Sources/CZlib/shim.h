// The system's zlib (pkg-config name: zlib; Debian: zlib1g-dev). No `link` line stands in the module map: pkg-config supplies it.
#ifndef FRESHET_CZLIB_SHIM_H
#define FRESHET_CZLIB_SHIM_H

#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

// `deflateInit2` is a function-like macro, which Swift does not import, and the rest of one call is shorter here than there.
// Writes `count` bytes at `from` as gzip (RFC 1952) to `to`; how many bytes that took, 0 if there was no room for them or no memory.
static inline size_t freshet_gzip(const uint8_t *from, uint32_t count, uint8_t *to, uint32_t room, int level) {
    z_stream stream = {0};
    // 16 beside the window's size asks for gzip's header and trailer.
    if (deflateInit2(&stream, level, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) return 0;
    stream.next_in = (Bytef *)from;
    stream.avail_in = count;
    stream.next_out = to;
    stream.avail_out = room;
    int result = deflate(&stream, Z_FINISH);
    size_t written = stream.total_out;
    deflateEnd(&stream);
    return result == Z_STREAM_END ? written : 0;
}

#endif
