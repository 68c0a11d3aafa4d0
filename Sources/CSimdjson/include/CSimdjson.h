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

/// The answers of freshet_json_parse.
typedef enum {
    FRESHET_JSON_OK = 0,
    /// Nothing but white space.
    FRESHET_JSON_EMPTY,
    FRESHET_JSON_UTF8,
    FRESHET_JSON_NUMBER,
    FRESHET_JSON_STRING,
    FRESHET_JSON_UNCLOSED_STRING,
    /// A control character in a string.
    FRESHET_JSON_CONTROL,
    /// A word that begins like true, false or null.
    FRESHET_JSON_WORD,
    /// Something follows the value.
    FRESHET_JSON_TRAILING,
    /// Commas, colons, brackets and values that do not make a text.
    FRESHET_JSON_STRUCTURE,
    /// Nested deeper than the parser was made for.
    FRESHET_JSON_DEPTH,
    FRESHET_JSON_MEMORY,
} freshet_json_status;

/// The place that freshet_json_parse answers where simdjson tells none.
#define FRESHET_JSON_NOWHERE SIZE_MAX

/// A new parser, or NULL without memory. The caller frees it with freshet_json_parser_destroy.
freshet_json_parser *freshet_json_parser_create(size_t depth_max);
void freshet_json_parser_destroy(freshet_json_parser *parser);

/// Parses and validates the whole text (grammar, UTF-8, number ranges, nothing after the value).
///
/// The text is copied into a padded buffer of the parser, so it may go away afterwards. Of a text that is refused `place`
/// becomes the byte of the token at which simdjson stops, or FRESHET_JSON_NOWHERE.
freshet_json_status freshet_json_parse(
    freshet_json_parser *parser, const uint8_t *bytes, size_t count, size_t *place);

/// simdjson's tape of the last text that was parsed well, as described in its doc/tape.md; valid until the next parse.
const uint64_t *freshet_json_tape(const freshet_json_parser *parser);

/// The strings that the tape points into: 32-bit length in the machine's order, bytes, NUL; valid until the next parse.
const uint8_t *freshet_json_strings(const freshet_json_parser *parser);

#ifdef __cplusplus
}
#endif

#endif
