#include "tui/plain.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/text.h"
#include "exchange/exit_status.h"
#include "tui/collect.h"
#include "tui/item_keys.h"
#include "tui/print.h"
#include "tui/verbs.h"

enum {
    STATE_MAX = 240,
    FIRST_TIMEOUT_MS = 3000,    /* for the daemon's first answer */
    EXPLAIN_TIMEOUT_MS = 10000, /* for an order's explanation */
    PAGE_WIDTH = 80,            /* a page is that of a screen, whose size makes no difference to it */
    PAGE_HEIGHT = 24,
};

struct plain {
    struct collector collector;
    struct view view;
    char line[COMMAND_LINE_MAX];
    size_t len;
    bool too_long, ended, quits;
    char state[STATE_MAX]; /* as it was said last */
    int64_t said_ns;       /* the newest line of the log that was said, and how many of that moment */
    int said;
    int64_t collect_ms;
};

/* ---- what happens ---- */

static void put_state(const struct model *model, char ret[static STATE_MAX])
{
    const struct status *s = &model->status;
    const char *reason = tui_model_trading_reason(model);

    if (model->source != MODEL_DAEMON)
        snprintf(ret, STATE_MAX, "no daemon");
    else
        snprintf(ret, STATE_MAX, "trading %s%s%s, feed %s", s->trading, reason[0] ? ": " : "", reason,
                 s->feed.state);
}

static void say_state(struct plain *plain)
{
    char now[STATE_MAX];

    put_state(plain->collector.model, now);
    if (strcmp(now, plain->state) == 0)
        return;
    memcpy(plain->state, now, sizeof(plain->state));
    cli_text_print(stdout, now);
    if (plain->collector.model->source != MODEL_DAEMON) { /* words that change with each attempt */
        fputs(": ", stdout);
        cli_text_print(stdout, plain->collector.model->daemon_words);
    }
    putchar('\n');
}

int tui_plain_fresh(const struct history *h, int64_t said_ns, int said, bool *ret_more)
{
    static const char *const kinds[] = {"order", "alert", "command"};
    static const int most[] = {HISTORY_LOG_ORDERS, HISTORY_LOG_OTHERS, HISTORY_LOG_OTHERS};
    int fresh = 0, of_then = 0, n[3] = {0};

    for (int i = 0; i < h->n_log && h->log[i].ts_ns >= said_ns; i++) {
        for (int kind = 0; kind < 3; kind++)
            n[kind] += strcmp(h->log[i].kind, kinds[kind]) == 0;
        *(h->log[i].ts_ns > said_ns ? &fresh : &of_then) += 1;
    }
    fresh += of_then > said ? of_then - said : 0;
    *ret_more = false;
    for (int kind = 0; kind < 3; kind++)
        *ret_more |= fresh > 0 && n[kind] >= most[kind];
    return fresh;
}

/* Lines of the log that are newer than what was said; they are there newest first. The first time, none. */
static void say_log(struct plain *plain)
{
    const struct history *h = &plain->collector.model->history;
    bool more;

    if (!plain->collector.model->have_history)
        return;
    int fresh = tui_plain_fresh(h, plain->said_ns, plain->said, &more);
    if (more && plain->said_ns >= 0)
        puts("and more, perhaps: what follows is the newest");
    for (int i = fresh - 1; i >= 0 && plain->said_ns >= 0; i--)
        tui_print_log(stdout, &h->log[i]);
    if (h->n_log == 0 || (fresh == 0 && plain->said_ns >= 0)) {
        plain->said_ns = plain->said_ns < 0 ? 0 : plain->said_ns;
        return;
    }
    plain->said_ns = h->log[0].ts_ns;
    for (plain->said = 0; plain->said < h->n_log && h->log[plain->said].ts_ns == plain->said_ns;)
        plain->said++;
}

/* The outcome of a command, once it has one. */
static void say_outcome(struct plain *plain)
{
    const struct view *view = &plain->view;

    if (view->outcome == OUTCOME_NONE || view->outcome == OUTCOME_PENDING)
        return;
    cli_text_print(stdout, view->command);
    printf("%s%s%s", view->command[0] ? " " : "", tui_outcome_word(view->outcome),
           view->words[0] ? ": " : "");
    cli_text_print(stdout, view->words);
    putchar('\n');
    plain->view.outcome = OUTCOME_NONE;
}

/* ---- what is asked ---- */

static void help(void)
{
    const char *name, *words;

    for (size_t i = 0; (name = tui_print_part_name(i, &words)); i++)
        printf("%-10s%s\n", name, words);
    puts("ITEM      the page of an item: " ITEM_FORMS "\n"
         "order buy BTCUSDT 0.01 --limit 59000, pause, alerts ack 2: what papertape VERB changes\n"
         "quit      end; the daemon continues");
}

static void page(struct plain *plain, const struct item *item)
{
    struct collector *collector = &plain->collector;
    const struct item_page *shown = &collector->model->item;

    struct layout layout;
    struct view view;

    tui_view_init(&view, true, 1000);
    tui_item_keys_open(&view, item);
    tui_view_layout(&view, collector->model, PAGE_WIDTH, PAGE_HEIGHT, &layout);
    tui_collector_page_once(collector, &view, &layout, EXPLAIN_TIMEOUT_MS);
    for (size_t i = 0; i < shown->n; i++) {
        cli_text_print(stdout, shown->lines[i].label);
        if (shown->lines[i].label[0])
            fputs(": ", stdout);
        cli_text_print(stdout, shown->lines[i].text);
        putchar('\n');
    }
    tui_collector_want_item(collector, &(struct item){.kind = ITEM_NONE});
    tui_view_finish(&view);
}

static bool is_verb(const char *line)
{
    char word[COMMAND_WORD_MAX];

    snprintf(word, sizeof(word), "%.*s", (int)strcspn(line, " \t"), line);
    return option_find_verb(&tui_papertape, word) != NULL;
}

static void obey(struct plain *plain, const char *line)
{
    struct item item;

    line += strspn(line, " \t:");
    if (!*line)
        return;
    if (strcmp(line, "quit") == 0 || strcmp(line, "q") == 0)
        plain->quits = true;
    else if (strcmp(line, "help") == 0 || strcmp(line, "?") == 0)
        help();
    else if (tui_item_parse(line, &item))
        page(plain, &item);
    else if (tui_print_part(stdout, line, plain->collector.model, tui_model_now()))
        return;
    else if (is_verb(line))
        tui_collector_line(&plain->collector, &plain->view, line, tui_model_now());
    else
        puts("not known: help says what can be asked");
}

/* ---- */

/* Its lines, one at a time: the next one waits for what the one before asked. */
static void take_input(struct plain *plain)
{
    char c;

    while (!plain->quits && plain->view.outcome == OUTCOME_NONE) {
        struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
        if (poll(&input, 1, 0) < 1)
            return;
        ssize_t n = read(STDIN_FILENO, &c, 1);
        if (n < 0 && errno == EINTR)
            continue;
        plain->ended = n < 1;
        if (n == 1 && c != '\n') {
            plain->too_long |= plain->len + 1 == sizeof(plain->line);
            if (!plain->too_long)
                plain->line[plain->len++] = c;
            continue;
        }
        plain->line[plain->len] = '\0';
        if (plain->too_long)
            printf("a line of at most %zu bytes is needed\n", sizeof(plain->line) - 1);
        else
            obey(plain, plain->line);
        plain->len = 0;
        plain->too_long = false;
        if (plain->ended)
            return;
    }
}

static void collect(struct plain *plain, struct moment now)
{
    const struct history_want want = {0};

    tui_collector_want(&plain->collector, &want);
    tui_collector_tick(&plain->collector, now);
    plain->collect_ms = now.mono_ms;
}

static void loop(struct plain *plain, int64_t interval_ms)
{
    while (!plain->quits && !(plain->ended && plain->view.outcome == OUTCOME_NONE)) {
        enum { INPUT, CONTROL, POLLED };
        bool reads = !plain->ended && plain->view.outcome == OUTCOME_NONE;
        struct pollfd fds[POLLED] = {[INPUT] = {.fd = reads ? STDIN_FILENO : -1, .events = POLLIN}};
        struct moment now = tui_model_now();
        int64_t left_ms = plain->collect_ms + interval_ms - now.mono_ms;

        fflush(stdout);
        fds[CONTROL].fd = tui_collector_fd(&plain->collector, &fds[CONTROL].events);
        if (poll(fds, POLLED, left_ms > 0 ? (int)left_ms : 0) < 0 && errno != EINTR)
            return;
        now = tui_model_now();
        tui_collector_io(&plain->collector, &plain->view, now);
        tui_collector_expire(&plain->collector, &plain->view, now);
        if (now.mono_ms >= plain->collect_ms + interval_ms)
            collect(plain, now);
        say_outcome(plain);
        say_state(plain);
        say_log(plain);
        if (reads && fds[INPUT].revents)
            take_input(plain);
        if (ferror(stdout))
            return; /* option_main() reports it */
    }
}

int tui_plain_run(const struct dashboard_options *options)
{
    struct plain plain = {.said_ns = -1};

    tui_view_init(&plain.view, options->readonly, options->interval_ms);
    int r = tui_collector_init(&plain.collector, &options->state, options->studies, options->interval_ms);
    if (r < 0) {
        fprintf(stderr, "papertape: starting: %s\n", strerror(-r));
    } else {
        tui_collector_once(&plain.collector, FIRST_TIMEOUT_MS);
        plain.collect_ms = tui_model_now().mono_ms;
        say_state(&plain);
        puts("help says what can be asked");
        loop(&plain, options->interval_ms);
    }
    tui_collector_finish(&plain.collector);
    tui_view_finish(&plain.view);
    return r < 0 ? EXIT_ERROR : EXIT_OK;
}
