#include "trainer/training/best.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/fail.h"

#define say(err, code, ...) fail_with(code, err, KEEP_ERROR_MAX, __VA_ARGS__)

double training_score(const struct evaluation *evaluation)
{
    double grown = training_return(evaluation);
    return grown > -1 ? log1p(grown) : -INFINITY;
}

bool training_best_offer(struct training_best *best, struct kept_policy *policy, double score, int64_t steps)
{
    if (best->policy.model && !(score > best->score)) {
        best->without++;
        return false;
    }
    training_kept_policy_drop(&best->policy);
    *best = (struct training_best){.policy = *policy, .steps = steps, .score = score};
    *policy = (struct kept_policy){0};
    return true;
}

void training_best_drop(struct training_best *best)
{
    training_kept_policy_drop(&best->policy);
    *best = (struct training_best){0};
}

/* ---- In a checkpoint. ---- */

int training_best_pieces_init(struct training_best_pieces *pieces, const struct training_best *best)
{
    const struct kept_policy *policy = &best->policy;
    size_t o = (size_t)policy->layout.shape.observation;
    *pieces = (struct training_best_pieces){0};
    if (!policy->model)
        return 0;
    pieces->scales = malloc(2 * o * sizeof(float));
    if (!pieces->scales)
        return -ENOMEM;
    memcpy(pieces->scales, policy->mean, o * sizeof(float));
    memcpy(pieces->scales + o, policy->scale, o * sizeof(float));
    pieces->head = (struct training_best_head){best->steps, best->without, best->score};
    pieces->piece[0] = (struct checkpoint_piece){"best", &pieces->head, sizeof pieces->head};
    pieces->piece[1] =
        (struct checkpoint_piece){"best_params", policy->params, policy->layout.n_params * sizeof(float)};
    pieces->piece[2] = (struct checkpoint_piece){"best_scale", pieces->scales, 2 * o * sizeof(float)};
    pieces->n = TRAINING_BEST_PIECES;
    return 0;
}

void training_best_pieces_finish(struct training_best_pieces *pieces)
{
    free(pieces->scales);
    *pieces = (struct training_best_pieces){0};
}

int training_best_restore(const struct checkpoint *checkpoint, const struct learner *like,
                          struct training_best *ret, char err[static KEEP_ERROR_MAX])
{
    const size_t o = (size_t)like->layout.shape.observation, n = like->layout.n_params;
    size_t n_head, n_params, n_scales;
    const void *head = checkpoint_find(checkpoint, "best", &n_head),
               *params = checkpoint_find(checkpoint, "best_params", &n_params);
    const float *scales = checkpoint_find(checkpoint, "best_scale", &n_scales);
    struct training_best_head read;
    struct training_best best = {0};
    if (!head) {
        *ret = best;
        return 0;
    }
    if (n_head != sizeof read || !params || n_params != n * sizeof(float) || !scales ||
        n_scales != 2 * o * sizeof(float))
        return say(err, -EINVAL,
                   "cannot resume: %.300s: best: %zu, %zu and %zu bytes: %zu, %zu and %zu are right",
                   checkpoint_path(checkpoint), n_head, params ? n_params : 0, scales ? n_scales : 0,
                   sizeof read, n * sizeof(float), 2 * o * sizeof(float));
    memcpy(&read, head, sizeof read);
    int r = training_kept_policy_make(&like->layout, params, scales, scales + o,
                                      (float)like->params.clip_observations, &best.policy, err);
    if (r < 0)
        return r;
    best.steps = read.steps;
    best.without = read.without;
    best.score = read.score;
    *ret = best;
    return 0;
}
