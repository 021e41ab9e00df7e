#include "tui/form.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/fail.h"

enum { FORM_SECTION_MAX = 64 };

static bool is_empty(const char *line)
{
    return !line[strspn(line, " \t\r")];
}

static void row_finish(struct form_row *row)
{
    free(row->line);
    free(row->was);
    free(row->error);
}

/* Room for one more row at `at`. */
static int make_room(struct form *form, size_t at)
{
    if (form->n >= FORM_ROWS_MAX)
        return -EFBIG;
    if (form->n == form->cap) {
        size_t cap = form->cap ? 2 * form->cap : 64;
        struct form_row *moved = reallocarray(form->rows, cap, sizeof(*moved));
        if (!moved)
            return -ENOMEM;
        form->rows = moved;
        form->cap = cap;
    }
    memmove(form->rows + at + 1, form->rows + at, (form->n - at) * sizeof(*form->rows));
    form->n++;
    return 0;
}

/* Takes `line`, which may be NULL. */
static int insert(struct form *form, size_t at, char *line, bool added)
{
    struct form_parts parts;
    int r = line ? make_room(form, at) : -ENOMEM;

    if (r < 0) {
        free(line);
        return r;
    }
    form->rows[at] =
        (struct form_row){.kind = tui_form_line_split(line, &parts), .line = line, .added = added};
    return 0;
}

static void take_out(struct form *form, size_t at)
{
    row_finish(&form->rows[at]);
    form->n--;
    memmove(form->rows + at, form->rows + at + 1, (form->n - at) * sizeof(*form->rows));
}

int tui_form_init(struct form *form, const char *text, const struct form_known *known, size_t n_known)
{
    size_t len = strlen(text);
    int r = len > FORM_TEXT_MAX ? -EFBIG : 0;

    *form = (struct form){
        .errors = -1, .known = known, .n_known = n_known, .newline = len == 0 || text[len - 1] == '\n'};
    while (*text && r == 0) {
        size_t line = strcspn(text, "\n");
        form->carriage |= line > 0 && text[line - 1] == '\r';
        r = insert(form, form->n, strndup(text, line), false);
        text += line + (text[line] == '\n');
    }
    if (r < 0)
        tui_form_finish(form);
    return r;
}

void tui_form_finish(struct form *form)
{
    for (size_t i = 0; i < form->n; i++)
        row_finish(&form->rows[i]);
    free(form->rows);
    free(form->other_errors);
    *form = (struct form){.errors = -1};
}

char *tui_form_text(const struct form *form)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    bool first = true;

    if (!out)
        return NULL;
    for (size_t i = 0; i < form->n; i++) {
        if (form->rows[i].left_out)
            continue;
        fprintf(out, "%s%s", first ? "" : "\n", form->rows[i].line);
        first = false;
    }
    if (form->newline && !first)
        fputc('\n', out);
    bool whole = !ferror(out);
    if (fclose(out) != 0 || !whole) {
        free(text);
        return NULL;
    }
    return text;
}

int tui_form_changes(const struct form *form)
{
    int changes = 0;

    for (size_t i = 0; i < form->n; i++) {
        const struct form_row *row = &form->rows[i];
        bool counts = row->kind == FORM_KEY || row->kind == FORM_OTHER;
        changes += row->added ? counts && !row->left_out : row->left_out || row->was;
    }
    return changes;
}

struct form_parts tui_form_parts(const struct form *form, size_t row)
{
    struct form_parts parts;

    tui_form_line_split(form->rows[row].line, &parts);
    return parts;
}

void tui_form_section(const struct form *form, size_t row, char *buf, size_t size)
{
    for (size_t i = row + 1; i-- > 0;)
        if (form->rows[i].kind == FORM_SECTION) {
            struct form_parts parts = tui_form_parts(form, i);
            snprintf(buf, size, "%.*s", (int)parts.section.len, parts.section.text);
            return;
        }
    snprintf(buf, size, "%s", "");
}

/* -1: of a section that no known key has. */
static int group_of(const struct form *form, const char *section)
{
    for (size_t i = 0; i < form->n_known; i++)
        if (strcmp(form->known[i].section, section) == 0)
            return form->known[i].group;
    return -1;
}

const struct form_known *tui_form_row_known(const struct form *form, size_t row)
{
    char section[sizeof(form->known->section)];

    if (form->rows[row].kind != FORM_KEY)
        return NULL;
    tui_form_section(form, row, section, sizeof(section));
    struct form_parts parts = tui_form_parts(form, row);
    int group = group_of(form, section);
    for (size_t i = 0; i < form->n_known; i++)
        if (form->known[i].group == group && tui_form_span_is(parts.key, form->known[i].key))
            return &form->known[i];
    return NULL;
}

void tui_form_above(const struct form *form, size_t row, char *buf, size_t size)
{
    size_t first = row, n = 0;

    for (; first > 0 && form->rows[first - 1].kind == FORM_TEXT; first--) {
        if (is_empty(form->rows[first - 1].line))
            break; /* a blank line: comments above it belong to another key */
    }
    buf[0] = '\0';
    for (size_t i = first; i < row && n + 1 < size; i++) {
        const char *line = form->rows[i].line + strspn(form->rows[i].line, " \t#;");
        struct form_span words = tui_form_span_trimmed(line, line + strlen(line));
        int more = snprintf(buf + n, size - n, "%s%.*s", n ? " " : "", (int)words.len, words.text);
        n += more > 0 ? (size_t)more : 0;
    }
}

int tui_form_set(struct form *form, size_t at, const char *value, char words[static FORM_WORDS_MAX])
{
    struct form_row *row = &form->rows[at];
    struct form_parts parts;

    if (tui_form_line_has(row->line, value))
        return 0;
    if (tui_form_value_refused(row->kind, value, words))
        return -EINVAL;
    if (row->was && tui_form_line_has(row->was, value)) {
        free(row->line);
        row->line = row->was;
        row->was = NULL;
    } else {
        char *line = tui_form_line_with(row->line, value);
        if (!line)
            return fail_with(-ENOMEM, words, FORM_WORDS_MAX, "out of memory");
        if (row->was || row->added)
            free(row->line);
        else
            row->was = row->line;
        row->line = line;
    }
    row->kind = tui_form_line_split(row->line, &parts);
    form->changed = true;
    return 0;
}

void tui_form_leave_out(struct form *form, size_t at)
{
    struct form_row *row = &form->rows[at];

    if (row->kind != FORM_KEY && row->kind != FORM_OTHER)
        return;
    form->changed |= !row->left_out;
    row->left_out = true;
}

/* A heading that was added is removed with its last key, and the blank line before it. */
static void drop_section(struct form *form, size_t before)
{
    if (before < form->n && form->rows[before].kind != FORM_SECTION && !is_empty(form->rows[before].line))
        return;
    if (before == 0 || form->rows[before - 1].kind != FORM_SECTION || !form->rows[before - 1].added)
        return;
    take_out(form, before - 1);
    if (before > 1 && form->rows[before - 2].added && form->rows[before - 2].kind == FORM_TEXT)
        take_out(form, before - 2);
}

void tui_form_undo(struct form *form, size_t at)
{
    struct form_row *row = &form->rows[at];
    struct form_parts parts;

    form->changed |= row->added || row->was || row->left_out;
    if (row->added && (row->kind == FORM_KEY || row->kind == FORM_OTHER)) {
        take_out(form, at);
        drop_section(form, at);
        return;
    }
    row->left_out = false;
    if (!row->was)
        return;
    free(row->line);
    row->line = row->was;
    row->was = NULL;
    row->kind = tui_form_line_split(row->line, &parts);
}

/* Its row, left out or not; -1. */
static long row_of(const struct form *form, const struct form_known *known)
{
    for (size_t i = 0; i < form->n; i++)
        if (tui_form_row_known(form, i) == known)
            return (long)i;
    return -1;
}

size_t tui_form_missing(const struct form *form, const char *filter, size_t *ret, size_t cap)
{
    bool *has = calloc(form->n_known + 1, sizeof(*has));
    size_t n = 0;

    for (size_t i = 0; has && i < form->n; i++) {
        const struct form_known *known = tui_form_row_known(form, i);
        if (known && !form->rows[i].left_out)
            has[known - form->known] = true;
    }
    for (size_t i = 0; has && i < form->n_known; i++) {
        const struct form_known *known = &form->known[i];
        char name[sizeof(known->section) + sizeof(known->key)];
        snprintf(name, sizeof(name), "%s.%s", known->section, known->key);
        if (has[i] || !strstr(name, filter))
            continue;
        if (n < cap)
            ret[n] = i;
        n++;
    }
    free(has);
    return n;
}

/* Where a key is added to the section: after its last one; -1: there is no such section. */
static long end_of(const struct form *form, const char *section)
{
    long end = -1;

    for (size_t i = 0; i < form->n; i++) {
        if (form->rows[i].kind == FORM_SECTION) {
            struct form_parts parts = tui_form_parts(form, i);
            if (end >= 0)
                return end;
            end = tui_form_span_is(parts.section, section) ? (long)i + 1 : -1;
        } else if (end >= 0 && form->rows[i].kind != FORM_TEXT) {
            end = (long)i + 1;
        }
    }
    return end;
}

static char *printed(const char *a, const char *b, const char *c, bool carriage)
{
    char *line;

    return asprintf(&line, "%s%s%s%s", a, b, c, carriage ? "\r" : "") < 0 ? NULL : line;
}

/* At the end of its section, which is made if need be. */
static long add_row(struct form *form, const char *section, const char *key, const char *value)
{
    long at = end_of(form, section);
    bool cr = form->carriage;
    int r = 0;

    if (at < 0) {
        if (form->n > 0 && !is_empty(form->rows[form->n - 1].line))
            r = insert(form, form->n, printed("", "", "", cr), true);
        if (r == 0)
            r = insert(form, form->n, printed("[", section, "]", cr), true);
        at = (long)form->n;
    }
    if (r == 0)
        r = insert(form, (size_t)at, printed(key, *value ? " = " : " =", value, cr), true);
    form->changed |= r == 0;
    return r < 0 ? r : at;
}

static long bring_back(struct form *form, long at)
{
    form->changed |= form->rows[at].left_out;
    form->rows[at].left_out = false;
    return at;
}

long tui_form_add(struct form *form, size_t index)
{
    const struct form_known *known = &form->known[index];
    long at = row_of(form, known);

    return at >= 0 ? bring_back(form, at) : add_row(form, known->section, known->key, known->value);
}

/* ---- What was changed in another. ---- */

/* The key's row, left out or not: of one that is known in any section of its group; -1. */
static long find_key(const struct form *form, const struct form_known *known, const char *section,
                     const char *key)
{
    char own[FORM_SECTION_MAX];

    if (known)
        return row_of(form, known);
    for (size_t i = 0; i < form->n; i++) {
        if (form->rows[i].kind != FORM_KEY || !tui_form_span_is(tui_form_parts(form, i).key, key))
            continue;
        tui_form_section(form, i, own, sizeof(own));
        if (strcmp(own, section) == 0)
            return (long)i;
    }
    return -1;
}

static int carry_row(const struct form *from, size_t row, struct form *to, char words[static FORM_WORDS_MAX])
{
    const struct form_known *known = tui_form_row_known(from, row);
    struct form_parts parts = tui_form_parts(from, row);
    char section[FORM_SECTION_MAX];
    char *key = strndup(parts.key.text, parts.key.len), *value = strndup(parts.value.text, parts.value.len);
    int r = key && value ? 0 : -ENOMEM;

    tui_form_section(from, row, section, sizeof(section));
    long at = r == 0 ? find_key(to, known, section, key) : -1;
    if (r == 0 && from->rows[row].left_out) {
        if (at >= 0)
            tui_form_leave_out(to, (size_t)at);
    } else if (r == 0) {
        at = at >= 0 ? bring_back(to, at) : add_row(to, section, key, "");
        r = at < 0 ? (int)at : tui_form_set(to, (size_t)at, value, words);
    }
    free(key);
    free(value);
    return r;
}

int tui_form_carry(const struct form *from, struct form *to, char words[static FORM_WORDS_MAX])
{
    int r = 0;

    for (size_t i = 0; i < from->n && r == 0; i++) {
        const struct form_row *row = &from->rows[i];
        if (row->added ? row->left_out || row->kind == FORM_TEXT || row->kind == FORM_SECTION
                       : !row->left_out && !row->was)
            continue;
        if (row->kind == FORM_KEY) {
            words[0] = '\0';
            r = carry_row(from, i, to, words);
            if (r < 0 && !words[0])
                snprintf(words, FORM_WORDS_MAX, "%s",
                         r == -EFBIG ? "the configuration is too long for one more key" : "out of memory");
        } else {
            snprintf(words, FORM_WORDS_MAX, "the changed line \"%.80s\" is no key", row->line);
            r = -EINVAL;
        }
    }
    return r;
}

void tui_form_keep_lines(struct form *form)
{
    int line = 0;

    for (size_t i = 0; i < form->n; i++)
        form->rows[i].sent = form->rows[i].left_out ? 0 : ++line;
    form->changed = false;
}

void tui_form_errors_begin(struct form *form)
{
    for (size_t i = 0; i < form->n; i++) {
        free(form->rows[i].error);
        form->rows[i].error = NULL;
    }
    free(form->other_errors);
    form->other_errors = NULL;
    form->errors = 0;
}

static bool is_row(const struct form *form, size_t at, int line, const char *section, const char *key)
{
    const struct form_row *row = &form->rows[at];
    char own[FORM_SECTION_MAX];

    if (line > 0)
        return row->sent == line && row->kind != FORM_TEXT;
    if (row->kind != FORM_KEY || row->sent == 0 || !*key)
        return false;
    tui_form_section(form, at, own, sizeof(own));
    return strcmp(own, section) == 0 && tui_form_span_is(tui_form_parts(form, at).key, key);
}

/* Adds a sentence to those that are there. Without memory it is left out: errors counts it all the same. */
static void append(char **sentences, const char *a, const char *b)
{
    char *joined;

    if (asprintf(&joined, "%s%s%s%s", *sentences ? *sentences : "", *sentences ? "\n" : "", a, b) < 0)
        return;
    free(*sentences);
    *sentences = joined;
}

void tui_form_error(struct form *form, int line, const char *section, const char *key, const char *message)
{
    char where[FORM_WORDS_MAX] = "";

    form->errors++;
    for (size_t i = 0; i < form->n; i++)
        if (is_row(form, i, line, section, key)) {
            append(&form->rows[i].error, "", message);
            return;
        }
    if (line > 0)
        snprintf(where, sizeof(where), "line %d: ", line);
    else if (*key)
        snprintf(where, sizeof(where), "[%.40s] %.60s: ", section, key);
    append(&form->other_errors, where, message);
}
