#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "cli/text.h"
#include "tui/key_map.h"
#include "tui/panel/frame.h"

void panel_too_small(const struct area *area, const struct scene *scene)
{
    const struct status *s = &scene->model->status;
    char text[128];

    snprintf(text, sizeof(text), "%dx%d: needs %dx%d", area->width, area->height, LAYOUT_WIDTH_MIN,
             LAYOUT_HEIGHT_MIN);
    int x = tui_area_text(area, 0, 0, STYLE_WARN, text);
    if (scene->model->at_ns > 0)
        tui_area_text(area, x + 2, 0, STYLE_PAST, "PAST");
    else if (scene->model->source == MODEL_DAEMON)
        tui_area_printf(area, x + 2, 0, STYLE_NORMAL, "feed %s  %s", s->feed.state, s->trading);
    else
        tui_area_text(area, x + 2, 0, STYLE_BAD, "no daemon");
}

/* " PAST 2026-08-08 12:00:00.123Z " in the brand's place. */
static void past_segment(struct segment *ret, const struct model *model)
{
    char time[FORMAT_MAX], zone[FORMAT_MAX];

    snprintf(ret->text, sizeof(ret->text), " PAST %s.%03d%s ", cli_format_time(time, model->at_ns),
             (int)(model->at_ns / 1000000 % 1000), cli_format_zone(zone, model->at_ns));
    ret->style = STYLE_PAST;
}

/* `tight`: without the age of one that is in time. */
static void feed_segment(struct segment *ret, const struct scene *scene, bool tight)
{
    const struct model *model = scene->model;
    const struct status_feed *feed = &model->status.feed;
    enum freshness freshness = tui_model_freshness(model, scene->now);
    char age[FORMAT_MAX];

    if (model->source != MODEL_DAEMON) {
        bool saved = model_is_saved(model);
        snprintf(ret->text, sizeof(ret->text), saved ? "SAVED RUN" : "NO DAEMON");
        ret->style = saved ? STYLE_NORMAL : STYLE_BAD;
    } else if (freshness != FRESH) {
        cli_format_age(age, tui_model_age(model, 0, scene->now));
        snprintf(ret->text, sizeof(ret->text), "daemon STALE %s", age);
        ret->style = freshness == STALE ? STYLE_WARN : STYLE_BAD;
    } else if (feed->retry_in_ms >= 0) {
        int64_t left = feed->retry_in_ms - tui_model_age(model, 0, scene->now);
        cli_format_age(age, left > 0 ? left : 0);
        snprintf(ret->text, sizeof(ret->text), "feed %s in %.12s", feed->state, age);
        ret->style = panel_frame_feed_style(feed->state);
    } else {
        cli_format_age(age, tui_model_age(model, feed->age_ms, scene->now));
        const bool aged = feed->age_ms >= 0 && !(tight && strcmp(feed->state, "ok") == 0);
        snprintf(ret->text, sizeof(ret->text), "feed %s%s%.12s", feed->state[0] ? feed->state : "n/a",
                 aged ? " " : "", aged ? age : "");
        ret->style = panel_frame_feed_style(feed->state);
    }
}

/* Two segments: the state, and its reason for where there is room. */
static void trading_segment(struct segment *ret, struct segment *ret_reason, const struct scene *scene)
{
    const struct model *model = scene->model;
    const struct status *s = &model->status;

    if (model->source != MODEL_DAEMON || tui_model_freshness(model, scene->now) == GONE) {
        snprintf(ret->text, sizeof(ret->text), "TRADING -");
        ret->style = STYLE_DIM;
        return;
    }
    bool on = strcmp(s->trading, "on") == 0, halted = strcmp(s->trading, "halted") == 0;
    snprintf(ret->text, sizeof(ret->text), "TRADING %.16s", s->trading[0] ? s->trading : "-");
    ret->style = on ? STYLE_GOOD : halted ? STYLE_BAD : s->trading[0] ? STYLE_WARN : STYLE_DIM;
    const char *reason = tui_model_trading_reason(model);
    if (reason[0])
        snprintf(ret_reason->text, sizeof(ret_reason->text), ": %.40s", reason);
    ret_reason->style = ret->style;
}

/* Whether the ledger agrees with a replay of the log; nothing where there is no room and nothing to report.
 */
static void parity_segment(struct segment *ret, const struct scene *scene)
{
    char words[MODEL_PARITY_MAX];
    enum freshness freshness = tui_model_parity(scene->model, scene->now, words);
    bool failed = strstr(words, "FAILED") != NULL;

    snprintf(ret->text, sizeof(ret->text), "%s", words);
    ret->style =
        failed ? STYLE_BAD : panel_frame_style(freshness, strstr(words, "ok") ? STYLE_GOOD : STYLE_NORMAL);
    bool part = scene->model->status.parity.database_rows > 0;
    ret->rank = failed ? 2 : freshness == GONE && !part ? 6 : 5;
}

/* The clock with its zone; where there is no clock, the zone of the times that are shown. */
static bool clock_text(const struct scene *scene, char buf[static FORMAT_MAX])
{
    int64_t ns = tui_model_clock_ns(scene->model, scene->now);
    char zone[FORMAT_MAX];

    if (ns > 0)
        strcat(cli_format_clock(buf, ns), cli_format_zone(zone, ns));
    else if (scene->model->at_ns == 0 && scene->model->source != MODEL_DAEMON)
        snprintf(buf, FORMAT_MAX, "times %s", scene->view->settings.local ? "local" : "UTC");
    else
        return false;
    return true;
}

static enum style clock_style(const struct scene *scene)
{
    return panel_frame_style(tui_model_freshness(scene->model, scene->now), STYLE_NORMAL);
}

/* On a screen of the usual width the clock gives up its place before the figures do: it is then in the line
 * of the tabs. */
static bool clock_fits(const struct segment *segments, int n, int end, int width)
{
    enum { USUAL_WIDTH = 80, MUST_RANK = 6 };
    int needed = 0;

    for (int i = 0; i < n; i++)
        if (segments[i].rank <= MUST_RANK && segments[i].text[0])
            needed += cli_text_width(segments[i].text) + segments[i].gap;
    return width < USUAL_WIDTH || needed <= end;
}

/* A co-process that does not answer; nothing while all is well, or where no co-process is needed. */
static void trainer_segment(struct segment *ret, const struct scene *scene)
{
    const struct model *model = scene->model;

    if (model->source == MODEL_DAEMON && tui_model_trainer_missed(model))
        snprintf(ret->text, sizeof(ret->text), "TRAINER %s", model->status.trainer.state);
    ret->style = tui_model_freshness(model, scene->now) == GONE ? STYLE_DIM : STYLE_WARN;
}

/* A disk that refuses, or lost what was written to it; nothing while all is well. */
static void storage_segment(struct segment *ret, const struct scene *scene)
{
    const struct model *model = scene->model;
    const char *state = model->status.db.state;

    if (model->source == MODEL_DAEMON && state[0] && strcmp(state, "ok") != 0)
        snprintf(ret->text, sizeof(ret->text), "STORAGE %.16s", state);
    ret->style = tui_model_freshness(model, scene->now) == GONE ? STYLE_DIM : STYLE_BAD;
}

enum { BRAND, FEED, EQUITY, RETURN, DRAWDOWN, TRADING, STORAGE, REASON, PARITY, TRAINER, SEGMENTS };

/* How much room the line takes: all of it, or as little as leaves the figures whole. */
enum tightness { WIDE, CLOSE, TIGHT };

/* Equity and return of all accounts, or of those of one currency, and the drawdown of the worst one: each
 * says whose it is where there are several. */
static void figure_segments(struct segment segments[static SEGMENTS], const struct scene *scene,
                            enum tightness tight)
{
    enum { LARGE = 100000, DEEP = 10 };
    const int columns = tight == TIGHT ? 4 : 7; /* of a name that is cut */
    const struct model_total total = tui_model_total(scene->model);
    const enum freshness freshness = tui_model_accounts_freshness(scene->model, scene->now);
    const bool several = scene->model->status.n_accounts > 1;
    char a[FORMAT_MAX], name[ACCOUNT_NAME_MAX + 1];

    if (freshness == GONE) {
        snprintf(segments[EQUITY].text, sizeof(segments[EQUITY].text), "eq -");
        segments[EQUITY].style = STYLE_DIM;
        return;
    }
    char equity[MODEL_EQUITY_MAX];
    tui_model_equity(scene->model, tight == TIGHT && fabs(total.equity) >= LARGE ? 0 : 2, equity);
    const char *all = several && !total.some && !total.converted ? "all " : "";
    snprintf(segments[EQUITY].text, sizeof(segments[EQUITY].text), "%s%s%s", several && tight ? "" : "eq ",
             all, equity);
    segments[EQUITY].style = panel_frame_style(freshness, STYLE_STRONG);
    if (isfinite(total.return_pct))
        snprintf(segments[RETURN].text, sizeof(segments[RETURN].text), "%s",
                 cli_format_percent(a, total.return_pct, 2));
    segments[RETURN].style = panel_frame_style(freshness, style_signed(total.return_pct, 2));
    const bool cut = several && cli_text_width(total.worst) > columns;
    snprintf(name, sizeof(name), "%.*s%s",
             several ? (int)cli_text_fit(total.worst, cut ? columns - 1 : columns) : 0, total.worst,
             cut ? "~" : "");
    if (isfinite(total.drawdown_pct))
        snprintf(segments[DRAWDOWN].text, sizeof(segments[DRAWDOWN].text), "%s%s%s%s %s",
                 several && !tight ? "worst " : "", tui_model_drawdown_name(scene->model), several ? " " : "",
                 several && !tight ? total.worst : name,
                 cli_format_percent(a, total.drawdown_pct,
                                    fabs(total.drawdown_pct) < 1                         ? 2
                                    : tight == TIGHT && fabs(total.drawdown_pct) >= DEEP ? 0
                                                                                         : 1));
    segments[DRAWDOWN].style = panel_frame_style(freshness, style_signed(total.drawdown_pct, 2));
}

static void fill_segments(const struct scene *scene, struct segment segments[static SEGMENTS],
                          enum tightness tight)
{
    static const struct segment places[SEGMENTS] = {
        [BRAND] = {"PAPER", STYLE_BRAND, 1, 0}, [FEED] = {"", STYLE_NORMAL, 2, 2},
        [EQUITY] = {"", STYLE_STRONG, 4, 2},    [RETURN] = {"", STYLE_NORMAL, 4, 1},
        [DRAWDOWN] = {"", STYLE_NORMAL, 4, 2},  [TRADING] = {"", STYLE_NORMAL, 3, 2},
        [REASON] = {"", STYLE_NORMAL, 7, 0},    [PARITY] = {"", STYLE_NORMAL, 5, 2},
        [TRAINER] = {"", STYLE_WARN, 7, 2},     [STORAGE] = {"", STYLE_BAD, 2, 2},
    };
    const struct model *model = scene->model;

    memcpy(segments, places, sizeof(places));
    if (model->at_ns > 0) {
        past_segment(&segments[BRAND], model);
    } else {
        feed_segment(&segments[FEED], scene, tight == TIGHT);
        trading_segment(&segments[TRADING], &segments[REASON], scene);
        parity_segment(&segments[PARITY], scene);
        trainer_segment(&segments[TRAINER], scene);
        storage_segment(&segments[STORAGE], scene);
    }
    figure_segments(segments, scene, tight);
    for (int i = 0; tight && i < SEGMENTS; i++)
        segments[i].gap = segments[i].gap > 1 ? 1 : segments[i].gap;
}

/* Do the segments up to a rank have room in so many columns? */
static bool segments_fit(const struct segment segments[static SEGMENTS], int rank, int room)
{
    int width = 0;

    for (int i = 0; i < SEGMENTS; i++)
        if (segments[i].rank <= rank && segments[i].text[0])
            width += cli_text_width(segments[i].text) + (width > 0 ? segments[i].gap : 0);
    return width <= room;
}

/* The widest form in which all but reasons have room, else figures and states alone; where not even these
 * have it, those of the lowest ranks are shown. */
static void fit_segments(const struct scene *scene, struct segment segments[static SEGMENTS], int room)
{
    static const struct {
        enum tightness tight;
        int rank;
    } forms[] = {{WIDE, 6}, {CLOSE, 6}, {WIDE, 4}, {CLOSE, 4}, {TIGHT, 4}, {CLOSE, 0}};

    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        fill_segments(scene, segments, forms[i].tight);
        if (forms[i].rank == 0 || segments_fit(segments, forms[i].rank, room))
            return;
    }
}

/* Keeps the name of the account whose drawdown is shown, where that is cut. */
static void keep_worst(struct canvas *canvas, const struct model *model, const char *shown)
{
    const struct model_total total = tui_model_total(model);
    char words[ACCOUNT_NAME_MAX + FORMAT_MAX], text[FORMAT_MAX];

    if (model->status.n_accounts < 2 || !shown[0] || strstr(shown, total.worst))
        return;
    snprintf(words, sizeof(words), "worst %s %s %.30s", tui_model_drawdown_name(model), total.worst,
             cli_format_percent(text, total.drawdown_pct, 1));
    tui_canvas_keep(canvas, words);
}

void panel_header(const struct area *area, const struct scene *scene)
{
    struct segment segments[SEGMENTS];
    char clock[FORMAT_MAX];
    int end = area->width;

    fit_segments(scene, segments, end);
    keep_worst(area->canvas, scene->model, segments[DRAWDOWN].text);
    if (clock_text(scene, clock) && clock_fits(segments, SEGMENTS, end - cli_text_width(clock) - 2, end))
        end = tui_area_text_right(area, end, 0, clock_style(scene), clock) - 2;
    panel_frame_segments(area, 0, 0, end, segments, SEGMENTS);
}

const char *panel_tab_name(enum tab tab, int width)
{
    static const char *const names[][TABS] = {
        {"Over", "Study", "GPU", "Mkt", "Pos", "Ord", "Alert", "Log"},
        {"Overview", "Study", "GPU", "Market", "Positions", "Orders", "Alerts", "Log"},
    };

    return names[width >= 100][tab];
}

void panel_tabs(const struct area *area, const struct scene *scene)
{
    const struct view *view = scene->view;
    int64_t alerts = tui_model_alerts_open(scene->model);
    const struct key_map *map = &view->settings.keys;
    const struct key_where where = tui_key_where(view, scene->focus);
    bool narrow = area->width < 64;
    char key[KEY_HINT_MAX];
    struct segment segments[SEGMENTS];
    char clock[FORMAT_MAX];
    int x = 0;

    for (int i = 0; i < TABS; i++) {
        bool open = view->tab == (enum tab)i;
        int from = x;
        tui_key_map_hint(map, where, (char[]){(char)('1' + i), '\0'}, key);
        if (open)
            x = tui_area_printf(area, x, 0, STYLE_TAB, "[%s]%s", key,
                                panel_tab_name((enum tab)i, area->width));
        else
            x = tui_area_printf(area, tui_area_text(area, x, 0, STYLE_KEY, key), 0, STYLE_DIM, "%s",
                                narrow ? "" : panel_tab_name((enum tab)i, area->width));
        if (i == TAB_ALERTS && alerts > 0)
            x = tui_area_printf(area, x, 0, STYLE_BAD, "!%lld", (long long)alerts);
        struct area name = tui_area_part(area, from, 0, x - from, 1);
        tui_area_row(&name, 0, 1, i);
        x++;
    }
    struct segment right[] = {
        {"", clock_style(scene), 2, 0}, {"", STYLE_DIM, 3, 2}, {"", STYLE_DIM, 4, 2}, {"", STYLE_DIM, 1, 2}};
    enum { CLOCK, READONLY, INTERVAL, HELP, RIGHT };
    fit_segments(scene, segments, area->width);
    if (clock_text(scene, clock) &&
        !clock_fits(segments, SEGMENTS, area->width - cli_text_width(clock) - 2, area->width))
        snprintf(right[CLOCK].text, sizeof(right[CLOCK].text), "%s", clock);
    snprintf(right[HELP].text, sizeof(right[HELP].text), "%s=help", tui_key_map_hint(map, where, "?", key));
    if (view->readonly)
        snprintf(right[READONLY].text, sizeof(right[READONLY].text), "read-only");
    cli_format_age(right[INTERVAL].text, view->interval_ms);
    int width = panel_frame_fit(right, RIGHT, area->width - x);
    if (width <= area->width - x)
        panel_frame_segments(area, area->width - width, 0, area->width, right, RIGHT);
}
