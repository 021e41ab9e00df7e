/* A small world for tests: deterministic, moved by the actions it is given, with episodes of 3 to 5 steps
 * that are cut short or end in turn. It keeps its observations and the actions it got, so that a test
 * computes everything again. */
#ifndef TESTS_TRAINER_PPO_SCRIPT_H
#define TESTS_TRAINER_PPO_SCRIPT_H

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/ppo/world.h"

enum { SCRIPT_OBS = 3, SCRIPT_COPIES_MAX = 64 };

struct script_copy {
    int32_t episode, step;
    float x[SCRIPT_OBS];
};

/* What one step was: filled by the world, read by tests. */
struct script_step {
    float obs[SCRIPT_OBS], final_obs[SCRIPT_OBS]; /* before the step; after it where it ended */
    float actions[4], reward;
    bool terminated, truncated;
};

struct script {
    int copies, actions, levels;
    struct script_copy at[SCRIPT_COPIES_MAX];
    float lie;               /* added to the reward of copy 0's steps from step lie_from of the run on */
    int64_t steps, lie_from; /* of the run: part of the state */
    struct script_step *log; /* [log_room], of steps in the order of calls, copies in theirs; or NULL */
    size_t logged, log_room;
};

static inline void script_begin(struct script_copy *at, int copy)
{
    at->step = 0;
    for (int i = 0; i < SCRIPT_OBS; i++)
        at->x[i] = sinf((float)(copy * 7 + at->episode * 3 + i));
}

static inline void script_show(const struct script_copy *at, float *ret)
{
    for (int i = 0; i < SCRIPT_OBS; i++)
        ret[i] = 8.0f * (float)(i + 1) + (float)(i * i + 1) * at->x[i];
}

static inline int script_step(void *ctx, const struct env_io *io, char err[static ENV_ERROR_MAX])
{
    struct script *script = ctx;
    for (int k = 0; k < script->copies * script->actions; k++)
        if (!isfinite(io->actions[k])) {
            snprintf(err, ENV_ERROR_MAX, "action %d: a number is right", k);
            return -EINVAL;
        }
    for (int copy = 0; copy < script->copies; copy++) {
        struct script_copy *at = &script->at[copy];
        const float *actions = io->actions + copy * script->actions;
        struct script_step step = {0};
        script_show(at, step.obs);
        float pull = 0;
        for (int k = 0; k < script->actions; k++) {
            step.actions[k] = actions[k];
            pull += (script->levels ? actions[k] - 1 : tanhf(actions[k])) / (float)(k + 1);
        }
        step.reward = at->x[0] - 0.5f * at->x[1] * pull - 0.1f * pull * pull;
        if (copy == 0 && script->steps >= script->lie_from)
            step.reward += script->lie;
        for (int i = 0; i < SCRIPT_OBS; i++)
            at->x[i] = 0.8f * at->x[i] + 0.3f * pull + 0.1f * (float)i;
        at->step++;
        if (at->step == 3 + (copy + at->episode) % 3) {
            step.terminated = (copy + at->episode) % 2;
            step.truncated = !step.terminated;
            script_show(at, step.final_obs);
            if (io->final_obs)
                memcpy(io->final_obs + copy * SCRIPT_OBS, step.final_obs, sizeof step.final_obs);
            at->episode++;
            script_begin(at, copy);
        }
        io->rewards[copy] = step.reward;
        io->terminated[copy] = step.terminated;
        io->truncated[copy] = step.truncated;
        if (script->logged < script->log_room)
            script->log[script->logged++] = step;
    }
    script->steps++;
    return 0;
}

static inline void script_observe(void *ctx, float *ret)
{
    const struct script *script = ctx;
    for (int copy = 0; copy < script->copies; copy++)
        script_show(&script->at[copy], ret + copy * SCRIPT_OBS);
}

static inline size_t script_bytes(void *ctx)
{
    const struct script *script = ctx;
    return sizeof script->steps + (size_t)script->copies * sizeof *script->at;
}

static inline void script_save(void *ctx, void *ret)
{
    const struct script *script = ctx;
    memcpy(ret, &script->steps, sizeof script->steps);
    memcpy((char *)ret + sizeof script->steps, script->at, (size_t)script->copies * sizeof *script->at);
}

static inline int script_load(void *ctx, const void *state, char err[static ENV_ERROR_MAX])
{
    struct script *script = ctx;
    (void)err;
    memcpy(&script->steps, state, sizeof script->steps);
    memcpy(script->at, (const char *)state + sizeof script->steps,
           (size_t)script->copies * sizeof *script->at);
    return 0;
}

/* Fills in what `script` (copies, actions, levels set) needs to begin. */
static inline struct ppo_world script_world(struct script *script)
{
    for (int copy = 0; copy < script->copies; copy++)
        script_begin(&script->at[copy], copy);
    return (struct ppo_world){
        .ctx = script,
        .name = "script",
        .copies = (size_t)script->copies,
        .observation = SCRIPT_OBS,
        .actions = script->actions,
        .levels = script->levels,
        .step = script_step,
        .observe = script_observe,
        .state_bytes = script_bytes,
        .save = script_save,
        .load = script_load,
    };
}

#endif
