// The library is built with threads, and its types must be declared here as they are there.
#define SIMDJSON_THREADS_ENABLED 1
#define SIMDJSON_EXCEPTIONS 0

#include "include/CSimdjson.h"

#include <cstring>
#include <memory>
#include <new>
#include <simdjson.h>

struct freshet_json_parser {
    simdjson::dom::parser parser;
    std::unique_ptr<uint8_t[]> text;
    size_t capacity = 0;
    size_t depth_max = 0;
};

namespace {

/// Makes room for `count` bytes of text and simdjson's padding; false without memory.
bool reserve(freshet_json_parser &handle, size_t count) noexcept {
    if (handle.text && count <= handle.capacity) { return true; }
    size_t capacity = handle.capacity < 4096 ? 4096 : handle.capacity;
    while (capacity < count) { capacity *= 2; }
    std::unique_ptr<uint8_t[]> text(new (std::nothrow) uint8_t[capacity + simdjson::SIMDJSON_PADDING]);
    if (!text) { return false; }
    if (handle.parser.allocate(capacity, handle.depth_max) != simdjson::SUCCESS) { return false; }
    handle.text = std::move(text);
    handle.capacity = capacity;
    return true;
}

}  // namespace

extern "C" {

freshet_json_parser *freshet_json_parser_create(size_t depth_max) {
    auto *handle = new (std::nothrow) freshet_json_parser;
    if (handle) { handle->depth_max = depth_max; }
    return handle;
}

void freshet_json_parser_destroy(freshet_json_parser *parser) {
    delete parser;
}

freshet_json_status freshet_json_parse(freshet_json_parser *handle, const uint8_t *bytes, size_t count) {
    if (!reserve(*handle, count)) { return FRESHET_JSON_MEMORY; }
    if (count > 0) { std::memcpy(handle->text.get(), bytes, count); }
    std::memset(handle->text.get() + count, 0, simdjson::SIMDJSON_PADDING);
    switch (handle->parser.parse(handle->text.get(), count, false).error()) {
    case simdjson::SUCCESS: return FRESHET_JSON_OK;
    case simdjson::DEPTH_ERROR: return FRESHET_JSON_DEPTH;
    case simdjson::MEMALLOC: return FRESHET_JSON_MEMORY;
    default: return FRESHET_JSON_INVALID;
    }
}

const uint64_t *freshet_json_tape(const freshet_json_parser *handle) {
    return handle->parser.doc.tape.get();
}

const uint8_t *freshet_json_strings(const freshet_json_parser *handle) {
    return handle->parser.doc.string_buf.get();
}

}
