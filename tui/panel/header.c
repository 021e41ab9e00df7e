#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/format.h"
#include "tui/panel/frame.h"
#include "tui/text.h"

void panel_too_small(const struct area *area, const struct scene *scene)
{
    const struct status *s = &scene->model->status;
    char text[128];

    snprintf(text, sizeof(text), "%dx%d: needs %dx%d", area->width, area->height, LAYOUT_WIDTH_MIN,
             LAYOUT_HEIGHT_MIN);
    int x = area_text(area, 0, 0, STYLE_WARN, text);
    if (scene->model->source == MODEL_DAEMON)
        area_printf(area, x + 2, 0, STYLE_NORMAL, "feed %s  %s", s->feed.state, s->trading);
    else
        area_text(area, x + 2, 0, STYLE_BAD, "no daemon");
}

static enum style feed_style(const char *state)
{
    if (strcmp(state, "ok") == 0)
        return STYLE_GOOD;
    return strcmp(state, "failed") == 0 ? STYLE_BAD : STYLE_WARN;
}

static void feed_segment(struct segment *ret, const struct scene *scene)
{
    const struct model *model = scene->model;
    const struct status_feed *feed = &model->status.feed;
    enum freshness freshness = model_freshness(model, scene->now);
    char age[FORMAT_MAX];

    if (model->source != MODEL_DAEMON) {
        snprintf(ret->text, sizeof(ret->text), "NO DAEMON");
        ret->style = STYLE_BAD;
    } else if (freshness != FRESH) {
        format_age(age, model_age(model, 0, scene->now));
        snprintf(ret->text, sizeof(ret->text), "daemon STALE %s", age);
        ret->style = freshness == STALE ? STYLE_WARN : STYLE_BAD;
    } else if (feed->retry_in_ms >= 0) {
        int64_t left = feed->retry_in_ms - model_age(model, 0, scene->now);
        format_age(age, left > 0 ? left : 0);
        snprintf(ret->text, sizeof(ret->text), "feed %s in %.12s", feed->state, age);
        ret->style = feed_style(feed->state);
    } else {
        format_age(age, model_age(model, feed->age_ms, scene->now));
        snprintf(ret->text, sizeof(ret->text), "feed %s%s%.12s", feed->state[0] ? feed->state : "n/a",
                 feed->age_ms < 0 ? "" : " ", feed->age_ms < 0 ? "" : age);
        ret->style = feed_style(feed->state);
    }
}

/* Two segments: the state, and its reason for where there is room. */
static void trading_segment(struct segment *ret, struct segment *ret_reason, const struct scene *scene)
{
    const struct model *model = scene->model;
    const struct status *s = &model->status;

    if (model->source != MODEL_DAEMON || model_freshness(model, scene->now) == GONE) {
        snprintf(ret->text, sizeof(ret->text), "TRADING -");
        ret->style = STYLE_DIM;
        return;
    }
    bool on = strcmp(s->trading, "on") == 0, halted = strcmp(s->trading, "halted") == 0;
    snprintf(ret->text, sizeof(ret->text), "TRADING %.16s", s->trading[0] ? s->trading : "-");
    ret->style = on ? STYLE_GOOD : halted ? STYLE_BAD : s->trading[0] ? STYLE_WARN : STYLE_DIM;
    const char *reason = model_trading_reason(model);
    if (reason[0])
        snprintf(ret_reason->text, sizeof(ret_reason->text), ": %.40s", reason);
    ret_reason->style = ret->style;
}

/* On a screen of the usual width the clock makes room before the equity or the drawdown does. */
static bool clock_fits(const struct segment *segments, int n, int end, int width)
{
    enum { USUAL_WIDTH = 80, MUST_RANK = 5 };
    int needed = 0;

    for (int i = 0; i < n; i++)
        if (segments[i].rank <= MUST_RANK && segments[i].text[0])
            needed += text_width(segments[i].text) + segments[i].gap;
    return width < USUAL_WIDTH || needed <= end;
}

void panel_header(const struct area *area, const struct scene *scene)
{
    const struct model *model = scene->model;
    struct model_total total = model_total(model);
    enum freshness freshness = model_accounts_freshness(model, scene->now);
    char a[FORMAT_MAX], clock[FORMAT_MAX];
    struct segment segments[] = {
        {"PAPER", STYLE_BRAND, 1, 0}, {"", STYLE_NORMAL, 2, 2}, {"", STYLE_STRONG, 4, 2},
        {"", STYLE_NORMAL, 6, 1},     {"", STYLE_NORMAL, 5, 2}, {"", STYLE_NORMAL, 3, 2},
        {"", STYLE_NORMAL, 7, 0},
    };
    enum { BRAND, FEED, EQUITY, RETURN, DRAWDOWN, TRADING, REASON, SEGMENTS };

    feed_segment(&segments[FEED], scene);
    trading_segment(&segments[TRADING], &segments[REASON], scene);
    if (freshness == GONE) {
        snprintf(segments[EQUITY].text, sizeof(segments[EQUITY].text), "eq -");
        segments[EQUITY].style = STYLE_DIM;
    } else {
        snprintf(segments[EQUITY].text, sizeof(segments[EQUITY].text), "eq %s",
                 format_number(a, total.equity, 2));
        segments[EQUITY].style = frame_style(freshness, STYLE_STRONG);
        if (isfinite(total.return_pct))
            snprintf(segments[RETURN].text, sizeof(segments[RETURN].text), "%s",
                     format_percent(a, total.return_pct, 2));
        segments[RETURN].style = frame_style(freshness, style_signed(total.return_pct));
        if (isfinite(total.drawdown_pct))
            snprintf(segments[DRAWDOWN].text, sizeof(segments[DRAWDOWN].text), "dd %s",
                     format_percent(a, total.drawdown_pct, fabs(total.drawdown_pct) < 1 ? 2 : 1));
        segments[DRAWDOWN].style = frame_style(freshness, style_signed(total.drawdown_pct));
    }
    int end = area->width;
    int64_t ns = model_clock_ns(model, scene->now);
    if (ns > 0) {
        snprintf(clock, sizeof(clock), "%sZ", format_clock(a, ns));
        enum style style = frame_style(model_freshness(model, scene->now), STYLE_NORMAL);
        if (clock_fits(segments, SEGMENTS, end - text_width(clock) - 2, area->width))
            end = area_text_right(area, area->width, 0, style, clock) - 2;
    }
    frame_segments(area, 0, 0, end, segments, SEGMENTS);
}

void panel_tabs(const struct area *area, const struct scene *scene)
{
    static const char *const names[TABS] = {"Over", "Study", "GPU", "Mkt", "Pos", "Ord", "Alert", "Log"};
    const struct view *view = scene->view;
    int64_t alerts = model_alerts_open(scene->model);
    bool narrow = area->width < 64;
    char right[64], age[FORMAT_MAX];
    int x = 0;

    for (int i = 0; i < TABS; i++) {
        bool open = view->tab == (enum tab)i;
        if (open)
            x = area_printf(area, x, 0, STYLE_TAB, "[%d]%s", i + 1, names[i]);
        else
            x = area_printf(area, area_printf(area, x, 0, STYLE_KEY, "%d", i + 1), 0, STYLE_DIM, "%s",
                            narrow ? "" : names[i]);
        if (i == TAB_ALERTS && alerts > 0)
            x = area_printf(area, x, 0, STYLE_BAD, "!%lld", (long long)alerts);
        x++;
    }
    format_age(age, view->interval_ms);
    snprintf(right, sizeof(right), "%s%.12s  ?=help", view->readonly ? "read-only  " : "", age);
    if (text_width(right) > area->width - x)
        snprintf(right, sizeof(right), "?=help");
    if (text_width(right) <= area->width - x)
        area_text_right(area, area->width, 0, STYLE_DIM, right);
}
