#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trainer/search/defined.h"
#include "trainer/search/inside.h"
#include "trainer/search/of_trials.h"
#include "trainer/search/proposal.h"
#include "trainer/search/proposal_folder.h"
#include "trainer/search/proposed.h"
#include "trainer/search/verdict.h"

static bool says(const json_t *proposal, const char *key, json_t *now)
{
    bool same = now && json_equal(json_object_get(proposal, key), now);
    json_decref(now);
    return same;
}

/* Of these trials and none besides, and nothing of them has changed. */
static bool is_of_these(const json_t *proposal, const struct study *study,
                        const struct search_members *others)
{
    const char *name = json_string_value(json_object_get(proposal, "study"));
    return name && strcmp(name, study->name) == 0 &&
           says(proposal, "of_trials", search_of_trials(study, others));
}

/* Would the same trials be trained? Then the policy is what it would be, and what it did on the holdout. */
static bool is_trained_so(const json_t *proposal, const struct search_settings *settings,
                          const struct study *study, const struct search_ranked *ranked)
{
    const json_t *numbers = json_object_get(proposal, "trials_proposed");
    const char *policy = json_string_value(json_object_get(proposal, "policy"));
    const int wanted = search_proposed_most(settings), n = ranked->n < wanted ? ranked->n : wanted;
    return n > 0 && json_array_size(numbers) == (size_t)n && policy && access(policy, R_OK) == 0 &&
           says(proposal, "of_chosen", search_of_chosen(study, ranked->trials, n));
}

/* Counts, and what is luck, among the trials that there are now. 1; 0: other trials would be trained. */
static int reckon_again(const struct search_settings *settings, const struct study *study,
                        const struct search_members *others, const char *folder,
                        const struct trial_calls *calls, json_t *proposal, char err[static TRIAL_ERROR_MAX])
{
    struct search_ranked ranked;
    json_t *validation = NULL;
    int r = search_rank(study, &ranked, err);
    bool same = r == 0 && is_trained_so(proposal, settings, study, &ranked);
    if (same)
        r = verdict_look(study, others, ranked.trials[0]->number, folder, calls, &validation, err);
    if (same && r == 0) {
        bool added = verdict_add(proposal, verdict_counts(study, others, ranked.n));
        if (!verdict_add(proposal, verdict_luck(validation)) || !added)
            r = search_say(err, -ENOMEM, "out of memory: a proposal");
    }
    json_decref(validation);
    free(ranked.trials);
    return r == 0 ? same : r == -ENODATA ? 0 : r;
}

/* By the limits, the name and the expiry that it has. */
static bool is_judged_so(const json_t *proposal, const struct config *base,
                         const struct search_settings *settings, const json_t *gates)
{
    const json_t *before = json_object_get(proposal, "gates"), *gate;
    json_t *expires = verdict_expires(settings);
    const char *name = json_string_value(json_object_get(proposal, "name"));
    bool same = json_array_size(before) == json_array_size(gates) && name && strcmp(name, base->name) == 0 &&
                json_equal(json_object_get(proposal, "expires_s"), expires);
    size_t i;
    json_array_foreach(before, i, gate) same =
        same && json_number_value(json_object_get(gate, "limit")) ==
                    json_number_value(json_object_get(json_array_get(gates, i), "limit"));
    json_decref(expires);
    return same;
}

int proposal_again(const struct config *base, const struct search_settings *settings,
                   const struct study *study, const struct search_members *others, const char *folder,
                   const struct trial_calls *calls, json_t *proposal, char err[static TRIAL_ERROR_MAX])
{
    struct gate_figures figures;
    char words[VERDICT_WORDS_MAX], why[GATE_ERROR_MAX];
    bool admitted;
    if (!says(proposal, "made_of", search_made_of(base, settings)))
        return 0;
    bool held = is_of_these(proposal, study, others);
    int r = held ? 1 : reckon_again(settings, study, others, folder, calls, proposal, err);
    if (r <= 0)
        return r;
    if (gate_figures_parse(proposal, &figures, why) < 0)
        return 0;
    json_t *gates = verdict_gates(&settings->gates, &figures, &admitted, words, sizeof words);
    if (held && is_judged_so(proposal, base, settings, gates)) {
        json_decref(gates);
        return 1;
    }
    json_t *verdict =
        json_pack("{s:s, s:o, s:o, s:b, s:s}", "name", base->name, "expires_s", verdict_expires(settings),
                  "gates", gates, "admitted", admitted, "words", words);
    r = verdict_add(proposal, verdict) ? proposal_file_write(proposal, folder, err)
                                       : search_say(err, -ENOMEM, "out of memory: a proposal");
    return r < 0 ? r : 1;
}
