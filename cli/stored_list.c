#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/format.h"
#include "cli/stored.h"
#include "cli/text.h"
#include "exchange/exit_status.h"
#include "exchange/utf8.h"
#include "record/times.h"

enum { ROWS_KEPT = 4096 }; /* whose cells make a table's widths */

/* Is it written as it is? */
static bool is_plain(const char *text)
{
    while (*text >= ' ' && *text < 0x7f && *text != ',' && *text != '"')
        text++;
    return !*text;
}

void cli_stored_csv(FILE *out, const char *text)
{
    const bool quoted = strpbrk(text, ",\"");
    if (is_plain(text)) {
        fputs(text, out);
        return;
    }
    if (quoted)
        fputc('"', out);
    for (size_t n; *text; text += n ? n : 1) {
        uint32_t code = 0;
        n = utf8_character(text, UTF8_MAX, &code);
        if (code == '"')
            fputc('"', out);
        if (n == 0 || code < ' ' || (code >= 0x7f && code < 0xa0))
            fputc(TEXT_REPLACEMENT, out);
        else
            fwrite(text, 1, n, out);
    }
    if (quoted)
        fputc('"', out);
}

static const struct stored_column *columns_of(const struct stored_list *list)
{
    return list->columns ? list->columns : list->own;
}

static FILE *out_of(const struct stored_list *list)
{
    return list->out ? list->out : stdout;
}

/* A column that ends the line is not filled up to its widest cell. */
static bool grows(const struct stored_list *list, int column)
{
    for (int i = column + 1; i < list->n_columns; i++)
        if (columns_of(list)[i].width != 0)
            return true;
    return columns_of(list)[column].width > 0;
}

static void keep_cell(struct stored_list *list, int column, const char *text)
{
    size_t size = strlen(text) + 1;
    if (list->n_kept + size > list->cap_kept) {
        size_t cap = 2 * list->cap_kept + size + 4096;
        char *moved = realloc(list->kept, cap);
        if (!moved) {
            list->r = -ENOMEM;
            return;
        }
        list->kept = moved;
        list->cap_kept = cap;
    }
    cli_text_clean(list->kept + list->n_kept, size, text);
    int width = cli_text_width(list->kept + list->n_kept), least = abs(columns_of(list)[column].width);
    list->n_kept += strlen(list->kept + list->n_kept) + 1;
    if (list->widths[column] < least)
        list->widths[column] = least;
    if (grows(list, column) && list->widths[column] < width)
        list->widths[column] = width;
}

/* Columns that a line may have; 0: any number. */
static int width_of(const struct stored_list *list)
{
    struct winsize window;
    return list->fits && isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0
               ? window.ws_col
               : 0;
}

/* Blanks and a text, as far as there is room. */
static void put(FILE *out, int *room, int blanks, const char *text)
{
    blanks = blanks < *room ? blanks : *room;
    *room -= blanks;
    fprintf(out, "%*s%.*s", blanks, "", (int)cli_text_fit(text, *room), text);
    int width = cli_text_width(text);
    *room -= width < *room ? width : *room;
}

static void print_kept(struct stored_list *list)
{
    FILE *out = out_of(list);
    int most = width_of(list);
    for (size_t at = 0; list->r == 0 && at < list->n_kept; fputc('\n', out)) {
        int room = most > 0 ? most : INT_MAX, space = 0, blanks = 0; /* none end a line */
        for (int i = 0; i < list->n_columns; i++) {
            if (columns_of(list)[i].width == 0)
                continue;
            const char *text = list->kept + at;
            int width = cli_text_width(text), gap = width < list->widths[i] ? list->widths[i] - width : 0;
            bool left = columns_of(list)[i].width < 0;
            blanks += space + (left ? 0 : gap);
            if (*text) {
                put(out, &room, blanks, text);
                blanks = 0;
            }
            blanks += left ? gap : 0;
            space = 2;
            at += strlen(text) + 1;
        }
    }
    list->n_kept = 0;
}

/* The columns in ISO 8601, whose cells are those of the columns of times. */
static void print_iso(const struct stored_list *list, const char *const *cells)
{
    char name[RECORD_TIME_NAME_MAX], text[RECORD_TIME_ISO_MAX];
    for (int i = 0; i < list->n_columns; i++) {
        const char *column = columns_of(list)[i].name;
        if (record_time_iso_name(column, name))
            fprintf(out_of(list), ",%s", cells ? record_time_iso_cell(column, cells[i], text) : name);
    }
}

static void print_cells(struct stored_list *list, const char *const *cells)
{
    FILE *out = out_of(list);
    for (int i = 0; i < list->n_columns; i++)
        if (list->form == STORED_CSV) {
            if (i > 0)
                fputc(',', out);
            cli_stored_csv(out, cells[i]);
        } else if (columns_of(list)[i].width != 0) {
            keep_cell(list, i, cells[i]);
        }
    if (list->form == STORED_CSV) {
        if (!list->plain)
            print_iso(list, list->rows > 0 ? cells : NULL);
        fputc('\n', out);
    } else if (list->rows >= ROWS_KEPT) {
        print_kept(list);
    }
}

/* A table shows nanoseconds as times. */
static const char *heading(const char *name, char shown[static 24])
{
    size_t len = strlen(name);
    if (len >= 24 || len < 3 || (strcmp(name + len - 3, "_ns") != 0 && strcmp(name + len - 3, "_ms") != 0))
        return name;
    snprintf(shown, 24, "%.*s", (int)len - 3, name);
    return shown;
}

static void begin(struct stored_list *list)
{
    const char *names[STORED_COLUMNS_MAX];
    char shown[STORED_COLUMNS_MAX][24];
    if (list->started)
        return;
    list->started = true;
    if (list->form == STORED_JSON) {
        printf("{\"schema\":\"papertape.%s/1\",\"%s\":[", list->name, list->key ? list->key : list->name);
        return;
    }
    for (int i = 0; i < list->n_columns; i++)
        names[i] = list->form == STORED_TABLE ? heading(columns_of(list)[i].name, shown[i])
                                              : columns_of(list)[i].name;
    print_cells(list, names);
}

void cli_stored_row(struct stored_list *list, const char *const *cells)
{
    begin(list);
    list->rows++;
    print_cells(list, cells);
}

void cli_stored_object(struct stored_list *list, json_t *object)
{
    begin(list);
    char *text = decimal_json_text(object, 15);
    json_decref(object);
    if (!text) {
        list->r = -ENOMEM;
        return;
    }
    printf("%s%s", list->rows++ ? "," : "", text);
    free(text);
}

void cli_stored_end(struct stored_list *list)
{
    begin(list);
    if (list->form == STORED_JSON)
        printf("]%s}\n", list->tail ? list->tail : "");
    print_kept(list);
    if (list->form == STORED_TABLE && list->tail)
        fputs(list->tail, list->out ? list->out : stdout);
    free(list->tail);
    list->tail = NULL;
    free(list->kept);
    list->kept = NULL;
}

int cli_stored_print_list(struct option_call *call, const char *verb, struct stored_list *list,
                          int (*read)(struct db_reader *reader, const struct option_call *call,
                                      struct stored_list *list))
{
    struct db_reader *reader;
    int status = cli_stored_open(verb, call->state, &reader);
    return status == EXIT_OK ? cli_stored_print_of(call, verb, reader, list, read) : status;
}

int cli_stored_print_of(struct option_call *call, const char *verb, struct db_reader *reader,
                        struct stored_list *list,
                        int (*read)(struct db_reader *reader, const struct option_call *call,
                                    struct stored_list *list))
{
    int r = db_reader_begin(reader);
    if (r == 0)
        r = read(reader, call, list);
    db_reader_end(reader);
    if (r == 0 || list->started)
        cli_stored_end(list);
    return cli_stored_close(verb, reader, r < 0 ? r : list->r);
}

/* ---- lists of a record ---- */

enum { TEXT_WIDTH = 12 };

static bool is_named(const struct stored_column *columns, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(columns[i].name, name) == 0)
            return true;
    return false;
}

static void add(struct stored_list *list, struct stored_column column)
{
    bool shown = list->form == STORED_JSON || column.width != STORED_JSON_ONLY;
    if (shown && column.width != STORED_NOWHERE && list->n_columns < STORED_COLUMNS_MAX)
        list->own[list->n_columns++] = column;
}

/* The width of a field that no list names: tables have texts, and the numbers of other rows. */
static int width(const struct record_field *field)
{
    bool reference = field->kind == RECORD_UNSIGNED && field->flags & RECORD_OPTIONAL;
    return field->kind == RECORD_TEXT ? -TEXT_WIDTH : reference ? (int)strlen(field->name) : 0;
}

struct stored_list cli_stored_list_of(const struct record *record, const struct stored_column *columns, int n,
                                      enum stored_form form, FILE *out)
{
    struct stored_list list = {.name = record->table, .form = form, .record = record, .out = out};
    for (int i = 0; i < n; i++)
        add(&list, columns[i]);
    for (int i = 0; i < record->n; i++)
        if (!is_named(columns, n, record->fields[i].name))
            add(&list, (struct stored_column){record->fields[i].name, width(&record->fields[i])});
    return list;
}

const char *cli_stored_cell(enum stored_form form, char buf[static STORED_CELL],
                            const struct record_field *field, int decimals, const void *row,
                            const struct record_context *context)
{
    int64_t number = record_field_number(field, row);
    int scale = record_scale(field, context->symbol);
    switch (field->kind) {
    case RECORD_TEXT:
    case RECORD_STRING:
        return record_field_text(field, row);
    case RECORD_WORD:
        return record_field_word(field, row);
    case RECORD_ACCOUNT:
        return context->account ? context->account : "";
    case RECORD_SYMBOL:
        return context->symbol ? context->symbol->name : "";
    case RECORD_BOOL:
        return number ? "1" : "0";
    case RECORD_HASH:
        record_value(field, row, NULL, buf);
        return buf;
    default:
        break;
    }
    if (record_field_none(field, row))
        return "";
    if (field->kind == RECORD_REAL) {
        double value = record_field_real(field, row);
        if (decimals)
            return cli_format_number(buf, value, decimals);
        snprintf(buf, STORED_CELL, "%.10g", value);
        return buf;
    }
    if (field->kind == RECORD_TIME)
        return cli_stored_time(form, buf, number);
    if (record_is_decimal(field))
        return scale < 0 ? "" : cli_stored_decimal(form, buf, number, scale);
    return cli_stored_integer(buf, number);
}

json_t *cli_stored_derived(const struct stored_column *column, const void *row,
                           const struct record_context *context)
{
    const char *text = column->derived(row, context);
    if (!column->json)
        return record_json_text(text);
    return *text ? json_loads(text, JSON_DECODE_ANY, NULL) : json_null();
}

static json_t *member(const struct stored_list *list, const struct stored_column *column, const void *row,
                      const struct record_context *context)
{
    const struct record_field *field = record_find(list->record, column->name);
    if (column->derived)
        return cli_stored_derived(column, row, context);
    if (!column->json)
        return record_json(field, row, context);
    return *record_field_text(field, row) ? json_loads(record_field_text(field, row), 0, NULL) : json_null();
}

static json_t *object_of(const struct stored_list *list, const void *row,
                         const struct record_context *context)
{
    json_t *object = json_object();
    for (int i = 0; object && i < list->n_columns; i++)
        if (json_object_set_new(object, list->own[i].name, member(list, &list->own[i], row, context)) < 0) {
            json_decref(object);
            return NULL;
        }
    return object;
}

void cli_stored_record_row(struct stored_list *list, const void *row, const struct record_context *context)
{
    char buf[STORED_COLUMNS_MAX][STORED_CELL];
    const char *cells[STORED_COLUMNS_MAX];
    if (list->form == STORED_JSON) {
        cli_stored_object(list, object_of(list, row, context));
        return;
    }
    for (int i = 0; i < list->n_columns; i++) {
        const struct stored_column *column = &list->own[i];
        const struct record_field *field = record_find(list->record, column->name);
        cells[i] = column->derived
                       ? column->derived(row, context)
                       : cli_stored_cell(list->form, buf[i], field, column->decimals, row, context);
    }
    cli_stored_row(list, cells);
}
