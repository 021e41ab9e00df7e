/* One line a venue; and a second one, where there is room, with its error, or when its market opens, and how
 * long its symbols took to recover. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "cli/text.h"
#include "tui/panel/frame.h"

enum {
    VENUE,
    STATE,
    MARKET,
    RATE,
    LATENCY,
    CLOCK,
    LINKS,
    CONNECTS,
    BUDGET,
    RENEWED,
    WEIGHT,
    BAD,
    AGE,
    COLUMNS
};

static const struct column columns[COLUMNS] = {
    {"", 9, false, 1},        {"state", 10, false, 1},      {"market", 7, false, 2},
    {"msg/s", 5, true, 3},    {"p50/p99 ms", 10, true, 4},  {"clock ms", 8, true, 6},
    {"up", 5, true, 5},       {"reconnects", 10, true, 8},  {"budget", 7, true, 9},
    {"renewed", 7, true, 11}, {"rate limit", 11, true, 10}, {"malformed", 9, true, 7},
    {"age", 9, true, 2},
};

/* "1/2": both counts, or "n/a". */
static const char *of(char buf[static FORMAT_MAX], int64_t part, int64_t whole)
{
    char a[FORMAT_MAX], b[FORMAT_MAX];

    if (part < 0 || whole <= 0)
        snprintf(buf, FORMAT_MAX, "n/a");
    else
        snprintf(buf, FORMAT_MAX, "%.20s/%.20s", cli_format_count(a, (double)part),
                 cli_format_count(b, (double)whole));
    return buf;
}

static char *counted(char buf[static FORMAT_MAX], int64_t count)
{
    return cli_format_count(buf, count < 0 ? NAN : (double)count);
}

/* What the market will do next: "opens Mon 14:30Z", "closes Fri 18:00Z (half day)". */
static void market_words(char *buf, size_t size, const struct status_venue *venue, int64_t now_ns)
{
    static const struct {
        const char *phase, *words;
    } next[] = {{"closed", "opens"}, {"pre", "session at"}, {"regular", "closes"}, {"post", "ends"}};
    char time[FORMAT_MAX];
    bool waits = strcmp(venue->market, "closed") == 0 || strcmp(venue->market, "pre") == 0;
    int64_t at_ns = waits && venue->market_open_ns > now_ns ? venue->market_open_ns : venue->market_next_ns;

    buf[0] = '\0';
    if (at_ns <= 0)
        return;
    panel_frame_when(time, at_ns, now_ns);
    for (size_t i = 0; i < sizeof(next) / sizeof(next[0]); i++)
        if (strcmp(venue->market, next[i].phase) == 0)
            snprintf(buf, size, "%s %s%s", next[i].words, time, venue->market_half ? " (half day)" : "");
}

/* "older bars: up to 1.2 M to fetch". */
static void history_words(char *buf, size_t size, const struct status_venue *venue)
{
    char count[FORMAT_MAX];

    buf[0] = '\0';
    if (venue->history_left > 0)
        snprintf(buf, size, "older bars: up to %s to fetch%s", counted(count, venue->history_left),
                 strcmp(venue->history, "waits") == 0 ? ", waiting" : "");
}

/* "recovery 0.4s, worst 3.1s of 3": the last one, from an interruption's end to a symbol's next bar. */
static void recovery_words(char *buf, size_t size, const struct status_venue *venue)
{
    char last[FORMAT_MAX], worst[FORMAT_MAX], count[FORMAT_MAX];
    const char *waits = venue->recovering > 0 ? ", waiting" : "";

    buf[0] = '\0';
    if (venue->recoveries > 0)
        snprintf(buf, size, "recovery %s, worst %s of %s%s", cli_format_age(last, venue->recovery_last_ms),
                 cli_format_age(worst, venue->recovery_worst_ms), counted(count, venue->recoveries), waits);
    else if (venue->recovering > 0)
        snprintf(buf, size, "recovery%s", waits);
}

/* "4 streams, 9.1k frames, 1 stale", of the streams that the status has of it. */
static void stream_words(char *buf, size_t size, const struct status *s, const struct status_venue *venue)
{
    char count[FORMAT_MAX];
    int n = 0, stale = 0, quiet = 0;
    int64_t frames = 0;

    for (int i = 0; i < s->n_streams; i++)
        if (strcmp(s->streams[i].venue, venue->venue) == 0) {
            n++;
            frames += s->streams[i].frames > 0 ? s->streams[i].frames : 0;
            stale += s->streams[i].stale;
            quiet += !s->streams[i].stale && strcmp(s->streams[i].state, "quiet") == 0;
        }
    buf[0] = '\0';
    if (n == 0)
        return;
    int len = snprintf(buf, size, "%d stream%s, %s frames", n, n == 1 ? "" : "s", counted(count, frames));
    if (quiet > 0)
        len += snprintf(buf + len, size - (size_t)len, ", %d quiet", quiet);
    if (stale > 0)
        snprintf(buf + len, size - (size_t)len, ", %d stale", stale);
}

static int words_at(const struct area *body, int x, int y, const char *words)
{
    return words[0] && x + cli_text_width(words) <= body->width
               ? tui_area_text(body, x, y, STYLE_NORMAL, words) + 2
               : x;
}

static void second_line(const struct area *body, int y, const struct status *status,
                        const struct status_venue *venue, int64_t now_ns)
{
    char words[STATUS_TEXT_MAX], time[FORMAT_MAX];
    int x = 3;

    if (venue->banned_until_ns > now_ns) {
        panel_frame_when(time, venue->banned_until_ns, now_ns);
        x = tui_area_text(body, x, y, STYLE_WARN, "banned until") + 1;
        x = tui_area_text(body, x, y, STYLE_WARN, time) + 2;
    }
    market_words(words, sizeof(words), venue, now_ns);
    x = words_at(body, x, y, words);
    history_words(words, sizeof(words), venue);
    x = words_at(body, x, y, words);
    recovery_words(words, sizeof(words), venue);
    if (!venue->detail[0] || x + cli_text_width(words) + 2 + cli_text_width(venue->detail) <= body->width)
        x = words_at(body, x, y, words); /* what is wrong now goes first */
    stream_words(words, sizeof(words), status, venue);
    if (!venue->detail[0] || x + cli_text_width(words) + 2 + cli_text_width(venue->detail) <= body->width)
        x = words_at(body, x, y, words);
    if (x < body->width)
        tui_area_text_cut(body, x, y, body->width - x, venue->detail[0] ? STYLE_WARN : STYLE_DIM,
                          venue->detail[0] ? venue->detail : venue->url);
}

static void row(const struct table *table, int y, const struct scene *scene, const struct status_venue *venue)
{
    const struct model *model = scene->model;
    enum freshness freshness = tui_model_freshness(model, scene->now);
    int64_t left = venue->retry_in_ms - tui_model_age(model, 0, scene->now);
    char text[FORMAT_MAX], age[FORMAT_MAX];

    panel_table_text(table, VENUE, y, STYLE_STRONG, venue->venue);
    if (venue->retry_in_ms >= 0)
        snprintf(text, sizeof(text), "%.12s %.12s", venue->state, cli_format_age(age, left > 0 ? left : 0));
    else
        snprintf(text, sizeof(text), "%s", venue->state[0] ? venue->state : "n/a");
    panel_table_text(table, STATE, y, panel_frame_style(freshness, panel_frame_feed_style(venue->state)),
                     text);
    panel_table_text(table, MARKET, y, panel_frame_style(freshness, STYLE_NORMAL),
                     venue->market[0] ? venue->market : "n/a");
    panel_table_text(table, RATE, y, panel_frame_style(freshness, STYLE_NORMAL),
                     freshness == GONE ? "-" : cli_format_count(text, venue->per_second));
    panel_table_text(
        table, LATENCY, y, panel_frame_style(freshness, STYLE_NORMAL),
        freshness == GONE ? "-" : panel_frame_latency(text, venue->latency_p50_ms, venue->latency_p99_ms));
    panel_table_text(table, CLOCK, y, STYLE_NORMAL, cli_format_signed(text, venue->clock_offset_ms, 0));
    bool all_up = venue->up == venue->connections;
    panel_table_text(table, LINKS, y, all_up ? STYLE_NORMAL : STYLE_WARN,
                     of(text, venue->up, venue->connections));
    panel_table_text(table, CONNECTS, y, STYLE_NORMAL, counted(text, venue->reconnects));
    panel_table_text(table, BUDGET, y, STYLE_NORMAL, of(text, venue->budget_used, venue->budget));
    panel_table_text(table, RENEWED, y, STYLE_NORMAL, counted(text, venue->renewals));
    panel_table_text(table, WEIGHT, y, STYLE_NORMAL, of(text, venue->weight_used, venue->weight_limit));
    panel_table_text(table, BAD, y, venue->bad_frames > 0 ? STYLE_WARN : STYLE_NORMAL,
                     counted(text, venue->bad_frames));
    panel_frame_age(text, sizeof(text),
                    strcmp(venue->state, "closed") == 0 && freshness == FRESH ? CLOSED : freshness,
                    tui_model_age(model, venue->age_ms, scene->now));
    panel_table_text(table, AGE, y, freshness == FRESH ? STYLE_DIM : STYLE_WARN, text);
}

void panel_venues(const struct area *area, const struct scene *scene)
{
    const struct model *model = scene->model;
    const struct status *s = &model->status;
    int title;
    struct area body = panel_frame_rule(area, scene, PANEL_VENUES, "Venues", s->n_venues, &title);

    if (model->source != MODEL_DAEMON || s->n_venues == 0) {
        panel_frame_empty(&body, model->at_ns > 0                ? tui_model_unrecorded(model)
                                 : model->source != MODEL_DAEMON ? "the daemon is not there"
                                                                 : "no venue is known yet");
        return;
    }
    struct table table = panel_frame_table(area, title, columns, COLUMNS);
    int lines = 2 * s->n_venues <= body.height ? 2 : 1;
    struct window window = panel_frame_window(scene, PANEL_VENUES, s->n_venues, body.height / lines);
    for (int i = window.first; i < window.end; i++) {
        int y = (i - window.first) * lines;
        row(&table, y + 1, scene, &s->venues[i]);
        if (lines == 2)
            second_line(&body, y + 1, s, &s->venues[i], tui_model_clock_ns(model, scene->now));
        panel_frame_lines(&body, y, lines, &window, i);
    }
}
