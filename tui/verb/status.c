#include "cli/verbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/answer.h"
#include "cli/ask.h"
#include "cli/text.h"
#include "db/state.h"
#include "exchange/decimal_json.h"
#include "exchange/exit_status.h"
#include "tui/history.h"
#include "tui/model.h"
#include "tui/print.h"

/* What a daemon without its venue does not know: the database's last state is shown, with its age. */
static void take_stored(struct model *model, const char *state, struct moment now)
{
    struct status *stored = calloc(1, sizeof(*stored));
    struct history_reader *reader = NULL;
    struct state_dir dir;
    int64_t accounts_age_ms;
    char words[512];

    if (stored && db_state_dir_resolve(state, &dir, words, sizeof(words)) == 0 &&
        tui_history_open(dir.database, &reader, words, sizeof(words)) == 0 &&
        tui_history_status(reader, now.wall_ns, stored, &accounts_age_ms, words, sizeof(words)) == 0)
        tui_model_take_stored(model, stored, accounts_age_ms, now);
    tui_history_close(reader);
    if (stored)
        tui_status_finish(stored);
    free(stored);
}

/* Lines of the daemon's log that its journal did not take. */
static void print_lost(const json_t *status)
{
    json_int_t lost = json_integer_value(json_object_get(json_object_get(status, "log"), "lost"));

    if (lost > 0)
        printf("log       %lld lines lost: the journal took none for too long\n", (long long)lost);
}

/* What a reload left for a restart. */
static void print_restart(const json_t *status)
{
    const json_t *change;
    size_t i;

    json_array_foreach(json_object_get(status, "restart"), i, change)
    {
        fputs("restart   [", stdout);
        cli_text_print(stdout, cli_answer_text(change, "section"));
        fputs(*cli_answer_text(change, "key") ? "] " : "]", stdout);
        cli_text_print(stdout, cli_answer_text(change, "key"));
        puts(": needs a restart");
    }
}

/* Symbols that the configuration leaves out, and that are in use. */
static void print_left_out(const json_t *status)
{
    const json_t *left;
    size_t i;

    json_array_foreach(json_object_get(status, "left_out"), i, left)
    {
        fputs("left out  ", stdout);
        cli_text_print(stdout, cli_answer_text(left, "symbol"));
        fputs(": account ", stdout);
        cli_text_print(stdout, cli_answer_text(left, "account"));
        putchar(' ');
        cli_text_print(stdout, cli_answer_text(left, "why"));
        putchar('\n');
    }
}

static int print_text(const json_t *status, const char *state)
{
    struct model *model = tui_model_create(1000);
    struct moment now = tui_model_now();
    int r = model ? tui_model_take_status(model, status, now) : -ENOMEM;

    if (r == 0 && tui_model_wants_stored(model))
        take_stored(model, state, now);
    if (r == 0) {
        tui_print_status(stdout, model, now);
        print_lost(status);
        print_restart(status);
        print_left_out(status);
    } else {
        fprintf(stderr, "papertape: status: %s\n",
                r == -EPROTO ? "the daemon's answer is not papertape.status/1: both must be of one version"
                             : "out of memory");
    }
    tui_model_destroy(model);
    return r == 0 ? EXIT_OK : EXIT_ERROR;
}

static int print_object(json_t *status)
{
    char *text = decimal_json_text(status, 15);

    if (!text) {
        fprintf(stderr, "papertape: status: out of memory\n");
        return EXIT_ERROR;
    }
    puts(text);
    free(text);
    return EXIT_OK;
}

static int run(struct option_call *call)
{
    json_t *status;
    int r = cli_ask_daemon("status", call->state, "status", NULL, &status);

    if (r != EXIT_OK)
        return r;
    r = call->json ? print_object(status) : print_text(status, call->state);
    json_decref(status);
    return r;
}

static const struct option_action actions[] = {{.need = OPTION_NEEDS_DAEMON, .run = run}};

CLI_VERB(tui_status) = {
    .name = "status",
    .words = "the daemon's state, as text or JSON",
    .about = "The daemon's state: feed ages, equity, positions, devices, alerts. With --json the status "
             "object as it is, papertape.status/1, on one line.",
    .page = "record",
    OPTION_ACTIONS(actions),
};
