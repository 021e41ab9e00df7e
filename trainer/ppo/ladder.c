#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "trainer/ppo/device.h"

enum { SENTENCE_MAX = PPO_ERROR_MAX + 128 };

static __attribute__((format(printf, 2, 3))) void tell(const struct learner_source *source,
                                                       const char *format, ...)
{
    char sentence[SENTENCE_MAX];
    va_list args;
    if (!source->told)
        return;
    va_start(args, format);
    vsnprintf(sentence, sizeof(sentence), format, args);
    va_end(args);
    source->told(source->ctx, sentence);
}

static int make_env(const struct ppo_params *params, const struct learner_source *source, struct env **ret,
                    char err[static PPO_ERROR_MAX])
{
    const struct env_options options = {
        .copies = (size_t)params->copies, .seed = params->seed, .threads = params->threads};
    char reason[ENV_ERROR_MAX];
    int r = env_create(source->env_params, source->market, &options, ret, reason);
    if (r < 0)
        snprintf(err, PPO_ERROR_MAX, "%s", reason);
    return r;
}

static void drop_learner(struct learner_stack *stack)
{
    learner_destroy(stack->learner);
    stack->learner = NULL;
    env_destroy(stack->env);
    stack->env = NULL;
}

static void drop_device(struct learner_stack *stack)
{
    drop_learner(stack);
    env_device_market_destroy(stack->market);
    stack->market = NULL;
    gpu_module_close(stack->module);
    stack->module = NULL;
}

void learner_stack_destroy(struct learner_stack *stack)
{
    drop_device(stack);
    *stack = (struct learner_stack){0};
}

/* With half of the copies as often as the device has no memory. */
static int climb_device(const struct ppo_params *params, const struct learner_source *source,
                        struct learner_stack *stack, char err[static PPO_ERROR_MAX])
{
    struct ppo_params fewer = *params;
    for (;;) {
        char reason[PPO_ERROR_MAX];
        int r = make_env(&fewer, source, &stack->env, err);
        if (r < 0)
            return r;
        r = learner_create_device(&fewer, stack->module, stack->market, stack->env, &stack->learner, err);
        if (r != -ENOMEM)
            return r;
        drop_learner(stack);
        const int copies = fewer.copies;
        fewer.copies /= 2;
        if (copies < 2 || ppo_params_check(&fewer, reason) < 0)
            return -ENOMEM;
        tell(source, "the device has no memory for %d copies (%s): %d are tried", copies, err, fewer.copies);
    }
}

static int on_device(const struct ppo_params *params, const struct learner_source *source,
                     struct learner_stack *stack, char err[static PPO_ERROR_MAX])
{
    int r = gpu_module_open(source->module_path, &stack->module, err, PPO_ERROR_MAX);
    if (r < 0)
        return r;
    gpu_module_limit(stack->module, source->module_limit);
    char reason[ENV_ERROR_MAX];
    r = env_device_market_create(stack->module, source->market, &stack->market, reason);
    if (r < 0)
        snprintf(err, PPO_ERROR_MAX, "%s", reason);
    if (r == 0)
        r = climb_device(params, source, stack, err);
    if (r < 0)
        drop_device(stack);
    return r;
}

static int on_cpu(const struct ppo_params *params, const struct learner_source *source,
                  struct learner_stack *stack, char err[static PPO_ERROR_MAX])
{
    char reason[ENV_ERROR_MAX];
    int r = make_env(params, source, &stack->env, err);
    if (r < 0)
        return r;
    r = ppo_world_trading(stack->env, &stack->world, reason);
    if (r < 0)
        snprintf(err, PPO_ERROR_MAX, "%s", reason);
    stack->world.destroy = NULL; /* the environment is the stack's */
    if (r == 0)
        r = learner_create_cpu(params, &stack->world, &stack->learner, err);
    if (r < 0)
        drop_learner(stack);
    return r;
}

int learner_create_auto(const struct ppo_params *params, const struct learner_source *source,
                        struct learner_stack *ret, char err[static PPO_ERROR_MAX])
{
    struct learner_stack stack = {0};
    char reason[PPO_ERROR_MAX];
    int r = ppo_params_check(params, err);
    if (r < 0)
        return r;
    if (params->device != PPO_CPU) {
        r = on_device(params, source, &stack, reason);
        if (r < 0 && r != -ENOMEM && params->device == PPO_CUDA) {
            snprintf(err, PPO_ERROR_MAX, "%s", reason);
            return r;
        }
        if (r < 0)
            tell(source, "training on the CPU: %s", reason);
    }
    if (params->device == PPO_CPU || r < 0)
        r = on_cpu(params, source, &stack, err);
    if (r == 0)
        *ret = stack;
    return r;
}
