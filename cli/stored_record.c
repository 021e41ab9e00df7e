#include "cli/stored_record.h"

#include <string.h>

#include "record/value.h"

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

struct stored_list cli_stored_record_list(const struct record *record, const struct stored_column *columns,
                                          int n, enum stored_form form, FILE *out)
{
    struct stored_list list = {.name = record->table, .form = form, .record = record, .out = out};
    for (int i = 0; i < n; i++)
        add(&list, columns[i]);
    for (int i = 0; i < record->n; i++)
        if (!is_named(columns, n, record->fields[i].name))
            add(&list, (struct stored_column){.name = record->fields[i].name});
    return list;
}

/* A text for a cell of a table or of CSV, in `buf` or the row's own. */
static const char *cell(enum stored_form form, char *buf, const struct record_field *field, const void *row,
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
    default:
        break;
    }
    if (record_field_none(field, row))
        return "";
    if (field->kind == RECORD_TIME)
        return cli_stored_time(form, buf, number);
    if (record_is_decimal(field))
        return scale < 0 ? "" : cli_stored_decimal(form, buf, number, scale);
    return cli_stored_integer(buf, number);
}

static json_t *object(const struct stored_list *list, const void *row, const struct record_context *context)
{
    json_t *object = json_object();
    for (int i = 0; object && i < list->n_columns; i++) {
        const struct stored_column *column = &list->own[i];
        const struct record_field *field = record_find(list->record, column->name);
        json_t *value = field ? record_json(field, row, context) : json_string(column->derived(context));
        if (json_object_set_new(object, column->name, value) < 0) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

void cli_stored_record_row(struct stored_list *list, const void *row, const struct record_context *context)
{
    char buf[STORED_COLUMNS_MAX][STORED_CELL];
    const char *cells[STORED_COLUMNS_MAX];
    if (list->form == STORED_JSON) {
        cli_stored_object(list, object(list, row, context));
        return;
    }
    for (int i = 0; i < list->n_columns; i++) {
        const struct record_field *field = record_find(list->record, list->own[i].name);
        cells[i] = field ? cell(list->form, buf[i], field, row, context) : list->own[i].derived(context);
    }
    cli_stored_row(list, cells);
}
