/* The studies in the model. */
#include <errno.h>
#include <string.h>

#include "cli/text.h"
#include "tui/model.h"

void tui_model_take_studies(struct model *model, struct tui_study_reading *reading)
{
    model->studies_error = reading->error;
    cli_text_clean(model->studies_words, sizeof(model->studies_words), reading->words);
    if (reading->error == 0) {
        model->studies_words[0] = '\0';
        model->studies_mono_ms = reading->mono_ms;
    }
    if (reading->studies) {
        tui_studies_destroy(model->studies);
        tui_study_page_destroy(model->study_page);
        model->studies = reading->studies;
        model->study_page = reading->page;
        reading->studies = NULL;
        reading->page = NULL;
    }
    tui_study_reading_finish(reading);
}

enum freshness tui_model_studies_freshness(const struct model *model, struct moment now)
{
    if (!model->studies)
        return GONE;
    return freshness_of(now.mono_ms - model->studies_mono_ms, model->interval_ms);
}

int tui_model_studies_rows(const struct model *model)
{
    int n = model->studies ? model->studies->n : 0;

    if (model->studies_error == 0 || (model->studies_error == -ENOENT && n == 0 && !model->studies_named))
        return n;
    return n + 2;
}

enum freshness tui_model_trial_freshness(const struct tui_study_trial *trial, struct moment now)
{
    int64_t age_ms = tui_study_trial_age_ms(trial, now.wall_ns / 1000);

    if (trial->state != TRIAL_RUNNING)
        return FRESH;
    if (age_ms < 0)
        return tui_study_trial_duration_ms(trial, now.wall_ns / 1000) > trial->grace_ms ? GONE : FRESH;
    return freshness_of(age_ms, tui_study_trial_expected_ms(trial));
}

/* The least first. */
static int order_of(const struct tui_study *study, const struct status_training *job)
{
    int rank = tui_model_training_works(job)   ? (job->stopping ? 1 : 0)
               : tui_model_training_ended(job) ? 3
                                               : 2;

    return 2 * rank + (strcmp(job->study, study->name) != 0);
}

int tui_model_study_trainings(const struct model *model, const struct tui_study *study,
                              const struct status_training *ret[static STATUS_STUDY_TRAININGS_MAX])
{
    int n = 0;

    for (int i = 0; !model->studies_elsewhere && i < model->status.n_trainings; i++) {
        const struct status_training *job = tui_model_training(model, i);
        if (!job->study[0] || !tui_study_has(study, job->study))
            continue;
        const bool full = n == STATUS_STUDY_TRAININGS_MAX;
        if (full && order_of(study, job) >= order_of(study, ret[n - 1]))
            continue;
        int at = full ? n - 1 : n++;
        for (; at > 0 && order_of(study, job) < order_of(study, ret[at - 1]); at--)
            ret[at] = ret[at - 1];
        ret[at] = job;
    }
    return n;
}

const struct status_training *tui_model_study_training(const struct model *model,
                                                       const struct tui_study *study)
{
    const struct status_training *jobs[STATUS_STUDY_TRAININGS_MAX];

    return tui_model_study_trainings(model, study, jobs) > 0 ? jobs[0] : NULL;
}
