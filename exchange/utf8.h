/* UTF-8: of a file's text, a peer's messages, a name on a command line. */
#ifndef EXCHANGE_UTF8_H
#define EXCHANGE_UTF8_H

#include <stddef.h>
#include <stdint.h>

enum { UTF8_MAX = 4 }; /* bytes of a character; also `n` where the text ends with a NUL */

/* The bytes of the character at at[0..n), and its code point (NULL: not wanted); 0: there is none, or it is
 * cut short, overlong, a surrogate or beyond U+10FFFF. */
size_t utf8_character(const char *at, size_t n, uint32_t *ret);

/* Replaces bytes that begin no character by '?', and control characters of ASCII as well: one line that
 * JSON takes. */
void utf8_clean(char *text);

#endif
