// The library is built with threads, and its types must be declared here as they are there.
#define SIMDJSON_THREADS_ENABLED 1
#define SIMDJSON_EXCEPTIONS 0

#include "include/CSimdjson.h"

#include <cstring>
#include <memory>
#include <new>
#include <simdjson.h>
#include <string_view>

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

using simdjson::ondemand::json_type;

/// Walks over a value as far as it is valid. `stop` becomes where a string, number or word begins that is not.
bool walk(simdjson::ondemand::value value, size_t depth, const char *&stop) noexcept {
    const char *start;
    json_type type;
    if (depth == 0 || value.current_location().get(start) || value.type().get(type)) { return false; }
    bool is_good = false;
    switch (type) {
    case json_type::object: {
        simdjson::ondemand::object object;
        if (value.get_object().get(object)) { return false; }
        for (auto field : object) {
            std::string_view name;
            simdjson::ondemand::value member;
            if (field.unescaped_key().get(name) || field.value().get(member)) { return false; }
            if (!walk(member, depth - 1, stop)) { return false; }
        }
        return true;
    }
    case json_type::array: {
        simdjson::ondemand::array array;
        if (value.get_array().get(array)) { return false; }
        for (auto item : array) {
            simdjson::ondemand::value element;
            if (item.get(element) || !walk(element, depth - 1, stop)) { return false; }
        }
        return true;
    }
    case json_type::string: is_good = !value.get_string().error(); break;
    case json_type::number: is_good = !value.get_number().error(); break;
    case json_type::boolean: is_good = !value.get_bool().error(); break;
    case json_type::null: is_good = !value.is_null().get(is_good) && is_good; break;
    }
    if (!is_good) { stop = start; }
    return is_good;
}

/// Where simdjson's other parser, which knows its place, stops in a text that this one has refused.
///
/// Sets `status` where only this second look tells that the value itself is good and something follows it.
size_t place(freshet_json_parser &handle, size_t count, freshet_json_status &status) noexcept {
    const char *text = reinterpret_cast<const char *>(handle.text.get());
    simdjson::ondemand::parser parser;
    simdjson::ondemand::document document;
    simdjson::ondemand::value value;
    if (parser.iterate(text, count, handle.capacity + simdjson::SIMDJSON_PADDING).get(document)) {
        return FRESHET_JSON_NOWHERE;
    }
    if (document.get_value().get(value)) { return FRESHET_JSON_NOWHERE; }
    const char *stop = nullptr;
    if (walk(value, handle.depth_max, stop)) {
        if (status != FRESHET_JSON_STRUCTURE) { return FRESHET_JSON_NOWHERE; }
        status = FRESHET_JSON_TRAILING;
    }
    if (!stop && document.current_location().get(stop)) { return FRESHET_JSON_NOWHERE; }
    return size_t(stop - text);
}

freshet_json_status status(simdjson::error_code error) noexcept {
    switch (error) {
    case simdjson::SUCCESS: return FRESHET_JSON_OK;
    case simdjson::EMPTY: return FRESHET_JSON_EMPTY;
    case simdjson::UTF8_ERROR: return FRESHET_JSON_UTF8;
    case simdjson::NUMBER_ERROR: return FRESHET_JSON_NUMBER;
    case simdjson::STRING_ERROR: return FRESHET_JSON_STRING;
    case simdjson::UNCLOSED_STRING: return FRESHET_JSON_UNCLOSED_STRING;
    case simdjson::UNESCAPED_CHARS: return FRESHET_JSON_CONTROL;
    case simdjson::T_ATOM_ERROR:
    case simdjson::F_ATOM_ERROR:
    case simdjson::N_ATOM_ERROR: return FRESHET_JSON_WORD;
    case simdjson::DEPTH_ERROR: return FRESHET_JSON_DEPTH;
    case simdjson::MEMALLOC: return FRESHET_JSON_MEMORY;
    default: return FRESHET_JSON_STRUCTURE;
    }
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

freshet_json_status freshet_json_parse(
    freshet_json_parser *handle, const uint8_t *bytes, size_t count, size_t *place_of_fault) {
    *place_of_fault = FRESHET_JSON_NOWHERE;
    if (!reserve(*handle, count)) { return FRESHET_JSON_MEMORY; }
    if (count > 0) { std::memcpy(handle->text.get(), bytes, count); }
    std::memset(handle->text.get() + count, 0, simdjson::SIMDJSON_PADDING);
    freshet_json_status result = status(handle->parser.parse(handle->text.get(), count, false).error());
    if (result != FRESHET_JSON_OK && result != FRESHET_JSON_MEMORY) { *place_of_fault = place(*handle, count, result); }
    return result;
}

const uint64_t *freshet_json_tape(const freshet_json_parser *handle) {
    return handle->parser.doc.tape.get();
}

const uint8_t *freshet_json_strings(const freshet_json_parser *handle) {
    return handle->parser.doc.string_buf.get();
}

}
