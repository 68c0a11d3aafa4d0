#ifndef CSIMDJSON_H
#define CSIMDJSON_H

#include <stddef.h>
#include <stdint.h>

// simdjson is C++; this is the part of it that Swift can call. No exception and no C++ type crosses this border.

#ifdef __cplusplus
extern "C" {
#endif

/// A parser with its buffers. One thread at a time may use it.
typedef struct freshet_json_parser freshet_json_parser;

/// What freshet_json_parse answers.
typedef enum {
    FRESHET_JSON_OK = 0,
    /// Not valid JSON, for whatever reason; a second look at the text tells which.
    FRESHET_JSON_INVALID = 1,
    /// Nested deeper than the parser was made for.
    FRESHET_JSON_DEPTH = 2,
    FRESHET_JSON_MEMORY = 3,
} freshet_json_status;

/// A new parser, or NULL without memory. The caller frees it with freshet_json_parser_destroy.
freshet_json_parser *freshet_json_parser_create(size_t depth_max);
void freshet_json_parser_destroy(freshet_json_parser *parser);

/// Parses and validates the whole text (grammar, UTF-8, number ranges, nothing after the value).
///
/// The text is copied into a padded buffer of the parser, so it may go away afterwards.
freshet_json_status freshet_json_parse(freshet_json_parser *parser, const uint8_t *bytes, size_t count);

/// simdjson's tape of the last text that was parsed well, as described in its doc/tape.md; valid until the next parse.
const uint64_t *freshet_json_tape(const freshet_json_parser *parser);

/// The strings that the tape points into: 32-bit length in the machine's order, bytes, NUL; valid until the next parse.
const uint8_t *freshet_json_strings(const freshet_json_parser *parser);

#ifdef __cplusplus
}
#endif

#endif
