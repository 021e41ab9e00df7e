#include "trainer/command/eval_episode.h"

#include <errno.h>
#include <stdio.h>

#include "exchange/fail.h"
#include "trainer/command/eval_show.h"

/* An ensemble's runtime decides. */
static int decide(void *ctx, float *actions, char err[static EPISODE_ERROR_MAX])
{
    if (!trainer_eval_show_act(ctx, actions))
        return fail_with(-EINVAL, err, EPISODE_ERROR_MAX, "the ensemble: an action is not finite");
    return 0;
}

static int begin(const struct eval_market *market, size_t from, size_t rows, char err[static EVAL_ERROR_MAX])
{
    int64_t start = (int64_t)from, bars = (int64_t)rows;
    int r = env_windows(market->env, &start, &bars, err);
    if (r == 0)
        env_reset(market->env, NULL);
    return r;
}

int trainer_eval_episode_play(struct eval_market *market, size_t from, size_t to,
                              const struct training_calls *calls, struct training_episode *ret,
                              char err[static EVAL_ERROR_MAX])
{
    struct eval_show show = {0};
    struct training_play play = {.env = market->env,
                                 .market = market->env_market,
                                 .execution = market->params.execution,
                                 .steps_max = to - from,
                                 .model = market->ensemble ? NULL : market->policy->model,
                                 .decide = market->ensemble ? decide : NULL,
                                 .ctx = &show,
                                 .calls = calls};
    int r = begin(market, from, to - from, err);
    if (r == 0 && market->ensemble && (r = trainer_eval_show_open(market, from, &show)) < 0)
        snprintf(err, EVAL_ERROR_MAX, "out of memory");
    if (r == 0)
        r = training_episode_play(&play, ret, err);
    trainer_eval_show_close(&show);
    return r;
}
