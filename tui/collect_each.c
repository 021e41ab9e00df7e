/* Restarts several trainings, workers of one study, with changed values: each has a configuration of its
 * own, in which the same values are changed. All of them are fetched and checked before the first is
 * restarted: an error in one restarts none. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/control_client.h"
#include "tui/collect.h"

static void finish(struct collector_each *each)
{
    for (int i = 0; i < each->n; i++)
        free(each->texts[i]);
    *each = (struct collector_each){0};
}

void tui_collector_each_end(struct collector *collector)
{
    finish(&collector->each);
}

/* Restarts nothing, and says why. */
static void refuse(struct collector *collector, struct view *view, const char *words, struct moment now)
{
    char text[CANVAS_SIDE_MAX];
    const struct collector_each *each = &collector->each;

    snprintf(text, sizeof(text), "no training is restarted: %.63s: %.300s", each->names[each->at], words);
    finish(&collector->each);
    tui_view_report(view, OUTCOME_REFUSED, "restart", text, now);
}

/* Is the form still what was sent? */
static bool is_same(const struct collector_each *each, const struct view *view)
{
    const struct form_page *page = view->page;
    char *text =
        page && page->restart && strcmp(page->name, each->names[0]) == 0 ? tui_form_text(&page->form) : NULL;
    bool same = text && strcmp(text, each->texts[0]) == 0;

    free(text);
    return same;
}

static void ask(struct collector *collector, struct view *view, struct moment now)
{
    struct collector_each *each = &collector->each;
    json_t *args = each->checks ? json_pack("{s:s}", "config", each->texts[each->at])
                                : json_pack("{s:s}", "name", each->names[each->at]);

    if (each->checks && !tui_collector_text_fits(each->texts[each->at])) {
        json_decref(args);
        refuse(collector, view, "its configuration is too long for the daemon", now);
        return;
    }
    each->id = cli_control_send(&collector->control, each->checks ? "train_check" : "train_config", args);
    each->sent_ms = now.mono_ms;
    if (each->id < 0)
        refuse(collector, view, CLI_NO_DAEMON, now);
}

static void restart_all(struct collector *collector, struct view *view, struct moment now)
{
    struct collector_each each = collector->each;
    collector->each = (struct collector_each){0};

    tui_form_keep_lines(&view->page->form);
    tui_collector_restart_each(collector, view, &each, now);
    finish(&each);
}

static void next(struct collector *collector, struct view *view, struct moment now)
{
    struct collector_each *each = &collector->each;

    each->id = 0;
    if (++each->at == each->n) {
        if (each->checks) {
            restart_all(collector, view, now);
            return;
        }
        each->checks = true;
        each->at = 0;
    }
    ask(collector, view, now);
}

void tui_collector_each_begin(struct collector *collector, struct view *view, struct moment now)
{
    struct collector_each *each = &collector->each;

    if (collector->command_id || each->id) {
        tui_view_report(view, OUTCOME_REFUSED, "restart", "another command is still pending", now);
        return;
    }
    finish(each);
    each->n = 1 + view->n_also;
    snprintf(each->names[0], sizeof(each->names[0]), "%s", view->page->name);
    memcpy(each->names + 1, view->also, (size_t)view->n_also * sizeof(each->names[0]));
    each->texts[0] = tui_form_text(&view->page->form);
    if (!each->texts[0]) {
        refuse(collector, view, "out of memory", now);
        return;
    }
    tui_view_report(view, OUTCOME_PENDING, "restart", "", now);
    next(collector, view, now);
}

/* Its own configuration, with what was changed in the form. */
static bool take_config(struct collector *collector, struct view *view, const json_t *result, char *words,
                        size_t size)
{
    struct collector_each *each = &collector->each;
    const struct form *from = &view->page->form;
    const char *text = json_string_value(json_object_get(result, "config"));
    char why[FORM_WORDS_MAX] = "out of memory";
    struct form own;

    if (!text || tui_form_init(&own, text, from->known, from->n_known) < 0) {
        snprintf(words, size, "its configuration cannot be had");
        return false;
    }
    if (tui_form_carry(from, &own, why) == 0)
        each->texts[each->at] = tui_form_text(&own);
    tui_form_finish(&own);
    snprintf(words, size, "%s", why);
    return each->texts[each->at] != NULL;
}

/* The first that the check found. */
static bool take_check(const struct collector_each *each, struct view *view, const json_t *result,
                       char *words, size_t size)
{
    const json_t *errors = json_object_get(result, "errors"), *first = json_array_get(errors, 0);
    const char *section = json_string_value(json_object_get(first, "section"));
    const char *key = json_string_value(json_object_get(first, "key"));
    const char *message = json_string_value(json_object_get(first, "message"));

    if (json_array_size(errors) == 0)
        return true;
    if (each->at == 0)
        tui_collector_form_errors(view->page, errors);
    snprintf(words, size, "[%.20s] %.40s: %.200s", section ? section : "", key ? key : "",
             message ? message : "it is wrong");
    return false;
}

bool tui_collector_each_reply(struct collector *collector, struct view *view, int64_t id, const json_t *reply,
                              struct moment now)
{
    struct collector_each *each = &collector->each;
    char words[CONTROL_WORDS_MAX + 40];
    struct control_error error;
    const json_t *result;

    if (!each->id || id != each->id)
        return false;
    each->id = 0;
    if (!cli_control_reply(reply, &result, &error)) {
        snprintf(words, sizeof(words), "%s%s%s", error.code, error.code[0] ? ": " : "", error.message);
        refuse(collector, view, words, now);
    } else if (!is_same(each, view)) {
        refuse(collector, view, "the form has changed meanwhile", now);
    } else if (each->checks ? take_check(each, view, result, words, sizeof(words))
                            : take_config(collector, view, result, words, sizeof(words))) {
        next(collector, view, now);
    } else {
        refuse(collector, view, words, now);
    }
    return true;
}

bool tui_collector_each_lost(struct collector *collector, struct view *view, bool hung_up, struct moment now)
{
    struct collector_each *each = &collector->each;

    if (!each->id || (!hung_up && now.mono_ms - each->sent_ms < COMMAND_TIMEOUT_MS))
        return false;
    refuse(collector, view,
           hung_up ? "no answer: the daemon hung up" : "timed out: the daemon has not answered", now);
    return true;
}
