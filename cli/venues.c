#include "cli/verbs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/answer.h"
#include "cli/ask.h"
#include "cli/text.h"
#include "db/records.h"
#include "exchange/exit_status.h"

static const struct stored_column columns[] = {
    {"name", -12},
    {"state", -10},
    {"market", -7},
    {"market_next_ns", -24, STORED_TIME},
    {"symbols", 7, STORED_INTEGER},
    {"messages_per_second", 19, STORED_REAL, 1},
    {"latency_p50_ms", 11, STORED_REAL, 1},
    {"latency_p99_ms", 11, STORED_REAL, 1},
    {"clock_offset_ms", 12, STORED_REAL, 1},
    {"age_ms", 8, STORED_AGE},
    {"connections_up", 14, STORED_INTEGER},
    {"connections", 11, STORED_INTEGER},
    {"connects", 8, STORED_INTEGER},
    {"renewals", 8, STORED_INTEGER},
    {"recoveries", 10, STORED_INTEGER},
    {"recovering", 10, STORED_INTEGER},
    {"recovery_last_ms", 16, STORED_AGE},
    {"recovery_mean_ms", 16, STORED_AGE},
    {"recovery_worst_ms", 17, STORED_AGE},
    {"connect_budget_used", 0, STORED_INTEGER},
    {"connect_budget", 0, STORED_INTEGER},
    {"weight_used", 0, STORED_INTEGER},
    {"weight_limit", 0, STORED_INTEGER},
    {"frames", 9, STORED_COUNT},
    {"bad_frames", 10, STORED_INTEGER},
    {"banned_until_ns", -24, STORED_TIME},
    {"detail", -1},
};

/* ---- the list ---- */

static const struct record_key keys[] = {
    {"venue", "name"},  {"state"},           {"detail"},          {"market"},           {"age_ms"},
    {"frames"},         {"bad_frames"},      {"connects"},        {"renewals"},         {"latency_p50_ms"},
    {"latency_p99_ms"}, {"clock_offset_ms"}, {"banned_until_ns"}, {"last_recv_ns", ""},
};

static void take(void *ctx, const struct db_venue *row)
{
    struct answer_reading *reading = ctx;
    json_t *object = record_json_object(&db_record_venues, keys, sizeof keys / sizeof *keys, row,
                                        &(struct record_context){0});

    if (row->last_recv_ns && reading->now_ns >= row->last_recv_ns)
        json_object_set_new(object, "age_ms", json_integer((reading->now_ns - row->last_recv_ns) / 1000000));
    cli_answer_take(reading, object);
}

/* Adds the ban of a venue in the list. */
static void take_ban(void *ctx, const struct db_ban *ban)
{
    struct answer_reading *reading = ctx;
    json_t *row;
    size_t i;

    json_array_foreach(reading->rows, i, row)
    {
        if (strcmp(cli_answer_text(row, "name"), ban->venue) == 0 && ban->until_ns > reading->now_ns &&
            json_object_set_new(row, "banned_until_ns", json_integer(ban->until_ns)) < 0)
            reading->r = -ENOMEM;
    }
}

static int read_venues(struct db_reader *reader, struct answer_reading *reading)
{
    int r = db_reader_venues(reader, take, reading);

    return r == 0 ? db_reader_bans(reader, take_ban, reading) : r;
}

static const struct answer_source source = {
    "status", "venues", "venue", read_venues, columns, (int)(sizeof columns / sizeof *columns), NULL};

/* ---- streams ---- */

static int streams(struct option_call *call)
{
    json_t *result;
    int status = cli_ask_args_put(call, "venue", call->arguments[0]);

    if (status == EXIT_OK)
        status = cli_ask_args_send(call, "streams", &result);
    if (status != EXIT_OK)
        return status;
    status = cli_answer_lines(call, result, "papertape.streams/1", "streams");
    json_decref(result);
    return status;
}

static int list(struct option_call *call)
{
    return cli_answer_list("venues", call->state, &source, NULL, cli_stored_form(call));
}

static const struct option_action actions[] = {
    {"list", NULL,
     "each venue: its state, its market and when that changes, messages a second and latency over the last "
     "minute, connections, attempts to connect and request weight used of what it allows, and how long "
     "symbols took after interruptions until their next bar",
     .need = OPTION_NEEDS_EITHER, OPTION_LISTS, .run = list},
    {"streams", "VENUE", "the names that the venue itself says it sends; papertape.streams/1", NULL,
     OPTION_NEEDS_DAEMON, .run = streams},
};

static const struct option_refusal refused[] = {
    SELECTED_REFUSED_ALL("venues are listed as they are now, as the daemon is connected to them")};

CLI_VERB(cli_venues) = {
    .name = "venues",
    .words = "state and limits of each; streams: what it sends",
    .about = "What the daemon is connected to.",
    .page = "market",
    OPTION_ACTIONS(actions),
    OPTION_REFUSED(refused),
    ASK_ARGS,
};
