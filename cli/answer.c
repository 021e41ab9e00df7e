#include "cli/answer.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ask.h"
#include "cli/format.h"
#include "cli/text.h"
#include "db/row.h"
#include "exchange/clock.h"
#include "exchange/exit_status.h"
#include "exchange/nearest.h"

json_t *cli_answer_named(const json_t *object, const struct answer_source *source)
{
    json_t *name = json_object_get(object, source->name);
    json_t *copy = json_is_string(name) ? json_pack("{s:O}", "name", name) : NULL;

    if (copy && (json_object_update_missing(copy, (json_t *)(uintptr_t)object) < 0 ||
                 json_object_del(copy, source->name) < 0)) {
        json_decref(copy);
        copy = NULL;
    }
    return copy;
}

/* A result that is not a list of named objects is not an answer. */
static json_t *take_rows(const json_t *result, const struct answer_source *source)
{
    json_t *list = json_object_get(result, source->key), *rows = json_array(), *row;
    size_t i;

    if (!json_is_array(list)) {
        json_decref(rows);
        return NULL;
    }
    json_array_foreach(list, i, row)
    {
        if (json_array_append_new(rows, cli_answer_named(row, source)) < 0) {
            json_decref(rows);
            return NULL;
        }
    }
    return rows;
}

void cli_answer_take(struct answer_reading *reading, json_t *object)
{
    if (json_array_append_new(reading->rows, object) < 0)
        reading->r = -ENOMEM;
}

static int read_stored(const char *verb, const char *state, const struct answer_source *source,
                       const struct db_selection *selection, json_t *rows)
{
    static const struct db_selected all = {NULL};
    const struct db_selection moment = {
        .from_ns = INT64_MIN, .to_ns = INT64_MAX, .at_ns = selection ? selection->at_ns : 0};
    struct answer_reading reading = {
        .rows = rows, .now_ns = moment.at_ns > 0 ? moment.at_ns : clock_wall_ns(), .past = moment.at_ns > 0};
    struct db_reader *reader;
    int status = cli_selected_open(verb, state, &moment, &all, &reader);

    if (status != EXIT_OK)
        return status;
    int r = source->read(reader, &reading);
    return cli_stored_close(verb, reader, r < 0 ? r : reading.r);
}

/* As they were at a moment. */
static int take_past(const char *verb, const char *state, const struct answer_source *source,
                     const struct db_selection *selection, json_t **ret_rows)
{
    json_t *rows = json_array();
    int status = rows ? read_stored(verb, state, source, selection, rows)
                      : cli_stored_fail(EXIT_ERROR, verb, "", "out of memory");

    if (status == EXIT_OK)
        *ret_rows = rows;
    else
        json_decref(rows);
    return status;
}

/* Is there such an account? The daemon does not say. An exit status, with its line. */
static int check_account(const char *verb, const char *state, const struct db_selection *selection)
{
    static const struct db_selected all = {NULL};
    struct db_reader *reader;
    int status = cli_selected_open(verb, state, selection, &all, &reader);

    return status == EXIT_OK ? cli_stored_close(verb, reader, 0) : status;
}

/* Removes the rows that are not selected. */
static void filter(const struct answer_source *source, const struct db_selection *selection, json_t *rows)
{
    for (size_t i = json_array_size(rows); selection && i-- > 0;) {
        const json_t *row = json_array_get(rows, i);
        bool of_account =
            !selection->account || strcmp(cli_answer_text(row, "account"), selection->account) == 0;
        if (!of_account ||
            (source->time && !db_selection_has(selection, cli_answer_integer_or(row, source->time, 0))))
            json_array_remove(rows, i);
    }
}

/* EXIT_OK, or EXIT_NO_DAEMON after a line that says that it is the database's: *ret_rows is the caller's.
 * Else an exit status with its line. */
static int take_list(const char *verb, const char *state, const struct answer_source *source,
                     json_t **ret_rows)
{
    struct control_error error;
    json_t *result, *rows;
    int status = cli_ask_quietly(state, source->cmd, NULL, &result, &error);

    if (status == EXIT_OK) {
        rows = take_rows(result, source);
        json_decref(result);
        if (!rows)
            return cli_stored_fail(EXIT_ERROR, verb, source->cmd,
                                   "the daemon's answer is no list: both must be of one version");
        *ret_rows = rows;
        return EXIT_OK;
    }
    if (status != EXIT_NO_DAEMON) {
        cli_ask_say(verb, &error);
        return status;
    }
    rows = json_array();
    status = rows ? read_stored(verb, state, source, NULL, rows)
                  : cli_stored_fail(EXIT_ERROR, verb, "", "out of memory");
    if (status != EXIT_OK) {
        json_decref(rows);
        return status;
    }
    fprintf(stderr, "papertape: %s: as the database last had them: ", verb);
    cli_text_print(stderr, error.message);
    fputc('\n', stderr);
    *ret_rows = rows;
    return EXIT_NO_DAEMON;
}

static const char *show_number(enum stored_kind kind, enum stored_form form, char *buf, double value,
                               int decimals)
{
    char text[FORMAT_MAX];

    if (kind == STORED_COUNT && form == STORED_TABLE)
        snprintf(buf, STORED_CELL, "%s", cli_format_count(text, value));
    else if (kind == STORED_COUNT)
        snprintf(buf, STORED_CELL, "%.15g", value);
    else
        cli_format_number(buf, value, decimals);
    return buf;
}

/* A cell's text, in `buf` or the row's own. */
static const char *show(const struct stored_column *column, enum stored_form form, char *buf,
                        const json_t *row)
{
    const json_t *value = json_object_get(row, column->name);
    int64_t whole = json_integer_value(value);
    char text[FORMAT_MAX];
    double number = decimal_json_value(value);

    if (json_is_string(value) && isnan(number))
        return json_string_value(value);
    if (isnan(number) || column->kind == STORED_TEXT)
        return "";
    if (column->kind == STORED_REAL ||
        (column->kind == STORED_COUNT && (form == STORED_TABLE || !json_is_integer(value))))
        return show_number(column->kind, form, buf, number, column->decimals);
    if (!json_is_integer(value))
        return "";
    if (column->kind == STORED_TIME)
        return whole > 0 ? cli_stored_time(form, buf, whole) : "";
    if (column->kind != STORED_AGE || form == STORED_CSV || whole < 0)
        return cli_stored_integer(buf, whole);
    snprintf(buf, STORED_CELL, "%s", cli_format_age(text, whole));
    return buf;
}

static void print_row(struct stored_list *list, const struct answer_source *source, json_t *row)
{
    char buf[STORED_COLUMNS_MAX][STORED_CELL];
    const char *cells[STORED_COLUMNS_MAX];

    if (source->prepare)
        source->prepare(list->form, row);
    for (int i = 0; i < source->n_columns; i++)
        cells[i] = show(&source->columns[i], list->form, buf[i], row);
    cli_stored_row(list, cells);
}

int cli_answer_list(const char *verb, const char *state, const struct answer_source *source,
                    const struct db_selection *selection, enum stored_form form)
{
    struct stored_list list = {
        .name = source->key, .form = form, .columns = source->columns, .n_columns = source->n_columns};
    char schema[64];
    json_t *rows = NULL, *row;
    size_t i;
    int status = selection && selection->account ? check_account(verb, state, selection) : EXIT_OK;

    if (status == EXIT_OK)
        status = selection && selection->at_ns > 0 ? take_past(verb, state, source, selection, &rows)
                                                   : take_list(verb, state, source, &rows);

    if (!rows)
        return status;
    filter(source, selection, rows);
    if (form == STORED_JSON) {
        snprintf(schema, sizeof schema, "papertape.%s/1", source->key);
        int r = cli_answer_print(verb, schema, source->key, rows);
        return r == EXIT_OK ? status : r;
    }
    json_array_foreach(rows, i, row) print_row(&list, source, row);
    cli_stored_end(&list);
    json_decref(rows);
    return status;
}

/* ---- the nearest name ---- */

static json_t *ask_rows(const char *state, const struct answer_source *source)
{
    struct control_error ignored;
    json_t *result, *rows;

    if (!source || cli_ask_quietly(state, source->cmd, NULL, &result, &ignored) != EXIT_OK)
        return NULL;
    rows = take_rows(result, source);
    json_decref(result);
    return rows;
}

static void offer_all(struct nearest *nearest, const char *name, const json_t *rows)
{
    const json_t *row;
    size_t i;

    json_array_foreach(rows, i, row) nearest_offer(nearest, name, cli_answer_text(row, "name"));
}

void cli_answer_refused(const struct option_call *call, const char *name, const struct control_error *error,
                        const struct answer_source *first, const struct answer_source *second)
{
    struct control_error shown = *error;
    struct nearest nearest = {0};
    json_t *rows[2] = {NULL, NULL};

    cli_ask_as_options(call, &shown);
    if (strcmp(error->code, "ENOENT") == 0 && !call->asking) { /* in a line no more is asked */
        rows[0] = ask_rows(call->state, first);
        rows[1] = ask_rows(call->state, second);
        offer_all(&nearest, name, rows[0]);
        offer_all(&nearest, name, rows[1]);
    }
    size_t len = strlen(shown.message);
    const char *meant = nearest_meant(&nearest, name);
    if (meant && !strstr(shown.message, meant))
        snprintf(shown.message + len, sizeof(shown.message) - len, "%s", NEAREST_SUGGEST(meant));
    cli_ask_call_say(call, &shown);
    json_decref(rows[0]);
    json_decref(rows[1]);
}

int cli_answer_ask(struct option_call *call, const char *cmd, const struct answer_source *first,
                   const struct answer_source *second, json_t **ret_result)
{
    struct control_error error;
    const char *name = call->arguments[0];
    int status = cli_ask_args_put(call, "name", name);

    if (status != EXIT_OK)
        return status;
    status = cli_ask_args_send_quietly(call, cmd, ret_result, &error);
    if (status == EXIT_ERROR)
        cli_answer_refused(call, name, &error, first, second);
    else if (status != EXIT_OK && status != ASK_LINE_FIRST)
        cli_ask_call_say(call, &error);
    return status;
}

int cli_answer_lines(const struct option_call *call, const json_t *result, const char *schema,
                     const char *key)
{
    json_t *lines = json_object_get(result, key), *line;
    char words[80];
    size_t i;

    if (!json_is_array(lines)) {
        snprintf(words, sizeof words, "the daemon's answer has no %s: both must be of one version", key);
        return cli_stored_fail(EXIT_ERROR, call->verb->name, call->arguments[0], words);
    }
    if (call->json)
        return cli_answer_print(call->verb->name, schema, key, json_incref(lines));
    json_array_foreach(lines, i, line)
    {
        cli_text_print(stdout, json_is_string(line) ? json_string_value(line) : "");
        putchar('\n');
    }
    return EXIT_OK;
}

/* ---- values ---- */

const char *cli_answer_text(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));

    return text ? text : "";
}

int64_t cli_answer_integer_or(const json_t *row, const char *key, int64_t otherwise)
{
    const json_t *value = json_object_get(row, key);

    return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

void cli_answer_clear_none(json_t *object, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const json_t *value = json_object_get(object, names[i]);
        int64_t least = strstr(names[i], "_ns") ? 1 : 0;
        if (json_is_integer(value) ? json_integer_value(value) < least
                                   : json_is_string(value) && !*json_string_value(value))
            json_object_set_new(object, names[i], json_null());
    }
}

int cli_answer_print(const char *verb, const char *schema, const char *key, json_t *value)
{
    return cli_stored_print(verb, json_pack("{s:s, s:o}", "schema", schema, key, value), 15);
}
