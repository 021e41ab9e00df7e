#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "tui/chart.h"
#include "tui/panel/list.h"
#include "tui/panel/training_words.h"

/* As tui_list_columns() has them. */
enum { NAME, STATE, PROGRESS, SHARE, SPEED, RETURN, AGE, LEFT, DEVICE, ITERATION, MEMORY, TRIES };

enum { BAR_MORE = 26 }; /* columns that its bar grows by */

/* Names get what a wider screen has. */
static int name_width(int width, int usual)
{
    return width >= 135 ? 31 : width >= 78 ? 19 : usual;
}

/* Instead of figures: why it has failed, what it waits for; "" where the figures show it, or it is not
 * known. */
static void reason(const struct status_training *t, const struct scene *scene, enum freshness freshness,
                   char *buf, size_t size)
{
    char age[FORMAT_MAX];
    int64_t waits = t->retry_in_ms < 0 ? -1 : t->retry_in_ms - tui_model_age(scene->model, 0, scene->now);

    buf[0] = '\0';
    if (freshness == GONE && !tui_model_training_ended(t))
        return;
    if (strcmp(t->state, "queued") == 0 && t->retry_in_ms >= 0)
        snprintf(buf, size, "again in %s%s%s", cli_format_age(age, waits > 0 ? waits : 0),
                 t->reason[0] ? ": " : "", t->reason);
    else if (t->reason[0] && !tui_model_training_works(t))
        snprintf(buf, size, "%s", t->reason);
}

static void row(const struct table *table, int y, const struct scene *scene, const struct status_training *t)
{
    enum freshness freshness = tui_model_training_freshness(scene->model, t, scene->now);
    bool gone = freshness == GONE, works = tui_model_training_works(t);
    double share = panel_training_share(t);
    char text[FORMAT_MAX], words[STATUS_TEXT_MAX + FORMAT_MAX], name[STATUS_TRAINING_NAME_MAX];
    enum style state_style, plain = panel_frame_style(freshness, STYLE_NORMAL);
    const char *state = panel_training_state(t, freshness, &state_style);

    const struct compare *compare = &scene->view->compare;
    int mark = tui_compare_find(compare, t->training);
    panel_frame_middle(table->area->canvas, name, sizeof(name), t->training,
                       table->columns[NAME].width - (mark >= 0));
    snprintf(words, sizeof(words), "%s%s", mark < 0 ? "" : mark == compare->baseline ? "=" : "*", name);
    panel_table_text(table, NAME, y, panel_frame_style(freshness, STYLE_STRONG), words);
    panel_table_text(table, STATE, y, state_style, state);
    int64_t age = panel_training_age(scene->model, t, scene->now);
    panel_table_text(table, AGE, y, freshness == FRESH ? STYLE_DIM : STYLE_WARN, cli_format_age(text, age));
    reason(t, scene, freshness, words, sizeof(words));
    int x = table->x[PROGRESS] >= 0 ? table->x[PROGRESS] : table->x[SPEED];
    if (words[0] && x >= 0 && table->x[AGE] > x) {
        tui_area_text_cut(table->area, x, y, table->x[AGE] - x - 1, plain, words);
        return;
    }
    if (table->x[PROGRESS] >= 0 && t->verdict[0] && tui_model_training_ended(t))
        panel_table_text(table, PROGRESS, y, panel_training_verdict_style(t->verdict), t->verdict);
    else if (table->x[PROGRESS] >= 0 && gone)
        panel_table_text(table, PROGRESS, y, STYLE_DIM, "-");
    else if (table->x[PROGRESS] >= 0 && panel_training_endless(t))
        panel_table_text(table, PROGRESS, y, STYLE_DIM, tui_model_training_ended(t) ? "" : "until stopped");
    else if (table->x[PROGRESS] >= 0)
        tui_chart_bar(table->area, table->x[PROGRESS], y, table->columns[PROGRESS].width, share,
                      panel_frame_style(freshness, STYLE_CHART));
    panel_table_text(table, SHARE, y, plain,
                     gone                        ? "-"
                     : panel_training_endless(t) ? cli_format_count(text, panel_training_number(t->steps))
                                                 : panel_training_percent(text, share));
    panel_table_text(table, SPEED, y, plain, gone || !works ? "-" : cli_format_count(text, t->steps_s));
    panel_table_text(table, RETURN, y,
                     gone ? STYLE_DIM : panel_frame_style(freshness, style_signed(t->episode_return, 4)),
                     gone ? "-" : panel_training_return(text, t->episode_return));
    panel_table_text(table, LEFT, y, plain, gone || !works ? "-" : panel_training_left(text, t));
    panel_table_text(table, DEVICE, y, plain, t->device[0] ? t->device : "-");
    panel_table_text(table, ITERATION, y, plain,
                     gone ? "-" : cli_format_count(text, panel_training_number(t->iteration)));
    panel_table_text(table, MEMORY, y, plain,
                     gone || !works ? "-" : panel_training_memory(text, t->memory_mib));
    panel_table_text(table, TRIES, y, plain, cli_format_count(text, panel_training_number(t->attempts)));
}

void panel_trainings(const struct area *area, const struct scene *scene)
{
    const struct model *model = scene->model;
    const struct status_trainer *trainer = &model->status.trainer;
    int n = model->status.n_trainings, top = 0;
    char more[40] = "", sentence[PANEL_SENTENCE_MAX];
    struct list_frame frame;

    if (model->status.trainings_total > n)
        snprintf(more, sizeof(more), "newest of %lld", (long long)model->status.trainings_total);
    panel_list_frame(area, scene, PANEL_TRAININGS, "Trainings", more, &frame);
    const struct area body = frame.body;
    bool trouble = trainer->state[0] && strcmp(trainer->state, "ok") != 0;
    bool alone = n == 0 || scene->view->tab == TAB_STUDY;
    char age[FORMAT_MAX];

    if (trouble && alone) { /* its own line, before figures that may be out of date */
        int x = tui_area_printf(&body, 1, 0, tui_model_trainer_missed(model) ? STYLE_WARN : STYLE_DIM,
                                "trainer %s", trainer->state);
        if (trainer->age_ms >= 0)
            x = tui_area_printf(&body, x + 1, 0, STYLE_DIM, "%s",
                                cli_format_age(age, tui_model_age(model, trainer->age_ms, scene->now)));
        tui_area_text_cut(&body, x + 2, 0, body.width - x - 2, STYLE_DIM, trainer->detail);
        top = 1;
    }
    if (n == 0) {
        struct area rest = tui_area_part(&body, 0, top, body.width, body.height - top);
        panel_frame_empty(&rest, model->at_ns > 0                 ? "no training was there"
                                 : model->source == MODEL_NOTHING ? "no training is known yet"
                                 : scene->view->readonly
                                     ? "no trainings"
                                     : panel_frame_sentence(scene, "no trainings: `s` starts one", sentence));
        return;
    }
    struct column shown[LIST_COLUMNS_MAX];
    int columns = panel_list_columns(scene, LIST_TRAININGS, shown);
    shown[NAME].width = name_width(area->width, shown[NAME].width);
    if (area->width > 150)
        shown[PROGRESS].width += area->width - 150 < BAR_MORE ? area->width - 150 : BAR_MORE;
    struct table table = panel_frame_table(&frame.area, frame.title_end, shown, columns);
    struct window window = panel_list_window(scene, &frame, PANEL_TRAININGS, top);
    panel_list_empty(&frame, scene, "");
    for (int i = window.first; i < window.end; i++) {
        int y = top + i - window.first;
        panel_frame_row(&body, y, &window, i);
        if (tui_lists_row(&frame.rows, i))
            row(&table, y + 1, scene, tui_lists_row(&frame.rows, i));
        else
            panel_list_unread(&frame, &body, y, i);
    }
}
