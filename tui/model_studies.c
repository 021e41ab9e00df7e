/* What the model knows of studies. */
#include <errno.h>
#include <string.h>

#include "cli/text.h"
#include "tui/model.h"

void tui_model_take_studies(struct model *model, struct search_reading *reading)
{
    model->searches_error = reading->error;
    cli_text_clean(model->searches_words, sizeof(model->searches_words), reading->words);
    if (reading->error == 0) {
        model->searches_words[0] = '\0';
        model->searches_mono_ms = reading->mono_ms;
    }
    if (reading->searches) {
        tui_studies_destroy(model->searches);
        tui_study_page_destroy(model->search_page);
        model->searches = reading->searches;
        model->search_page = reading->page;
        reading->searches = NULL;
        reading->page = NULL;
    }
    tui_study_reading_finish(reading);
}

enum freshness tui_model_studies_freshness(const struct model *model, struct moment now)
{
    if (!model->searches)
        return GONE;
    return freshness_of(now.mono_ms - model->searches_mono_ms, model->interval_ms);
}

int tui_model_studies_rows(const struct model *model)
{
    int n = model->searches ? model->searches->n : 0;

    if (model->searches_error == 0 || (model->searches_error == -ENOENT && n == 0 && !model->searches_named))
        return n;
    return n + 2;
}

enum freshness tui_model_trial_freshness(const struct search_trial *trial, struct moment now)
{
    int64_t age_ms = tui_study_trial_age_ms(trial, now.wall_ns / 1000);

    if (trial->state != TRIAL_RUNNING || age_ms < 0)
        return FRESH;
    return freshness_of(age_ms, tui_study_trial_expected_ms(trial));
}

/* The least first. */
static int order_of(const struct search *search, const struct status_training *job)
{
    int rank = tui_model_training_works(job)   ? (job->stopping ? 1 : 0)
               : tui_model_training_ended(job) ? 3
                                               : 2;

    return 2 * rank + (strcmp(job->study, search->name) != 0);
}

int tui_model_study_jobs(const struct model *model, const struct search *search,
                         const struct status_training *ret[static STATUS_TRAININGS_MAX])
{
    int n = 0;

    for (int i = 0; !model->searches_elsewhere && i < model->status.n_trainings; i++) {
        const struct status_training *job = tui_model_training(model, i);
        if (!job->study[0] || !tui_study_has(search, job->study))
            continue;
        int at = n++;
        for (; at > 0 && order_of(search, job) < order_of(search, ret[at - 1]); at--)
            ret[at] = ret[at - 1];
        ret[at] = job;
    }
    return n;
}

const struct status_training *tui_model_study_job(const struct model *model, const struct search *search)
{
    const struct status_training *jobs[STATUS_TRAININGS_MAX];

    return tui_model_study_jobs(model, search, jobs) > 0 ? jobs[0] : NULL;
}
