#include "cli/verbs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/explain_print.h"
#include "cli/recorded.h"
#include "cli/stored.h"
#include "db/state.h"
#include "exchange/exit_status.h"

#define DAY_NS (86400 * 1000000000LL)

struct asked {
    const char *order;     /* NULL: all */
    const char *client_id; /* NULL: not by that alone */
    int64_t day_ns;        /* of --day; NO_TIME */
    int64_t at_ns;         /* of --at; NO_TIME */
    bool all, full;
};

enum { NO_TIME = -1 };

struct explain_output {
    struct db_reader *reader;
    bool json, quiet, full;
    int64_t at_ns; /* NO_TIME: of now */
    uint64_t printed;
    int r;          /* -errno of the reader, -ENOMEM */
    uint64_t other; /* the first order whose recorded policy is not the log's; 0: none */
    char other_is[POLICY_ID_TEXT], other_should[POLICY_ID_TEXT];
};

/* Compares the recorded policy of an order with the log like any other field. */
static void compare_policy(struct explain_output *out, const struct explanation *e,
                           const struct db_order_policy *origin)
{
    char recorded[POLICY_ID_TEXT];
    const char *should = e->decision.policy.id;
    policy_id_text(origin->id, recorded);
    if (out->other || !e->have_decision || !e->decision.have_policy || strcmp(recorded, should) == 0)
        return;
    out->other = e->order.id;
    memcpy(out->other_is, recorded, sizeof recorded);
    memcpy(out->other_should, should, sizeof recorded);
}

/* Without its changes and fills that came later, and what its venue said of them. False: it was not there. */
static bool as_of(struct explanation *e, int64_t at_ns)
{
    while (e->n_fills > 0 && e->fills[e->n_fills - 1].fill.ts_ns > at_ns)
        e->n_fills--;
    size_t n = e->n_changes;
    while (n > 0 && e->changes[n - 1].order.updated_ns > at_ns)
        n--;
    if (n == 0)
        return false;
    if (n < e->n_changes)
        e->venue_words[0] = '\0';
    e->n_changes = n;
    e->order = e->changes[n - 1].order;
    return true;
}

static bool on_explained(void *ctx, const struct explanation *whole)
{
    struct explanation then = *whole;
    const struct explanation *explanation = &then;
    struct explain_output *out = ctx;
    struct db_order_policy found;
    const struct db_order_policy *origin = NULL;
    int r = db_reader_order_policy(out->reader, explanation->order.id, &found);
    if (r == 0) {
        origin = &found;
        compare_policy(out, explanation, origin);
    } else if (r != -ENOENT) {
        out->r = r;
        return false;
    }
    if (out->quiet || (out->at_ns != NO_TIME && !as_of(&then, out->at_ns)))
        return true;
    out->printed++;
    if (!out->json) {
        cli_explain_print(explanation, origin, out->full);
        return true;
    }
    json_t *object = cli_explain_object(explanation, origin);
    char *text = decimal_json_text(object, 17);
    json_decref(object);
    if (!text) {
        out->r = -ENOMEM;
        return false;
    }
    printf("%s%s", out->printed > 1 ? "," : "{\"schema\":\"papertape.explain/1\",\"orders\":[", text);
    free(text);
    return true;
}

static void end_json(const struct explain_output *out, const struct explain_result *result)
{
    if (out->printed == 0)
        fputs("{\"schema\":\"papertape.explain/1\",\"orders\":[", stdout);
    printf("],\"from_seq\":%" PRIu64 ",\"to_seq\":%" PRIu64 ",\"explained\":%" PRIu64 ",\"equal\":%" PRIu64
           ",\"incomplete\":%" PRIu64 "}\n",
           result->from_seq, result->to_seq, result->explained, result->equal, result->incomplete);
}

static int report(const struct asked *asked, const struct explain_output *out,
                  const struct explain_result *result)
{
    char words[2 * DIFFERENCE_TEXT_MAX + EVENT_TEXT_MAX + 160];
    const struct difference *d = &result->difference;
    if (out->json)
        end_json(out, result);
    else if (asked->all && !result->different)
        printf("%" PRIu64 " orders explained from events %" PRIu64 " to %" PRIu64 ": %" PRIu64
               " equal to the record\n",
               result->explained, result->from_seq + 1, result->to_seq, result->equal);
    if (asked->all && !out->json && result->incomplete > 0)
        printf("%" PRIu64 " of them ended where the log has a hole: they are not compared\n",
               result->incomplete);
    if (result->missing > 0)
        return cli_stored_fail(
            EXIT_ERROR, "explain", asked->order,
            "the log does not give this order: its event was not recorded, or another one came "
            "of it; see papertape parity");
    if (!result->different && out->other) {
        snprintf(words, sizeof words, "order_policies %" PRIu64 ": policy: the log gives %s, recorded is %s",
                 out->other, out->other_should, out->other_is);
        return cli_stored_fail(EXIT_ERROR, "explain", "", words);
    }
    if (!result->different && out->at_ns != NO_TIME && out->printed == 0)
        return cli_stored_fail(EXIT_ERROR, "explain", asked->order,
                               "it was not there yet at the time of --at");
    if (!result->different)
        return EXIT_OK;
    snprintf(words, sizeof words,
             "event %" PRIu64 " (%s): %s %" PRIu64 ": %s: the log gives %s, recorded is %s; %" PRIu64
             " of %" PRIu64 " orders are equal",
             result->difference_at.seq, result->difference_at.text, d->table, d->id, d->field, d->replayed,
             d->recorded, result->equal, result->explained);
    return cli_stored_fail(EXIT_ERROR, "explain", "", words);
}

static int explain(const struct option_call *call, struct db_reader *reader, const struct recorded_rows *rows,
                   const char *path)
{
    const struct asked *asked = call->into;
    struct explain_output out = {.reader = reader,
                                 .json = call->json,
                                 .quiet = asked->all && !call->json,
                                 .full = asked->full,
                                 .at_ns = asked->at_ns};
    struct explain_options options = {.path = path,
                                      .recorded = &rows->recorded,
                                      .to_ns = INT64_MAX,
                                      .ctx = &out,
                                      .explained = on_explained};
    struct explain_result result;
    uint64_t id = 0;
    char err[JOURNAL_ERROR_MAX];
    if (asked->order) {
        const struct recorded_order *order = cli_recorded_find(rows, asked->order, asked->client_id);
        if (!order)
            return cli_stored_fail(EXIT_ERROR, "explain", asked->order,
                                   "no order has this number or client id");
        id = order->order.id;
        options.ids = &id;
        options.n_ids = 1;
    } else if (asked->day_ns != NO_TIME) {
        options.from_ns = asked->day_ns - asked->day_ns % DAY_NS;
        options.to_ns = options.from_ns + DAY_NS;
    }
    int r = engine_explain_run(&options, &result, err, sizeof err);
    if (out.r < 0)
        return cli_stored_fail(EXIT_ERROR, "explain", "",
                               out.r == -ENOMEM ? "out of memory" : db_reader_error(reader));
    if (r < 0)
        return cli_stored_fail(EXIT_ERROR, "explain", asked->order ? asked->order : "", err);
    return report(asked, &out, &result);
}

static int run(struct option_call *call)
{
    struct asked *asked = call->into;
    struct db_reader *reader;
    struct recorded_rows rows;
    struct state_dir dir;
    char err[DB_ERROR_MAX];

    asked->order = asked->client_id ? asked->client_id : call->arguments[0];
    int status = cli_stored_open("explain", call->state, &reader);
    if (status != EXIT_OK)
        return status;
    int r = cli_recorded_load(reader, false, &rows);
    if (r == -ENODATA) {
        db_reader_close(reader);
        return cli_stored_fail(EXIT_ERROR, "explain", "", "the database was written without a log");
    }
    if (r < 0)
        return cli_stored_close("explain", reader, r);
    if (db_state_dir_resolve(call->state, &dir, err, sizeof err) < 0)
        status = cli_stored_fail(EXIT_ERROR, "explain", "", err);
    else
        status = explain(call, reader, &rows, dir.events);
    cli_recorded_finish(&rows);
    db_reader_close(reader);
    return status;
}

static void init(void *into)
{
    *(struct asked *)into = (struct asked){.day_ns = NO_TIME, .at_ns = NO_TIME};
}

static const struct option_action actions[] = {{.arguments = "[ORDER|CLIENT_ID]",
                                                .example = "7",
                                                .needed = "*|client-id|all",
                                                .need = OPTION_NEEDS_STATE,
                                                .run = run}};

static const struct option_row options[] = {
    {"client-id", "ID",
     "the order of that client id, where it is digits alone, which are else an order's number",
     offsetof(struct asked, client_id)},
    {"all", NULL, "every order of the log; says how many are equal, or exits 1 with the first difference",
     offsetof(struct asked, all)},
    {"full", NULL, "every fill and every change, of an order with more than ten, too",
     offsetof(struct asked, full), .without = "all"},
    {"day", "D", "those created on that day (UTC), as 2024-08-08", offsetof(struct asked, day_ns),
     cli_stored_take_time, .with = "all"},
    {"at", "T", "as it was at a past moment, as 2024-08-08T14:00:00Z: without what came of it later",
     offsetof(struct asked, at_ns), cli_stored_take_time, .without = "all"},
};

CLI_VERB(cli_explain) = {
    .name = "explain",
    .words = "why an order is what it is, recomputed from the log",
    .about = "Why an order is what it is, recomputed from the event log: the event behind it, the bar, the "
             "indicators and what the strategy saw and wanted, or the policy (its hash and what computed it "
             "are as recorded; of an ensemble its members' actions and weights), or the command; the outcome "
             "with its facts and limits; the book's levels or the queue behind each fill, notional and fee "
             "with their rounding; every change with its event. Every field is compared with the record. "
             "With --json, papertape.explain/1.",
    .exits = "1 also at a difference.",
    .page = "record",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    .size = sizeof(struct asked),
    .init = init,
};
