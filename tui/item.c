#include "tui/item.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/format.h"
#include "cli/stored.h"
#include "cli/text.h"

enum { LABEL_COLUMNS = 20, LABEL_MAX = 64 };

bool tui_item_equal(const struct item *a, const struct item *b)
{
    return a->kind == b->kind && a->id == b->id && strcmp(a->name, b->name) == 0 &&
           strcmp(a->account, b->account) == 0;
}

static const char *const kinds[ITEM_KINDS] = {
    [ITEM_NONE] = "",         [ITEM_ORDER] = "order",     [ITEM_EXTERNAL] = "order from elsewhere",
    [ITEM_FILL] = "fill",     [ITEM_ALERT] = "alert",     [ITEM_COMMAND] = "command",
    [ITEM_LEDGER] = "ledger", [ITEM_ACCOUNT] = "account", [ITEM_POSITION] = "position",
    [ITEM_SYMBOL] = "symbol", [ITEM_POLICY] = "policy",   [ITEM_TRIP] = "trip",
    [ITEM_WHAT_IF] = "",
};

bool tui_item_parse(const char *text, struct item *ret)
{
    size_t len = strcspn(text, ":");
    const char *name = text + len + 1, *account;
    struct item item = {0};
    char *end;

    for (int kind = ITEM_ORDER; kind < ITEM_KINDS && text[len]; kind++)
        if (kind != ITEM_EXTERNAL && kind != ITEM_WHAT_IF && strlen(kinds[kind]) == len &&
            strncmp(text, kinds[kind], len) == 0)
            item.kind = (enum item_kind)kind;
    if (item.kind == ITEM_NONE || !name[0] || strlen(name) >= sizeof(item.name))
        return false;
    if (item.kind < ITEM_ACCOUNT) {
        item.id = strtoll(name, &end, 10);
        if (*end || item.id < 1 || item.id == INT64_MAX)
            return false;
    } else if (item.kind == ITEM_POSITION) {
        if (!(account = strchr(name, ':')) || account == name || !account[1] ||
            strlen(account + 1) >= sizeof(item.account))
            return false;
        snprintf(item.name, sizeof(item.name), "%.*s", (int)(account - name), name);
        snprintf(item.account, sizeof(item.account), "%s", account + 1);
    } else {
        snprintf(item.name, sizeof(item.name), "%s", name);
    }
    item.first = -1;
    *ret = item;
    return true;
}

bool tui_item_form(const struct item *item, char *buf, size_t size)
{
    struct item read;

    if (item->kind == ITEM_NONE)
        buf[0] = '\0';
    else if (item->kind < ITEM_ACCOUNT)
        snprintf(buf, size, "%s:%lld", kinds[item->kind], (long long)item->id);
    else
        snprintf(buf, size, "%s:%s%s%s", kinds[item->kind], item->name, item->account[0] ? ":" : "",
                 item->account);
    const bool good = tui_item_parse(buf, &read) && tui_item_equal(&read, item);
    if (!good)
        buf[0] = '\0';
    return good;
}

void tui_item_title(const struct item *item, char *buf, size_t size)
{
    if (item->kind == ITEM_WHAT_IF)
        snprintf(buf, size, "%s", item->name);
    else if (item->name[0])
        snprintf(buf, size, "%s %s%s%s", kinds[item->kind], item->name, item->account[0] ? " of " : "",
                 item->account);
    else
        snprintf(buf, size, "%s %lld", kinds[item->kind], (long long)item->id);
}

void tui_item_page_finish(struct item_page *page)
{
    for (size_t i = 0; i < page->n; i++) {
        free(page->lines[i].label);
        free(page->lines[i].text);
    }
    free(page->lines);
    *page = (struct item_page){0};
}

/* A copy without characters that would control the terminal. */
static char *clean(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);

    if (copy)
        cli_text_clean(copy, size, text);
    return copy;
}

static void add(struct item_page *page, enum style style, int hang, const char *label, const char *text)
{
    if (page->n == page->cap) {
        size_t cap = page->cap ? 2 * page->cap : 64;
        struct item_line *moved = realloc(page->lines, cap * sizeof(*moved));
        if (!moved) {
            page->no_memory = true;
            return;
        }
        page->lines = moved;
        page->cap = cap;
    }
    struct item_line line = {style, hang, clean(label), clean(text)};
    if (line.label && line.text) {
        page->lines[page->n++] = line;
        return;
    }
    page->no_memory = true;
    free(line.label);
    free(line.text);
}

void tui_item_heading(struct item_page *page, const char *text)
{
    if (page->n > 0)
        add(page, STYLE_NORMAL, 0, "", "");
    add(page, STYLE_TITLE, 0, "", text);
}

void tui_item_line(struct item_page *page, enum style style, const char *format, ...)
{
    char text[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    add(page, style, 2, "", text);
}

void tui_item_field(struct item_page *page, const char *label, enum style style, const char *text)
{
    add(page, style, LABEL_COLUMNS, label, text);
}

void tui_item_again(struct item_page *page, const struct item_line *line)
{
    add(page, STYLE_DIM, line->hang, line->label, line->text);
}

void tui_item_text(struct item_page *page, enum style style, const char *text)
{
    while (*text) {
        size_t len = strcspn(text, "\n");
        char *line = strndup(text, len);
        if (line)
            add(page, style, (int)strspn(line, " ") + 2, "", line);
        page->no_memory |= !line;
        free(line);
        text += len + (text[len] == '\n');
    }
}

static bool ends_with(const char *name, const char *unit)
{
    size_t len = strlen(name), n = strlen(unit);

    return len > n && strcmp(name + len - n, unit) == 0;
}

/* "post only" of post_only, "created" of created_ns, "age" of age_ms: what a time is its text says. */
static void label_of(const struct record_field *field, char label[static LABEL_MAX])
{
    snprintf(label, LABEL_MAX, "%s", field->name);
    if (ends_with(label, "_ns") || ends_with(label, "_ms"))
        label[strlen(label) - 3] = '\0';
    if (strcmp(label, "ts") == 0)
        snprintf(label, LABEL_MAX, "time");
    for (char *c = label; *c; c++)
        if (*c == '_')
            *c = ' ';
}

static bool shown(const struct record_field *field, const void *row)
{
    switch (field->kind) {
    case RECORD_BOOL:
        return record_field_number(field, row) != 0;
    case RECORD_HASH:
    case RECORD_SCALE:
        return false;
    case RECORD_TIME:
        return record_field_number(field, row) > 0;
    case RECORD_TEXT:
    case RECORD_STRING:
        return record_field_text(field, row)[0] != '\0';
    case RECORD_WORD:
        return record_field_word(field, row)[0] != '\0';
    case RECORD_UNSIGNED: /* -1: the daemon does not say, though the record has no none for it */
        return !record_field_none(field, row) && record_field_number(field, row) != -1;
    default:
        return !record_field_none(field, row);
    }
}

void tui_item_record(struct item_page *page, const struct record *record, const void *row,
                     const struct record_context *context, const char *without)
{
    static const struct record_context none;

    for (int i = 0; i < record->n; i++) {
        const struct record_field *field = &record->fields[i];
        char label[LABEL_MAX], buf[STORED_CELL];
        if (!shown(field, row) || (without && strcmp(field->name, without) == 0))
            continue;
        label_of(field, label);
        const char *text = cli_stored_cell(STORED_TABLE, buf, field, 0, row, context ? context : &none);
        bool whole = field->kind == RECORD_SIGNED || field->kind == RECORD_UNSIGNED;
        if (whole && ends_with(field->name, "_ns")) /* a time that the record has as a number */
            text = cli_stored_time(STORED_TABLE, buf, record_field_number(field, row));
        else if (whole && ends_with(field->name, "_time_ms")) /* a moment, not a duration */
            text = cli_stored_time(STORED_TABLE, buf, record_field_number(field, row) * 1000000);
        else if (whole && ends_with(field->name, "_ms"))
            text = cli_format_age(buf, record_field_number(field, row));
        if (field->kind == RECORD_BOOL)
            text = "yes";
        if (text[0])
            tui_item_field(page, label, STYLE_NORMAL, text);
    }
}
