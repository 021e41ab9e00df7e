#include "trainer/study/proposal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/json.h"
#include "strategy/metrics/verdict_json.h"
#include "trainer/study/definition.h"
#include "trainer/study/internal.h"
#include "trainer/study/outcome.h"
#include "trainer/study/proposal_folder.h"
#include "trainer/study/proposal_policy.h"
#include "trainer/study/trial_hashes.h"

static json_t *holdout_json(const struct study_market *market, const struct trial_split *split)
{
    const struct split_rows *rows = &market->holdout;
    if (rows->to == rows->from)
        return json_pack("{s:n, s:n, s:i, s:n, s:n, s:n, s:n, s:n, s:n}", "from_ns", "to_ns", "rows", 0,
                         "sharpe", "sharpe_holding", "sharpe_equal_weight", "return_pct", "drawdown_pct",
                         "trades");
    const struct market *bars = market->source.market;
    int64_t from = market_open_ns(bars, trainer_data_row(market->grid, rows->from));
    int64_t to = market_open_ns(bars, trainer_data_row(market->grid, rows->to - 1)) + bars->interval_ns;
    return json_pack("{s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:I}", "from_ns", (json_int_t)from, "to_ns",
                     (json_int_t)to, "rows", (json_int_t)(rows->to - rows->from), "sharpe",
                     record_json_real(split->sharpe), "sharpe_holding", record_json_real(split->holding),
                     "sharpe_equal_weight", record_json_real(split->equal_weight), "return_pct",
                     record_json_real(100 * split->total_return), "drawdown_pct",
                     record_json_real(-100 * split->drawdown), "trades", (json_int_t)split->trades);
}

/* Which trials were trained, and from what: the inputs that a policy and its holdout depend on. */
static json_t *made_json(const struct study_settings *settings, const struct train_config *base,
                         const struct study *study, const struct study_proposed *proposed)
{
    return json_pack("{s:o, s:o}", "made_of", study_made_of(base, settings), "of_chosen",
                     study_chosen_hashes(study, proposed->trials, proposed->n));
}

/* NULL without memory. */
static json_t *build(const struct study_market *market, const struct study_settings *settings,
                     const struct train_config *base, const struct study *study,
                     const struct study_members *others, const struct study_ranked *ranked,
                     const struct study_proposed *proposed, const json_t *validation)
{
    bool holdout = market->holdout.to > market->holdout.from, admitted;
    const struct trial_split *split = &proposed->holdout;
    const struct gate_figures figures = {.sharpe = holdout ? split->sharpe : NAN,
                                         .sharpe_holding = holdout ? split->holding : NAN,
                                         .pbo = study_outcome_figure(validation, NULL, "pbo"),
                                         .deflated = study_outcome_figure(validation, "deflated", "skill"),
                                         .drawdown = holdout ? split->drawdown : NAN,
                                         .trades = holdout ? split->trades : -1};
    char words[OUTCOME_WORDS_MAX], path[PATH_MAX];
    json_t *gates = study_outcome_gates(&settings->gates, &figures, &admitted, words, sizeof words),
           *numbers = json_array();
    for (int i = 0; i < proposed->n; i++)
        json_array_append_new(numbers, json_integer(proposed->trials[i]->number));
    const char *whole = realpath(proposed->path, path) ? path : proposed->path;
    json_t *object = json_pack("{s:s, s:s, s:s, s:i, s:o, s:s, s:s, s:o, s:o, s:o}", "schema",
                               "papertape.proposal/1", "study", study->name, "name", base->name, "trial",
                               proposed->trials[0]->number, "trials_proposed", numbers, "kind",
                               proposed->together ? "ensemble"
                               : proposed->rules  ? "strategy"
                                                  : "policy",
                               "policy", whole, "value", record_json_real(proposed->value), "expires_s",
                               study_outcome_expires(settings), "holdout", holdout_json(market, split));
    json_t *verdict = json_pack("{s:o, s:b, s:s}", "gates", gates, "admitted", admitted, "words", words);
    bool good = study_outcome_add(object, study_outcome_counts(study, others, ranked->n));
    good = study_outcome_add(object, study_outcome_luck(validation)) && good;
    good = study_outcome_add(object, verdict) && good;
    good = metrics_verdict_json(holdout ? &split->verdict : NULL, object) && good;
    good = study_outcome_add(object, made_json(settings, base, study, proposed)) && good;
    if (good)
        return object;
    json_decref(object);
    return NULL;
}

/* Other processes may judge the previous proposal again meanwhile. */
static int write_alone(const json_t *object, const char *folder, char err[static TRIAL_ERROR_MAX])
{
    int lock = study_folder_lock(folder);
    int r = study_proposal_file_write(object, folder, err);
    study_folder_unlock(lock);
    return r;
}

int study_proposal_make(const struct study_market *market, const struct train_config *base,
                        const struct study_settings *settings, const struct study *study,
                        const struct study_members *others, const char *folder,
                        const struct trial_calls *calls, json_t **ret, char err[static TRIAL_ERROR_MAX])
{
    struct study_ranked ranked;
    struct study_proposed *proposed = calloc(1, sizeof *proposed);
    struct proposal_folder own;
    bool made = false;
    json_t *validation = NULL, *object = NULL;
    int r = study_rank(study, &ranked, err);
    if (r == 0 && !proposed)
        r = study_error(err, -ENOMEM, "out of memory: a proposal");
    if (r == 0)
        made = (r = study_proposal_folder_make(folder, &own, err)) == 0;
    if (r == 0)
        r = study_proposed_make(market, base, settings, study, &ranked, own.path, calls, proposed, err);
    if (r == 0)
        r = study_outcome_validate(study, others, proposed->trials[0]->number, folder, calls, &validation,
                                   err);
    if (r == 0 && !(object = build(market, settings, base, study, others, &ranked, proposed, validation)))
        r = study_error(err, -ENOMEM, "out of memory: a proposal");
    if (r == 0)
        r = write_alone(object, folder, err);
    free(ranked.trials);
    free(proposed);
    json_decref(validation);
    if (made)
        study_proposal_folder_finish(&own, r == 0 || study_proposal_file_names(object, folder));
    if (r != 0) {
        json_decref(object);
        return r;
    }
    *ret = object;
    return 0;
}
