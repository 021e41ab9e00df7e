/* JSON as Python reads and writes it, which is more than Jansson has: NaN, Infinity and -Infinity, whole
 * numbers of any length, strings with a half of a surrogate pair or a NUL. Distributions are such texts. */
#ifndef DB_STUDIES_PYTHON_JSON_H
#define DB_STUDIES_PYTHON_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* One JSON text, NULL for what is none, *ret_at then says after how many bytes. Arrays are lists of choices:
 * an element that is a scalar which Jansson has is that; one of the three words is {"float": "NaN"}; all else
 * (lists, dicts, what Jansson does not have) is carried as its text, {"json": "[64, 64]"}, with Python's own
 * spaces. A number elsewhere that Jansson has not is {"float": "18446744073709551616"}. */
json_t *study_python_json_parse(const char *text, size_t *ret_at);

/* The words, and the texts, of these two; NULL: it is neither. Borrowed. */
const char *study_python_json_word(const json_t *choice);
const char *study_python_json_carried(const json_t *choice);

/* Any of these to the byte as json.dumps() writes it, but for two: a number which Jansson has not stays an
 * object, and numbers and strings of what is carried stay as they were written (1.50, "\u00E9"), which is
 * what json.dumps() writes where it wrote them before. For free(); NULL for NULL, or without memory. */
char *study_python_json_text(const json_t *value);

#endif
