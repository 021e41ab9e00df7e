/* The collector's requests about trainings: a configuration's text and its check for the form, a worker's
 * log. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/control_client.h"
#include "trainer/study/settings.h"
#include "tui/collect.h"

enum {
    LOG_LINES = MODEL_LOG_LINES_MAX,
    TEXT_BYTES_MAX =
        (64 << 10) - 512, /* as JSON: the daemon's longest line without the rest of the request */
};

static const char *verb_of(const struct form_page *page)
{
    return page->restart ? "restart" : "start";
}

/* The text could not be fetched: there is nothing to show. */
static void no_text(struct view *view, enum outcome outcome, const char *words, struct moment now)
{
    tui_view_report(view, outcome, verb_of(view->page), words, now);
    tui_view_close_form(view);
}

void tui_collector_form(struct collector *collector, struct view *view, struct moment now)
{
    struct form_page *page = view->page;
    json_t *args = page->restart ? json_pack("{s:s}", "name", page->name) : NULL;
    int64_t id = cli_control_send(&collector->control, "train_config", args);

    if (id < 0) {
        no_text(view, OUTCOME_REFUSED, CLI_NO_DAEMON, now);
        return;
    }
    collector->text_id = id;
    collector->text_sent_ms = now.mono_ms;
    collector->text_checks = false;
}

/* As JSON; 0: without memory. */
static size_t config_bytes(const char *text)
{
    json_t *string = text ? json_string(text) : NULL;
    char *line = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;
    size_t n = line ? strlen(line) : 0;

    free(line);
    json_decref(string);
    return n;
}

bool tui_collector_text_fits(const char *text)
{
    size_t n = config_bytes(text);

    return n > 0 && n <= TEXT_BYTES_MAX;
}

/* The page's text, whose line numbers it keeps, for json_decref(); NULL, and the view says why. */
static json_t *send_text(struct view *view, const char *verb, struct moment now)
{
    char *text = tui_form_text(&view->page->form);
    size_t n = config_bytes(text);
    json_t *string = n > 0 && n <= TEXT_BYTES_MAX ? json_string(text) : NULL;

    free(text);
    if (string) {
        tui_form_keep_lines(&view->page->form);
    } else {
        char words[FORM_WORDS_MAX] = "out of memory";
        if (n > 0)
            snprintf(words, sizeof(words), "the configuration has %zu bytes for the daemon: %d are the most",
                     n, TEXT_BYTES_MAX);
        tui_view_report(view, OUTCOME_REFUSED, verb, words, now);
    }
    return string;
}

void tui_collector_check(struct collector *collector, struct view *view, struct moment now)
{
    struct form_page *page = view->page;
    json_t *text = page->checking ? NULL : send_text(view, "check", now);

    if (!text)
        return;
    int64_t id = cli_control_send(&collector->control, "train_check", json_pack("{s:o}", "config", text));
    if (id < 0) {
        tui_view_report(view, OUTCOME_REFUSED, "check", CLI_NO_DAEMON, now);
        return;
    }
    collector->text_id = id;
    collector->text_sent_ms = now.mono_ms;
    collector->text_checks = page->checking = true;
    tui_view_report(view, OUTCOME_PENDING, "check", "", now);
}

void tui_collector_send_form(struct collector *collector, struct view *view, struct moment now)
{
    struct form_page *page = view->page;
    bool plain = page->restart && tui_form_changes(&page->form) == 0;

    if (page->restart && !plain && view->n_also > 0) {
        tui_collector_each_begin(collector, view, now);
        return;
    }
    json_t *text = plain ? NULL : send_text(view, verb_of(page), now);

    if (!text && !plain)
        return;
    if (plain)
        tui_collector_command_each(collector, view, "train_restart", page->name, now);
    else
        tui_collector_command(collector, view, page->restart ? "train_restart" : "train_start",
                              json_pack("{s:s, s:o}", "name", page->name, "config", text), now);
    page->sent = view->outcome == OUTCOME_PENDING;
}

void tui_collector_form_errors(struct form_page *page, const json_t *errors)
{
    size_t i;
    const json_t *error;

    tui_form_errors_begin(&page->form);
    json_array_foreach(errors, i, error)
    {
        const char *section = json_string_value(json_object_get(error, "section"));
        const char *key = json_string_value(json_object_get(error, "key"));
        const char *message = json_string_value(json_object_get(error, "message"));
        json_int_t line = json_integer_value(json_object_get(error, "line"));
        tui_form_error(&page->form, line > 0 && line <= FORM_ROWS_MAX ? (int)line : 0, section ? section : "",
                       key ? key : "", message ? message : "it is wrong");
    }
}

/* ---- What it will take. ---- */

/* Asks for the plan of the form's study, or whether a device has room for its training, as it is now. An
 * earlier answer that is still to come is not taken. */
static void ask_plan(struct collector *collector, const struct view *view)
{
    char *text = tui_form_text(&view->page->form);
    json_t *string = text && tui_collector_text_fits(text) ? json_string(text) : NULL;

    free(text);
    if (!string)
        return;
    int64_t id = cli_control_send(&collector->control, view->page->study ? "train_plan" : "train_check",
                                  json_pack("{s:o}", "config", string));
    collector->plan_id = id < 0 ? 0 : id;
}

static int64_t whole(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

/* "2 min" */
static void time_words(char *buf, size_t size, double seconds)
{
    if (seconds < 100)
        snprintf(buf, size, "%.0f s", seconds < 1 ? 1 : seconds);
    else if (seconds < 6000)
        snprintf(buf, size, "%.0f min", seconds / 60);
    else
        snprintf(buf, size, "%.1f h", seconds / 3600);
}

/* False: there is no device, or it has room for all. */
static bool share_words(const json_t *plan, char buf[static FORM_PLAN_MAX])
{
    const json_t *device = json_object_get(plan, "device"), *largest = json_object_get(device, "largest");
    const char *note = json_string_value(json_object_get(device, "note"));

    if (json_is_false(json_object_get(device, "fits")))
        snprintf(buf, FORM_PLAN_MAX, "; of a trial: %.120s",
                 note ? note : "the device has no memory for all copies");
    else if (json_is_false(json_object_get(largest, "fits")))
        snprintf(buf, FORM_PLAN_MAX, "; the device has no memory for all %lld copies of the largest trial",
                 (long long)whole(largest, "wanted_copies"));
    else
        return false;
    return true;
}

static void warn_training(struct form_page *page, const json_t *result)
{
    const char *warning = json_string_value(json_object_get(result, "warning"));

    page->warned = warning != NULL;
    snprintf(page->plan, sizeof(page->plan), "%s%.380s", warning ? "warning: " : "", warning ? warning : "");
}

static void plan_words(const json_t *plan, char buf[static FORM_PLAN_MAX])
{
    const json_t *rows = json_object_get(plan, "rows"), *block = json_object_get(rows, "train_block");
    const char *validation = json_string_value(json_object_get(plan, "validation"));
    char time[24];

    time_words(time, sizeof(time), json_number_value(json_object_get(plan, "seconds")));
    snprintf(
        buf, FORM_PLAN_MAX,
        "plan: %lld rows, %lld to search on, %lld held out; %.30s: %lld splits, blocks of %lld to %lld; %lld "
        "trials: about %s on %lld worker%s, %lld MiB",
        (long long)whole(rows, "rows"), (long long)whole(rows, "search"), (long long)whole(rows, "holdout"),
        validation ? validation : "?", (long long)whole(plan, "splits"), (long long)whole(block, "least"),
        (long long)whole(block, "most"), (long long)whole(plan, "trials"), time,
        (long long)whole(plan, "workers"), whole(plan, "workers") == 1 ? "" : "s",
        (long long)(whole(plan, "host_bytes") >> 20));
}

static void take_plan(struct collector *collector, struct view *view, const json_t *reply)
{
    struct form_page *page = view->page;
    struct control_error error;
    const json_t *result;

    collector->plan_id = 0;
    if (!page)
        return;
    bool ok = cli_control_reply(reply, &result, &error);
    if (!page->study) {
        warn_training(page, ok ? result : NULL);
        return;
    }
    page->refused = !ok && strcmp(error.code, "EINVAL") == 0;
    page->plan[0] = '\0';
    if (ok) {
        char share[FORM_PLAN_MAX] = "";
        page->warned = share_words(json_object_get(result, "plan"), share);
        plan_words(json_object_get(result, "plan"), page->plan);
        size_t n = strlen(page->plan);
        snprintf(page->plan + n, sizeof(page->plan) - n, "%s", share);
    } else if (page->refused)
        snprintf(page->plan, sizeof(page->plan), "%s", error.message);
}

static void show_check(struct view *view, struct moment now)
{
    int errors = view->page->form.errors;
    char words[FORM_WORDS_MAX];

    snprintf(words, sizeof(words), "%d error%s: `n` goes from one to the next", errors,
             errors == 1 ? "" : "s");
    if (errors)
        tui_view_note(view, "check:", words, now);
    else
        tui_view_report(view, OUTCOME_DONE, "check", "no error was found", now);
}

/* A study's form starts with the chosen study's configuration, or with the default and a first study's
 * sections. For free(); NULL without memory. */
static char *study_text(const struct collector *collector, const struct view *view, const char *standard)
{
    const char *section = study_settings_first();
    const struct tui_study *study = tui_view_study(view, collector->model);
    char *text = NULL;

    if (study && study->config)
        return strdup(study->config);
    return asprintf(&text, "%s\n%s", standard, section) < 0 ? NULL : text;
}

static void take_text(struct collector *collector, struct view *view, const json_t *reply, struct moment now)
{
    bool checks = collector->text_checks;
    struct control_error error;
    const json_t *result;

    collector->text_id = 0;
    if (!view->page || (checks ? !view->page->checking : view->page->mode != FORM_WAITS))
        return; /* the form was left meanwhile */
    if (checks)
        view->page->checking = false;
    bool ok = cli_control_reply(reply, &result, &error);
    if (!ok) {
        char words[CONTROL_WORDS_MAX + 40];
        snprintf(words, sizeof(words), "%s%s%s", error.code, error.code[0] ? ": " : "", error.message);
        if (checks)
            tui_view_report(view, OUTCOME_REFUSED, "check", words, now);
        else
            no_text(view, OUTCOME_REFUSED, words, now);
    } else if (checks) {
        tui_collector_form_errors(view->page, json_object_get(result, "errors"));
        show_check(view, now);
        if (!view->page->study)
            warn_training(view->page, result);
        else if (view->page->form.errors == 0)
            ask_plan(collector, view);
    } else {
        const char *text = json_string_value(json_object_get(result, "config"));
        char *made = text && view->page->study ? study_text(collector, view, text) : NULL;
        int r = !text ? -EPROTO : view->page->study && !made ? -ENOMEM : 0;
        if (r == 0)
            r = tui_form_page_fill(view->page, made ? made : text);
        free(made);
        if (r == 0)
            ask_plan(collector, view);
        if (r < 0)
            no_text(view, OUTCOME_REFUSED,
                    r == -EFBIG    ? "the configuration is too long for the form"
                    : r == -EPROTO ? "the daemon's answer has no configuration"
                                   : "out of memory",
                    now);
    }
}

void tui_collector_train_done(struct view *view, const char *command, const json_t *reply)
{
    struct form_page *page = view->page;
    const json_t *errors = json_object_get(json_object_get(reply, "error"), "errors");

    if (!page || !page->sent || strcmp(command, verb_of(page)) != 0)
        return;
    page->sent = false;
    if (json_is_true(json_object_get(reply, "ok"))) {
        memcpy(view->training, page->name, sizeof(view->training)); /* the list's cursor goes to it */
        tui_view_close_form(view);
    } else if (json_array_size(errors) > 0) {
        tui_collector_form_errors(page, errors);
    }
}

void tui_collector_log(struct collector *collector, const char *training, struct moment now)
{
    bool other = strcmp(collector->log_training, training) != 0;

    if (other) {
        snprintf(collector->log_training, sizeof(collector->log_training), "%s", training);
        collector->log_id = 0;
    }
    if (!training[0] || collector->log_id || (!other && now.mono_ms < collector->log_at_ms))
        return;
    int64_t id = cli_control_send(&collector->control, "train_log",
                                  json_pack("{s:s, s:i}", "name", training, "lines", LOG_LINES));
    if (id < 0)
        return; /* the connection is sought once an interval */
    collector->log_id = id;
    collector->log_sent_ms = now.mono_ms;
    collector->log_at_ms = now.mono_ms + MODEL_LOG_EXPECTED_MS;
}

bool tui_collector_train_reply(struct collector *collector, struct view *view, int64_t id,
                               const json_t *reply, struct moment now)
{
    const json_t *result;
    struct control_error error;

    if (tui_collector_each_reply(collector, view, id, reply, now))
        return true;
    if (id == collector->text_id) {
        take_text(collector, view, reply, now);
        return true;
    }
    if (id == collector->plan_id) {
        take_plan(collector, view, reply);
        return true;
    }
    if (id != collector->log_id)
        return false;
    collector->log_id = 0;
    bool ok = cli_control_reply(reply, &result, &error);
    tui_model_take_log(collector->model, collector->log_training,
                       ok ? json_object_get(result, "lines") : NULL,
                       ok ? "the daemon's answer has no lines" : error.message, now);
    return true;
}

bool tui_collector_train_lost(struct collector *collector, struct view *view, bool hung_up, struct moment now)
{
    bool changed = tui_collector_each_lost(collector, view, hung_up, now),
         alive = tui_model_freshness(collector->model, now) == FRESH;

    if (collector->log_id && (hung_up || now.mono_ms - collector->log_sent_ms >= COMMAND_TIMEOUT_MS)) {
        collector->log_id = 0;
        tui_model_take_log(collector->model, collector->log_training, NULL,
                           hung_up ? "the daemon hung up"
                           : alive ? "the co-process has not answered: the daemon waits for it"
                                   : "the daemon has not answered",
                           now);
        changed = true;
    }
    if (!collector->text_id || (!hung_up && now.mono_ms - collector->text_sent_ms < COMMAND_TIMEOUT_MS))
        return changed;
    collector->text_id = 0;
    if (!view->page)
        return changed;
    const char *words = hung_up ? "the daemon hung up"
                        : alive ? "timed out: the co-process has not answered"
                                : "timed out: the daemon has not answered";
    if (view->page->checking) {
        view->page->checking = false;
        tui_view_report(view, OUTCOME_UNANSWERED, "check", words, now);
    } else if (view->page->mode == FORM_WAITS) {
        no_text(view, OUTCOME_UNANSWERED, words, now);
    }
    return true;
}
