#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/chart.h"
#include "tui/panel/study_words.h"
#include "tui/panel/training_words.h"

enum { NAME, STATE, BAR, SHARE, SPLIT, SPEED, VALUE, TREND, AGE, WORKER, WITH, COLUMNS };

static const struct column columns[COLUMNS] = {
    {"", 7, false, 1},         {"state", 5, false, 2},   {"progress", 14, false, 7}, {"", 4, true, 3},
    {"split", 6, true, 8},     {"steps/s", 7, true, 4},  {"value", 8, true, 3},      {"", 1, false, 5},
    {"heartbeat", 9, true, 2}, {"worker", 14, false, 9}, {"params", 30, false, 10},
};

/* Whether its last report was better than the one before: a sign for what colour cannot say. */
static const char *trend(const struct tui_study_page *page, const struct tui_study_trial *trial,
                         enum style *ret_style)
{
    *ret_style = STYLE_DIM;
    if (trial->n_reports < 2)
        return "-";
    double before = trial->reports[trial->n_reports - 2].value,
           last = trial->reports[trial->n_reports - 1].value;
    if (tui_study_better(page->study.directions[0], last, before)) {
        *ret_style = STYLE_UP;
        return "^";
    }
    if (tui_study_better(page->study.directions[0], before, last)) {
        *ret_style = STYLE_DOWN;
        return "v";
    }
    return "-";
}

static void with_words(const struct tui_study_page *page, const struct tui_study_trial *trial, char *buf,
                       size_t size)
{
    size_t at = 0;

    buf[0] = '\0';
    for (int i = 0; i < page->n_importance && at + 1 < size; i++) {
        int param = page->importance[i].param;
        char text[48];
        if (tui_study_cell_text(page, &trial->cells[param], text, sizeof(text))[0])
            at += (size_t)snprintf(buf + at, size - at, "%s%s %s", at ? "  " : "", page->params[param], text);
    }
}

static void row(const struct table *table, int y, const struct scene *scene,
                const struct tui_study_page *page, const struct tui_study_trial *trial)
{
    enum freshness freshness = tui_model_trial_freshness(trial, scene->now);
    enum style plain = panel_frame_style(freshness, STYLE_NORMAL), style;
    bool gone = freshness == GONE;
    char text[FORMAT_MAX], words[256];
    const char *state = panel_study_trial_state(trial, scene->now, &style);
    double last = trial->n_reports > 0 ? trial->reports[trial->n_reports - 1].value : NAN;

    panel_table_text(table, NAME, y, panel_frame_style(freshness, STYLE_STRONG),
                     tui_study_trial_name(page, trial, text, sizeof(text)));
    panel_table_text(table, STATE, y, style, state);
    if (table->x[BAR] >= 0 && !gone)
        tui_chart_bar(table->area, table->x[BAR], y, table->columns[BAR].width, trial->share,
                      panel_frame_style(freshness, STYLE_CHART));
    panel_table_text(table, SHARE, y, plain, gone ? "-" : panel_training_percent(text, trial->share));
    snprintf(text, sizeof(text), "%d/%d", trial->split, trial->splits);
    panel_table_text(table, SPLIT, y, plain, gone || trial->split < 0 || trial->splits < 0 ? "-" : text);
    panel_table_text(
        table, SPEED, y, plain,
        gone || freshness != FRESH || isnan(trial->steps_s) ? "-" : cli_format_count(text, trial->steps_s));
    panel_table_text(table, VALUE, y, plain,
                     gone || isnan(last) ? "-" : tui_study_number(text, sizeof(text), last));
    const char *sign = trend(page, trial, &style);
    panel_table_text(table, TREND, y, panel_frame_style(freshness, style), gone ? "-" : sign);
    const int64_t now_us = scene->now.wall_ns / 1000;
    int64_t age = tui_study_trial_age_ms(trial, now_us);
    if (age < 0 && gone) /* it never had one: since it began */
        age = tui_study_trial_duration_ms(trial, now_us);
    panel_table_text(table, AGE, y, freshness == FRESH ? STYLE_DIM : STYLE_WARN, cli_format_age(text, age));
    panel_table_text(table, WORKER, y, STYLE_DIM, trial->worker[0] ? trial->worker : "-");
    if (table->x[WITH] >= 0) {
        with_words(page, trial, words, sizeof(words));
        tui_area_text_cut(table->area, table->x[WITH], y, table->columns[WITH].width, plain, words);
    }
}

void panel_running(const struct area *area, const struct scene *scene)
{
    const struct tui_study_page *page;
    struct column shown[COLUMNS];
    int n = 0, title, at = 0;
    struct area body = panel_study_frame(area, scene, PANEL_RUNNING, "Running", &page);

    if (!page)
        return;
    for (int i = 0; i < page->n_trials; i++)
        n += page->trials[i].state == TRIAL_RUNNING;
    panel_frame_rule(area, scene, PANEL_RUNNING, "Running", n, &title);
    title = panel_study_age_after(area, scene, title);
    if (n == 0 || tui_model_studies_freshness(scene->model, scene->now) == GONE) {
        panel_frame_empty(&body, n == 0 ? "no trial runs" : "-");
        return;
    }
    memcpy(shown, columns, sizeof(shown));
    if (area->width > 125)
        shown[WITH].width += area->width - 125;
    struct table table = panel_frame_table(area, title, shown, COLUMNS);
    for (int i = page->n_trials - 1; i >= 0 && at < body.height; i--)
        if (page->trials[i].state == TRIAL_RUNNING)
            row(&table, 1 + at++, scene, page, &page->trials[i]);
}
