#include "tui/dashboard.h"

#include <errno.h>
#include <langinfo.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "cli/format.h"
#include "exchange/exit_status.h"
#include "tui/collect.h"
#include "tui/command_history.h"
#include "tui/keys.h"
#include "tui/lists.h"
#include "tui/mouse.h"
#include "tui/panel/panel.h"
#include "tui/paste.h"
#include "tui/saved_view_keys.h"
#include "tui/screen.h"
#include "tui/view.h"

enum { TICK_MS = 1000 }; /* ages are updated at least so often */

struct dashboard {
    struct collector collector;
    struct view view;
    struct canvas canvas;
    struct paste paste;
    int signals, timer;
    int64_t collect_at_ms;               /* monotonic */
    int64_t timer_ms;                    /* that the timer is set to */
    sigset_t wait_mask;                  /* while waiting: only the resize signal gets through */
    int ended_by;                        /* a signal, or 0 */
    const char *opened;                  /* the view that was opened before any symbol was known; NULL */
    struct opened open;                  /* the page that is to be opened once its study is known … */
    bool opens;                          /* … which it is not yet */
    char unread[HISTORY_UNREAD_SUM_MAX]; /* the rows that cannot be read, as they were reported */
    bool quit, redraw;
};

enum glyphs tui_dashboard_glyphs(void)
{
    const char *term = getenv("TERM");

    if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
        return GLYPHS_ASCII;
    return term && strcmp(term, "linux") == 0 ? GLYPHS_BLOCK : GLYPHS_BRAILLE;
}

static void set_timer(struct dashboard *d)
{
    int64_t ms = d->view.interval_ms < TICK_MS ? d->view.interval_ms : TICK_MS;

    if (ms == d->timer_ms)
        return;
    struct timespec step = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    struct itimerspec spec = {.it_interval = step, .it_value = step};
    if (timerfd_settime(d->timer, 0, &spec, NULL) == 0)
        d->timer_ms = ms;
}

static int open_events(struct dashboard *d)
{
    static const int caught[] = {SIGTERM, SIGINT,  SIGQUIT, SIGHUP, SIGTSTP,
                                 SIGUSR1, SIGUSR2, SIGALRM, SIGPIPE};
    sigset_t set, blocked;

    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(caught) / sizeof(caught[0]); i++)
        sigaddset(&set, caught[i]);
    blocked = set;
    sigaddset(&blocked, SIGWINCH);
    if (sigprocmask(SIG_BLOCK, &blocked, NULL) < 0)
        return -errno;
    sigprocmask(SIG_BLOCK, NULL, &d->wait_mask);
    sigdelset(&d->wait_mask, SIGWINCH);
    d->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    d->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    return d->signals < 0 || d->timer < 0 ? -errno : 0;
}

static struct model *shown(struct dashboard *d)
{
    return tui_collector_shown(&d->collector);
}

static void draw(struct dashboard *d)
{
    int width, height;

    tui_screen_size(&width, &height);
    width = width < 1 ? 1 : width > CANVAS_SIDE_MAX ? CANVAS_SIDE_MAX : width;
    height = height < 1 ? 1 : height > CANVAS_SIDE_MAX ? CANVAS_SIDE_MAX : height;
    if (d->canvas.width != width || d->canvas.height != height) {
        struct canvas canvas;
        if (tui_canvas_init(&canvas, width, height, d->canvas.glyphs) < 0)
            return;
        tui_canvas_finish(&d->canvas);
        d->canvas = canvas;
    }
    tui_view_draw(&d->view, shown(d), tui_model_now(), &d->canvas);
    tui_view_keep(&d->view, shown(d), &d->canvas);
    if (d->view.whole)
        d->view.whole_most = panel_whole_most(&d->canvas, &d->view, shown(d));
    tui_screen_show(&d->canvas);
    d->redraw = false;
}

/* What the shown lists need; a query for what is no longer wanted ends. */
static void want_lists(struct dashboard *d, bool look_again)
{
    struct lists_want want;
    struct layout layout;

    tui_view_layout(&d->view, shown(d), d->canvas.width, d->canvas.height, &layout);
    tui_lists_want(&d->view, shown(d), &layout, &want);
    if (look_again || memcmp(&want, &d->collector.lists_want, sizeof(want)) != 0)
        tui_collector_want_lists(&d->collector, &want);
}

/* Requests what is shown of the past, unless that is requested already. */
static void want_past(struct dashboard *d, struct moment now, bool goes)
{
    struct past_want own = {0}, *want = goes ? &d->view.go : &own;

    tui_view_want(&d->view, shown(d), d->canvas.width, &want->want);
    if (goes || !tui_history_want_equal(&want->want, &d->collector.past_want))
        tui_collector_past(&d->collector, &d->view, want, now);
}

/* Once an interval alone: not of each moment that is only passed through. */
static void want_book(struct dashboard *d)
{
    struct layout layout;

    tui_view_layout(&d->view, d->collector.past, d->canvas.width, d->canvas.height, &layout);
    tui_collector_want_book(&d->collector, tui_view_wanted_depth(&d->view, d->collector.past, &layout));
}

static void want_now(struct dashboard *d)
{
    const struct model *model = d->collector.model;
    struct history_want past;
    struct tui_study_want want;
    struct layout layout;

    const struct status_training *training = d->view.detail ? tui_view_training(&d->view, model) : NULL;
    if (training)
        d->collector.model->page_training = *training;
    tui_view_want(&d->view, model, d->canvas.width, &past);
    tui_collector_want(&d->collector, &past);
    tui_view_want_study(&d->view, model, &want);
    tui_collector_want_study(&d->collector, &want);
    tui_view_layout(&d->view, model, d->canvas.width, d->canvas.height, &layout);
    tui_collector_want_depth(&d->collector, tui_view_wanted_depth(&d->view, model, &layout));
    const char *timeframe = "", *symbol = tui_view_wanted_live(&d->view, model, &layout, &timeframe);
    tui_collector_want_live(&d->collector, symbol, timeframe);
}

/* Says once which rows cannot be read. */
static void report_unread(struct dashboard *d, struct moment now)
{
    char words[HISTORY_UNREAD_SUM_MAX];

    tui_history_unread_text(&shown(d)->history.unread, words);
    if (words[0] && strcmp(words, d->unread) != 0)
        tui_view_report(&d->view, OUTCOME_NOTE, "unreadable:", words, now);
    if (words[0])
        memcpy(d->unread, words, sizeof(d->unread));
}

static void collect(struct dashboard *d, struct moment now)
{
    tui_collector_sweeps(&d->collector, &d->view, now);
    tui_collector_want_item(&d->collector, &d->view.item);
    if (d->view.frozen) { /* what was opened since is read all the same */
        if (!tui_item_equal(&d->view.item, &shown(d)->item.item))
            tui_collector_read_item(&d->collector, now);
        return;
    }
    d->collector.model->interval_ms = d->view.interval_ms;
    if (d->collector.past) {
        want_past(d, now, false);
        want_book(d);
    } else {
        want_now(d);
    }
    tui_collector_tick(&d->collector, now);
    report_unread(d, now);
    want_lists(d, d->collector.past == NULL);
    d->collect_at_ms = now.mono_ms + d->view.interval_ms;
    d->redraw = true;
}

static void take_settings(struct dashboard *d)
{
    const struct dashboard_settings *settings = &d->view.settings;

    tui_screen_scheme((enum scheme)settings->scheme, (enum colours)settings->colours);
    tui_screen_mouse(settings->mouse);
    d->canvas.glyphs = tui_settings_glyphs(settings, tui_dashboard_glyphs());
    cli_format_local(settings->local);
    d->view.interval_ms = (int64_t)(settings->interval * 1000);
}

static void copy(struct dashboard *d, struct moment now)
{
    char *text = tui_copy_text(&d->view, shown(d), &d->canvas);
    bool done = text && tui_screen_copy(text, strlen(text));

    tui_view_report(&d->view, OUTCOME_NOTE,
                    "copy:", done ? "sent to the terminal's clipboard" : "no row is chosen", now);
    free(text);
}

static void save_settings(struct dashboard *d, struct moment now)
{
    char path[PATH_MAX], words[KEPT_FILE_WORDS_MAX];
    int r = tui_settings_path(path) ? tui_settings_write(path, &d->view.settings, d->view.settings_words)
                                    : -ENOENT;

    if (r == -ENOENT)
        snprintf(words, sizeof(words), "not saved: " KEPT_FILE_NOWHERE);
    else if (r == -EEXIST)
        snprintf(words, sizeof(words), "not saved, the file is as it was: mend it first. %.540s",
                 d->view.settings_words);
    else if (r < 0)
        tui_kept_file_not_saved(path, r, words);
    else
        snprintf(words, sizeof(words), "saved in %.600s", path);
    if (r >= 0)
        d->view.settings_kept = d->view.settings;
    d->view.setup &= r < 0;
    if (r >= 0)
        d->view.choosing = CHOOSING_NOTHING;
    tui_view_report(&d->view, r < 0 ? OUTCOME_REFUSED : OUTCOME_DONE, "set-up", words, now);
}

/* As the question said; what it warned of is confirmed. */
static json_t *promotion(const struct view *view)
{
    json_t *args = json_pack("{s:s, s:s}", "name", view->subject, "to", view->role);

    if (view->bad_verdict)
        json_object_set_new(args, "yes", json_true());
    return args;
}

static void act(struct dashboard *d, enum action action, struct moment now)
{
    char text[COMMAND_LINE_MAX + 16];

    switch (action) {
    case ACTION_NONE:
        break;
    case ACTION_QUIT:
        d->quit = true;
        break;
    case ACTION_REDRAW:
        tui_screen_spoilt();
        break;
    case ACTION_PAST:
        tui_collector_want_depth(&d->collector, "");
        want_past(d, now, true);
        break;
    case ACTION_NOW:
        tui_collector_leave_past(&d->collector, &d->view);
        collect(d, now);
        break;
    case ACTION_BARS:
        if (d->collector.past)
            want_past(d, now, false);
        else
            tui_collector_bars(&d->collector, d->view.chart.end_ns);
        d->redraw = true;
        break;
    case ACTION_COLLECT:
        collect(d, now);
        break;
    case ACTION_SETTINGS:
        take_settings(d);
        break;
    case ACTION_SETTINGS_SAVE:
        save_settings(d, now);
        break;
    case ACTION_VIEWS:
    case ACTION_VIEW_OPEN:
    case ACTION_VIEW_SAVE:
    case ACTION_VIEW_REMOVE:
        if (tui_saved_view_keys_act(&d->view, shown(d), action, now))
            collect(d, now);
        break;
    case ACTION_PAUSE:
        tui_collector_command(&d->collector, &d->view, "pause", NULL, now);
        break;
    case ACTION_RESUME:
        tui_collector_command(&d->collector, &d->view, "resume", NULL, now);
        break;
    case ACTION_FLATTEN:
        tui_collector_command(&d->collector, &d->view, "flatten", json_pack("{s:s}", "confirm", "FLATTEN"),
                              now);
        break;
    case ACTION_ACK:
        tui_collector_command(&d->collector, &d->view, "ack",
                              json_pack("{s:I}", "alert", (json_int_t)d->view.alert), now);
        break;
    case ACTION_BACKTEST:
        tui_collector_backtest(&d->collector, &d->view,
                               tui_view_account(&d->view, d->collector.model)->account, now);
        break;
    case ACTION_STOP_BACKTEST:
        tui_collector_stop_backtest(&d->collector, &d->view, now);
        break;
    case ACTION_SWEEPS:
        tui_collector_sweeps(&d->collector, &d->view, now);
        break;
    case ACTION_FORM:
        tui_collector_form(&d->collector, &d->view, now);
        break;
    case ACTION_COPY:
        copy(d, now);
        break;
    case ACTION_FORM_CHECK:
        tui_collector_check(&d->collector, &d->view, now);
        break;
    case ACTION_FORM_SEND:
        tui_collector_send_form(&d->collector, &d->view, now);
        break;
    case ACTION_TRAIN_STOP:
        tui_collector_command_each(&d->collector, &d->view, "train_stop", d->view.subject, now);
        break;
    case ACTION_TRAIN_RESUME:
        tui_collector_command_each(&d->collector, &d->view, "train_resume", d->view.subject, now);
        break;
    case ACTION_LINE:
        tui_command_history_add(d->view.line, d->view.line->edit.text);
        tui_collector_line(&d->collector, &d->view, d->view.line->edit.text, now);
        break;
    case ACTION_LINE_TRY:
        snprintf(text, sizeof(text), "%.*s --dry-run", COMMAND_LINE_MAX, d->view.line->edit.text);
        tui_collector_line(&d->collector, &d->view, text, now);
        break;
    case ACTION_ORDER_ASK:
        tui_collector_order_form(&d->collector, &d->view, now, true);
        break;
    case ACTION_ORDER_SEND:
        if (d->view.line && d->view.order_form && tui_order_form_line(d->view.order_form, text))
            tui_command_history_add(d->view.line, text);
        tui_collector_order_send(&d->collector, &d->view, now);
        break;
    case ACTION_PROMOTE:
        tui_collector_command(&d->collector, &d->view, "policy_promote", promotion(&d->view), now);
        break;
    case ACTION_RETIRE:
        tui_collector_command(&d->collector, &d->view, "policy_retire",
                              json_pack("{s:s}", "name", d->view.subject), now);
        break;
    case ACTION_CANCEL:
        tui_collector_command(&d->collector, &d->view, "cancel",
                              json_pack("{s:I}", "order", (json_int_t)d->view.order), now);
        break;
    }
}

static void keyboard(struct dashboard *d, struct moment now)
{
    bool resized = false, whole;
    int key, width, height, x, y;

    while (!d->quit && (key = tui_screen_key(&resized)) > 0) {
        tui_screen_size(&width, &height);
        if (tui_paste_press(&d->paste, key, now.mono_ms, &whole)) {
            if (whole)
                tui_keys_paste(&d->view, shown(d), width, height, d->paste.keys, d->paste.n);
            d->redraw |= whole;
            continue;
        }
        if (key == PRESS_CLICK || key == PRESS_WHEEL_UP || key == PRESS_WHEEL_DOWN) {
            if (d->redraw && key == PRESS_CLICK)
                draw(d); /* what is pointed at is what is drawn */
            tui_screen_pointer(&x, &y);
            act(d, tui_mouse_press(&d->view, shown(d), &d->canvas, now, key, x, y), now);
        } else {
            act(d, tui_keys_press(&d->view, shown(d), width, height, now, key), now);
        }
        d->redraw = true;
    }
    tui_collector_order_form(&d->collector, &d->view, now, false);
    want_lists(d, false);
    d->redraw |= resized;
}

static void on_signal(struct dashboard *d)
{
    struct signalfd_siginfo info;

    while (read(d->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (info.ssi_signo == SIGTSTP) {
            tui_screen_suspend();
            d->redraw = true;
        } else if (info.ssi_signo != SIGPIPE) {
            d->ended_by = (int)info.ssi_signo;
            d->quit = true;
        }
    }
}

static void on_timer(struct dashboard *d, struct moment now)
{
    uint64_t times;

    if (read(d->timer, &times, sizeof(times)) < 0)
        return;
    tui_paste_expire(&d->paste, now.mono_ms);
    if (now.mono_ms + TICK_MS / 20 >= d->collect_at_ms)
        collect(d, now);
    if (!d->view.frozen && !d->collector.past)
        tui_collector_log(&d->collector,
                          d->view.detail ? tui_view_wanted_training(&d->view, d->collector.model) : "", now);
    if (tui_collector_expire(&d->collector, &d->view, now))
        d->redraw = true;
    tui_collector_order_form(&d->collector, &d->view, now, true);
    if (d->view.outcome > OUTCOME_PENDING &&
        now.mono_ms - d->view.outcome_ms > panel_answer_shown_ms(&d->view, d->canvas.width))
        d->view.outcome = OUTCOME_NONE;
    d->redraw = true;
}

/* The page that the dashboard began with, now that studies are known. */
static void open_page(struct dashboard *d)
{
    char words[STUDY_LABEL_MAX + 40] = "";

    if (d->opens && !tui_opened_show(&d->open, &d->view, d->collector.model))
        snprintf(words, sizeof(words), "there is no study %s", d->open.name);
    else
        tui_opened_is_gone(&d->open, d->collector.model, words, sizeof(words));
    d->opens = false;
    if (!words[0])
        return;
    tui_view_report(&d->view, OUTCOME_NOTE, "open:", words, tui_model_now());
    d->open.kind = OPENED_NOTHING;
}

/* What was read may belong to a page that was left, or lack one that is now shown. */
static void take_studies(struct dashboard *d)
{
    struct tui_study_want want;

    if (!tui_collector_take_studies(&d->collector))
        return;
    d->redraw = true;
    open_page(d);
    tui_view_want_study(&d->view, d->collector.model, &want);
    if (!tui_study_want_equal(&want, &d->collector.study_want))
        tui_collector_want_study(&d->collector, &want);
}

static void take_past(struct dashboard *d, struct moment now)
{
    if (!tui_collector_take_past(&d->collector, &d->view, now))
        return;
    tui_collector_read_item(&d->collector, now);
    want_lists(d, true);
    if (d->collector.past)
        want_past(d, now, false); /* the symbol and account that are chosen may not have been known */
    d->redraw = true;
}

static void take_lists(struct dashboard *d, struct moment now)
{
    if (!tui_collector_take_lists(&d->collector, &d->view, now))
        return;
    if (d->view.item.kind == ITEM_TRIP) /* made of the list's row */
        tui_collector_read_item(&d->collector, now);
    d->redraw = true;
    want_lists(d, false);
}

/* The view that the dashboard began with, now that symbols are known: whether one of it is gone. */
static void look_again(struct dashboard *d, struct moment now)
{
    char words[KEPT_FILE_WORDS_MAX];

    if (!d->opened || shown(d)->status.n_symbols == 0)
        return;
    struct view trial = d->view; /* the user may be elsewhere by now */
    if (tui_saved_view_keys_open(&trial, shown(d), d->opened, words) == 0 && words[0])
        tui_view_report(&d->view, OUTCOME_NOTE, "view", words, now);
    d->opened = NULL;
}

static void loop(struct dashboard *d)
{
    while (!d->quit) {
        enum {
            INPUT,
            SIGNALS,
            TIMER,
            CONTROL,
            REPORT,
            COMPLAINT,
            STUDIES,
            LISTS,
            PAST,
            EXPLAINED,
            UNEXPLAINED,
            BOOK,
            NO_BOOK,
            SWEEP,
            NO_SWEEP,
            SWEEP_SET,
            NO_SWEEP_SET,
            POLLED
        };
        struct pollfd fds[POLLED] = {
            [INPUT] = {.fd = STDIN_FILENO, .events = POLLIN},
            [SIGNALS] = {.fd = d->signals, .events = POLLIN},
            [TIMER] = {.fd = d->timer, .events = POLLIN},
            [REPORT] = {.fd = d->collector.job.child.out, .events = POLLIN},
            [COMPLAINT] = {.fd = d->collector.job.child.err, .events = POLLIN},
            [EXPLAINED] = {.fd = d->collector.explain.child.out, .events = POLLIN},
            [UNEXPLAINED] = {.fd = d->collector.explain.child.err, .events = POLLIN},
            [BOOK] = {.fd = d->collector.past_book.child.out, .events = POLLIN},
            [NO_BOOK] = {.fd = d->collector.past_book.child.err, .events = POLLIN},
            [SWEEP] = {.fd = d->collector.sweep.child.out, .events = POLLIN},
            [NO_SWEEP] = {.fd = d->collector.sweep.child.err, .events = POLLIN},
            [SWEEP_SET] = {.fd = d->collector.sweep.run.child.out, .events = POLLIN},
            [NO_SWEEP_SET] = {.fd = d->collector.sweep.run.child.err, .events = POLLIN},
            [STUDIES] = {.fd = tui_collector_studies_fd(&d->collector), .events = POLLIN},
            [LISTS] = {.fd = tui_collector_lists_fd(&d->collector), .events = POLLIN},
            [PAST] = {.fd = tui_collector_past_fd(&d->collector), .events = POLLIN},
        };
        set_timer(d);
        fds[CONTROL].fd = tui_collector_fd(&d->collector, &fds[CONTROL].events);
        int n = ppoll(fds, POLLED, NULL, &d->wait_mask);
        struct moment now = tui_model_now();
        if (n < 0 && errno != EINTR)
            break;
        if (n < 0) { /* a resize: curses knows, and reports it as a key */
            keyboard(d, now);
        } else {
            if (fds[SIGNALS].revents)
                on_signal(d);
            if (fds[INPUT].revents & POLLIN)
                keyboard(d, now);
            if (fds[INPUT].revents & (POLLHUP | POLLERR | POLLNVAL)) {
                d->quit = true; /* the terminal is gone: polling it again would burn a core */
                d->ended_by = SIGHUP;
            }
            if (fds[CONTROL].revents) {
                d->redraw |= tui_collector_io(&d->collector, &d->view, now);
                look_again(d, now);
            }
            if (fds[REPORT].revents || fds[COMPLAINT].revents)
                d->redraw |= tui_collector_backtest_io(&d->collector, &d->view, now);
            if (fds[EXPLAINED].revents || fds[UNEXPLAINED].revents)
                d->redraw |= tui_collector_explain_io(&d->collector, now);
            if (fds[BOOK].revents || fds[NO_BOOK].revents)
                d->redraw |= tui_collector_book_io(&d->collector);
            if (fds[SWEEP].revents || fds[NO_SWEEP].revents || fds[SWEEP_SET].revents ||
                fds[NO_SWEEP_SET].revents)
                d->redraw |= tui_collector_sweeps_io(&d->collector, &d->view, now);
            if (fds[STUDIES].revents)
                take_studies(d);
            if (fds[LISTS].revents)
                take_lists(d, now);
            if (fds[PAST].revents)
                take_past(d, now);
            if (fds[TIMER].revents)
                on_timer(d, now);
        }
        if (d->redraw && !d->quit)
            draw(d);
    }
}

/* Ends as the signal would have ended the process, after restoring the terminal. */
static int exit_status(int ended_by)
{
    sigset_t set;

    if (ended_by == 0)
        return EXIT_OK;
    signal(ended_by, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, ended_by);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    raise(ended_by);
    return EXIT_ERROR;
}

int tui_dashboard_run(const struct dashboard_options *options)
{
    struct dashboard d = {.signals = -1, .timer = -1, .canvas = {.glyphs = options->glyphs}};
    int status = EXIT_ERROR, ended_by = 0;

    tui_view_init(&d.view, options->readonly, options->interval_ms);
    d.view.tab = options->open.kind >= OPENED_STUDY ? TAB_STUDY : options->tab;
    d.view.settings = d.view.settings_kept = options->settings;
    snprintf(d.view.settings_words, sizeof(d.view.settings_words), "%s", options->settings_words);
    d.view.line = tui_command_line_create();
    if (d.view.line)
        tui_command_history_load(d.view.line);
    tui_saved_view_list(&d.view.saved);
    d.opened = options->view;
    int r = tui_collector_init(&d.collector, &options->state, options->studies, options->interval_ms);
    d.open = options->open;
    d.opens = r == 0 && !tui_opened_show(&d.open, &d.view, shown(&d));
    if (r < 0 || (r = open_events(&d)) < 0) {
        fprintf(stderr, "papertape: starting: %s\n", strerror(-r));
    } else if (tui_screen_open(options->scheme, (enum colours)options->settings.colours) < 0) {
        fprintf(stderr, "papertape: terminal: TERM=%s: a terminal that curses knows\n",
                getenv("TERM") ? getenv("TERM") : "");
        status = EXIT_USAGE;
    } else {
        take_settings(&d);
        if (d.view.settings_words[0])
            tui_view_report(&d.view, OUTCOME_NOTE, "set-up:", d.view.settings_words, tui_model_now());
        if (options->view) {
            snprintf(d.view.saved_name, sizeof(d.view.saved_name), "%s", options->view);
            tui_saved_view_keys_act(&d.view, shown(&d), ACTION_VIEW_OPEN, tui_model_now());
        }
        draw(&d);
        collect(&d, tui_model_now());
        if (options->at.jumps) {
            d.view.go = options->at;
            act(&d, ACTION_PAST, tui_model_now());
        }
        loop(&d);
        tui_screen_close();
        ended_by = d.ended_by;
        status = EXIT_OK;
    }
    tui_canvas_finish(&d.canvas);
    tui_collector_finish(&d.collector);
    tui_view_finish(&d.view);
    if (d.signals >= 0)
        close(d.signals);
    if (d.timer >= 0)
        close(d.timer);
    return status == EXIT_OK ? exit_status(ended_by) : status;
}
