/* The page of an item: read with the database, once an interval; of an order, what `papertape explain`
 * prints, which a child process computes from the event log. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/option.h"
#include "tui/collect.h"
#include "tui/history_reader.h"

enum { EXPLAIN_AGAIN_MS = 5000 }; /* at least between two explanations of an order that changes */

void tui_collector_item_finish(struct collector *collector)
{
    tui_child_finish(&collector->explain.child);
    free(collector->explain.text);
    collector->explain = (struct collector_explain){0};
    tui_child_init(&collector->explain.child);
}

void tui_collector_want_item(struct collector *collector, const struct item *item)
{
    if (tui_item_equal(&collector->item, item))
        return;
    tui_collector_item_finish(collector);
    collector->item = *item;
}

/* When the order changed last, as far as it is among the newest; 0: not known. */
static int64_t updated_ns(const struct history *h, int64_t id)
{
    for (int i = 0; i < h->n_orders; i++)
        if (h->orders[i].id == id)
            return h->orders[i].updated_ns;
    return 0;
}

static void start(struct collector *collector, struct moment now)
{
    static char papertape[] = "papertape", verb[] = "explain", option[] = "--state",
                at[] = "--at"; /* argv is not const */
    struct collector_explain *explain = &collector->explain;
    int64_t changed_ns = explain->at_ns ? 0 : updated_ns(&collector->model->history, collector->item.id);
    bool first = explain->started_ms == 0;
    char id[24], moment[24], line[OPTION_LINE_MAX], *words[OPTION_LINE_WORDS + 1],
        *argv[OPTION_LINE_WORDS + 6];
    int n = 0, r = 0;

    if (explain->child.pid ||
        (!first && (changed_ns == explain->of_ns || now.mono_ms - explain->started_ms < EXPLAIN_AGAIN_MS)))
        return;
    snprintf(id, sizeof(id), "%lld", (long long)collector->item.id);
    argv[n++] = papertape;
    if (collector->item.kind == ITEM_ORDER) {
        argv[n++] = verb;
        argv[n++] = id;
        if (explain->at_ns) {
            snprintf(moment, sizeof(moment), "%lld", (long long)explain->at_ns);
            argv[n++] = at;
            argv[n++] = moment;
        }
    } else if ((r = option_line_words(collector->item.name, line, words, NULL)) > 0) {
        argv[n++] = words[0];
    }
    argv[n++] = option; /* before what was typed, whose last option may be without its value */
    argv[n++] = collector->state.path;
    for (int i = 1; i < r; i++)
        argv[n++] = words[i];
    argv[n] = NULL;
    r = r < 0 ? -EINVAL : tui_child_start(&explain->child, argv);
    explain->started_ms = now.mono_ms;
    explain->of_ns = changed_ns;
    if (r < 0)
        snprintf(explain->words, sizeof(explain->words), "%s", strerror(-r));
}

static void explained(const struct collector *collector, struct item_page *page, struct moment now)
{
    const struct collector_explain *explain = &collector->explain;

    tui_item_heading(page, page->item.kind == ITEM_ORDER ? "Explained from the event log"
                                                         : "Played from the event log");
    if (explain->text)
        tui_item_text(page, STYLE_NORMAL, explain->text);
    if (explain->words[0])
        tui_item_line(page, STYLE_WARN, "%s", explain->words);
    if (explain->child.pid && !explain->text)
        tui_item_line(page, STYLE_DIM, "being computed, %llds",
                      (long long)(now.mono_ms - explain->started_ms) / 1000);
}

/* The page begins with why the order was refused, which `explain` has far below. */
static void put_refusal(const struct collector_explain *explain, struct item_page *page)
{
    static const char before[] = "\n  refused: ";
    const char *at = explain->text ? strstr(explain->text, before) : NULL;

    if (at && page->item.kind == ITEM_ORDER)
        snprintf(page->refusal, sizeof(page->refusal), "%.*s", (int)strcspn(at + sizeof(before) - 1, "\n"),
                 at + sizeof(before) - 1);
}

void tui_collector_read_item(struct collector *collector, struct moment now)
{
    struct item_page page = {.item = collector->item};
    struct model *model = tui_collector_shown(collector);
    struct history_reader *reader = NULL;
    int r = 1;

    if (page.item.kind == ITEM_WHAT_IF) {
        start(collector, now);
        explained(collector, &page, now);
    } else if (page.item.kind != ITEM_NONE) {
        put_refusal(&collector->explain, &page);
        tui_item_status(&page, model);
        if ((reader = tui_collector_rows(collector)))
            r = tui_item_read(&page, reader);
        if (r < 0)
            tui_item_line(&page, STYLE_BAD, "the database: %s", db_reader_error(reader->db));
        else if (!reader)
            tui_item_line(&page, STYLE_WARN, "the database: %s", model->database_words);
        else
            tui_item_settle(&page, r, &model->item, model, now.wall_ns);
        if (page.item.kind == ITEM_ORDER && r > 0 && reader) {
            if (collector->explain.at_ns != model->at_ns)
                tui_collector_item_finish(collector);
            collector->explain.at_ns = model->at_ns;
            start(collector, now);
            explained(collector, &page, now);
        }
    }
    if (page.no_memory)
        tui_item_line(&page, STYLE_BAD, "out of memory: lines are missing");
    tui_item_page_finish(&model->item);
    model->item = page;
}

bool tui_collector_explain_io(struct collector *collector, struct moment now)
{
    const char *prefix = collector->item.kind == ITEM_ORDER ? "papertape: explain: " : "papertape: what-if: ";
    struct collector_explain *explain = &collector->explain;
    int r = explain->child.pid ? tui_child_io(&explain->child) : 1;

    if (r > 0)
        return false;
    free(explain->text);
    explain->text = explain->child.text;
    explain->child.text = NULL;
    if (explain->text && !explain->text[0]) {
        free(explain->text);
        explain->text = NULL;
    }
    const char *complaint = explain->child.complaint;
    if (strncmp(complaint, prefix, strlen(prefix)) == 0)
        complaint += strlen(prefix);
    snprintf(explain->words, sizeof(explain->words), "%s",
             r == 0         ? ""
             : r != -ECHILD ? strerror(-r)
                            : complaint);
    tui_child_finish(&explain->child);
    tui_collector_read_item(collector, now);
    return true;
}

static void await_explain(struct collector *collector, int timeout_ms)
{
    const struct tui_child *child = &collector->explain.child;
    struct moment start = tui_model_now(), now = start;

    while (child->pid && now.mono_ms - start.mono_ms < timeout_ms) {
        struct pollfd fds[] = {{.fd = child->out, .events = POLLIN}, {.fd = child->err, .events = POLLIN}};
        if (poll(fds, 2, timeout_ms - (int)(now.mono_ms - start.mono_ms)) < 0 && errno != EINTR)
            break;
        now = tui_model_now();
        tui_collector_explain_io(collector, now);
    }
}

void tui_collector_page_once(struct collector *collector, struct view *view, const struct layout *layout,
                             int timeout_ms)
{
    tui_collector_lists_once(collector, view, layout);
    tui_collector_want_item(collector, &view->item);
    tui_collector_read_item(collector, tui_model_now());
    await_explain(collector, timeout_ms);
}
