/* A file against what the venue says of the same bars now. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fetch.h"
#include "cli/stored.h"
#include "exchange/exit_status.h"
#include "exchange/fail.h"
#include "exchange/folder.h"

enum { COLUMNS = 5, VALUE_MAX = 64 };

static const char *const column_names[COLUMNS] = {"open", "high", "low", "close", "volume"};

/* Both are ascending, and walked at once. */
struct checking {
    struct fetch *fetch;
    const struct bars_file *file;
    size_t at; /* the file's next row */
    struct fetch_differences found;
};

static double file_value(const struct bars_file *file, size_t row, int column)
{
    const double *const columns[COLUMNS] = {file->open, file->high, file->low, file->close, file->volume};
    return columns[column][row];
}

/* The text of a row's value, as the venue has it. */
static const char *venue_text(const struct checking *c, const struct bar *bar, int column,
                              char buf[static STORED_CELL])
{
    const struct symbol *symbol = &c->fetch->symbols[0].symbol;
    const int64_t prices[] = {bar->open, bar->high, bar->low, bar->close};
    return column < COLUMNS - 1 ? cli_stored_decimal(STORED_CSV, buf, prices[column], symbol->price_scale)
                                : cli_stored_decimal(STORED_CSV, buf, bar->volume, symbol->qty_scale);
}

/* `column` NULL: a row that only one of both has. */
static void report(struct checking *c, int64_t open_ns, const char *column, const char *in_file,
                   const char *at_venue)
{
    char at[STORED_CELL];
    c->found.differences++;
    if (c->found.list)
        json_array_append_new(c->found.list,
                              json_pack("{s:I, s:s?, s:s?, s:s?}", "open_ns", (json_int_t)open_ns, "column",
                                        column, "file", in_file, "venue", at_venue));
    else if (c->found.differences <= FETCH_DIFFERENCES_PRINTED)
        printf("%s: %s: %s%s%s, the venue has %s\n", c->fetch->asked->check,
               cli_stored_time(STORED_TABLE, at, open_ns), column ? column : "", column ? " " : "",
               in_file ? in_file : "no such row", at_venue ? at_venue : "no such bar");
}

/* Rows of the range that the venue does not have, up to that time. */
static void pass_rows(struct checking *c, int64_t open_ns)
{
    for (; c->at < c->file->n && c->file->open_time_ns[c->at] < open_ns; c->at++) {
        const int64_t at_ns = c->file->open_time_ns[c->at];
        cli_fetch_see_later(c->fetch, at_ns, &c->found);
        if (at_ns < c->fetch->from_ns || at_ns >= c->fetch->jobs[0].end_ns)
            continue;
        c->found.different++;
        report(c, at_ns, NULL, "a row", NULL);
    }
}

static int compare(void *ctx, const struct bar *bar)
{
    struct checking *c = ctx;
    bool differs = false;
    pass_rows(c, bar->open_ns);
    if (c->at == c->file->n || c->file->open_time_ns[c->at] != bar->open_ns) {
        c->found.different++;
        report(c, bar->open_ns, NULL, NULL, "a bar");
        return 0;
    }
    for (int i = 0; i < COLUMNS; i++) {
        char buf[STORED_CELL], in_file[VALUE_MAX];
        const char *at_venue = venue_text(c, bar, i, buf);
        const double value = file_value(c->file, c->at, i);
        if (strtod(at_venue, NULL) == value)
            continue;
        c->found.different += !differs;
        differs = true;
        snprintf(in_file, sizeof in_file, "%.*f",
                 i < COLUMNS - 1 ? c->file->price_digits : c->file->volume_digits, value);
        report(c, bar->open_ns, column_names[i], in_file, at_venue);
    }
    c->found.rows++;
    c->at++;
    return 0;
}

int cli_fetch_check(struct option_call *call, struct fetch *fetch, const struct bars_file *file)
{
    struct checking c = {.fetch = fetch, .file = file, .found.list = call->json ? json_array() : NULL};
    int r = cli_fetch_from_venue(fetch);
    if (r == 0)
        r = history_store_each(fetch->symbols[0].store, fetch->from_ns, fetch->jobs[0].end_ns, compare, &c);
    else if (r > 0)
        r = cli_fetch_refuse_check(fetch);
    if (r == 0)
        pass_rows(&c, INT64_MAX);
    int status = r < 0 ? option_fail(call, r == -EINVAL ? EXIT_USAGE : EXIT_ERROR, "%s", fetch->err)
                       : cli_fetch_print_differences(fetch, &c.found, call);
    json_decref(c.found.list);
    return status;
}
