#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/chart.h"
#include "tui/panel/study_words.h"
#include "tui/panel/training_words.h"

enum {
    NAME,
    STATE,
    DONE,
    RUN,
    OK,
    PRUNED,
    FAIL,
    BEST,
    AT,
    DIRECTION,
    RATE,
    ETA,
    AGE,
    VERDICT,
    SO_FAR,
    COLUMNS
};

static const struct column columns[COLUMNS] = {
    {"", 13, false, 1},  {"state", 9, false, 10},    {"trials", 8, true, 2},         {"run", 3, true, 4},
    {"ok", 4, true, 5},  {"pruned", 6, true, 6},     {"fail", 4, true, 6},           {"best", 8, true, 3},
    {"at", 6, false, 7}, {"dir", 3, false, 8},       {"trials/h", 8, true, 11},      {"left", 6, true, 7},
    {"age", 5, true, 9}, {"verdict", 16, false, 12}, {"best so far", 22, false, 13},
};

enum { WORDS_ROWS = 3 }; /* of why the storage cannot be read */

static void sparkline(const struct area *area, int x, int y, int width, const struct tui_study *study,
                      enum style style)
{
    double low, high;
    struct area part = tui_area_part(area, x, y, width, 1);

    if (study->n_points > 0 && tui_chart_range(study->points, study->n_points, &low, &high))
        tui_chart_line(&part, study->points, study->n_points, low, high, style);
}

static void best_words(char *buf, size_t size, const struct tui_study *study)
{
    if (study->pareto >= 0)
        snprintf(buf, size, "front %d", study->pareto);
    else if (study->have_best)
        tui_study_number(buf, size, study->best);
    else
        snprintf(buf, size, "-");
}

static void done_words(char *buf, size_t size, const struct tui_study *study)
{
    if (study->wanted >= 0)
        snprintf(buf, size, "%d/%lld", tui_study_done(study), (long long)study->wanted);
    else
        snprintf(buf, size, "%d", tui_study_done(study));
}

static void row(const struct table *table, int y, const struct scene *scene, const struct tui_study *study)
{
    enum freshness freshness = tui_model_studies_freshness(scene->model, scene->now);
    enum style plain = panel_frame_style(freshness, STYLE_NORMAL), state_style;
    bool gone = freshness == GONE, silent = panel_study_silent(study, scene->now);
    char text[FORMAT_MAX], name[STUDY_LABEL_MAX], direction[STATUS_WORD_MAX], due[FORMAT_MAX];
    const int counts[] = {RUN, OK, PRUNED, FAIL};
    const enum trial_state states[] = {TRIAL_RUNNING, TRIAL_COMPLETE, TRIAL_PRUNED, TRIAL_FAIL};

    panel_frame_middle(table->area->canvas, name, sizeof(name), study->label, table->columns[NAME].width);
    panel_table_text(table, NAME, y, panel_frame_style(freshness, STYLE_STRONG), name);
    const char *state = panel_study_state(scene->model, study, scene->now, due, &state_style);
    panel_table_text(table, STATE, y, panel_frame_style(freshness, state_style), gone ? "-" : state);
    done_words(text, sizeof(text), study);
    panel_table_text(table, DONE, y, plain, gone ? "-" : text);
    for (int i = 0; i < 4; i++) {
        int n = states[i] == TRIAL_RUNNING ? tui_study_running(study)
                : states[i] == TRIAL_FAIL  ? tui_study_failed(study)
                                           : study->counts[states[i]];
        enum style style = states[i] == TRIAL_FAIL && n > 0 ? STYLE_BAD : STYLE_NORMAL;
        panel_table_text(table, counts[i], y, panel_frame_style(freshness, style),
                         gone ? "-" : cli_format_count(text, n));
    }
    best_words(text, sizeof(text), study);
    panel_table_text(table, BEST, y, panel_frame_style(freshness, STYLE_STRONG), gone ? "-" : text);
    panel_table_text(table, AT, y, plain,
                     gone || !study->have_best ? "-" : tui_study_best_name(study, direction));
    snprintf(text, sizeof(text), "%dx", study->n_objectives);
    panel_table_text(table, DIRECTION, y, STYLE_DIM,
                     study->n_objectives == 1 ? tui_study_direction(study, direction) : text);
    panel_table_text(table, RATE, y, plain, gone ? "-" : cli_format_number(text, study->trials_h, 1));
    panel_table_text(table, ETA, y, plain, gone ? "-" : panel_study_eta(text, study->eta_s));
    panel_table_text(table, AGE, y, silent ? STYLE_WARN : STYLE_DIM,
                     cli_format_age(text, panel_study_age_ms(study, scene->now)));
    panel_table_text(table, VERDICT, y,
                     panel_frame_style(freshness, panel_training_verdict_style(study->verdict)),
                     gone || !study->verdict[0] ? "-" : study->verdict);
    if (table->x[SO_FAR] >= 0 && !gone)
        sparkline(table->area, table->x[SO_FAR], y, table->columns[SO_FAR].width, study,
                  panel_frame_style(freshness, STYLE_CHART));
}

/* The chosen one's, where its column has no room. */
static void below(const struct area *body, int y, const struct scene *scene, const struct table *table)
{
    const struct tui_study *study = tui_view_study(scene->view, scene->model);
    char text[FORMAT_MAX], direction[STATUS_WORD_MAX], name[STATUS_WORD_MAX];

    if (!study || (table->x[SO_FAR] >= 0 && !study->unread[0]) ||
        tui_model_studies_freshness(scene->model, scene->now) == GONE)
        return;
    int x = tui_area_printf(body, 1, y, STYLE_DIM, "%.30s:", study->label) + 1;
    if (study->unread[0]) {
        tui_area_text_cut(body, x, y, body->width - x, STYLE_WARN, study->unread);
        return;
    }
    if (study->have_best)
        x = tui_area_printf(body, x, y, STYLE_NORMAL, "best %s %s %s", tui_study_best_name(study, name),
                            tui_study_number(text, sizeof(text), study->best),
                            tui_study_direction(study, direction)) +
            2;
    else if (study->pareto >= 0)
        x = tui_area_printf(body, x, y, STYLE_NORMAL, "%d in the front of %s", study->pareto,
                            tui_study_direction(study, direction)) +
            2;
    if (isfinite(study->trials_h))
        x = tui_area_printf(body, x, y, STYLE_NORMAL, "%s/h", cli_format_number(text, study->trials_h, 1)) +
            2;
    int width = body->width - x - 12;
    if (study->n_points < 1 || width < 6)
        return;
    sparkline(body, x, y, width, study,
              panel_frame_style(tui_model_studies_freshness(scene->model, scene->now), STYLE_CHART));
    tui_area_text(body, x + width + 1, y, STYLE_DIM, "best so far");
}

void panel_studies(const struct area *area, const struct scene *scene)
{
    const struct model *model = scene->model;
    int n = model->studies ? model->studies->n : 0, title, top = 0;
    int64_t total = n > 0 && n == STUDIES_MAX ? (int64_t)model->studies->studies : n;
    struct area body = panel_frame_rule_of(area, scene, PANEL_STUDIES, "Studies", n, total, &title);

    if (model->studies_error != 0 && tui_model_studies_rows(model) > 0) {
        struct area said = tui_area_part(&body, 1, 0, body.width - 1, body.height);
        int room = body.height - n;
        top = panel_frame_wrap(&said, 0,
                               room < 1            ? 1
                               : room > WORDS_ROWS ? WORDS_ROWS
                                                   : room,
                               STYLE_WARN, model->studies_words);
    }
    if (n == 0) {
        struct area rest = tui_area_part(&body, 0, top, body.width, body.height - top);
        if (top == 0)
            panel_frame_empty(&rest, model->at_ns > 0 ? tui_model_unrecorded(model) : "no studies");
        return;
    }
    struct column shown[COLUMNS];
    memcpy(shown, columns, sizeof(shown));
    shown[NAME].width = area->width >= 135 ? 31 : area->width >= 100 ? 19 : columns[NAME].width;
    if (area->width > 150)
        shown[SO_FAR].width += area->width - 150 < 30 ? area->width - 150 : 30;
    struct table table = panel_frame_table(area, panel_study_age_after(area, scene, title), shown, COLUMNS);
    struct window window = panel_frame_window(scene, PANEL_STUDIES, n, body.height - top);
    for (int i = window.first; i < window.end; i++) {
        int y = top + i - window.first;
        row(&table, y + 1, scene, &model->studies->study[i]);
        panel_frame_row(&body, y, &window, i);
    }
    if (top + n < body.height)
        below(&body, top + n, scene, &table);
}
