#include "cli/verbs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/ask.h"
#include "cli/text.h"
#include "cli/told.h"
#include "exchange/exit_status.h"

static const struct stored_column columns[] = {
    {"name", -12},           {"state", -10},         {"market", -7},
    {"market_next_ns", -24}, {"symbols", 7},         {"messages_per_second", 19},
    {"latency_p50_ms", 11},  {"latency_p99_ms", 11}, {"clock_offset_ms", 12},
    {"age_ms", 8},           {"connections_up", 14}, {"connections", 11},
    {"connects", 8},         {"renewals", 8},        {"connect_budget_used", 0},
    {"connect_budget", 0},   {"weight_used", 0},     {"weight_limit", 0},
    {"frames", 9},           {"bad_frames", 10},     {"banned_until_ns", -24},
    {"detail", -1},
};

/* ---- the list ---- */

struct reading {
    json_t *rows;
    int64_t now_ns;
    int r;
};

static void take(void *ctx, const struct db_venue *row)
{
    struct reading *reading = ctx;
    int64_t age_ms = row->last_recv_ns ? (reading->now_ns - row->last_recv_ns) / 1000000 : -1;
    json_t *object =
        json_pack("{s:s, s:s, s:s, s:s, s:o, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:n}", "name", row->venue,
                  "state", db_feed_state_name(row->state), "detail", row->detail, "market", row->market,
                  "age_ms", told_count_or_null(age_ms), "frames", (json_int_t)row->frames, "bad_frames",
                  (json_int_t)row->bad_frames, "connects", (json_int_t)row->connects, "renewals",
                  (json_int_t)row->renewals, "latency_p50_ms", told_number_or_null(row->latency_p50_ms),
                  "latency_p99_ms", told_number_or_null(row->latency_p99_ms), "clock_offset_ms",
                  told_number_or_null(row->clock_offset_ms), "banned_until_ns");

    if (json_array_append_new(reading->rows, object) < 0)
        reading->r = -ENOMEM;
}

/* Of a venue that is in the list. */
static void take_ban(void *ctx, const struct db_ban *ban)
{
    struct reading *reading = ctx;
    json_t *row;
    size_t i;

    json_array_foreach(reading->rows, i, row)
    {
        if (strcmp(told_text(row, "name"), ban->venue) == 0 && ban->until_ns > reading->now_ns &&
            json_object_set_new(row, "banned_until_ns", json_integer(ban->until_ns)) < 0)
            reading->r = -ENOMEM;
    }
}

static int read_venues(struct db_reader *reader, int64_t now_ns, json_t *rows)
{
    struct reading reading = {.rows = rows, .now_ns = now_ns};
    int r = db_reader_venues(reader, take, &reading);

    if (r == 0)
        r = db_reader_bans(reader, take_ban, &reading);
    return r < 0 ? r : reading.r;
}

static const struct told_source source = {"status", "venues", "venue", read_venues};

static void print_row(struct stored_list *list, const json_t *row)
{
    enum {
        NEXT,
        SYMBOLS,
        RATE,
        P50,
        P99,
        CLOCK,
        AGE,
        UP,
        CONNECTIONS,
        CONNECTS,
        RENEWALS,
        USED,
        BUDGET,
        WEIGHT,
        LIMIT,
        FRAMES,
        BAD,
        BANNED,
        CELLS
    };
    enum stored_form form = list->form;
    char cell[CELLS][STORED_CELL];
    const char *const cells[] = {
        told_text(row, "name"),
        told_text(row, "state"),
        told_text(row, "market"),
        told_time(form, cell[NEXT], row, "market_next_ns"),
        told_integer(cell[SYMBOLS], row, "symbols"),
        told_real(cell[RATE], row, "messages_per_second", 1),
        told_real(cell[P50], row, "latency_p50_ms", 1),
        told_real(cell[P99], row, "latency_p99_ms", 1),
        told_real(cell[CLOCK], row, "clock_offset_ms", 1),
        told_age(form, cell[AGE], row, "age_ms"),
        told_integer(cell[UP], row, "connections_up"),
        told_integer(cell[CONNECTIONS], row, "connections"),
        told_integer(cell[CONNECTS], row, "connects"),
        told_integer(cell[RENEWALS], row, "renewals"),
        told_integer(cell[USED], row, "connect_budget_used"),
        told_integer(cell[BUDGET], row, "connect_budget"),
        told_integer(cell[WEIGHT], row, "weight_used"),
        told_integer(cell[LIMIT], row, "weight_limit"),
        told_count(form, cell[FRAMES], row, "frames"),
        told_integer(cell[BAD], row, "bad_frames"),
        told_time(form, cell[BANNED], row, "banned_until_ns"),
        told_text(row, "detail"),
    };
    stored_row(list, cells);
}

/* ---- streams ---- */

static int streams(struct option_call *call)
{
    json_t *result, *name, *args = json_pack("{s:s}", "venue", call->arguments[0]);
    size_t i;

    if (!args)
        return ask_usage("venues", "the venue must be UTF-8");
    int r = ask_daemon("venues", call->state, "streams", args, &result);
    if (r != EXIT_OK)
        return r;
    json_t *names = json_object_get(result, "streams");
    if (!json_is_array(names))
        r = stored_fail(EXIT_ERROR, "venues", "streams",
                        "the daemon's answer is no list: both must be of one version");
    else if (call->json)
        r = told_print("venues", "papertape.streams/1", "streams", json_incref(names));
    else
        json_array_foreach(names, i, name)
        {
            text_print(stdout, json_is_string(name) ? json_string_value(name) : "");
            putchar('\n');
        }
    json_decref(result);
    return r;
}

static int list(struct option_call *call)
{
    struct stored_list list = {.name = "venues",
                               .form = stored_form(call),
                               .columns = columns,
                               .n_columns = sizeof columns / sizeof *columns};

    return told_list("venues", "papertape.venues/1", call->state, &source, &list, print_row);
}

static const struct option_action actions[] = {
    {"list", NULL,
     "each venue: its state, its market and when that changes, messages a second and latency over the last "
     "minute, "
     "connections, attempts to connect and request weight used of what it allows",
     .need = OPTION_NEEDS_EITHER, OPTION_LISTS, .run = list},
    {"streams", "VENUE", "the names that the venue itself says it sends; papertape.streams/1", NULL,
     OPTION_NEEDS_DAEMON, .run = streams},
};

const struct option_verb cli_venues = {
    .name = "venues",
    .words = "each venue's state and limits; streams: what it sends",
    .about = "What the daemon is connected to.",
    .page = "market",
    OPTION_ACTIONS(actions),
};
