#include "cli/verbs.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ask.h"
#include "cli/explain_print.h"
#include "cli/recorded.h"
#include "cli/stored.h"
#include "db/state.h"
#include "exchange/bars_file.h"
#include "exchange/exit_status.h"

#define DAY_NS (86400 * 1000000000LL)

static const char help[] =
    "Usage: papertape explain ORDER|CLIENT_ID [--json] [--state DIR]\n"
    "       papertape explain --all [--day D] [--json] [--state DIR]\n"
    "\n"
    "Why an order is what it is: the event behind it, the bar, the indicators and what the strategy saw and\n"
    "wanted, or the policy and what computed it, or the command; the verdict with its facts and limits; the\n"
    "book's levels or the queue behind each fill, and how notional and fee were reckoned; every change with\n"
    "its event. All of it is recomputed from the log and compared with the record in every field.\n"
    "\n"
    "  --all        every order of the log; says how many are equal, or exits 1 with the first difference\n"
    "  --day D      those created on that day (UTC), as 2024-08-08\n"
    "  --json       papertape.explain/1\n"
    "  --state DIR  the daemon's state directory\n";

struct asked {
    const char *state, *order, *day;
    int64_t day_ns; /* of --day: its first moment */
    bool all, json, done;
};

/* What is printed as explanations come. */
struct output {
    struct db_reader *reader;
    bool json, quiet;
    uint64_t printed;
    int r;          /* -errno of the reader, -ENOMEM */
    uint64_t other; /* the first order whose recorded policy is not the log's; 0: none */
    char other_is[POLICY_ID_TEXT], other_should[POLICY_ID_TEXT];
};

static int parse(int argc, char **argv, struct asked *ret)
{
    static const struct option options[] = {
        {"state", required_argument, NULL, 's'}, {"help", no_argument, NULL, 'h'},
        {"all", no_argument, NULL, 'a'},         {"day", required_argument, NULL, 'd'},
        {"json", no_argument, NULL, 'j'},        {NULL, 0, NULL, 0},
    };
    int option;
    *ret = (struct asked){0};
    optind = 0;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1)
        switch (option) {
        case 's':
            ret->state = optarg;
            break;
        case 'a':
            ret->all = true;
            break;
        case 'd':
            ret->day = optarg;
            break;
        case 'j':
            ret->json = true;
            break;
        case 'h':
            fputs(help, stdout);
            ret->done = true;
            return EXIT_OK;
        default:
            return ask_wrong_option(argv[0], argv, option);
        }
    if (ret->all ? optind < argc : argc - optind != 1)
        return ask_usage("explain", "an order's number or client id is needed, or --all");
    if (ret->day && !ret->all)
        return ask_usage("explain", "--day: goes with --all");
    if (ret->day && bars_time_parse(ret->day, strlen(ret->day), &ret->day_ns) < 0)
        return stored_fail(EXIT_USAGE, "explain", ret->day, "--day: a day as 2024-08-08 is needed");
    ret->day_ns -= ret->day_ns % DAY_NS;
    ret->order = ret->all ? NULL : argv[optind];
    return EXIT_OK;
}

/* What is recorded of an order's policy is held against the log like any other field. */
static void compare_policy(struct output *out, const struct explanation *e,
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

static bool on_explained(void *ctx, const struct explanation *explanation)
{
    struct output *out = ctx;
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
    if (out->quiet)
        return true;
    if (!out->json) {
        explain_print(explanation, origin);
        return true;
    }
    json_t *object = explain_object(explanation, origin);
    char *text = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(object);
    if (!text) {
        out->r = -ENOMEM;
        return false;
    }
    printf("%s%s", out->printed++ ? "," : "{\"schema\":\"papertape.explain/1\",\"orders\":[", text);
    free(text);
    return true;
}

static void end_json(const struct output *out, const struct explain_result *result)
{
    if (out->printed == 0)
        fputs("{\"schema\":\"papertape.explain/1\",\"orders\":[", stdout);
    printf("],\"from_seq\":%" PRIu64 ",\"to_seq\":%" PRIu64 ",\"explained\":%" PRIu64 ",\"equal\":%" PRIu64
           ",\"incomplete\":%" PRIu64 "}\n",
           result->from_seq, result->to_seq, result->explained, result->equal, result->incomplete);
}

static int report(const struct asked *asked, const struct output *out, const struct explain_result *result)
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
        return stored_fail(
            EXIT_ERROR, "explain", asked->order,
            "the log does not give this order: its event was not recorded, or another one came "
            "of it; see papertape parity");
    if (!result->different && out->other) {
        snprintf(words, sizeof words, "order_policies %" PRIu64 ": policy: the log gives %s, recorded is %s",
                 out->other, out->other_should, out->other_is);
        return stored_fail(EXIT_ERROR, "explain", "", words);
    }
    if (!result->different)
        return EXIT_OK;
    snprintf(words, sizeof words,
             "event %" PRIu64 " (%s): %s %" PRIu64 ": %s: the log gives %s, recorded is %s; %" PRIu64
             " of %" PRIu64 " orders are equal",
             result->difference_at.seq, result->difference_at.text, d->table, d->id, d->field, d->replayed,
             d->recorded, result->equal, result->explained);
    return stored_fail(EXIT_ERROR, "explain", "", words);
}

static int explain(const struct asked *asked, struct db_reader *reader, const struct recorded_rows *rows,
                   const char *path)
{
    struct output out = {.reader = reader, .json = asked->json, .quiet = asked->all && !asked->json};
    struct explain_options options = {.path = path,
                                      .recorded = &rows->recorded,
                                      .to_ns = INT64_MAX,
                                      .ctx = &out,
                                      .explained = on_explained};
    struct explain_result result;
    uint64_t id = 0;
    char err[JOURNAL_ERROR_MAX];
    if (asked->order) {
        const struct recorded_order *order = recorded_find(rows, asked->order);
        if (!order)
            return stored_fail(EXIT_ERROR, "explain", asked->order, "no order has this number or client id");
        id = order->order.id;
        options.ids = &id;
        options.n_ids = 1;
    } else if (asked->day) {
        options.from_ns = asked->day_ns;
        options.to_ns = options.from_ns + DAY_NS;
    }
    int r = explain_run(&options, &result, err, sizeof err);
    if (out.r < 0)
        return stored_fail(EXIT_ERROR, "explain", "",
                           out.r == -ENOMEM ? "out of memory" : db_reader_error(reader));
    if (r < 0)
        return stored_fail(EXIT_ERROR, "explain", asked->order ? asked->order : "", err);
    return report(asked, &out, &result);
}

static int run_line(int argc, char **argv)
{
    struct asked asked;
    struct db_reader *reader;
    struct recorded_rows rows;
    struct state_dir dir;
    char err[DB_ERROR_MAX];
    int status = parse(argc, argv, &asked);
    if (status != EXIT_OK || asked.done)
        return status;
    status = stored_open("explain", asked.state, &reader);
    if (status != EXIT_OK)
        return status;
    int r = recorded_load(reader, false, &rows);
    if (r == -ENODATA) {
        db_reader_close(reader);
        return stored_fail(EXIT_ERROR, "explain", "", "the database was written without a log");
    }
    if (r < 0)
        return stored_close("explain", reader, r);
    if (state_dir_look(asked.state, &dir, err, sizeof err) < 0)
        status = stored_fail(EXIT_ERROR, "explain", "", err);
    else
        status = explain(&asked, reader, &rows, dir.events);
    recorded_finish(&rows);
    db_reader_close(reader);
    return status;
}

const struct option_verb cli_explain = {
    .name = "explain", .words = "why an order is what it is, recomputed from the log", .run = run_line};
