/* JSON as Python reads and writes it, which is more than Jansson supports: NaN, Infinity and -Infinity, whole
 * numbers of any length, strings with half of a surrogate pair or a NUL. Distributions are such texts. */
#ifndef DB_STUDIES_PYTHON_JSON_H
#define DB_STUDIES_PYTHON_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Parses one JSON text; NULL for an invalid one, *ret_at is then its valid length in bytes. Arrays are lists
 * of choices: an element is a scalar if Jansson supports it; one of the three words is {"float": "NaN"}; all
 * else (lists, dicts, values that Jansson lacks) is carried as its text, {"json": "[64, 64]"}, with Python's
 * own spaces. A number elsewhere that Jansson lacks is {"float": "18446744073709551616"}. */
json_t *study_python_json_parse(const char *text, size_t *ret_at);

/* The word, or the text, of these two; NULL: it is neither. Borrowed. */
const char *study_python_json_word(const json_t *choice);
const char *study_python_json_carried(const json_t *choice);

/* Any of these to the byte as json.dumps() writes it, with two exceptions: a number that Jansson lacks stays
 * an object, and numbers and strings within carried texts stay as they were written (1.50, "\u00E9"), which
 * is what json.dumps() writes where it wrote them before. For free(); NULL for NULL, or without memory. */
char *study_python_json_text(const json_t *value);

#endif
