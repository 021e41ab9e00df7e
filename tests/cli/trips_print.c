/* The round trips of a database and their sums, as a reader of the dashboard has them: trips-print DATABASE.
 * For each line of its input it looks again, with the same reader, and prints one JSON object in a line. For
 * a line "interrupted" many looks before that one are interrupted where they are. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "db/list.h"
#include "db/reader_query.h"
#include "db/report/trips.h"

enum { STEPS = 5, LOOKS = 50 }; /* so many looks at least are interrupted */

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "trips-print: %s: %s\n", what, why);
    exit(EXIT_FAILURE);
}

/* Units, with every digit. */
static json_t *units(int128_t value)
{
    char text[64];

    if (value == DB_REPORT_UNKNOWN)
        return json_null();
    snprintf(text, sizeof text, "%lld", (long long)value);
    return json_string(text);
}

static void on_trip(void *ctx, int at, const struct db_trip *t)
{
    (void)at;
    json_array_append_new(
        ctx, json_pack("{sI sI sI sI ss ss sb sI sI sI sf sf sf so so ss ss}", "id", (json_int_t)t->id,
                       "first_fill", (json_int_t)t->first_fill, "fills", (json_int_t)t->fills, "order",
                       (json_int_t)t->order, "account", t->account->name, "symbol", t->symbol->symbol.name,
                       "short", t->is_short, "opened_ns", (json_int_t)t->opened_ns, "closed_ns",
                       (json_int_t)t->closed_ns, "qty", (json_int_t)t->qty, "entry", t->entry, "exit",
                       t->exit, "share", t->share, "profit", units(t->profit), "fees", units(t->fees),
                       "source", t->source, "reason", t->reason));
}

static json_t *read_trips(struct db_reader *reader)
{
    struct db_list_query query = {.list = DB_LIST_TRIPS};
    struct db_list_window window;
    json_t *trips = json_array();
    int64_t at = 0;

    do {
        if (db_list_read(reader, &query, 0, at, &window) < 0)
            fail("reading", db_reader_error(reader));
        if (db_list_trips(reader, window.ids + (at - window.first), (int)(window.n - (at - window.first)),
                          on_trip, trips) < 0)
            fail("rows", db_reader_error(reader));
        at = window.first + window.n;
    } while (at < window.count);
    return trips;
}

static json_t *read_sums(struct db_reader *reader)
{
    struct db_trip_sums sums;
    json_t *rows = json_array();

    if (db_trips_sums(reader, &sums) < 0)
        fail("sums", db_reader_error(reader));
    for (size_t i = 0; i < sums.n; i++) {
        const struct db_trip_sum *s = &sums.rows[i];
        json_array_append_new(rows, json_pack("{ss ss ss sb si so so sI sI sI sf sf}", "account", s->account,
                                              "name", s->name, "currency", s->currency, "by_symbol",
                                              s->by_symbol, "scale", s->scale, "pnl", units(s->pnl), "fees",
                                              units(s->fees), "fills", (json_int_t)s->fills, "closed",
                                              (json_int_t)s->trades.n, "wins", (json_int_t)s->trades.wins,
                                              "won", s->trades.won, "lost", s->trades.lost));
    }
    db_trip_sums_finish(&sums);
    return rows;
}

static int left; /* of the machine's steps, STEPS at a time, until it is interrupted once */

static int on_steps(void *ctx)
{
    (void)ctx;
    return --left == 0;
}

/* Looks that end early, each after some steps more than the one before, until one is whole: what was taken
 * stays. */
static void look_interrupted(struct db_reader *reader)
{
    const struct db_list_query query = {.list = DB_LIST_TRIPS};
    struct db_list_window window;
    int looks = 0, r;

    sqlite3_progress_handler(reader->db, STEPS, on_steps, NULL);
    do {
        left = 1 + looks++;
        r = db_reader_begin(reader);
        r = r < 0 ? r : db_list_read(reader, &query, 0, 0, &window);
        db_reader_end(reader);
        if (r < 0 && r != -EINTR)
            fail("interrupted", db_reader_error(reader));
    } while (left <= 0); /* it was interrupted, if only where that is tried again */
    sqlite3_progress_handler(reader->db, 0, NULL, NULL);
    if (looks < LOOKS)
        fail("interrupted", "too few looks were");
}

int main(int argc, char **argv)
{
    char words[DB_ERROR_MAX] = "", line[16];
    struct db_reader *reader;

    if (argc != 2)
        fail("usage", "trips-print DATABASE");
    if (db_reader_open(argv[1], &reader, words, sizeof words) < 0)
        fail(argv[1], words);
    while (fgets(line, sizeof line, stdin)) {
        if (strcmp(line, "interrupted\n") == 0)
            look_interrupted(reader);
        if (db_reader_begin(reader) < 0)
            fail("beginning", db_reader_error(reader));
        json_t *trips = read_trips(reader);
        json_t *all = json_pack("{so so}", "trips", trips, "sums", read_sums(reader));
        db_reader_end(reader);
        char *text = json_dumps(all, JSON_COMPACT);
        puts(text);
        fflush(stdout);
        free(text);
        json_decref(all);
    }
    db_reader_close(reader);
    return EXIT_SUCCESS;
}
