#include "tui/collect.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/control_client.h"
#include "cli/format.h"
#include "cli/text.h"
#include "db/studies/store.h"
#include "tui/history_reader.h"
#include "tui/lists.h"

enum { SILENCE_MS = 15000 }; /* a daemon that answers nothing for so long is connected to again */

/* Is it not the file that the co-process writes to? */
static bool elsewhere(const char *studies, const char *state)
{
    char *file = study_store_file(studies), own[PATH_MAX];
    struct stat named, st;
    bool other = true;

    if (file && snprintf(own, sizeof(own), "%s/studies.db", state) < (int)sizeof(own))
        other = strcmp(file, own) != 0 && (stat(file, &named) < 0 || stat(own, &st) < 0 ||
                                           named.st_dev != st.st_dev || named.st_ino != st.st_ino);
    free(file);
    return other;
}

int tui_collector_init(struct collector *collector, const struct state_dir *state, const char *studies,
                       int64_t interval_ms)
{
    char err[STUDY_ERROR_MAX];
    *collector = (struct collector){.state = *state};
    cli_control_init(&collector->control);
    tui_backtest_job_init(&collector->job);
    tui_sweep_job_init(&collector->sweep);
    tui_child_init(&collector->explain.child);
    tui_child_init(&collector->past_book.child);
    collector->model = tui_model_create(interval_ms);
    if (!collector->model)
        return -ENOMEM;
    collector->model->studies_named = studies != NULL;
    collector->model->studies_elsewhere = studies && elsewhere(studies, state->path);
    if (studies)
        collector->studies_url = strdup(studies);
    else if (study_store_of_state(state->path, &collector->studies_url, err) < 0)
        collector->studies_url = NULL;
    if (asprintf(&collector->studies_folder, "%s/studies", state->path) < 0)
        collector->studies_folder = NULL;
    return collector->studies_url && collector->studies_folder ? 0 : -ENOMEM;
}

static void end_rest(struct collector *collector)
{
    for (int i = 0; i < collector->rest.n; i++)
        free(collector->rest.configs[i]);
    collector->rest = (struct collector_rest){0};
}

void tui_collector_finish(struct collector *collector)
{
    end_rest(collector);
    tui_collector_each_end(collector);
    cli_control_finish(&collector->control);
    tui_backtest_job_finish(&collector->job);
    tui_sweep_job_finish(&collector->sweep);
    tui_collector_item_finish(collector);
    tui_collector_book_finish(collector);
    tui_history_close(collector->reader);
    tui_past_reader_destroy(collector->past_reader);
    tui_history_close(collector->past_rows);
    tui_model_destroy(collector->past);
    json_decref(collector->status_json);
    tui_study_reader_destroy(collector->studies);
    tui_list_reader_destroy(collector->lists);
    tui_study_source_destroy(collector->source);
    free(collector->line);
    free(collector->studies_url);
    free(collector->studies_folder);
    tui_model_destroy(collector->model);
}

static int open_database(struct collector *collector, char *words, size_t size)
{
    return collector->reader ? 0
                             : tui_history_open(collector->state.database, &collector->reader, words, size);
}

/* Without a daemon, or where one does not know, the database's last state is used. */
static int read_last_known(struct collector *collector, struct moment now, char *words, size_t size)
{
    struct status *stored = calloc(1, sizeof(*stored));
    int64_t accounts_age_ms;
    int r = -ENOMEM;

    if (!stored)
        snprintf(words, size, "out of memory");
    else if ((r = open_database(collector, words, size)) == 0)
        r = tui_history_status(collector->reader, now.wall_ns, stored, &accounts_age_ms, words, size);
    if (r == 0)
        tui_model_take_stored(collector->model, stored, accounts_age_ms, now);
    if (stored)
        tui_status_finish(stored);
    free(stored);
    return r;
}

/* What the daemon's status leaves out. */
static int read_known(struct collector *collector, struct moment now)
{
    struct status known;
    int r = tui_model_wants_known(collector->model)
                ? tui_history_known(collector->reader, now.wall_ns, &known)
                : 1;

    if (r == 0)
        tui_model_take_known(collector->model, &known, now);
    return r < 0 ? r : 0;
}

/* Why nothing is read; of which file, unless it is only not there yet. */
static void explain(struct model *model, const char *path, const char *words)
{
    char text[STATE_PATH_MAX + STATUS_TEXT_MAX + 2];

    if (strcmp(words, DB_NOT_YET("database", "papertaped")) == 0)
        snprintf(text, sizeof(text), "%s", words);
    else
        snprintf(text, sizeof(text), "%s: %s", path, words);
    cli_text_clean(model->database_words, sizeof(model->database_words), text);
}

static void read_database(struct collector *collector, struct moment now)
{
    struct model *model = collector->model;
    char words[STATUS_TEXT_MAX];
    int r = open_database(collector, words, sizeof(words));

    if (r == 0)
        r = tui_history_read(collector->reader, now.wall_ns, &collector->want, &model->history, words,
                             sizeof(words));
    if (r == 0 && model->source == MODEL_DAEMON)
        tui_history_take_unstored(&model->history, collector->status_json);
    if (r == 0 && collector->control.fd < 0) {
        if (model->source == MODEL_DAEMON)
            model->source = MODEL_NOTHING; /* nothing of its status is kept */
        r = read_last_known(collector, now, words, sizeof(words));
    }
    if (r == 0 && (r = read_known(collector, now)) < 0)
        tui_history_failed(collector->reader, r, words, sizeof(words));
    if (r == 0) {
        tui_history_read_changes(collector->reader, &model->status, now.wall_ns, &model->history);
        model->have_history = true;
        model->history_mono_ms = now.mono_ms;
        model->database_words[0] = '\0';
        return;
    }
    tui_history_close(collector->reader);
    collector->reader = NULL;
    model->have_history = false;
    model->history = (struct history){0};
    explain(model, collector->state.database, words);
    if (collector->control.fd < 0) {
        tui_status_finish(&model->status);
        tui_status_init(&model->status);
        model->source = model->holdings = MODEL_NOTHING;
    }
}

static void no_daemon(struct collector *collector, int r)
{
    char path[STATE_PATH_MAX];

    cli_control_close(&collector->control);
    collector->status_id = 0;
    tui_collector_depth_lost(collector);
    cli_text_clean(path, sizeof(path), collector->state.socket);
    snprintf(collector->model->daemon_words, sizeof(collector->model->daemon_words), "%s: %s", path,
             r == -ENOENT || r == -ECONNREFUSED ? CLI_NO_DAEMON : strerror(-r));
}

/* Whose socket it is that this user may not use. */
static void find_operators(struct model *model, const char *socket)
{
    struct stat st;
    const struct group *group = stat(socket, &st) == 0 ? getgrgid(st.st_gid) : NULL;
    snprintf(model->operators, sizeof(model->operators), "%s", group ? group->gr_name : "papertape");
}

/* The operators' socket, or the readers' where this user may not use that. */
static void connect_daemon(struct collector *collector)
{
    struct model *model = collector->model;
    int r = collector->control.fd >= 0 ? 0 : -EACCES;

    if (r == 0)
        return;
    if (!collector->turned_away)
        r = cli_control_open(&collector->control, collector->state.socket);
    model->reads_only = r == -EACCES;
    if (r == -EACCES) {
        int read = cli_control_open(&collector->control, collector->state.socket_read);
        r = read == -ENOENT ? r : read;
        find_operators(model, collector->state.socket);
    }
    if (r < 0) {
        collector->turned_away = false; /* it may be in the group by then */
        no_daemon(collector, r);
    }
}

static void ask_status(struct collector *collector, struct moment now)
{
    connect_daemon(collector);
    if (collector->control.fd >= 0 && !collector->status_id) {
        int64_t id = cli_control_send(&collector->control, "status", NULL);
        collector->status_id = id > 0 ? id : 0;
        collector->status_sent_ms = now.mono_ms;
    }
}

void tui_collector_tick(struct collector *collector, struct moment now)
{
    if (collector->status_id && now.mono_ms - collector->status_sent_ms > SILENCE_MS)
        no_daemon(collector, -ETIMEDOUT);
    ask_status(collector, now);
    tui_collector_ask_depth(collector);
    read_database(collector, now);
    tui_collector_read_item(collector, now);
}

void tui_collector_want_study(struct collector *collector, const struct tui_study_want *want)
{
    collector->study_want = *want;
    if (!collector->studies)
        collector->studies = tui_study_reader_create(collector->studies_url, collector->studies_folder);
    if (collector->studies)
        tui_study_reader_want(collector->studies, want);
}

int tui_collector_studies_fd(const struct collector *collector)
{
    return collector->studies ? tui_study_reader_fd(collector->studies) : -1;
}

bool tui_collector_take_studies(struct collector *collector)
{
    struct tui_study_reading reading;

    if (!tui_study_reader_take(collector->studies, &reading))
        return false;
    tui_model_take_studies(collector->model, &reading);
    return true;
}

void tui_collector_studies_once(struct collector *collector, const struct tui_study_want *want, int busy_ms)
{
    struct tui_study_reading reading = {.error = -ENOMEM, .words = "out of memory"};
    struct moment now = tui_model_now();

    if (!collector->source)
        collector->source =
            tui_study_source_create(collector->studies_url, collector->studies_folder, busy_ms);
    if (collector->source)
        tui_study_source_read(collector->source, want, now.wall_ns / 1000, now.mono_ms, &reading);
    tui_model_take_studies(collector->model, &reading);
}

void tui_collector_want_lists(struct collector *collector, const struct lists_want *want)
{
    collector->lists_want = *want;
    if (!collector->lists)
        collector->lists = tui_list_reader_create(collector->state.database);
    if (collector->lists)
        tui_list_reader_want(collector->lists, want);
}

int tui_collector_lists_fd(const struct collector *collector)
{
    return collector->lists ? tui_list_reader_fd(collector->lists) : -1;
}

bool tui_collector_take_lists(struct collector *collector, struct view *view, struct moment now)
{
    struct list_rows read[DB_LISTS];

    if (!tui_list_reader_take(collector->lists, read))
        return false;
    tui_lists_take(view, tui_collector_shown(collector), read, now);
    return true;
}

void tui_collector_lists_once(struct collector *collector, struct view *view, const struct layout *layout)
{
    struct list_rows read[DB_LISTS] = {0};
    struct model *model = tui_collector_shown(collector);
    struct history_reader *reader = tui_collector_rows(collector);

    if (!reader)
        return;
    tui_lists_want(view, model, layout, &collector->lists_want);
    for (int i = 0; i < DB_LISTS; i++) /* one that fails has the newest rows */
        if (collector->lists_want.list[i].used &&
            tui_list_source_read(reader->db, (enum db_list)i, &collector->lists_want.list[i], true,
                                 &read[i]) < 0)
            explain(model, collector->state.database, db_reader_error(reader->db));
    tui_lists_take(view, model, read, tui_model_now());
}

void tui_collector_want(struct collector *collector, const struct history_want *want)
{
    collector->want = *want;
}

void tui_collector_read(struct collector *collector, const struct history_want *want)
{
    collector->want = *want;
    do
        read_database(collector, tui_model_now());
    while (collector->model->have_history && collector->model->history.fills_left);
}

void tui_collector_bars(struct collector *collector, int64_t end_ns)
{
    struct model *model = collector->model;
    char words[STATUS_TEXT_MAX];

    collector->want.bars_end_ns = end_ns;
    if (!collector->reader)
        return;
    if (tui_history_read_chart(collector->reader, &collector->want, &model->history, words, sizeof(words)) <
        0)
        explain(model, collector->state.database, words);
}

int tui_collector_fd(const struct collector *collector, short *ret_events)
{
    *ret_events = cli_control_events(&collector->control);
    return collector->control.fd;
}

static void take_status(struct collector *collector, const json_t *reply, struct moment now)
{
    const json_t *result;
    struct control_error error;
    struct model *model = collector->model;

    collector->status_id = 0;
    if (!cli_control_reply(reply, &result, &error)) {
        snprintf(model->daemon_words, sizeof(model->daemon_words), "status: %.120s", error.message);
        return;
    }
    if (tui_model_take_status(model, result, now) < 0) {
        snprintf(model->daemon_words, sizeof(model->daemon_words),
                 "the daemon's status is of a version that is not understood");
        return;
    }
    char words[STATUS_TEXT_MAX]; /* the next tick reports why not */
    if (tui_model_wants_stored(model))
        (void)read_last_known(collector, now, words, sizeof(words));
    json_decref(collector->status_json);
    collector->status_json = json_deep_copy(result);
    if (model->have_history)
        tui_history_take_unstored(&model->history, result);
}

/* The state of a training or a policy: "ppo-btc: queued", "ppo-btc: challenger on ppo-btc". */
static void describe_training(const json_t *result, char *words, size_t size)
{
    const json_t *training = json_object_get(result, "training"), *policy = json_object_get(result, "policy");
    const char *name = json_string_value(json_object_get(training, "training"));
    const char *state = json_string_value(json_object_get(training, "state"));
    const char *warning = json_string_value(json_object_get(training, "warning"));

    if (!name)
        name = json_string_value(json_object_get(training, "name"));
    if (name && state)
        snprintf(words, size, "%.63s: %.23s%s%s%.300s", name, state,
                 json_is_true(json_object_get(training, "stopping")) ? ", stopping" : "",
                 warning ? ", warning: " : "", warning ? warning : "");
    name = json_string_value(json_object_get(policy, "policy"));
    const char *role = json_string_value(json_object_get(policy, "role"));
    const char *account = json_string_value(json_object_get(policy, "account"));
    if (name && role)
        snprintf(words, size, "%.63s: %.23s%s%.31s", name, role, account ? " on " : "",
                 account ? account : "");
}

static json_t *train_args(const char *name, const char *config)
{
    return config ? json_pack("{s:s, s:s}", "name", name, "config", config)
                  : json_pack("{s:s}", "name", name);
}

/* train_stop without train_: the list says what is stopped. */
static const char *verb_of(const char *command)
{
    const char *verb = strchr(command, '_');

    return verb ? verb + 1 : command;
}

static void send_command(struct collector *collector, struct view *view, const char *command, json_t *args,
                         struct moment now)
{
    free(collector->line);
    collector->line = NULL;
    collector->late_id = 0;
    connect_daemon(collector);
    collector->command_listed = strchr(command, '_') != NULL;
    snprintf(collector->command, sizeof(collector->command), "%s", verb_of(command));
    int64_t id = cli_control_send(&collector->control, command, args);
    if (id < 0) {
        tui_view_report(view, OUTCOME_REFUSED, collector->command, CLI_NO_DAEMON, now);
        return;
    }
    collector->command_id = id;
    collector->command_sent_ms = now.mono_ms;
    tui_view_report(view, OUTCOME_PENDING, collector->command, "", now);
}

/* A command's outcome; of several only once the last is answered. */
static void show_outcome(struct collector *collector, struct view *view, enum outcome outcome,
                         const char *words, struct moment now)
{
    struct collector_rest *rest = &collector->rest;
    size_t at = strlen(rest->words);
    bool names = rest->now[0] && outcome == OUTCOME_REFUSED; /* done, it says whose it is itself */

    snprintf(rest->words + at, sizeof(rest->words) - at, "%s%s%s%s", at ? "; " : "", names ? rest->now : "",
             names ? ": " : "", words);
    rest->refused |= outcome == OUTCOME_REFUSED;
    if (rest->next < rest->n) {
        int i = rest->next++;
        memcpy(rest->now, rest->names[i], sizeof(rest->now));
        send_command(collector, view, rest->command, train_args(rest->names[i], rest->configs[i]), now);
        if (!collector->command_id)
            end_rest(collector);
        return;
    }
    tui_view_report(view, rest->refused ? OUTCOME_REFUSED : outcome, collector->command, rest->words, now);
    end_rest(collector);
}

/* Until the next status says so itself: the next p is the opposite. */
static void take_trading(struct status *status, const char *trading)
{
    if (!trading)
        return;
    cli_text_clean(status->trading, sizeof(status->trading), trading);
    status->trading_reason[0] = '\0';
}

static void command_done(struct collector *collector, struct view *view, int64_t id, const json_t *reply,
                         struct moment now)
{
    const json_t *result;
    struct control_error error;
    char words[CONTROL_WORDS_MAX + 40] = "";
    bool done = cli_control_reply(reply, &result, &error);
    const char *trading = done ? json_string_value(json_object_get(result, "trading")) : NULL;

    collector->command_id = collector->late_id = 0;
    tui_collector_train_done(view, collector->command, reply);
    take_trading(&collector->model->status, trading);
    if (collector->line) {
        char said[CANVAS_SIDE_MAX];
        enum outcome outcome = tui_collector_line_outcome(collector->line, reply, said, sizeof(said));
        free(collector->line);
        collector->line = NULL;
        if (outcome == OUTCOME_DONE && view->order_form && view->order_form->sent_id == id)
            tui_view_close_form(view);
        show_outcome(collector, view, outcome, said, now);
        return;
    }
    if (!done) {
        snprintf(words, sizeof(words), "%s%s%s", error.code, error.code[0] ? ": " : "", error.message);
        show_outcome(collector, view, OUTCOME_REFUSED, words, now);
        return;
    }
    const json_t *orders = json_object_get(result, "orders");
    const json_t *order = json_object_get(result, "order");
    if (trading) {
        const bool paused = strcmp(trading, "paused") == 0;
        int n = snprintf(words, sizeof(words), "trading is %.40s", trading);
        tui_key_map_sentence(&view->settings.keys, tui_key_where(view, view->focus),
                             paused ? ": only closing orders pass; `p` resumes it" : "", words + n,
                             sizeof(words) - (size_t)n);
    }
    if (json_is_integer(order))
        snprintf(words, sizeof(words), "order %lld", (long long)json_integer_value(order));
    if (json_is_array(orders))
        snprintf(words, sizeof(words), "%lld canceled, %zu closing orders%s",
                 (long long)json_integer_value(json_object_get(result, "canceled")), json_array_size(orders),
                 json_array_size(json_object_get(result, "not_closed")) > 0 ? ", not everything can be closed"
                                                                            : "");
    describe_training(result, words, sizeof(words));
    show_outcome(collector, view, OUTCOME_DONE, words, now);
}

bool tui_collector_io(struct collector *collector, struct view *view, struct moment now)
{
    json_t *reply;
    bool news = false;
    int r = cli_control_io(&collector->control);

    while (cli_control_next(&collector->control, &reply)) {
        int64_t id = json_integer_value(json_object_get(reply, "id"));
        if (id && id == collector->status_id)
            take_status(collector, reply, now);
        else if (id && (id == collector->command_id || id == collector->late_id))
            command_done(collector, view, id, reply, now);
        else if (id && !tui_collector_depth_reply(collector, id, reply, now) &&
                 !tui_collector_order_reply(collector, view, id, reply, now))
            tui_collector_train_reply(collector, view, id, reply, now);
        else if (!collector->model->reads_only && cli_control_turned_away(reply))
            collector->turned_away = true;
        json_decref(reply);
        news = true;
    }
    if (r < 0) {
        no_daemon(collector, r);
        if (collector->command_id)
            tui_view_report(view, OUTCOME_UNANSWERED, collector->command,
                            collector->command_listed
                                ? "the daemon hung up; the list will show whether it was done"
                                : "the daemon hung up; the log tab will say whether it was done",
                            now);
        collector->command_id = collector->late_id = 0;
        end_rest(collector);
        tui_collector_train_lost(collector, view, true, now);
        tui_collector_order_lost(collector, view, true, now);
        if (collector->turned_away && !collector->model->reads_only)
            ask_status(collector, now); /* at the readers' socket */
        news = true;
    }
    return news;
}

void tui_collector_command(struct collector *collector, struct view *view, const char *command, json_t *args,
                           struct moment now)
{
    char words[VIEW_BARRED_MAX];
    const char *why = collector->command_id ? "another command is still pending"
                                            : tui_view_barred(view, collector->model, words);

    if (why) {
        json_decref(args);
        tui_view_report(view, OUTCOME_REFUSED, verb_of(command), why, now);
        return;
    }
    send_command(collector, view, command, args, now);
}

static void begin_rest(struct collector *collector, const char *command, const char *name, int n,
                       const char (*names)[STATUS_TRAINING_NAME_MAX])
{
    struct collector_rest *rest = &collector->rest;

    *rest = (struct collector_rest){.n = n};
    snprintf(rest->command, sizeof(rest->command), "%s", command);
    snprintf(rest->now, sizeof(rest->now), "%s", n > 0 ? name : "");
    memcpy(rest->names, names, (size_t)n * sizeof(rest->names[0]));
}

void tui_collector_command_each(struct collector *collector, struct view *view, const char *command,
                                const char *name, struct moment now)
{
    bool pending = collector->command_id != 0;

    tui_collector_command(collector, view, command, train_args(name, NULL), now);
    if (pending || !collector->command_id)
        return;
    begin_rest(collector, command, name, view->n_also, view->also);
}

void tui_collector_restart_each(struct collector *collector, struct view *view, struct collector_each *each,
                                struct moment now)
{
    bool pending = collector->command_id != 0;

    tui_collector_command(collector, view, "train_restart", train_args(each->names[0], each->texts[0]), now);
    if (pending || !collector->command_id)
        return;
    view->page->sent = true;
    begin_rest(collector, "train_restart", each->names[0], each->n - 1, each->names + 1);
    for (int i = 1; i < each->n; i++) {
        collector->rest.configs[i - 1] = each->texts[i];
        each->texts[i] = NULL;
    }
}

void tui_collector_backtest(struct collector *collector, struct view *view, const char *account,
                            struct moment now)
{
    struct backtest_view *backtest = &collector->model->backtest;
    char words[ACCOUNT_NAME_MAX + 48];

    if (tui_backtest_job_start(&collector->job, collector->state.path, account, now.mono_ms, backtest) < 0) {
        tui_view_report(view, OUTCOME_REFUSED, "backtest", backtest->words, now);
        return;
    }
    snprintf(words, sizeof(words), "%s: over the stored bars; b stops it", account);
    tui_view_report(view, OUTCOME_NOTE, "backtest:", words, now);
}

void tui_collector_stop_backtest(struct collector *collector, struct view *view, struct moment now)
{
    tui_backtest_job_stop(&collector->job, now.mono_ms, &collector->model->backtest);
    tui_view_report(view, OUTCOME_NOTE, "backtest:", "stopped", now);
}

bool tui_collector_backtest_io(struct collector *collector, struct view *view, struct moment now)
{
    const struct backtest_view *backtest = &collector->model->backtest;
    char words[STATUS_TEXT_MAX], percent[FORMAT_MAX], drawdown[FORMAT_MAX], sharpe[FORMAT_MAX];

    if (!tui_backtest_job_io(&collector->job, now.mono_ms, &collector->model->backtest))
        return false;
    if (backtest->state != BACKTEST_DONE) {
        tui_view_report(view, OUTCOME_REFUSED, "backtest", backtest->words, now);
        return true;
    }
    snprintf(words, sizeof(words), "%s: %s, max drawdown %s, Sharpe %s, %lld trades", backtest->account,
             cli_format_percent(percent, backtest->return_pct, 2),
             cli_format_percent(drawdown, backtest->drawdown_pct, 2),
             cli_format_number(sharpe, backtest->sharpe, 2), (long long)backtest->trades);
    tui_view_report(view, OUTCOME_DONE, "backtest", words, now);
    return true;
}

bool tui_collector_expire(struct collector *collector, struct view *view, struct moment now)
{
    bool lost = tui_collector_train_lost(collector, view, false, now) |
                tui_collector_order_lost(collector, view, false, now);

    if (!collector->command_id || now.mono_ms - collector->command_sent_ms < COMMAND_TIMEOUT_MS)
        return lost;
    collector->late_id = collector->command_id;
    collector->command_id = 0;
    end_rest(collector);
    tui_view_report(view, OUTCOME_UNANSWERED, collector->command,
                    collector->command_listed
                        ? "timed out: it may still be carried out: the list will show it"
                        : "timed out: it may still be carried out: the log tab will say whether it was",
                    now);
    return true;
}

void tui_collector_once(struct collector *collector, int timeout_ms)
{
    struct view unused;
    struct moment start = tui_model_now(), now = start;

    tui_view_init(&unused, true, 1000);
    tui_collector_tick(collector, start);
    while (collector->status_id && now.mono_ms - start.mono_ms < timeout_ms) {
        struct pollfd pfd = {.fd = collector->control.fd, .events = cli_control_events(&collector->control)};
        int left = timeout_ms - (int)(now.mono_ms - start.mono_ms);
        if (poll(&pfd, 1, left) < 0 && errno != EINTR)
            break;
        now = tui_model_now();
        tui_collector_io(collector, &unused, now);
    }
    const struct status *status = &collector->model->status;
    struct history_want want = {0};
    if (collector->model->source == MODEL_DAEMON && status->n_symbols > 0) {
        memcpy(want.symbol, status->symbols[0].symbol, sizeof(want.symbol));
        memcpy(want.interval, status->symbols[0].interval, sizeof(want.interval));
    }
    if (status->n_trainings > 0)
        memcpy(want.training, tui_model_training(collector->model, 0)->training, sizeof(want.training));
    tui_collector_read(collector, &want);
    const struct tui_study_want list = {.trial = -1};
    tui_collector_studies_once(collector, &list, COLLECTOR_BUSY_MS);
}
