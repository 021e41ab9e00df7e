#include "tui/verb/verbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ask.h"
#include "cli/format.h"
#include "db/state.h"
#include "exchange/exit_status.h"
#include "tui/history.h"
#include "tui/model.h"
#include "tui/print.h"

static const char help[] =
    "Usage: papertape alerts list [--json] [--state DIR]\n"
    "       papertape alerts ack ID [--state DIR]\n"
    "\n"
    "list: the alerts, from the database, and from the daemon what it could not store yet: the open\n"
    "      ones first, each with a \"!\", then the newest of the others, with the time at which the "
    "condition\n"
    "      was over (closed), or when it was acknowledged. The time in front is when it was last seen.\n"
    "ack:  acknowledges one, through the daemon.\n"
    "\n"
    "  --json  as JSON, papertape.alerts/1\n";

static void print_text(const struct history *h)
{
    char time[FORMAT_MAX];

    for (int i = 0; i < h->n_alerts; i++) {
        const struct history_alert *a = &h->alerts[i];
        printf("%c %5lld %sZ %-8s x%-4lld %s", a->open ? '!' : ' ', (long long)a->id,
               format_time(time, a->last_ns), a->severity, (long long)a->count, a->text);
        if (a->closed_ns)
            printf(" (closed %sZ)", format_time(time, a->closed_ns));
        else if (a->acked_ns)
            printf(" (acknowledged %sZ)", format_time(time, a->acked_ns));
        putchar('\n');
    }
}

static void print_json_list(const struct history *h)
{
    json_t *object = json_pack("{s:s, s:o}", "schema", "papertape.alerts/1", "alerts", print_alerts_json(h));
    char *text = json_dumps(object, JSON_COMPACT);
    puts(text ? text : "null");
    free(text);
    json_decref(object);
}

/* What a daemon that runs has not stored. Returns how many are open beyond those. */
static long long take_unstored(const char *state, struct history *h)
{
    struct control_error ignored;
    json_t *status;
    long long more;

    if (ask_quietly(state, "status", NULL, &status, &ignored) != EXIT_OK)
        return 0;
    history_take_unstored(h, status);
    more = json_integer_value(json_object_get(status, "alerts_open"));
    for (int i = 0; i < h->n_alerts; i++)
        more -= h->alerts[i].open;
    json_decref(status);
    return h->n_alerts < HISTORY_ROWS_MAX && more > 0 ? more : 0;
}

static int list(const struct ask_options *options)
{
    struct state_dir dir;
    struct history_reader *reader = NULL;
    char words[512];
    int r = state_dir_look(options->state, &dir, words, sizeof(words));

    struct history *history = calloc(1, sizeof(*history));
    if (r == 0 && !history) {
        snprintf(words, sizeof(words), "out of memory");
        r = -ENOMEM;
    }
    if (r == 0 && (r = history_open(dir.database, &reader, words, sizeof(words))) < 0)
        state_dir_denied(&dir, options->state, words, sizeof(words));
    if (r == 0)
        r = history_read(reader, moment_now().wall_ns, &(struct history_want){0}, history, words,
                         sizeof(words));
    long long more = r == 0 ? take_unstored(options->state, history) : 0;
    if (r < 0)
        fprintf(stderr, "papertape: alerts: %s\n", words);
    else if (options->flag)
        print_json_list(history);
    else
        print_text(history);
    if (more > 0)
        fprintf(stderr, "papertape: alerts: %lld more are open, which the daemon could not store yet\n",
                more);
    history_close(reader);
    free(history);
    return r < 0 ? EXIT_ERROR : EXIT_OK;
}

static int ack(const char *state, const char *text)
{
    json_t *result;
    char *end;

    errno = 0;
    long long id = strtoll(text, &end, 10);
    if (errno || end == text || *end || id < 1)
        return ask_usage("alerts", "ack needs the alert's number, as: alerts ack 3");
    int r = ask_daemon("alerts", state, "ack", json_pack("{s:I}", "alert", (json_int_t)id), &result);
    if (r != EXIT_OK)
        return r;
    printf("acknowledged %lld\n", id);
    json_decref(result);
    return EXIT_OK;
}

static int run_line(int argc, char **argv)
{
    struct ask_options options;
    int r = ask_options(argc, argv, "json", help, &options);

    if (r != EXIT_OK || options.done)
        return r;
    int n = argc - options.first;
    char **words = argv + options.first;
    if (n == 1 && strcmp(words[0], "list") == 0)
        return list(&options);
    if (n == 2 && strcmp(words[0], "ack") == 0)
        return ack(options.state, words[1]);
    return ask_usage("alerts", "list, or ack ID");
}

const struct option_verb tui_alerts = {.name = "alerts", .words = "alerts: list, ack ID", .run = run_line};
