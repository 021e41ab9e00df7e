/* The chosen symbol's order book and its newest trades; in their place a dash and the reason where they are
 * not of now. */
#include <stdio.h>
#include <string.h>

#include "cli/text.h"
#include "tui/ladder.h"
#include "tui/panel/frame.h"
#include "tui/tape.h"

/* Of what is shown, and how old it is: the answer, or the newest message of the symbol. */
static enum freshness answer_freshness(const struct scene *scene, const struct status_symbol *symbol,
                                       const struct depth_answer *answer, int64_t *ret_age_ms)
{
    const struct model *model = scene->model;
    if (model->at_ns > 0) {
        *ret_age_ms = 0; /* of that moment */
        return FRESH;
    }
    int64_t interval = model->interval_ms > 1000 ? model->interval_ms : 1000;
    int64_t since = scene->now.mono_ms - answer->mono_ms;
    enum freshness own = freshness_of(since < 0 ? 0 : since, interval);
    enum freshness of_symbol = tui_model_symbol_freshness(model, symbol, scene->now);

    *ret_age_ms = own > of_symbol ? since : tui_model_age(model, symbol->age_ms, scene->now);
    return freshness_worse(own, of_symbol);
}

/* The rule with the symbol's name, and at its right how old what is below is. */
static struct area rule(const struct area *area, const struct scene *scene, enum panel panel,
                        const char *name, const char *symbol, const char *age, enum freshness freshness)
{
    char title[SYMBOL_NAME_MAX + 16];
    int end;

    snprintf(title, sizeof(title), "%s %s", name, symbol);
    struct area body = panel_frame_rule(area, scene, panel, title, -1, &end);
    int width = cli_text_width(age);
    if (age[0] && end + width + 3 <= area->width) {
        tui_area_char(area, area->width - width - 2, 0, STYLE_RULE, L' ');
        tui_area_text_right(area, area->width - 1, 0, freshness < STALE ? STYLE_DIM : STYLE_WARN, age);
        tui_area_char(area, area->width - 1, 0, STYLE_RULE, L' ');
    }
    return body;
}

/* Why nothing of the answer can be shown; NULL: it can. */
static const char *unanswered(const struct scene *scene, const struct status_symbol *symbol,
                              const struct depth_answer *answer)
{
    if (scene->model->at_ns > 0 && answer == &scene->model->tape.answer)
        return tui_model_unrecorded(scene->model);
    if (scene->model->at_ns > 0 && strcmp(answer->symbol, symbol->symbol) != 0)
        return "- to be played from the event log";
    if (scene->model->at_ns > 0)
        return answer->have ? NULL : answer->words;
    if (scene->model->source != MODEL_DAEMON)
        return "- the daemon is not there";
    if (strcmp(answer->symbol, symbol->symbol) != 0)
        return "- asking the daemon";
    if (!answer->have)
        return answer->words[0] ? answer->words : "- asking the daemon";
    return NULL;
}

/* Does the stream that the book is made of say nothing for too long? */
static bool stream_stale(const struct status *status, const struct status_symbol *symbol)
{
    for (int i = 0; i < status->n_streams; i++) {
        const struct status_stream *stream = &status->streams[i];
        if (strcmp(stream->symbol, symbol->symbol) == 0 && strcmp(stream->stream, "depth") == 0)
            return stream->stale && !stream->excused;
    }
    return false;
}

static const char *book_reason(const struct scene *scene, const struct status_symbol *symbol,
                               enum freshness freshness)
{
    const struct depth_book *book = &scene->model->depth;
    const char *words = unanswered(scene, symbol, &book->answer);

    if (words)
        return words;
    if (strcmp(book->state, "none") == 0)
        return "- no order book has come of it";
    if (strcmp(book->state, "synced") != 0)
        return "- the order book is not in step: it is requested again";
    if (freshness >= STALE)
        return "- the order book is stale: nothing newer has come";
    return stream_stale(&scene->model->status, symbol) ? "- the order book is stale: its stream is silent"
                                                       : NULL;
}

void panel_depth(const struct area *area, const struct scene *scene)
{
    const struct model *model = scene->model;
    const struct status_symbol *symbol = tui_view_symbol(scene->view, model);
    struct depth_own own[STATUS_ORDERS_MAX];
    enum freshness freshness = GONE;
    char age[FORMAT_MAX] = "";
    int64_t age_ms;

    if (!symbol) {
        struct area empty = panel_frame_rule(area, scene, PANEL_DEPTH, "Depth", -1, NULL);
        panel_frame_empty(&empty, "no symbol");
        return;
    }
    if (!unanswered(scene, symbol, &model->depth.answer)) {
        freshness = answer_freshness(scene, symbol, &model->depth.answer, &age_ms);
        panel_frame_age(age, sizeof(age), freshness, age_ms);
    }
    struct area body = rule(area, scene, PANEL_DEPTH, "Depth", symbol->symbol, age, freshness);
    const char *reason = book_reason(scene, symbol, freshness);
    if (reason)
        panel_frame_empty(&body, reason);
    else
        tui_ladder_draw(&body, &model->depth, symbol->price_decimals, own,
                        tui_depth_own(&model->status, symbol->symbol, own));
}

void panel_trades(const struct area *area, const struct scene *scene)
{
    const struct model *model = scene->model;
    const struct status_symbol *symbol = tui_view_symbol(scene->view, model);
    enum freshness freshness = GONE;
    char age[FORMAT_MAX] = "";
    int64_t age_ms;

    if (!symbol) {
        struct area empty = panel_frame_rule(area, scene, PANEL_TRADES, "Trades", -1, NULL);
        panel_frame_empty(&empty, "no symbol");
        return;
    }
    const char *reason = unanswered(scene, symbol, &model->tape.answer);
    if (!reason) {
        freshness = answer_freshness(scene, symbol, &model->tape.answer, &age_ms);
        panel_frame_age(age, sizeof(age), freshness, age_ms);
        if (freshness == GONE)
            reason = "- stale: nothing newer has come";
        else if (model->tape.n == 0)
            reason = "no trade has come since the daemon started";
    }
    struct area body = rule(area, scene, PANEL_TRADES, "Trades", symbol->symbol, age, freshness);
    if (reason) {
        panel_frame_empty(&body, reason);
        return;
    }
    int at = scene->view->cursor[PANEL_TRADES], last = model->tape.n - body.height;
    at = at > last ? last : at;
    tui_tape_draw(&body, &model->tape, symbol->price_decimals, at < 0 ? 0 : at);
}
