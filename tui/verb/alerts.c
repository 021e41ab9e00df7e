#include "cli/verbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/answer.h"
#include "cli/ask.h"
#include "cli/format.h"
#include "db/state.h"
#include "exchange/exit_status.h"
#include "tui/history.h"
#include "tui/model.h"
#include "tui/print.h"

static void print_text(const struct history *h)
{
    char time[FORMAT_MAX];

    for (int i = 0; i < h->n_alerts; i++) {
        const struct history_alert *a = &h->alerts[i];
        printf("%c %5lld %sZ %-8s x%-4lld %s", a->open ? '!' : ' ', (long long)a->id,
               cli_format_time(time, a->last_ns), a->severity, (long long)a->count, a->text);
        if (a->closed_ns)
            printf(" (closed %sZ)", cli_format_time(time, a->closed_ns));
        else if (a->acked_ns)
            printf(" (acknowledged %sZ)", cli_format_time(time, a->acked_ns));
        putchar('\n');
    }
}

static void print_json_list(const struct history *h)
{
    cli_answer_print("alerts", "papertape.alerts/1", "alerts", tui_print_alerts_json(h));
}

/* What a daemon that runs has not stored. Returns how many are open beyond those. */
static long long take_unstored(const char *state, struct history *h)
{
    struct control_error ignored;
    json_t *status;
    long long more;

    if (cli_ask_quietly(state, "status", NULL, &status, &ignored) != EXIT_OK)
        return 0;
    tui_history_take_unstored(h, status);
    more = json_integer_value(json_object_get(status, "alerts_open"));
    for (int i = 0; i < h->n_alerts; i++)
        more -= h->alerts[i].open;
    json_decref(status);
    return h->n_alerts < HISTORY_ROWS_MAX && more > 0 ? more : 0;
}

static int list(struct option_call *call)
{
    struct state_dir dir;
    struct history_reader *reader = NULL;
    char words[512];
    int r = db_state_dir_look(call->state, &dir, words, sizeof(words));

    struct history *history = calloc(1, sizeof(*history));
    if (r == 0 && !history) {
        snprintf(words, sizeof(words), "out of memory");
        r = -ENOMEM;
    }
    if (r == 0 && (r = tui_history_open(dir.database, &reader, words, sizeof(words))) < 0)
        db_state_dir_denied(&dir, call->state, words, sizeof(words));
    if (r == 0)
        r = tui_history_read(reader, tui_model_now().wall_ns, &(struct history_want){0}, history, words,
                             sizeof(words));
    long long more = r == 0 ? take_unstored(call->state, history) : 0;
    if (r < 0)
        fprintf(stderr, "papertape: alerts: %s\n", words);
    else if (call->json)
        print_json_list(history);
    else
        print_text(history);
    if (more > 0)
        fprintf(stderr, "papertape: alerts: %lld more are open, which the daemon could not store yet\n",
                more);
    tui_history_close(reader);
    free(history);
    return r == -ENOENT ? EXIT_NO_DAEMON : r < 0 ? EXIT_ERROR : EXIT_OK;
}

static int ack(struct option_call *call)
{
    const char *text = call->arguments[0];
    json_t *result;
    char *end;

    errno = 0;
    long long id = strtoll(text, &end, 10);
    if (errno || end == text || *end || id < 1)
        return option_fail(call, EXIT_USAGE, "ack needs the alert's number, as: alerts ack 3");
    int r =
        cli_ask_daemon("alerts", call->state, "ack", json_pack("{s:I}", "alert", (json_int_t)id), &result);
    if (r != EXIT_OK)
        return r;
    if (call->json)
        return cli_ask_print(call, "papertape.ack/1", result);
    printf("acknowledged %lld\n", id);
    json_decref(result);
    return EXIT_OK;
}

static const struct option_action actions[] = {
    {"list", NULL,
     "the alerts, from the database, and from the daemon what it could not store yet: the open ones first, "
     "each with a "
     "\"!\", then the newest of the others, with the time at which the condition was over (closed), or when "
     "it was "
     "acknowledged. The time in front is when it was last seen",
     .need = OPTION_NEEDS_STATE, .bare = true, .run = list},
    {"ack", "ID", "acknowledges one", "3", OPTION_NEEDS_DAEMON, .run = ack},
};

const struct option_verb tui_alerts = {
    .name = "alerts",
    .words = "alerts: list, ack ID",
    .about = "What went wrong, and whether it is over.",
    .page = "record",
    OPTION_ACTIONS(actions),
};
