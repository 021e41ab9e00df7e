#include <string.h>

#include "cli/text.h"
#include "exchange/bar.h"
#include "trainer/serve/record.h"
#include "tui/model.h"

enum {
    TRAINER_EXPECTED_MS = 2000,  /* the daemon asks it every second */
    TRAINING_EXPECTED_MS = 5000, /* where nothing says how often a worker reports */
};

static bool is_one_of(const char *state, const char *const *states, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(state, states[i]) == 0)
            return true;
    return false;
}

bool tui_model_training_ended(const struct status_training *training)
{
    return serve_training_word_ended(training->state);
}

bool tui_model_training_works(const struct status_training *training)
{
    return serve_training_word_runs(training->state);
}

const struct status_training *tui_model_training(const struct model *model, int row)
{
    return &model->status.trainings[model->status.n_trainings - 1 - row];
}

enum freshness tui_model_trainer_freshness(const struct model *model, struct moment now)
{
    const struct status_trainer *trainer = &model->status.trainer;
    enum freshness own = freshness_of(tui_model_age(model, trainer->age_ms, now), TRAINER_EXPECTED_MS);

    return freshness_worse(freshness_worse(own, strcmp(trainer->state, "ok") == 0 ? FRESH : STALE),
                           tui_model_freshness(model, now));
}

bool tui_model_trainer_missed(const struct model *model)
{
    static const char *const troubles[] = {"silent", "version"}, *const missing[] = {"absent", "off"};
    const struct status *s = &model->status;
    bool needed = false;

    for (int i = 0; i < s->n_trainings; i++)
        needed |= !tui_model_training_ended(&s->trainings[i]);
    return is_one_of(s->trainer.state, troubles, 2) || (needed && is_one_of(s->trainer.state, missing, 2));
}

enum freshness tui_model_training_freshness(const struct model *model, const struct status_training *training,
                                            struct moment now)
{
    enum freshness own = FRESH;

    if (tui_model_training_works(training))
        own = freshness_worse(
            freshness_of(tui_model_age(model, training->age_ms, now),
                         training->expected_ms > 0 ? training->expected_ms : TRAINING_EXPECTED_MS),
            training->stale ? STALE : FRESH);
    else if (!tui_model_training_ended(training) && model->source == MODEL_DAEMON)
        own = tui_model_trainer_freshness(model, now);
    return freshness_worse(own, tui_model_freshness(model, now));
}

enum freshness tui_model_policy_freshness(const struct model *model, const struct status_policy *policy,
                                          struct moment now)
{
    int64_t clock_ns = tui_model_clock_ns(model, now), interval_ns;

    if (policy->decided_ns < 0 || clock_ns <= 0 || bar_interval_parse(policy->interval, &interval_ns) < 0)
        return GONE;
    int64_t age_ms = clock_ns > policy->decided_ns ? (clock_ns - policy->decided_ns) / 1000000 : 0;
    return freshness_worse(freshness_of(age_ms, interval_ns / 1000000), tui_model_freshness(model, now));
}

void tui_model_take_log(struct model *model, const char *training, const json_t *lines, const char *words,
                        struct moment now)
{
    struct model_log *log = &model->log;

    if (strcmp(log->training, training) != 0)
        *log = (struct model_log){0};
    cli_text_clean(log->training, sizeof(log->training), training);
    cli_text_clean(log->words, sizeof(log->words), lines ? "" : words);
    if (!lines)
        return;
    size_t n = json_array_size(lines), at = n > MODEL_LOG_LINES_MAX ? n - MODEL_LOG_LINES_MAX : 0;
    log->n = 0;
    for (; at < n; at++) {
        const char *line = json_string_value(json_array_get(lines, at));
        cli_text_clean(log->lines[log->n++], MODEL_LOG_LINE_MAX, line ? line : "");
    }
    log->have = true;
    log->mono_ms = now.mono_ms;
}
