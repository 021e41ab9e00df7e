#include "cli/verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/answer.h"
#include "cli/ask.h"
#include "cli/price_alerts.h"
#include "cli/selected.h"
#include "cli/text.h"
#include "db/state.h"
#include "exchange/exit_status.h"
#include "tui/history.h"
#include "tui/history_reader.h"
#include "tui/model.h"
#include "tui/print.h"

enum { TEST_TIMEOUT_MS = 75000 }; /* a command has 30 s, mail too, behind one that is under way */

static const struct stored_column columns[] = {
    {"alert", 5},
    {"last_ns", -24},
    {"count", 5},
    {"severity", -8},
    {"state", -12},
    {"acked_ns", -24},
    {"closed_ns", -24},
    {"text", -4},
    {"code", 0},
    {"ts_ns", 0},
    {"acked", STORED_NOWHERE},
};

static int print(struct option_call *call, const struct history *h)
{
    struct stored_list list = cli_stored_list_of(
        &tui_print_alert_record, columns, sizeof columns / sizeof *columns, cli_stored_form(call), NULL);

    if (call->json)
        return cli_answer_print("alerts", "papertape.alerts/1", "alerts", tui_print_alerts_json(h));
    for (int i = 0; i < h->n_alerts; i++) {
        struct print_alert shown = tui_print_alert(&h->alerts[i]);
        cli_stored_record_row(&list, &shown, &(struct record_context){0});
    }
    cli_stored_end(&list);
    return list.r;
}

/* The daemon's status, or NULL without one. It is asked before the database is read: an alert that is stored
 * in between is then in both, and not in neither. */
static json_t *ask_status(const char *state)
{
    struct control_error ignored;
    json_t *status;

    return cli_ask_quietly(state, "status", NULL, &status, &ignored) == EXIT_OK ? status : NULL;
}

/* Adds what a running daemon had not stored. Returns how many were open beyond those. */
static long long take_unstored(const json_t *status, struct history *h)
{
    long long more = json_integer_value(json_object_get(status, "alerts_open"));

    tui_history_take_unstored(h, status);
    for (int i = 0; i < h->n_alerts; i++)
        more -= h->alerts[i].open;
    return h->n_alerts < HISTORY_ROWS_MAX && more > 0 ? more : 0;
}

/* Why the list is not the database's: beside a daemon a file that is missing is no new state's. */
static void say_unread(const char *database, int r, const char *words, bool daemon)
{
    if (!daemon) {
        cli_stored_fail(EXIT_ERROR, "alerts", database, words);
        return;
    }
    cli_stored_fail(EXIT_ERROR, "alerts", database, r == -ENOENT ? CLI_STORED_GONE : words);
    fputs("papertape: alerts: the database cannot be read: those that the daemon has not stored\n", stderr);
}

/* ---- of a period, or as they were: from the database alone ---- */

struct selected_alerts {
    struct stored_list *list;
    json_t *array; /* in place of the list */
};

static void take_selected(void *ctx, const struct db_alert *row)
{
    struct selected_alerts *taken = ctx;
    struct history_alert alert;

    tui_history_take_alert(row, &alert);
    const struct print_alert shown = tui_print_alert(&alert);
    if (taken->array)
        json_array_append_new(taken->array, record_print(&tui_print_alert_record, &shown, NULL));
    else
        cli_stored_record_row(taken->list, &shown, &(struct record_context){0});
}

static int list_selected(struct option_call *call, const struct db_selection *selection)
{
    static const struct db_selected selected = {"alerts", NULL, "ts_ns"};
    struct stored_list list = cli_stored_list_of(
        &tui_print_alert_record, columns, sizeof columns / sizeof *columns, cli_stored_form(call), NULL);
    struct selected_alerts taken = {&list, call->json ? json_array() : NULL};
    struct db_reader *reader;
    int status = cli_selected_open("alerts", call->state, selection, &selected, &reader);

    if (status != EXIT_OK) {
        json_decref(taken.array);
        return status;
    }
    int r = db_reader_alerts(reader, DB_ALERTS_ALL, 0, take_selected, &taken);
    status = cli_stored_close("alerts", reader, r);
    if (status == EXIT_OK && call->json)
        return cli_answer_print("alerts", "papertape.alerts/1", "alerts", taken.array);
    json_decref(taken.array);
    if (!call->json)
        cli_stored_end(&list);
    return status;
}

static int list(struct option_call *call)
{
    const struct db_selection *selection = &((const struct ask_selected *)call->into)->selection;
    if (cli_selected_any(selection))
        return list_selected(call, selection);
    struct state_dir dir;
    struct history_reader *reader = NULL;
    char words[512];
    const char *of = ""; /* the database, where it cannot be opened */
    int r = db_state_dir_resolve(call->state, &dir, words, sizeof(words));

    struct history *history = calloc(1, sizeof(*history));
    if (r == 0 && !history) {
        snprintf(words, sizeof(words), "out of memory");
        r = -ENOMEM;
    }
    if (r == 0 && (r = tui_history_open(dir.database, &reader, words, sizeof(words))) < 0)
        of = db_state_dir_denied(&dir, call->state, words, sizeof(words)) ? "" : dir.database;
    json_t *status = r == 0 || *of ? ask_status(call->state) : NULL;
    if (r == 0)
        r = tui_history_read(reader, tui_model_now().wall_ns, &(struct history_want){0}, history, words,
                             sizeof(words));
    bool alone = r < 0 && status && history;
    if (r < 0)
        say_unread(of, r, words, alone);
    if (alone) { /* what was read of the database, if anything, is of another moment */
        *history = (struct history){0};
        r = -EIO;
    }
    long long more = r == 0 || alone ? take_unstored(status, history) : 0;
    json_decref(status);
    if ((r == 0 || alone) && print(call, history) != 0)
        r = -EIO;
    if (more > 0)
        fprintf(stderr, "papertape: alerts: %lld more are open, %s\n", more,
                alone ? "which status --json counts by code" : "which the daemon could not store yet");
    tui_history_close(reader);
    free(history);
    return r == -ENOENT ? EXIT_NO_DAEMON : r < 0 ? EXIT_ERROR : EXIT_OK;
}

static void print_acked(const struct option_call *call, const json_t *result)
{
    (void)result;
    fprintf(call->out, "acknowledged %lld\n", strtoll(call->arguments[0], NULL, 10));
}

static int ack(struct option_call *call)
{
    const char *text = call->arguments[0];
    json_t *result = NULL;
    json_int_t id;

    if (!cli_ask_id(text, &id))
        return option_fail(call, EXIT_USAGE, "ack needs the alert's number, as: alerts ack 3");
    int r = cli_ask_call(call, "ack", json_pack("{s:I}", "alert", id), &result);
    return cli_ask_done(call, r, "papertape.ack/1", result, print_acked);
}

/* ---- test ---- */

static void print_tested(const struct option_call *call, const json_t *result)
{
    const json_t *sink;
    size_t i;

    (void)call;
    json_array_foreach(json_object_get(result, "sinks"), i, sink)
    {
        cli_text_print(stdout, json_string_value(json_object_get(sink, "sink")));
        printf(": %s: ", json_is_true(json_object_get(sink, "ok")) ? "ok" : "failed");
        cli_text_print(stdout, json_string_value(json_object_get(sink, "detail")));
        printf(", %lld ms\n", (long long)json_integer_value(json_object_get(sink, "ms")));
    }
}

static bool all_ok(const json_t *result)
{
    const json_t *sink;
    size_t i;
    bool ok = true;

    json_array_foreach(json_object_get(result, "sinks"), i, sink)
    {
        ok = ok && json_is_true(json_object_get(sink, "ok"));
    }
    return ok;
}

static int test(struct option_call *call)
{
    json_t *args = json_object(), *reply = NULL, *copy;
    const json_t *result;
    struct control_error error;

    if (call->arguments[0])
        json_object_set_new(args, "sink", json_string(call->arguments[0]));
    int r = cli_ask_reply(call->state, "alerts_test", args, TEST_TIMEOUT_MS, &reply, &error);
    if (r == EXIT_OK && !cli_control_reply(reply, &result, &error))
        r = EXIT_ERROR;
    if (r != EXIT_OK) {
        cli_ask_say("alerts", &error);
        json_decref(reply);
        return r;
    }
    bool ok = all_ok(result);
    copy = json_deep_copy(result);
    json_decref(reply);
    r = cli_ask_done(call, EXIT_OK, "papertape.alerts-test/1", copy, print_tested);
    return r == EXIT_OK && !ok ? EXIT_ERROR : r;
}

static const struct option_action actions[] = {
    {"list", NULL,
     "the alerts, from the database, and from the daemon what it could not store yet: the open ones first, "
     "then the newest of the others; when it was last seen, and when the condition was over (closed)",
     .need = OPTION_NEEDS_STATE, OPTION_LISTS, .run = list},
    {"ack", "ID", "acknowledges one", "3", OPTION_NEEDS_DAEMON, .acts = true, .run = ack},
    {"test", "[SINK]",
     "sends a test notice to each sink of [alerts], or to one, through the daemon, and prints a line for each with what it "
     "answered: exit 1 where one failed, or there is no sink",
     "webhook.ops", OPTION_NEEDS_DAEMON, .run = test},
    {"price", "SYMBOL", "raises an alert, once, as soon as that price or one beyond it is traded",
     "BTCUSDT --above 65000", OPTION_NEEDS_DAEMON, .acts = true, .run = cli_price_alerts_set,
     .needed = "above|below"},
    {"prices", NULL, "the prices that are waited for, and the last ones", .need = OPTION_NEEDS_DAEMON,
     .csv = true, .run = cli_price_alerts_list},
    {"remove-price", "NUMBER", "removes one, by its number in the list of prices", "3", OPTION_NEEDS_DAEMON,
     .acts = true, .run = cli_price_alerts_remove},
};

#define PRICE .take = cli_ask_args_take, .of = "price"

static const struct option_row options[] = {
    SELECTED_PERIOD_AT(SELECTED_BEHIND, "raised", .of = "list"),
    SELECTED_MOMENT_AT(SELECTED_BEHIND, .of = "list"),
    {"above", "P", "this price or a higher one", PRICE, .without = "below"},
    {"below", "P", "this price or a lower one", PRICE},
    {"key", "K", "given again with the same key, the command is not executed twice",
     .take = cli_ask_args_take, .of = "price remove-price"},
};

static const struct option_refusal refused[] = {
    SELECTED_REFUSED_ACCOUNT("alerts are of the daemon; the text of one names the account that it is about")};

CLI_VERB(tui_alerts) = {
    .name = "alerts",
    .words = "what needs attention: list, ack ID, test [SINK]; prices that are waited for",
    .about = "What went wrong, and whether it is over.",
    .exits = "1 also: the database cannot be read, and the list is of the daemon alone.",
    .page = "record",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    OPTION_REFUSED(refused),
    SELECTED_ASK_ARGS,
};
