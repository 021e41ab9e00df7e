/* Evaluations of a training: on the rows of validation, which choose the policy that is kept, and on those of
 * testing, which judge it. */
#include <errno.h>

#include "trainer/command/train_run.h"

static bool evaluation_failed(struct train_run *run, int r, const char *err)
{
    train_failed(run,
                 train_cause(r, r == -EINVAL ? "nan"
                                : r == -EIO  ? "device"
                                             : NULL),
                 "evaluation: %s; the last good checkpoint: %s", err, run->saved[0] ? run->saved : "none");
    return false;
}

/* Plays a policy through a part; an event. As training_evaluate(). */
static int judge(struct train_run *run, const struct kept_policy *policy, enum source_part part,
                 int64_t steps, struct evaluation *ret, char err[static SOURCE_ERROR_MAX])
{
    struct tensorboard_scalar scalars[UPDATE_SCALARS];
    struct usage started = telemetry_usage_now();
    struct training_watch watched, *watch = train_page_watch(run->page, part, &watched);
    telemetry_report_state(&run->report, "evaluating", run->steps);
    int r = training_evaluate(&run->source, part, &policy->layout, policy->model, watch, ret, err);
    if (r < 0)
        return r;
    train_phase(run, PHASE_EVALUATION, &started);
    json_t *json = trainer_evaluation_json(&run->source, ret);
    if (json)
        json_object_set_new(json, "steps", json_integer((json_int_t)steps));
    if (json && run->source.market)
        json_object_set_new(json, "range", json_string(training_source_part_name(part)));
    telemetry_report_event(&run->report, "evaluation", json);
    if (run->board)
        telemetry_tensorboard_add(run->board, run->steps, scalars,
                                  trainer_evaluation_scalars(&run->source, ret, scalars));
    return 0;
}

bool train_judge(struct train_run *run)
{
    char err[SOURCE_ERROR_MAX];
    struct kept_policy policy = {0};
    struct evaluation found;
    const bool validates = training_source_judges(&run->source, SOURCE_VALIDATION);
    const enum source_part part = validates ? SOURCE_VALIDATION : SOURCE_TEST;
    if (run->judged_at == run->steps || !training_source_judges(&run->source, part))
        return true;
    int r = training_kept_policy_take(run->making.learner, &policy, err);
    if (r < 0)
        return evaluation_failed(run, r, err);
    r = judge(run, &policy, part, run->steps, &found, err);
    run->judged_at = run->steps;
    if (r == 0)
        train_page_judged(run->page, &run->source, part, run->steps, &found);
    if (r == 0 && validates)
        training_best_offer(&run->best, &policy, training_score(&found), run->steps);
    training_kept_policy_drop(&policy);
    return r == 0 || evaluation_failed(run, r, err);
}

/* The policy is written even if it cannot be evaluated. */
bool train_evaluate(struct train_run *run)
{
    char err[SOURCE_ERROR_MAX];
    struct kept_policy own = {0};
    int64_t steps;
    int r = 0;
    bool tests = training_source_judges(&run->source, SOURCE_TEST);
    const struct kept_policy *policy = tests ? train_find_kept(run, &own, &steps, &r, err) : NULL;
    if (policy)
        r = judge(run, policy, SOURCE_TEST, steps, &run->evaluation, err);
    run->evaluated = policy && r == 0;
    training_kept_policy_drop(&own);
    train_policy(run);
    return r == 0 || evaluation_failed(run, r, err);
}

bool train_is_patient(const struct train_run *run)
{
    return run->config.patience > 0 && run->best.without >= run->config.patience;
}
