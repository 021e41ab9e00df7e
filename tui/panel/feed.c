#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "cli/text.h"
#include "exchange/venues.h"
#include "tui/panel/frame.h"

enum { INDENT = 3 };

/* Where a line is written, and where it ends: it continues on rows that are left. */
struct pen {
    const struct area *body;
    int x, y, last; /* the last row that it may take */
};

/* A label and its value, if there is room for both in this row or in another one. */
static void pair(struct pen *pen, const char *label, enum style style, const char *value)
{
    const int width = cli_text_width(label) + 1 + cli_text_width(value);

    if (pen->x + width > pen->body->width && pen->y < pen->last && INDENT + width <= pen->body->width) {
        pen->x = INDENT;
        pen->y++;
    }
    if (pen->x + width > pen->body->width) {
        pen->x = pen->body->width;
        return;
    }
    pen->x = tui_area_text(pen->body, pen->x, pen->y, STYLE_DIM, label);
    pen->x = tui_area_text(pen->body, pen->x + 1, pen->y, style, value) + 2;
}

/* Bytes of `text` that a line of `columns` takes, up to a blank if it does not take all. */
static size_t line_bytes(const char *text, int columns)
{
    size_t n = 0, blank = 0;

    for (int used = 0; text[n];) {
        wchar_t c;
        size_t bytes = cli_text_decode(text + n, &c);
        int width = cli_text_char_width(c);
        used += width < 0 ? 1 : width;
        if (used > columns)
            return text[n] == ' ' || !blank ? n : blank;
        if (text[n] == ' ')
            blank = n;
        n += bytes;
    }
    return n;
}

/* Words that end the line, in as many rows as it may take; what is left then is cut. */
static void end(struct pen *pen, enum style style, const char *words)
{
    const struct area *body = pen->body;
    char row[STATUS_TEXT_MAX];
    const char *whole = words;

    while (pen->y < pen->last && pen->x + cli_text_width(words) > body->width) {
        size_t n = pen->x < body->width ? line_bytes(words, body->width - pen->x) : 0;
        if (n < strlen(words) && words[n] != ' ')
            n = pen->x > INDENT ? 0 : n; /* a word that begins a row may be broken */
        snprintf(row, sizeof(row), "%.*s", (int)n, words);
        if (n > 0)
            tui_area_text(body, pen->x, pen->y, style, row);
        words += n + strspn(words + n, " ");
        pen->x = INDENT;
        pen->y++;
    }
    if (pen->x < body->width)
        tui_area_text_cut_of(body, pen->x, pen->y, body->width - pen->x, style, words, whole);
}

static char *counted(char *buf, int64_t count)
{
    return cli_format_count(buf, count < 0 ? NAN : (double)count);
}

/* The error, from column x of row y on and, if it is longer than that row, in the next one. Returns its
 * last row. */
static int detail(const struct area *body, int x, int y, const char *words)
{
    char first[STATUS_TEXT_MAX];
    const char *whole = words;
    size_t n = line_bytes(words, body->width - x);

    snprintf(first, sizeof(first), "%.*s", (int)n, words);
    tui_area_text(body, x, y, STYLE_WARN, first);
    words += n + strspn(words + n, " ");
    if (words[0])
        tui_area_text_cut_of(body, 3, ++y, body->width - 3, STYLE_WARN, words, whole);
    return y;
}

/* "closed until Fri 08:00Z", of the first venue whose market closes; false: there is none. */
static bool market_words(char buf[static FORMAT_MAX], const struct status *s, int64_t now_ns)
{
    char time[FORMAT_MAX] = "";

    for (int v = 0; v < s->n_venues; v++) {
        const struct status_venue *venue = &s->venues[v];
        if (!venue->market[0] || strcmp(venue->market, "always") == 0)
            continue;
        if (venue->market_next_ns > 0)
            panel_frame_when(time, venue->market_next_ns, now_ns);
        snprintf(buf, FORMAT_MAX, "%.10s%s%.20s", venue->market, time[0] ? " until " : "", time);
        return true;
    }
    return false;
}

/* "loopback 127.0.0.1:9443" of a replay or a synthetic market on this machine, "live" or "testnet" and the
 * host of a venue, another host alone: what a row that is too short keeps. */
enum { SOURCE_MAX = STATUS_TEXT_MAX + 16 };
static const char *source_words(char buf[static SOURCE_MAX], const char *url)
{
    const char *host = strstr(url, "://") ? strstr(url, "://") + 3 : url, *kind = venue_host_kind(url);

    snprintf(buf, SOURCE_MAX, "%s%s%s", kind, kind[0] ? " " : "", host);
    return buf;
}

static void connection(struct pen *pen, const struct status *s, enum freshness freshness, int64_t since_ms,
                       int64_t now_ns)
{
    const struct status_feed *feed = &s->feed;
    char a[FORMAT_MAX], state[FORMAT_MAX];
    bool ok = strcmp(feed->state, "ok") == 0 || strcmp(feed->state, "closed") == 0,
         failed = strcmp(feed->state, "failed") == 0;
    enum style style = panel_frame_style(freshness, ok ? STYLE_GOOD : failed ? STYLE_BAD : STYLE_WARN);
    int64_t left_ms = feed->retry_in_ms - since_ms;

    snprintf(state, sizeof(state), "%s", feed->state[0] ? feed->state : "n/a");
    if (feed->retry_in_ms >= 0)
        snprintf(state, sizeof(state), "%s in %lld s", feed->state,
                 (long long)(left_ms > 0 ? left_ms / 1000 : 0));
    const char *of = s->n_venues > 1 ? "venues" : feed->venue[0] ? feed->venue : "venue";
    pair(pen, of, style, state);
    if (market_words(a, s, now_ns))
        pair(pen, "market", panel_frame_style(freshness, STYLE_NORMAL), a);
    if (!ok && feed->detail[0]) {
        pen->y = detail(pen->body, pen->x, pen->y, feed->detail);
        return;
    }
    pair(pen, "frames", STYLE_NORMAL, counted(a, feed->frames));
    pair(pen, "malformed", feed->bad_frames > 0 ? STYLE_WARN : STYLE_NORMAL, counted(a, feed->bad_frames));
    pair(pen, "bytes", STYLE_NORMAL, counted(a, feed->bytes));
    pair(pen, "reconnects", STYLE_NORMAL, counted(a, feed->reconnects));
    char source[SOURCE_MAX];
    const char *words = feed->detail[0] ? feed->detail : source_words(source, feed->url);
    end(pen, feed->detail[0] ? STYLE_WARN : STYLE_DIM, words);
}

static void storage(struct pen *pen, const struct status *s, enum freshness freshness)
{
    char a[FORMAT_MAX], p99[FORMAT_MAX];
    bool ok = strcmp(s->db.state, "ok") == 0;

    pair(pen, "db", panel_frame_style(freshness, ok ? STYLE_GOOD : STYLE_BAD),
         s->db.state[0] ? s->db.state : "n/a");
    if (s->db.detail[0]) {
        end(pen, STYLE_BAD, s->db.detail);
        return;
    }
    if (s->log.state[0]) {
        bool logs = strcmp(s->log.state, "ok") == 0;
        pair(pen, "log", panel_frame_style(freshness, logs ? STYLE_GOOD : STYLE_BAD), s->log.state);
        if (s->log.detail[0]) {
            end(pen, STYLE_BAD, s->log.detail);
            return;
        }
    }
    pair(pen, "commits", STYLE_NORMAL, counted(a, s->db.commits));
    pair(pen, "queue", STYLE_NORMAL, counted(a, s->db.queue));
    cli_format_number(a, s->db.commit_p99_ms, 1);
    snprintf(p99, sizeof(p99), "%.20s%s", a, isfinite(s->db.commit_p99_ms) ? " ms" : "");
    pair(pen, "p99", STYLE_NORMAL, p99);
    pair(pen, "orders", STYLE_NORMAL, counted(a, s->counters.orders));
    pair(pen, "fills", STYLE_NORMAL, counted(a, s->counters.fills));
    pair(pen, "rejected", s->counters.rejected > 0 ? STYLE_WARN : STYLE_NORMAL,
         counted(a, s->counters.rejected));
}

enum { NAME_LEAST = 8 }; /* columns of a device's name; where there are fewer it is left out */

/* The first device, its name shortened so that its figures fit, and how many more there are. */
static void device(struct pen *pen, const struct status *s)
{
    const struct area *body = pen->body;
    const struct status_device *d = &s->devices[0];
    char a[FORMAT_MAX], b[FORMAT_MAX], figures[2 * FORMAT_MAX], more[FORMAT_MAX] = "", name[STATUS_TEXT_MAX];

    snprintf(figures, sizeof(figures), "%s %% %s GiB", cli_format_number(a, d->util_pct, 0),
             cli_format_number(b, d->mem_used_mib / 1024, 1));
    if (s->n_devices > 1)
        snprintf(more, sizeof(more), "  and %d more", s->n_devices - 1);
    const char *whole = d->name[0] ? d->name : "n/a";
    const int fixed = (int)(strlen("gpu ") + 1 + strlen(figures) + strlen(more));
    if (pen->x + fixed + cli_text_width(whole) > body->width && pen->y < pen->last) {
        pen->x = INDENT;
        pen->y++;
    }
    int y = pen->y, x = tui_area_text(body, pen->x, y, STYLE_DIM, "gpu") + 1;
    int room = body->width - pen->x - fixed;
    if (room >= NAME_LEAST) {
        panel_frame_middle(body->canvas, name, sizeof(name), whole, room);
        x = tui_area_text(body, x, y, STYLE_NORMAL, name) + 1;
    }
    x = tui_area_text(body, x, y, STYLE_NORMAL, figures);
    x = tui_area_text(body, x, y, STYLE_DIM, more);
    if (s->gpu.reason[0] && x + 2 < body->width)
        tui_area_text_cut(body, x + 2, y, body->width - x - 2, STYLE_WARN, s->gpu.reason);
}

static void devices(struct pen *pen, const struct status *s)
{
    pair(pen, "compute", STYLE_NORMAL, s->compute.backend[0] ? s->compute.backend : "n/a");
    if (s->n_devices > 0) {
        device(pen, s);
        return;
    }
    pair(pen, "gpu", STYLE_NORMAL, s->gpu.state[0] ? s->gpu.state : "n/a");
    end(pen, STYLE_DIM, s->gpu.reason);
}

/* The next line: rows that are more than the lines that are left are for this one. */
static void next(struct pen *pen, int lines_after)
{
    const int last = pen->body->height - 1 - lines_after;

    pen->x = 1;
    pen->y++;
    pen->last = last > pen->y ? last : pen->y;
}

void panel_feed(const struct area *area, const struct scene *scene)
{
    const struct model *model = scene->model;
    enum freshness freshness = tui_model_freshness(model, scene->now);
    struct area body = panel_frame_rule(area, scene, PANEL_FEED, "Feed", -1, NULL);
    char text[FORMAT_MAX];

    if (model->source != MODEL_DAEMON) {
        panel_frame_empty(&body, model->at_ns > 0         ? tui_model_unrecorded(model)
                                 : model->daemon_words[0] ? model->daemon_words
                                                          : "asking the daemon");
        return;
    }
    panel_frame_age(text, sizeof(text), freshness,
                    tui_model_age(model, model->status.feed.age_ms, scene->now));
    tui_area_char(area, area->width - (int)strlen(text) - 2, 0, STYLE_RULE, L' ');
    tui_area_text_right(area, area->width - 1, 0, freshness == FRESH ? STYLE_DIM : STYLE_WARN, text);
    tui_area_char(area, area->width - 1, 0, STYLE_RULE, L' ');
    if (freshness == GONE) {
        panel_frame_empty(&body, "the daemon does not answer");
        return;
    }
    struct pen pen = {.body = &body, .y = -1};
    next(&pen, 2);
    connection(&pen, &model->status, freshness, tui_model_age(model, 0, scene->now),
               tui_model_clock_ns(model, scene->now));
    next(&pen, 1);
    storage(&pen, &model->status, freshness);
    next(&pen, 0);
    devices(&pen, &model->status);
}

enum { SYMBOL, STREAM, VENUE, RATE, LATENCY, FRAMES, LIMIT, AGE, COLUMNS };

static const struct column columns[COLUMNS] = {
    {"", 9, false, 1},           {"", 12, false, 1},     {"venue", 10, false, 7}, {"msg/s", 6, true, 3},
    {"p50/p99 ms", 11, true, 5}, {"frames", 7, true, 6}, {"limit", 6, true, 4},   {"age", 9, true, 2}};

void panel_streams(const struct area *area, const struct scene *scene)
{
    const struct model *model = scene->model;
    const struct status *s = &model->status;
    int title;
    struct area body = panel_frame_rule(area, scene, PANEL_STREAMS, "Streams", s->n_streams, &title);
    struct table table = panel_frame_table(area, title, columns, COLUMNS);
    struct window window = panel_frame_window(scene, PANEL_STREAMS, s->n_streams, body.height);
    char text[FORMAT_MAX];

    if (s->n_streams == 0)
        panel_frame_empty(&body, "none");
    for (int i = window.first; i < window.end; i++) {
        const struct status_stream *stream = &s->streams[i];
        int y = i - window.first + 1;
        int64_t age = tui_model_age(model, stream->age_ms, scene->now);
        enum freshness freshness =
            stream->limit_ms > 0 && !stream->excused ? freshness_of(age, stream->limit_ms / 3) : FRESH;
        if (stream->stale && freshness == FRESH)
            freshness = STALE;
        panel_table_text(&table, SYMBOL, y, STYLE_STRONG, stream->symbol);
        panel_table_text(&table, STREAM, y, STYLE_NORMAL, stream->stream);
        panel_table_text(&table, VENUE, y, STYLE_DIM, stream->venue);
        panel_table_text(&table, RATE, y, STYLE_NORMAL, cli_format_count(text, stream->per_second));
        panel_table_text(&table, LATENCY, y, STYLE_NORMAL,
                         panel_frame_latency(text, stream->latency_p50_ms, stream->latency_p99_ms));
        panel_table_text(&table, FRAMES, y, STYLE_NORMAL, counted(text, stream->frames));
        panel_table_text(&table, LIMIT, y, STYLE_DIM,
                         stream->limit_ms > 0 ? cli_format_age(text, stream->limit_ms) : "none");
        panel_frame_age(text, sizeof(text), freshness, age);
        panel_table_text(&table, AGE, y, freshness == FRESH ? STYLE_DIM : STYLE_WARN, text);
        panel_frame_row(&body, y - 1, &window, i);
    }
}
