// The system's libnghttp2 (pkg-config name: libnghttp2; Debian: libnghttp2-dev).
//
// The rest of nghttp2's header imports into Swift as it is. The declarations below are those that Swift cannot express.
#ifndef FRESHET_CNGHTTP2_SHIM_H
#define FRESHET_CNGHTTP2_SHIM_H

#include <nghttp2/nghttp2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// `nghttp2_frame` is a C union whose members are large structs. Swift's importer makes every read of a member
// a computed property on a copy of the whole union; these read the one field in place.
static inline int32_t freshet_frame_stream_id(const nghttp2_frame *frame) { return frame->hd.stream_id; }
static inline uint8_t freshet_frame_type(const nghttp2_frame *frame) { return frame->hd.type; }
static inline uint8_t freshet_frame_flags(const nghttp2_frame *frame) { return frame->hd.flags; }
static inline size_t freshet_frame_length(const nghttp2_frame *frame) { return frame->hd.length; }
static inline nghttp2_headers_category freshet_headers_category(const nghttp2_frame *frame) {
    return frame->headers.cat;
}
static inline size_t freshet_data_padding(const nghttp2_frame *frame) { return frame->data.padlen; }
static inline uint32_t freshet_rst_stream_error(const nghttp2_frame *frame) { return frame->rst_stream.error_code; }
static inline int32_t freshet_goaway_last_stream(const nghttp2_frame *frame) { return frame->goaway.last_stream_id; }
static inline uint32_t freshet_goaway_error(const nghttp2_frame *frame) { return frame->goaway.error_code; }
static inline const uint8_t *freshet_goaway_debug(const nghttp2_frame *frame) { return frame->goaway.opaque_data; }
static inline size_t freshet_goaway_debug_length(const nghttp2_frame *frame) { return frame->goaway.opaque_data_len; }
static inline uint64_t freshet_ping_payload(const nghttp2_frame *frame) {
    uint64_t payload;
    memcpy(&payload, frame->ping.opaque_data, sizeof payload);
    return payload;
}

// The data source is a union of an int and a pointer inside a struct with a callback: three lines in C, an
// uninitialised union in Swift. The stream's user data carries all that the callback needs.
static inline nghttp2_data_provider freshet_data_provider(nghttp2_data_source_read_callback read) {
    nghttp2_data_provider provider;
    provider.source.ptr = 0;
    provider.read_callback = read;
    return provider;
}

// Fetches memory that is about to be written, without waiting for it. Any address will do.
static inline void freshet_prefetch(const void *memory) { __builtin_prefetch(memory, 1); }

#endif
