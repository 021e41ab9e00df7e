#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "tui/panel/frame.h"

void panel_training_log(const struct area *area, const struct scene *scene)
{
    const struct model_log *log = &scene->model->log;
    const char *wanted = tui_view_wanted_training(scene->view, scene->model);
    bool ours = log->have && strcmp(log->training, wanted) == 0;
    int64_t age_ms = scene->now.mono_ms - log->mono_ms;
    enum freshness freshness = freshness_of(age_ms > 0 ? age_ms : 0, MODEL_LOG_EXPECTED_MS);
    struct area body =
        panel_frame_rule(area, scene, PANEL_TRAINING_LOG, "Worker's log", ours ? log->n : -1, NULL);
    char age[FORMAT_MAX], text[FORMAT_MAX + 2];

    if (ours) {
        panel_frame_age(age, sizeof(age), freshness, age_ms > 0 ? age_ms : 0);
        snprintf(text, sizeof(text), " %s ", age);
        tui_area_text_right(area, area->width - 1, 0, freshness == FRESH ? STYLE_DIM : STYLE_WARN, text);
    }
    if (!ours || log->n == 0) {
        bool refused = log->words[0] && strcmp(log->training, wanted) == 0;
        panel_frame_empty(&body, refused                   ? log->words
                                 : scene->model->at_ns > 0 ? tui_model_unrecorded(scene->model)
                                 : scene->model->source != MODEL_DAEMON
                                     ? "n/a: the daemon fetches it, and none answers"
                                 : ours ? "it has written nothing"
                                        : "not read yet");
        return;
    }
    /* The newest at the bottom; the cursor counts from there upwards. */
    int back = tui_view_cursor(scene->view, scene->model, PANEL_TRAINING_LOG), most = log->n - body.height;
    back = back > most ? (most > 0 ? most : 0) : back;
    int end = log->n - back, first = end > body.height ? end - body.height : 0;
    for (int i = first; i < end; i++)
        tui_area_text_cut(&body, 1, i - first, body.width - 1, panel_frame_style(freshness, STYLE_NORMAL),
                          log->lines[i]);
}
