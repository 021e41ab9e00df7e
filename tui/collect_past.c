/* The past: requested of its reader, and shown until it is left. The daemon's status is collected meanwhile.
 */
#include <stdio.h>
#include <string.h>

#include "tui/collect.h"
#include "tui/history_reader.h"
#include "tui/item_keys.h"

struct model *tui_collector_shown(struct collector *collector)
{
    return collector->past ? collector->past : collector->model;
}

void tui_collector_past(struct collector *collector, struct view *view, const struct past_want *want,
                        struct moment now)
{
    struct past_want own = *want;

    own.visit = collector->visit;
    if (!collector->past_reader)
        collector->past_reader = tui_past_reader_create(collector->state.database);
    if (!collector->past_reader) {
        tui_view_report(view, OUTCOME_NOTE, "past:", "out of memory", now);
        return;
    }
    collector->past_want = own.want;
    tui_past_reader_want(collector->past_reader, &own);
}

void tui_collector_leave_past(struct collector *collector, struct view *view)
{
    collector->visit++;
    view->at_ns = 0;
    view->chart.end_ns = 0;
    tui_collector_book_finish(collector);
    tui_model_destroy(collector->past);
    tui_history_close(collector->past_rows);
    collector->past = NULL;
    collector->past_rows = NULL;
}

/* Lists, the book and the page stay until they are read again, of the same moment. */
static void keep(struct model *model, struct model *before)
{
    if (!before || before->at_ns != model->at_ns)
        return;
    memcpy(model->lists, before->lists, sizeof(model->lists));
    memset(before->lists, 0, sizeof(before->lists));
    model->depth = before->depth;
    model->item = before->item;
    before->item = (struct item_page){0};
}

/* Questions and forms of now: answered later, they would act on what is not shown. A line that is typed
 * stays, so that its letters do not become keys. */
static void leave_open(struct view *view, struct moment now)
{
    const bool typed =
        view->prompt == PROMPT_COMMAND || view->prompt == PROMPT_LIST || view->prompt == PROMPT_FIND;

    if (!tui_view_form(view) && (typed || view->prompt == PROMPT_NONE))
        return;
    tui_view_close_form(view);
    view->prompt = typed ? view->prompt : PROMPT_NONE;
    tui_view_report(view, OUTCOME_NOTE, "past:", "what was asked is closed: nothing is done", now);
}

static void show(struct collector *collector, struct view *view, struct model *model, struct moment now)
{
    if (view->at_ns == 0)
        leave_open(view, now);
    if (collector->past_rows && collector->past_rows->at_ns != model->at_ns) {
        tui_history_close(collector->past_rows);
        collector->past_rows = NULL;
    }
    keep(model, collector->past);
    tui_model_destroy(collector->past);
    collector->past = model;
    view->at_ns = model->at_ns;
    view->frozen = false;
}

int tui_collector_past_fd(const struct collector *collector)
{
    return collector->past_reader ? tui_past_reader_fd(collector->past_reader) : -1;
}

static void take(struct collector *collector, struct view *view, struct past_read *read, struct moment now)
{
    if (read->model)
        show(collector, view, read->model, now);
    else if (read->now || collector->past) /* nothing of a moment is shown as of another */
        tui_collector_leave_past(collector, view);
    if (read->words[0])
        tui_view_report(view, OUTCOME_NOTE, "past:", read->words, now);
    else if (read->now)
        tui_view_report(view, OUTCOME_NOTE, "past:", "it is now again", now);
}

bool tui_collector_take_past(struct collector *collector, struct view *view, struct moment now)
{
    struct past_read read;

    if (!tui_past_reader_take(collector->past_reader, &read))
        return false;
    if (read.visit != collector->visit) { /* it was left meanwhile */
        tui_model_destroy(read.model);
        return false;
    }
    take(collector, view, &read, now);
    return true;
}

bool tui_collector_past_once(struct collector *collector, struct view *view, const struct past_want *go,
                             int width, char words[static STATUS_TEXT_MAX])
{
    struct tui_past_source *source = tui_past_source_create(collector->state.database);
    struct past_want want = *go;
    struct past_read read = {.words = "out of memory"};
    bool done = false;

    want.visit = collector->visit;
    for (int i = 0; source && i < 2; i++) { /* then what the view chooses of those that there were */
        tui_past_source_read(source, &want, &read);
        done = read.model || read.now;
        take(collector, view, &read, tui_model_now());
        if (!read.model)
            break;
        tui_view_want(view, tui_collector_shown(collector), width, &want.want);
    }
    tui_past_source_destroy(source);
    view->outcome = OUTCOME_NONE;
    snprintf(words, STATUS_TEXT_MAX, "%s", read.words);
    return done;
}

struct history_reader *tui_collector_rows(struct collector *collector)
{
    struct model *model = collector->past;
    char words[STATUS_TEXT_MAX];

    if (!model)
        return collector->reader;
    if (!collector->past_rows && tui_history_open_at(collector->state.database, model->at_ns,
                                                     &collector->past_rows, words, sizeof(words)) < 0)
        snprintf(model->database_words, sizeof(model->database_words), "%s", words);
    return collector->past_rows;
}
