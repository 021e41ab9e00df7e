#include "cli/verbs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/ask.h"
#include "cli/recorded.h"
#include "cli/stored.h"
#include "cli/text.h"
#include "db/books/reach.h"
#include "db/state.h"
#include "engine/parity.h"
#include "exchange/exit_status.h"

static json_t *difference_object(const struct parity_result *p)
{
    const struct difference *d = &p->difference;
    char recorded[sizeof d->recorded]; /* may come from an altered database */
    if (p->equal)
        return json_null();
    cli_text_clean(recorded, sizeof recorded, d->recorded);
    return json_pack("{s:s, s:I, s:s, s:I, s:I, s:s, s:s, s:s}", "table", d->table, "id", (json_int_t)d->id,
                     "field", d->field, "seq", (json_int_t)p->difference_seq, "ts_ns",
                     (json_int_t)p->difference_ns, "event", p->difference_event, "replayed", d->replayed,
                     "recorded", recorded);
}

/* p NULL: nothing was compared, for the reason given; altered: because the log is not what was written. */
static int print_json(const struct parity_result *p, const struct db_reach *reach, const char *error,
                      bool altered)
{
    static const struct parity_result none = {.equal = true};
    const struct parity_result *shown = p ? p : &none;
    json_t *object = json_pack(
        "{s:s, s:b, s:b, s:s?, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o}",
        "schema", "papertape.parity/1", "ok", p && p->equal && !reach->missing, "equal", p && p->equal,
        "error", error, "altered", altered, "from_seq", (json_int_t)shown->from_seq, "to_seq",
        (json_int_t)shown->to_seq, "from_ns", (json_int_t)shown->from_ns, "to_ns", (json_int_t)shown->to_ns,
        "events", (json_int_t)shown->events, "runs", (json_int_t)shown->runs, "holes",
        (json_int_t)shown->holes, "orders", (json_int_t)shown->orders, "fills", (json_int_t)shown->fills,
        "ledger_rows", (json_int_t)shown->ledger_rows, "unsettled", (json_int_t)shown->unsettled,
        "difference", difference_object(shown), "rests_on_database", p ? db_reach_json(reach) : json_null());
    return cli_stored_print("parity", object, 15);
}

/* What the log does not reach is said beside what it does: then nothing is simply ok. */
static void print_reach(const struct db_reach *reach)
{
    char words[DB_REACH_WORDS_MAX];
    for (size_t i = 0; i < reach->n; i++) {
        db_reach_words(&reach->ranges[i], words);
        puts(words);
    }
}

static void print_text(const struct parity_result *p, const struct db_reach *reach)
{
    char from[STORED_CELL], to[STORED_CELL];
    printf("parity %s: events %" PRIu64 " to %" PRIu64 ", from %s to %s\n", reach->n > 0 ? "of a part" : "ok",
           p->from_seq + 1, p->to_seq, cli_stored_time(STORED_TABLE, from, p->from_ns),
           cli_stored_time(STORED_TABLE, to, p->to_ns));
    printf("%" PRIu64 " orders, %" PRIu64 " fills and %" PRIu64
           " ledger rows are what the log gives, in %" PRIu64 " run%s\n",
           p->orders, p->fills, p->ledger_rows, p->runs, p->runs == 1 ? "" : "s");
    if (p->holes > 0)
        printf("%" PRIu64 " events were never recorded: what they changed is not compared\n", p->holes);
    if (p->unsettled > 0)
        printf("%" PRIu64 " orders are left out: the log does not hold all that may have changed them\n",
               p->unsettled);
    print_reach(reach);
}

static int fail(const struct option_call *call, const char *error, bool altered)
{
    char words[STATE_PATH_MAX + DB_ERROR_MAX + 4];
    cli_text_clean(words, sizeof words, error);
    if (call->json)
        print_json(NULL, NULL, words, altered);
    return cli_stored_fail(EXIT_ERROR, "parity", "", error);
}

/* Loads the database's record. An exit status, after reporting why not. */
static int load(const struct option_call *call, const struct state_dir *dir, struct recorded_rows *ret,
                struct db_reach *ret_reach)
{
    struct db_reader *reader;
    char err[DB_ERROR_MAX], words[STATE_PATH_MAX + DB_ERROR_MAX + 4];
    int status = EXIT_OK;
    int r = db_reader_open(dir->database, &reader, err, sizeof err);
    if (r < 0) {
        snprintf(words, sizeof words, "%s: %s", dir->database, err);
        status = fail(call, words, false);
        return r == -ENOENT ? EXIT_NO_DAEMON : status;
    }
    r = cli_recorded_load(reader, true, ret);
    if (r == 0 && db_reach_read(reader, dir->events, ret_reach, err, sizeof err) < 0)
        *ret_reach = (struct db_reach){0}; /* as the comparison will say, with better words */
    if (r == -ENODATA)
        status =
            fail(call, "the database was written without a log: there is nothing to compare with", false);
    else if (r < 0)
        status = fail(call, r == -ENOMEM ? "out of memory" : db_reader_error(reader), false);
    db_reader_close(reader);
    return status;
}

/* The rows of a record whose log somebody removed are no evidence, though all that is left agrees. */
static int report_missing(const struct db_reach *reach)
{
    char words[DB_REACH_WORDS_MAX] = "";
    for (size_t i = 0; i < reach->n && !words[0]; i++)
        if (reach->ranges[i].why == DB_REACH_MISSING)
            db_reach_words(&reach->ranges[i], words);
    return cli_stored_fail(EXIT_ERROR, "parity", "", words);
}

static int report(const struct option_call *call, const struct parity_result *p, const struct db_reach *reach)
{
    char words[2 * DIFFERENCE_TEXT_MAX + EVENT_TEXT_MAX + 160], time[STORED_CELL];
    const struct difference *d = &p->difference;
    if (call->json) {
        int status = print_json(p, reach, NULL, false);
        if (status != EXIT_OK)
            return status;
    } else if (p->equal) {
        print_text(p, reach);
    }
    if (p->equal)
        return reach->missing ? report_missing(reach) : EXIT_OK;
    snprintf(words, sizeof words,
             "event %" PRIu64 " of %s (%s): %s %" PRIu64 ": %s: the log gives %s, recorded is %s",
             p->difference_seq, cli_stored_time(STORED_TABLE, time, p->difference_ns), p->difference_event,
             d->table, d->id, d->field, d->replayed, d->recorded);
    return cli_stored_fail(EXIT_ERROR, "parity", "", words);
}

/* Of a status: does a range miss events that retention did not remove? */
static bool lacks(const json_t *rests)
{
    size_t i;
    const json_t *range;
    json_array_foreach(rests, i, range)
    {
        const char *why = json_string_value(json_object_get(range, "why"));
        if (why && strcmp(why, db_reach_why_name(DB_REACH_MISSING)) == 0)
            return true;
    }
    return false;
}

static void print_rests(const json_t *rests)
{
    size_t i;
    const json_t *range;
    json_array_foreach(rests, i, range) printf("%s %lld..%lld rest on the database alone\n",
                                               json_string_value(json_object_get(range, "table")),
                                               (long long)json_integer_value(json_object_get(range, "first")),
                                               (long long)json_integer_value(json_object_get(range, "last")));
}

/* Lets the daemon compare, in a child process of its own, and waits for the result. */
static int ask(const struct option_call *call)
{
    const struct timespec pause = {.tv_nsec = 100000000};
    json_t *result;
    int status = cli_ask_daemon("parity", call->state, "parity", NULL, &result);

    for (;;) {
        if (status != EXIT_OK)
            return status;
        json_t *parity = json_object_get(result, "parity"); /* of a status; the first answer has none */
        const char *word = json_string_value(json_object_get(parity, "state"));
        if (word && strcmp(word, "running") != 0) {
            const char *detail = json_string_value(json_object_get(parity, "detail"));
            const char *error = json_string_value(json_object_get(parity, "error"));
            const json_t *rests = json_object_get(result, "rests_on_database");
            bool ok = strcmp(word, "ok") == 0 && !error && !lacks(rests);
            if (error)
                detail = error; /* the result is an older check's */
            if (call->json) {
                json_object_set_new(parity, "ok", json_boolean(ok));
                cli_ask_print(call, "papertape.parity-check/1", json_incref(parity));
            } else if (ok) {
                puts(json_array_size(rests) > 0 ? "parity of a part" : "parity ok");
                print_rests(rests);
            }
            if (!ok)
                cli_stored_fail(EXIT_ERROR, "parity", "",
                                detail && *detail ? detail
                                : lacks(rests)    ? "events are missing from the log, and retention did not "
                                                    "remove them: rows rest on the database alone"
                                                  : "nothing was compared");
            json_decref(result);
            return ok ? EXIT_OK : EXIT_ERROR;
        }
        json_decref(result);
        nanosleep(&pause, NULL);
        status = cli_ask_daemon("parity", call->state, "status", NULL, &result);
    }
}

struct asked {
    int64_t from_ns;
    bool daemon;
};

static int run(struct option_call *call)
{
    const struct asked *asked = call->into;
    struct recorded_rows rows;
    struct db_reach reach = {0};
    struct state_dir dir;
    struct parity_result result;
    char err[JOURNAL_ERROR_MAX];

    if (asked->daemon && asked->from_ns)
        return option_fail(call, EXIT_USAGE, "--daemon: takes no --from");
    if (asked->daemon)
        return ask(call);
    int r = db_state_dir_resolve(call->state, &dir, err, sizeof err);
    if (r < 0)
        return r == -EINVAL ? option_fail(call, EXIT_USAGE, "%s", err) : fail(call, err, false);
    int status = load(call, &dir, &rows, &reach);
    if (status != EXIT_OK)
        return status;
    const struct parity_options parity = {
        .path = dir.events, .from_ns = asked->from_ns, .recorded = &rows.recorded};
    r = engine_parity_run(&parity, &result, err, sizeof err);
    status = r < 0 ? fail(call, err, r == -EBADMSG) : report(call, &result, &reach);
    db_reach_finish(&reach);
    cli_recorded_finish(&rows);
    return status;
}

static const struct option_action actions[] = {{.need = OPTION_NEEDS_STATE, .run = run}};

static const struct option_row options[] = {
    {"from", "T", "begin at the newest state of the log before this time, as 2024-08-08T14:00:00Z",
     offsetof(struct asked, from_ns), cli_stored_take_time},
    {"daemon", NULL,
     "lets the daemon compare, as it does each night, and waits: its header says what came of it",
     offsetof(struct asked, daemon)},
};

CLI_VERB(cli_parity) = {
    .name = "parity",
    .words = "does the log give what the database holds?",
    .about =
        "Plays the engine's log again and compares every order, fill and ledger row with its cause, every receivable "
        "and change of fee rates with the database, and every state of the log with the engine, up to the newest event that both hold. Says that they are "
        "equal, or names the first event that gives something else, with both values. Rows whose events the log "
        "no longer has rest on the database alone: they are named by their numbers, with what became of the "
        "events. May run beside the "
        "daemon. With --json, papertape.parity/1, of --daemon papertape.parity-check/1.",
    .exits =
        "1 also at a difference, and where events are missing from the log that retention did not remove.",
    .page = "record",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    .size = sizeof(struct asked),
};
