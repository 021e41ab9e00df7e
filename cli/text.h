/* Text from any source: decoded with care, without characters that could control a terminal, and measured
 * in columns. */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <wchar.h>

enum { TEXT_REPLACEMENT = '?' }; /* replaces what cannot or must not be shown */

/* Decodes the code point at the start of the NUL-terminated UTF-8 `s` (not empty). Returns the bytes used;
 * a malformed sequence uses one byte and gives TEXT_REPLACEMENT. */
size_t cli_text_decode(const char *s, wchar_t *ret);

/* Columns that `c` takes in the current locale: 0 (combining), 1 or 2; -1 for a character that must not
 * reach a terminal: controls, C1 controls, bidirectional overrides, line separators, and what the locale
 * cannot show. */
int cli_text_char_width(wchar_t c);

/* Columns of the whole string, replaced characters counted as one. */
int cli_text_width(const char *s);

/* The bytes at its start that take at most so many columns, to the end of a character. */
size_t cli_text_fit(const char *s, int columns);

/* Copies `src` into dst[size], every character that must not reach a terminal replaced, cut at a
 * character's boundary. Always NUL-terminated; size > 0. For output that does not go through a canvas. */
void cli_text_clean(char *dst, size_t size, const char *src);

/* Copies lines as one, with "; " between them. Always NUL-terminated; size > 0. */
void cli_text_one_line(char *dst, size_t size, const char *src);

/* Like cli_text_clean(), straight onto a stream. */
void cli_text_print(FILE *out, const char *src);

#endif
