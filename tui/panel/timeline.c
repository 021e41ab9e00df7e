#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "tui/chart.h"
#include "tui/panel/frame.h"

/* States in the order of their rows, with the letter that stands for them where all share one row. */
static const struct {
    const char *state;
    wchar_t letter;
    enum style style;
} phases[] = {
    {"queued", L'q', STYLE_DIM},     {"loading", L'l', STYLE_NORMAL},  {"features", L'f', STYLE_NORMAL},
    {"rollout", L'r', STYLE_GOOD},   {"update", L'u', STYLE_CHART},    {"evaluating", L'e', STYLE_LINE},
    {"proposing", L'b', STYLE_LINE}, {"searching", L's', STYLE_CHART}, {"checkpointing", L'c', STYLE_KEY},
    {"paused", L'p', STYLE_WARN},    {"done", L'.', STYLE_DIM},        {"failed", L'!', STYLE_BAD},
    {"stopped", L'.', STYLE_DIM},
};

enum { PHASES = sizeof(phases) / sizeof(phases[0]), COLUMNS_MAX_SHOWN = CANVAS_SIDE_MAX };

/* What each column of the time shown was spent on, and how busy the device was. */
struct timeline_shares {
    float share[PHASES][COLUMNS_MAX_SHOWN]; /* 0..1 of the column */
    double busy[COLUMNS_MAX_SHOWN];         /* NaN: not known */
    double total[PHASES], whole;            /* seconds */
    int columns;
};

static int phase_of(const char *state)
{
    for (int i = 0; i < PHASES; i++)
        if (strcmp(phases[i].state, state) == 0)
            return i;
    return -1;
}

static void fill(struct timeline_shares *line, const struct history_training *past, int64_t end_ns,
                 int columns)
{
    double begin = (double)past->phases[0].ts_ns, whole = (double)end_ns - begin;
    static double known[COLUMNS_MAX_SHOWN];

    *line = (struct timeline_shares){.columns = columns, .whole = whole / 1e9};
    for (int x = 0; x < columns; x++)
        line->busy[x] = known[x] = 0;
    for (int i = 0; i < past->n_phases; i++) {
        const struct history_phase *phase = &past->phases[i];
        double from = (double)phase->ts_ns - begin;
        double to = (i + 1 < past->n_phases ? (double)past->phases[i + 1].ts_ns : (double)end_ns) - begin;
        int which = phase_of(phase->state);
        if (which < 0 || !(to > from) || !(whole > 0))
            continue;
        line->total[which] += (to - from) / 1e9;
        double left = from / whole * columns, right = to / whole * columns;
        for (int x = (int)left; x < columns && x < right; x++) {
            double part = fmin(right, x + 1) - fmax(left, x);
            line->share[which][x] += (float)part;
            if (isfinite(phase->utilisation)) {
                line->busy[x] += part * phase->utilisation;
                known[x] += part;
            }
        }
    }
    for (int x = 0; x < columns; x++)
        line->busy[x] = known[x] > 0 ? line->busy[x] / known[x] : NAN;
}

/* The phase that took most of a column; -1: none. */
static int most(const struct timeline_shares *line, int x)
{
    int best = -1;

    for (int i = 0; i < PHASES; i++)
        if (line->share[i][x] > (best < 0 ? 0 : line->share[best][x]))
            best = i;
    return best;
}

static void one_row(const struct area *area, int y, const struct timeline_shares *line)
{
    for (int x = 0; x < line->columns; x++) {
        int which = most(line, x);
        if (which >= 0)
            tui_area_char(area, 1 + x, y, phases[which].style, phases[which].letter);
    }
}

static void phase_row(const struct area *area, int y, int label, const struct timeline_shares *line,
                      int which)
{
    static const wchar_t blocks[] = L" ░▒▓█", plain[] = L" .:+#";
    const wchar_t *shades = area->canvas->glyphs == GLYPHS_ASCII ? plain : blocks;

    tui_area_text(area, 1, y, STYLE_DIM, phases[which].state);
    for (int x = 0; x < line->columns; x++) {
        float share = line->share[which][x];
        int shade = share <= 0 ? 0 : 1 + (int)(share * 3.999f);
        if (shade > 0)
            tui_area_char(area, label + x, y, phases[which].style, shades[shade > 4 ? 4 : shade]);
    }
}

/* How the time was spent: "rollout 61%  update 30%", the longest first. */
static void shares(const struct area *area, int y, int end, const struct timeline_shares *line, bool letters)
{
    bool named[PHASES] = {false};
    int x = 1;

    for (int n = 0; n < PHASES; n++) {
        int best = -1;
        for (int i = 0; i < PHASES; i++)
            if (!named[i] && line->total[i] > (best < 0 ? 0 : line->total[best]))
                best = i;
        if (best < 0)
            return;
        named[best] = true;
        char text[48];
        double percent = 100 * line->total[best] / line->whole;
        snprintf(text, sizeof(text), percent < 1 ? "%s <1%%" : "%s %.0f%%", phases[best].state, percent);
        if (x + (int)strlen(text) + (letters ? 2 : 0) > end)
            return;
        if (letters) {
            tui_area_char(area, x, y, phases[best].style, phases[best].letter);
            x += 2;
        }
        x = tui_area_text(area, x, y, STYLE_DIM, text) + 2;
    }
}

/* The newest column's utilisation, "busy 97%". */
static char *busy_words(char buf[static FORMAT_MAX], const struct timeline_shares *line)
{
    double last = NAN;

    for (int i = 0; i < line->columns; i++)
        last = isfinite(line->busy[i]) ? line->busy[i] : last;
    if (isfinite(last))
        snprintf(buf, FORMAT_MAX, "busy %.0f%%", 100 * last);
    else
        snprintf(buf, FORMAT_MAX, "busy n/a");
    return buf;
}

static void busy(const struct area *area, int x, int y, int rows, const struct timeline_shares *line)
{
    static double dots[2 * COLUMNS_MAX_SHOWN];
    int each = area->canvas->glyphs == GLYPHS_BRAILLE ? 2 : 1; /* values a column */
    double highest = 1;
    struct area inside = tui_area_part(area, x, y, line->columns, rows);

    for (int i = 0; i < line->columns; i++)
        highest = isfinite(line->busy[i]) ? fmax(highest, line->busy[i]) : highest;
    for (int i = 0; i < each * line->columns; i++)
        dots[i] = line->busy[i / each];
    tui_chart_line(&inside, dots, each * line->columns, 0, highest, STYLE_CHART);
}

/* " busy 97%  59m " at the end of the rule: the utilisation and length of the time shown. */
static void span(const struct area *area, const struct timeline_shares *line)
{
    char a[FORMAT_MAX], b[FORMAT_MAX], text[2 * FORMAT_MAX + 4];

    snprintf(text, sizeof(text), " %s  %s ", busy_words(a, line),
             cli_format_age(b, (int64_t)(line->whole * 1000)));
    if ((int)strlen(text) + 12 < area->width)
        tui_area_text_right(area, area->width - 1, 0, STYLE_DIM, text);
}

void panel_timeline(const struct area *area, const struct scene *scene)
{
    enum { LABEL = 15, BUSY_ROWS = 8 };
    static struct timeline_shares line;
    const struct history_training *past = &scene->model->history.training;
    const struct status_training *t = tui_view_training(scene->view, scene->model);
    struct area body = panel_frame_rule(area, scene, PANEL_TIMELINE, "Timeline", -1, NULL);
    char a[FORMAT_MAX];

    if (!t || strcmp(past->points.training, t->training) != 0 || past->n_phases == 0) {
        panel_frame_empty(&body, panel_frame_no_history(scene->model, "no phase is stored yet"));
        return;
    }
    /* Up to where it is known: its end, or its last report. */
    int64_t age_ms = tui_model_age(scene->model, t->age_ms, scene->now);
    int64_t end_ns = tui_model_training_ended(t) && t->ended_ns > 0
                         ? t->ended_ns
                         : scene->now.wall_ns - (age_ms > 0 ? age_ms : 0) * 1000000;
    if (end_ns <= past->phases[past->n_phases - 1].ts_ns)
        end_ns = past->phases[past->n_phases - 1].ts_ns + 1000000;
    int used = 0, last = body.height - 1;
    bool tall = false;
    fill(&line, past, end_ns, body.width - 2 < COLUMNS_MAX_SHOWN ? body.width - 2 : COLUMNS_MAX_SHOWN);
    for (int i = 0; i < PHASES; i++)
        used += line.total[i] > 0;
    tall = body.height >= used + 3 && body.width > LABEL + 20;
    span(area, &line);
    if (!tall) {
        one_row(&body, 0, &line);
        if (body.height > 2)
            busy(&body, 1, 1, body.height - 2, &line);
        if (last > 0)
            shares(&body, last, body.width - 1, &line, true);
        return;
    }
    fill(&line, past, end_ns, body.width - LABEL - 2);
    int y = 0;
    for (int i = 0; i < PHASES; i++)
        if (line.total[i] > 0)
            phase_row(&body, y++, LABEL + 1, &line, i);
    tui_area_text(&body, 1, y, STYLE_DIM, busy_words(a, &line));
    busy(&body, LABEL + 1, y, body.height - 1 - y < BUSY_ROWS ? body.height - 1 - y : BUSY_ROWS, &line);
    shares(&body, last, body.width - 1, &line, false);
}
