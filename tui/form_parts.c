#include "tui/form_parts.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static bool is_blank(char c)
{
    return isspace((unsigned char)c) != 0;
}

struct form_span tui_form_span_trimmed(const char *from, const char *to)
{
    while (from < to && is_blank(*from))
        from++;
    while (to > from && is_blank(to[-1]))
        to--;
    return (struct form_span){from, (size_t)(to - from)};
}

bool tui_form_span_is(struct form_span span, const char *text)
{
    return strlen(text) == span.len && memcmp(span.text, text, span.len) == 0;
}

/* Where a comment behind a text begins: a ; after a blank; or the end. */
static const char *comment_at(const char *from)
{
    const char *s = from;

    while (*s && !(*s == ';' && s > from && is_blank(s[-1])))
        s++;
    return s;
}

enum form_kind tui_form_line_split(const char *line, struct form_parts *ret)
{
    const char *s = strncmp(line, "\xEF\xBB\xBF[", 4) == 0 ? line + 3 : line, *end;

    *ret = (struct form_parts){{"", 0}, {"", 0}, {"", 0}, {"", 0}};
    while (is_blank(*s))
        s++;
    if (!*s || *s == '#' || *s == ';')
        return FORM_TEXT;
    if (*s == '[' && (end = strchr(s, ']'))) {
        ret->section = (struct form_span){s + 1, (size_t)(end - s - 1)};
        return FORM_SECTION;
    }
    end = comment_at(s);
    size_t key = strcspn(s, "=:");
    if (*s != '[' && key > 0 && s + key < end) {
        const char *value = s + key + 1;
        ret->key = tui_form_span_trimmed(s, s + key);
        end = comment_at(value);
        ret->value = tui_form_span_trimmed(value, end);
        ret->comment = tui_form_span_trimmed(end, end + strlen(end));
        return FORM_KEY;
    }
    ret->value = tui_form_span_trimmed(s, s + strlen(s));
    return FORM_OTHER;
}

bool tui_form_line_has(const char *line, const char *value)
{
    struct form_parts parts;

    return tui_form_line_split(line, &parts) != FORM_TEXT && tui_form_span_is(parts.value, value);
}

char *tui_form_line_with(const char *line, const char *value)
{
    struct form_parts parts;
    char *made;

    if (tui_form_line_split(line, &parts) == FORM_OTHER) {
        bool carriage = parts.value.text[parts.value.len] != '\0' && strchr(line, '\r');
        return asprintf(&made, "%s%s", value, carriage ? "\r" : "") < 0 ? NULL : made;
    }
    const char *from = parts.key.text + parts.key.len, *rest = parts.value.text + parts.value.len;
    from += strcspn(from, "=:") + 1;
    if (parts.value.len > 0)
        from = parts.value.text;
    else
        rest = from;
    const char *gap = parts.value.len == 0 && *value ? " " : "";
    int r = asprintf(&made, "%.*s%s%s%s", (int)(from - line), line, gap, value, rest);
    return r < 0 ? NULL : made;
}

bool tui_form_value_refused(enum form_kind kind, const char *value, char words[static FORM_WORDS_MAX])
{
    const char *end = value + strlen(value);

    if (strpbrk(value, "\n\r") || (*value && (is_blank(*value) || is_blank(end[-1])))) {
        snprintf(words, FORM_WORDS_MAX, "a value has no blank at its ends, and one line");
        return true;
    }
    if (kind == FORM_KEY && (*value == ';' || *comment_at(value))) {
        snprintf(words, FORM_WORDS_MAX, "a ; after a blank begins a comment: a value has none");
        return true;
    }
    return false;
}
