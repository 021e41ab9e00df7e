#include "db/studies/python_json.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/studies/python_float.h"

enum { DEPTH_MAX = 500 /* Python itself ends near 1,000 */ };

static const char *const words[] = {"NaN", "Infinity", "-Infinity"};

static const char *spaces(const char *at)
{
    return at + strspn(at, " \t\n\r");
}

static const char *digits(const char *at)
{
    size_t n = strspn(at, "0123456789");
    return n > 0 ? at + n : NULL;
}

/* Each of these returns the end of the value that begins there, NULL where it is invalid. */

static const char *skip_number(const char *at)
{
    at += *at == '-';
    at = *at == '0' ? at + 1 : digits(at);
    if (at && *at == '.')
        at = digits(at + 1);
    if (at && (*at == 'e' || *at == 'E')) {
        at++;
        at = digits(at + (*at == '-' || *at == '+'));
    }
    return at;
}

static const char *skip_string(const char *at)
{
    if (*at != '"')
        return NULL;
    for (at++; *at != '"'; at++) {
        if ((unsigned char)*at < 0x20)
            return NULL;
        if (*at != '\\')
            continue;
        at++;
        if (*at == 'u') {
            for (int i = 0; i < 4; i++)
                if (!isxdigit((unsigned char)*++at))
                    return NULL;
        } else if (!*at || !strchr("\"\\/bfnrt", *at)) {
            return NULL;
        }
    }
    return at + 1;
}

static const char *skip_word(const char *at)
{
    static const char *const others[] = {"null", "true", "false"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strncmp(at, others[i], strlen(others[i])) == 0)
            return at + strlen(others[i]);
        if (strncmp(at, words[i], strlen(words[i])) == 0)
            return at + strlen(words[i]);
    }
    return NULL;
}

static const char *skip_value(const char *at, int depth)
{
    char open = *at, close = open == '{' ? '}' : ']';
    if (open == '"')
        return skip_string(at);
    if (open != '{' && open != '[') {
        const char *end = skip_word(at);
        return end ? end : skip_number(at);
    }
    if (depth == DEPTH_MAX)
        return NULL;
    at = spaces(at + 1);
    if (*at == close)
        return at + 1;
    for (;; at++) {
        if (open == '{') {
            at = skip_string(spaces(at));
            at = at ? spaces(at) : NULL;
            if (!at || *at++ != ':')
                return NULL;
        }
        at = skip_value(spaces(at), depth + 1);
        at = at ? spaces(at) : NULL;
        if (!at || (*at != ',' && *at != close))
            return NULL;
        if (*at == close)
            return at + 1;
    }
}

/* With one space after each comma and colon, and none elsewhere, as json.dumps() writes it. */
static json_t *carry(const char *from, const char *end)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    while (from < end) {
        const char *to = *from == '"' ? skip_string(from) : from + 1;
        if (!isspace((unsigned char)*from))
            fwrite(from, 1, (size_t)(to - from), out);
        if (*from == ',' || *from == ':')
            putc(' ', out);
        from = to;
    }
    json_t *carried = fclose(out) == 0 ? json_pack("{s:s}", "json", text) : NULL;
    free(text);
    return carried;
}

static json_t *named(const char *key, const char *from, const char *end)
{
    return json_pack("{s:s%}", key, from, (size_t)(end - from));
}

static bool is_word(const char *from, const char *end)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == (size_t)(end - from) && strncmp(from, words[i], strlen(words[i])) == 0)
            return true;
    return false;
}

static json_t *choice_of(const char *from, const char *end)
{
    if (is_word(from, end))
        return named("float", from, end);
    json_t *scalar =
        *from == '[' || *from == '{' ? NULL : json_loadb(from, (size_t)(end - from), JSON_DECODE_ANY, NULL);
    return scalar ? scalar : carry(from, end);
}

static json_t *value_of(const char **at);

static json_t *choices_of(const char **at)
{
    json_t *list = json_array();
    for (*at = spaces(*at + 1); list && **at != ']'; *at = spaces(*at)) {
        const char *from = spaces(*at + (**at == ','));
        *at = skip_value(from, 0);
        if (json_array_append_new(list, choice_of(from, *at)) < 0) {
            json_decref(list);
            return NULL;
        }
    }
    ++*at;
    return list;
}

static json_t *members_of(const char **at)
{
    json_t *object = json_object();
    for (*at = spaces(*at + 1); object && **at != '}'; *at = spaces(*at)) {
        const char *from = spaces(*at + (**at == ',')), *end = skip_string(from);
        json_t *key = json_loadb(from, (size_t)(end - from), JSON_DECODE_ANY, NULL);
        *at = spaces(spaces(end) + 1); /* the colon */
        if (!key || json_object_set_new(object, json_string_value(key), value_of(at)) < 0) {
            json_decref(object);
            object = NULL;
        }
        json_decref(key);
    }
    ++*at;
    return object;
}

/* Of a text that skip_value() accepted. */
static json_t *value_of(const char **at)
{
    if (**at == '[')
        return choices_of(at);
    if (**at == '{')
        return members_of(at);
    const char *from = *at;
    *at = skip_value(from, 0);
    json_t *scalar = json_loadb(from, (size_t)(*at - from), JSON_DECODE_ANY, NULL);
    return scalar || *from == '"' ? scalar : named("float", from, *at);
}

json_t *study_python_json_parse(const char *text, size_t *ret_at)
{
    const char *from = spaces(text), *end = skip_value(from, 0);
    *ret_at = (size_t)(from - text);
    if (!end)
        return NULL;
    end = spaces(end);
    *ret_at = (size_t)(end - text);
    return *end ? NULL : value_of(&from);
}

/* The string that is the object's only member. */
static const char *only(const json_t *object, const char *key)
{
    return json_object_size(object) == 1 ? json_string_value(json_object_get(object, key)) : NULL;
}

const char *study_python_json_word(const json_t *choice)
{
    const char *word = only(choice, "float");
    return word && is_word(word, word + strlen(word)) ? word : NULL;
}

const char *study_python_json_carried(const json_t *choice)
{
    const char *text = only(choice, "json"), *end = text ? skip_value(text, 0) : NULL;
    return end && !*end ? text : NULL;
}

/* ---- Writing. ---- */

/* Python escapes all that is not ASCII, in lower-case digits. */
static void write_string(FILE *out, const char *text, size_t n)
{
    static const char plain[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    putc('"', out);
    for (size_t i = 0; i < n;) {
        unsigned char c = (unsigned char)text[i++];
        const char *special = c ? strchr(plain, c) : NULL;
        if (special) {
            fprintf(out, "\\%c", letters[special - plain]);
        } else if (c >= 0x20 && c < 0x7f) {
            putc(c, out);
        } else if (c < 0x80) {
            fprintf(out, "\\u%04x", c);
        } else {
            int more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
            unsigned code = c & (0x3fu >> more);
            for (; more > 0 && i < n; more--)
                code = code << 6 | ((unsigned char)text[i++] & 0x3fu);
            if (code >= 0x10000)
                fprintf(out, "\\u%04x\\u%04x", 0xd800u + ((code - 0x10000) >> 10),
                        0xdc00u + ((code - 0x10000) & 0x3ffu));
            else
                fprintf(out, "\\u%04x", code);
        }
    }
    putc('"', out);
}

static void write_value(FILE *out, const json_t *value);

static void write_list(FILE *out, const json_t *list)
{
    putc('[', out);
    for (size_t i = 0; i < json_array_size(list); i++) {
        fputs(i > 0 ? ", " : "", out);
        write_value(out, json_array_get(list, i));
    }
    putc(']', out);
}

static void write_object(FILE *out, const json_t *object)
{
    const char *word = study_python_json_word(object), *carried = study_python_json_carried(object), *key,
               *between = "";
    json_t *value;
    if (word || carried) {
        fputs(word ? word : carried, out);
        return;
    }
    putc('{', out);
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        fputs(between, out);
        write_string(out, key, strlen(key));
        fputs(": ", out);
        write_value(out, value);
        between = ", ";
    }
    putc('}', out);
}

static void write_value(FILE *out, const json_t *value)
{
    char real[PYTHON_FLOAT_MAX];
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        write_object(out, value);
        break;
    case JSON_ARRAY:
        write_list(out, value);
        break;
    case JSON_STRING:
        write_string(out, json_string_value(value), json_string_length(value));
        break;
    case JSON_INTEGER:
        fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        break;
    case JSON_REAL:
        study_python_float_text(json_real_value(value), real);
        fputs(real, out);
        break;
    case JSON_TRUE:
        fputs("true", out);
        break;
    case JSON_FALSE:
        fputs("false", out);
        break;
    case JSON_NULL:
        fputs("null", out);
        break;
    }
}

char *study_python_json_text(const json_t *value)
{
    char *text = NULL;
    size_t size;
    FILE *out = value ? open_memstream(&text, &size) : NULL;
    if (!out)
        return NULL;
    write_value(out, value);
    bool failed = ferror(out);
    if (fclose(out) == 0 && !failed)
        return text;
    free(text);
    return NULL;
}
