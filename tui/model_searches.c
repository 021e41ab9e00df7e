/* What the model knows of studies. */
#include <errno.h>
#include <string.h>

#include "cli/text.h"
#include "tui/model.h"

void model_take_searches(struct model *model, struct search_reading *reading)
{
    model->searches_error = reading->error;
    text_clean(model->searches_words, sizeof(model->searches_words), reading->words);
    if (reading->error == 0) {
        model->searches_words[0] = '\0';
        model->searches_mono_ms = reading->mono_ms;
    }
    if (reading->searches) {
        searches_destroy(model->searches);
        search_page_destroy(model->search_page);
        model->searches = reading->searches;
        model->search_page = reading->page;
        reading->searches = NULL;
        reading->page = NULL;
    }
    search_reading_finish(reading);
}

enum freshness model_searches_freshness(const struct model *model, struct moment now)
{
    if (!model->searches)
        return GONE;
    return freshness_of(now.mono_ms - model->searches_mono_ms, model->interval_ms);
}

int model_searches_rows(const struct model *model)
{
    int n = model->searches ? model->searches->n : 0;

    if (model->searches_error == 0 || (model->searches_error == -ENOENT && n == 0 && !model->searches_named))
        return n;
    return n + 2;
}

enum freshness model_trial_freshness(const struct search_trial *trial, struct moment now)
{
    int64_t age_ms = search_trial_age_ms(trial, now.wall_ns / 1000);

    if (trial->state != TRIAL_RUNNING || age_ms < 0)
        return FRESH;
    return freshness_of(age_ms, search_trial_expected_ms(trial));
}

/* The least first. */
static int order_of(const struct search *search, const struct status_training *job)
{
    int rank = model_training_works(job) ? (job->stopping ? 1 : 0) : model_training_ended(job) ? 3 : 2;

    return 2 * rank + (strcmp(job->study, search->name) != 0);
}

int model_search_jobs(const struct model *model, const struct search *search,
                      const struct status_training *ret[static STATUS_TRAININGS_MAX])
{
    int n = 0;

    for (int i = 0; !model->searches_elsewhere && i < model->status.n_trainings; i++) {
        const struct status_training *job = model_training(model, i);
        if (!job->study[0] || !search_has(search, job->study))
            continue;
        int at = n++;
        for (; at > 0 && order_of(search, job) < order_of(search, ret[at - 1]); at--)
            ret[at] = ret[at - 1];
        ret[at] = job;
    }
    return n;
}

const struct status_training *model_search_job(const struct model *model, const struct search *search)
{
    const struct status_training *jobs[STATUS_TRAININGS_MAX];

    return model_search_jobs(model, search, jobs) > 0 ? jobs[0] : NULL;
}
