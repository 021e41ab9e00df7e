#include "tui/panel/study_words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/text.h"
#include "tui/panel/training_words.h"
#include "tui/study_rows.h"

enum { GAP = 2 };

/* "STALE 94s", "" while it is fresh. */
static void age_words(const struct scene *scene, char buf[static FORMAT_MAX])
{
    enum freshness freshness = tui_model_studies_freshness(scene->model, scene->now);

    buf[0] = '\0';
    if (freshness != FRESH && scene->model->studies)
        panel_frame_age(buf, FORMAT_MAX, freshness, scene->now.mono_ms - scene->model->studies_mono_ms);
}

int panel_study_age_after(const struct area *area, const struct scene *scene, int x)
{
    char age[FORMAT_MAX];

    age_words(scene, age);
    return age[0] ? tui_area_printf(area, x, 0, STYLE_WARN, " %s ", age) : x;
}

void panel_study_age(const struct area *area, const struct scene *scene, const char *title, int title_end)
{
    char age[FORMAT_MAX], text[FORMAT_MAX + 2];

    age_words(scene, age);
    if (!age[0])
        return;
    snprintf(text, sizeof(text), " %s ", age);
    panel_frame_rule_right(area, area->width - 1, title, title_end, STYLE_WARN, text);
}

static void draw_no_page(const struct area *body, const struct scene *scene)
{
    char sentence[PANEL_SENTENCE_MAX], words[PANEL_SENTENCE_MAX];

    if (tui_view_study(scene->view, scene->model)) {
        panel_frame_empty(body, "not read yet");
    } else if (scene->model->studies_error) {
        panel_frame_empty(body, scene->model->studies_words);
    } else {
        snprintf(words, sizeof(words),
                 "no such study %.80s any more (it was here, and may have been deleted); %s",
                 scene->view->study, panel_frame_sentence(scene, "`Esc` goes back", sentence));
        panel_frame_empty(body, words);
    }
}

struct area panel_study_frame(const struct area *area, const struct scene *scene, enum panel panel,
                              const char *title, const struct tui_study_page **ret_page)
{
    const struct tui_study_page *page = tui_view_study_page(scene->view, scene->model);
    int end;
    struct area body = panel_frame_rule(area, scene, panel, title, -1, &end);

    panel_study_age(area, scene, title, end);
    if (!page)
        draw_no_page(&body, scene);
    *ret_page = page;
    return body;
}

const char *panel_study_trial_state(const struct tui_study_trial *trial, struct moment now,
                                    enum style *ret_style)
{
    static const enum style styles[TRIAL_STATES] = {[TRIAL_RUNNING] = STYLE_STRONG,
                                                    [TRIAL_COMPLETE] = STYLE_GOOD,
                                                    [TRIAL_PRUNED] = STYLE_DIM,
                                                    [TRIAL_FAIL] = STYLE_BAD,
                                                    [TRIAL_WAITING] = STYLE_DIM};

    *ret_style = styles[trial->state];
    if (tui_model_trial_freshness(trial, now) != FRESH) {
        *ret_style = STYLE_WARN;
        return "STALE";
    }
    return tui_study_rows_state(trial);
}

const char *panel_study_values(char *buf, size_t size, const struct tui_study_page *page,
                               const struct tui_study_trial *trial)
{
    size_t at = 0;

    buf[0] = '\0';
    for (int i = 0; trial->values && i < page->study.n_objectives && at + 1 < size; i++) {
        char text[FORMAT_MAX];
        at += (size_t)snprintf(buf + at, size - at, "%s%s", i ? " " : "",
                               tui_study_number(text, sizeof(text), trial->values[i]));
    }
    return buf;
}

int64_t panel_study_age_ms(const struct tui_study *study, struct moment now)
{
    if (study->newest_us == STUDY_NO_TIME)
        return -1;
    int64_t ms = (now.wall_ns / 1000 - study->newest_us) / 1000;
    return ms < 0 ? 0 : ms;
}

bool panel_study_silent(const struct tui_study *study, struct moment now)
{
    int64_t age_ms = (now.wall_ns / 1000 - study->heartbeat_us) / 1000;

    return study->heartbeat_us != STUDY_NO_TIME &&
           freshness_of(age_ms, study->heartbeat_expected_ms) != FRESH;
}

const char *panel_study_stale(char buf[static FORMAT_MAX], const struct tui_study *study, struct moment now)
{
    char age[FORMAT_MAX];
    int64_t ms = (now.wall_ns / 1000 - study->stale_us) / 1000;

    snprintf(buf, FORMAT_MAX, "%d (%.20s)", study->stale, cli_format_age(age, ms));
    return buf;
}

int64_t panel_study_due_ns(const struct model *model, const struct tui_study *study)
{
    const struct status_training *job = tui_model_study_training(model, study);

    return job && strcmp(job->state, "queued") == 0 ? job->due_ns : -1;
}

const char *panel_study_state(const struct model *model, const struct tui_study *study, struct moment now,
                              char buf[static FORMAT_MAX], enum style *ret_style)
{
    const struct status_training *job = tui_model_study_training(model, study);

    int64_t due_ms = (panel_study_due_ns(model, study) - now.wall_ns) / 1000000;

    if (due_ms > 0 && tui_model_training_freshness(model, job, now) == FRESH) {
        char age[FORMAT_MAX];
        *ret_style = STYLE_DIM;
        snprintf(buf, FORMAT_MAX, "due %.20s", cli_format_age(age, due_ms));
        return buf;
    }
    if (job)
        return panel_training_state(job, tui_model_training_freshness(model, job, now), ret_style);
    return panel_study_own_state(study, now, ret_style);
}

const char *panel_study_own_state(const struct tui_study *study, struct moment now, enum style *ret_style)
{
    *ret_style = STYLE_NORMAL;
    if (study->unread[0]) {
        *ret_style = STYLE_WARN;
        return "unread";
    }
    if (panel_study_silent(study, now)) {
        *ret_style = STYLE_WARN;
        return "silent";
    }
    if (tui_study_running(study) > 0)
        return "running";
    if (study->stale > 0) {
        *ret_style = STYLE_WARN;
        return "stale";
    }
    *ret_style = STYLE_DIM;
    if (study->wanted > 0 && tui_study_done(study) >= study->wanted) {
        if (tui_study_failed(study) < tui_study_done(study))
            return "done";
        *ret_style = STYLE_BAD;
        return "failed";
    }
    return study->n_trials ? "idle" : "empty";
}

const char *panel_study_eta(char buf[static FORMAT_MAX], double seconds)
{
    if (!(seconds >= 0 && seconds < 1e9))
        snprintf(buf, FORMAT_MAX, "-");
    else if (seconds >= 3600 && seconds < 100 * 3600)
        snprintf(buf, FORMAT_MAX, "%dh%02dm", (int)seconds / 3600, (int)seconds / 60 % 60);
    else
        cli_format_age(buf, (int64_t)(seconds * 1000));
    return buf;
}

void panel_study_put(struct tui_study_flow *flow, const char *label, enum style style, const char *text)
{
    int width = cli_text_width(label) + 1 + cli_text_width(text), room;

    if (flow->x > 1 && flow->x + width > flow->area->width) {
        flow->x = 1;
        flow->y++;
    }
    if (flow->y < 0 || flow->y >= flow->area->height) {
        flow->x += width + GAP;
        return;
    }
    int x = tui_area_text(flow->area, flow->x, flow->y, STYLE_DIM, label) + (*label != '\0');
    room = flow->area->width - x;
    tui_area_text_cut(flow->area, x, flow->y, room < cli_text_width(text) ? room : cli_text_width(text),
                      style, text);
    flow->x += width + GAP;
}
