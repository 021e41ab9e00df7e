#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "indicators_gpu/share.h"
#include "trainer/ppo/device.h"

enum { RUNGS_MAX = 192, SENTENCE_MAX = PPO_ERROR_MAX + RUNGS_MAX + 128 };

static __attribute__((format(printf, 2, 3))) void warn(const struct learner_source *source,
                                                       const char *format, ...)
{
    char sentence[SENTENCE_MAX];
    va_list args;
    if (!source->warned)
        return;
    va_start(args, format);
    vsnprintf(sentence, sizeof(sentence), format, args);
    va_end(args);
    source->warned(source->ctx, sentence);
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
    ppo_learner_destroy(stack->learner);
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

void ppo_learner_stack_destroy(struct learner_stack *stack)
{
    drop_device(stack);
    *stack = (struct learner_stack){0};
}

/* ---- rungs: all copies, half of them, and so on ---- */

struct climb {
    const struct learner_source *source;
    const struct learner_memory *memory; /* of a device that is planned for; NULL: the module's device */
    struct ppo_params params;            /* of this rung */
    bool enters;                         /* its room in the module's share; else it only looks */
    bool host_failed;                    /* out of host memory: fewer copies do not help */
    bool unshared;                       /* reported */
    struct learner_room room;            /* of the rung that was found */
    struct learner_bytes of;             /* of a prediction: what room.all is made of */
    int wanted;                          /* copies */
    char why[PPO_ERROR_MAX];             /* these do not fit; "": they do */
    char lower[RUNGS_MAX];               /* ", nor 32, 16": copies that do not, either */
};

static void keep_refusal(struct climb *climb, const char *why)
{
    const size_t n = strlen(climb->lower);
    if (!climb->why[0])
        snprintf(climb->why, sizeof climb->why, "%s", why);
    else
        snprintf(climb->lower + n, sizeof climb->lower - n, "%s%d", n == 0 ? ", nor " : ", ",
                 climb->params.copies);
}

/* Halves the copies; false: there is no such learner. */
static bool step_down(struct climb *climb, const char *why)
{
    char reason[PPO_ERROR_MAX];
    const int copies = climb->params.copies;
    keep_refusal(climb, why);
    climb->params.copies /= 2;
    return !climb->source->all_copies && copies >= 2 && ppo_params_check(&climb->params, reason) == 0;
}

/* On the device, of the rung that was found. */
static void report_rung(const struct climb *climb)
{
    if (climb->why[0])
        warn(climb->source, "%d copies do not fit on the device (%s)%s: %d are used", climb->wanted,
             climb->why, climb->lower, climb->params.copies);
}

static void report_unshared(struct climb *climb, const char *why)
{
    if (climb->enters && !climb->unshared)
        warn(climb->source,
             "the device's memory is not entered for other processes to see (%s): one that starts now may "
             "count the same bytes as free",
             why);
    climb->unshared = true;
}

static int check_rung(struct climb *climb, struct learner_stack *stack, bool settled,
                      char err[static PPO_ERROR_MAX])
{
    return ppo_learner_check_device(&climb->params, stack->module, stack->env, stack->market != NULL, settled,
                                    &climb->room, err);
}

/* Is there room for the rung? Then it is entered. No process enters anything meanwhile. One that has entered
 * and is allocating counts twice, so that a refusal is looked at again when it has done so. */
static int find_room(struct climb *climb, struct learner_stack *stack, char err[static PPO_ERROR_MAX])
{
    const char *why;
    struct gpu_share *share = gpu_module_share(stack->module, &why);
    if (!share && why[0])
        report_unshared(climb, why);
    const int locked = share ? gpu_share_lock(share) : -ENOENT;
    int r = check_rung(climb, stack, false, err), entered = locked;
    if (r == -ENOMEM && locked == 0 && gpu_share_settle(share) == 0)
        r = check_rung(climb, stack, true, err);
    if (r == 0 && locked == 0 && climb->enters)
        entered = gpu_share_enter(share, &(struct gpu_share_entry){climb->room.all, climb->room.more});
    if (locked == 0)
        gpu_share_unlock(share);
    if (share && entered < 0)
        report_unshared(climb, strerror(-entered));
    return r;
}

/* On a device that is planned for. */
static int check_planned(struct climb *climb, const struct env *env, char err[static PPO_ERROR_MAX])
{
    struct learner_bytes *of = &climb->of;
    int r = ppo_learner_check_memory(&climb->params, climb->memory, env, of, err);
    if (r == 0)
        climb->room.all = of->learner + of->environment + of->market + of->driver;
    return r;
}

/* The next rung that fits on the device, by the sizes alone, and its environment. */
static int find_rung(struct climb *climb, struct learner_stack *stack, char err[static PPO_ERROR_MAX])
{
    for (;;) {
        int r = make_env(&climb->params, climb->source, &stack->env, err);
        climb->host_failed = r == -ENOMEM;
        if (r < 0)
            return r;
        r = climb->memory ? check_planned(climb, stack->env, err) : find_room(climb, stack, err);
        if (r == 0)
            return 0;
        drop_learner(stack);
        if (r != -ENOMEM || !step_down(climb, err))
            return r;
    }
}

static int make_rung(struct climb *climb, struct learner_stack *stack, char err[static PPO_ERROR_MAX])
{
    char reason[ENV_ERROR_MAX];
    int r = 0;
    if (!stack->market) {
        r = env_device_market_create(stack->module, climb->source->market, &stack->market, reason);
        if (r < 0)
            snprintf(err, PPO_ERROR_MAX, "%s", reason);
    }
    if (r == 0)
        r = ppo_learner_create_checked(&climb->params, stack->module, stack->market, stack->env, &climb->room,
                                       &stack->learner, err);
    if (r < 0) {
        const char *why;
        struct gpu_share *share = gpu_module_share(stack->module, &why);
        drop_learner(stack);
        if (share)
            gpu_share_leave(share);
    }
    return r;
}

static int open_module(const struct learner_source *source, struct learner_stack *stack,
                       char err[static PPO_ERROR_MAX])
{
    int r = gpu_module_open(source->module_path, &stack->module, err, PPO_ERROR_MAX);
    if (r == 0)
        gpu_module_limit(stack->module, source->module_limit);
    return r;
}

static int on_device(struct climb *climb, struct learner_stack *stack, char err[static PPO_ERROR_MAX])
{
    int r = open_module(climb->source, stack, err);
    if (r < 0)
        return r;
    do {
        r = find_rung(climb, stack, err);
        if (r < 0)
            break;
        r = make_rung(climb, stack, err);
    } while (r == -ENOMEM && step_down(climb, err));
    if (r < 0)
        drop_device(stack);
    else
        report_rung(climb);
    return r;
}

/* After a device failed for `reason`: reports it and returns 0 where the CPU is allowed; else returns r. */
static int fall_back(const struct climb *climb, int r, const char *reason, char err[static PPO_ERROR_MAX])
{
    if (climb->host_failed || (r != -ENOMEM && climb->params.device != PPO_AUTO)) {
        snprintf(err, PPO_ERROR_MAX, "%s", reason);
        return r;
    }
    if (climb->why[0])
        warn(climb->source,
             "training on the CPU: %d copies do not fit on the device (%s)%s: the CPU trains %d",
             climb->wanted, climb->why, climb->lower, climb->wanted);
    else
        warn(climb->source, "training on the CPU: %s", reason);
    return 0;
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
    stack->world.destroy = NULL; /* the stack owns the environment */
    if (r == 0)
        r = ppo_learner_create_cpu(params, &stack->world, &stack->learner, err);
    if (r < 0)
        drop_learner(stack);
    return r;
}

int ppo_learner_create_auto(const struct ppo_params *params, const struct learner_source *source,
                            struct learner_stack *ret, char err[static PPO_ERROR_MAX])
{
    struct learner_stack stack = {0};
    struct climb climb = {.source = source, .params = *params, .wanted = params->copies, .enters = true};
    char reason[PPO_ERROR_MAX];
    int r = ppo_params_check(params, err);
    if (r < 0)
        return r;
    if (params->device != PPO_CPU) {
        r = on_device(&climb, &stack, reason);
        if (r < 0)
            r = fall_back(&climb, r, reason, err);
    }
    if (r == 0 && !stack.learner)
        r = on_cpu(params, source, &stack, err);
    if (r < 0)
        return r;
    stack.learner->warned = source->warned;
    stack.learner->warned_ctx = source->ctx;
    *ret = stack;
    return 0;
}

int ppo_learner_predict(const struct ppo_params *params, const struct learner_source *source,
                        const struct learner_memory *memory, struct learner_prediction *ret,
                        char err[static PPO_ERROR_MAX])
{
    struct learner_stack stack = {0};
    struct climb climb = {.source = source, .memory = memory, .params = *params, .wanted = params->copies};
    char reason[PPO_ERROR_MAX];
    int r = ppo_params_check(params, err);
    if (r < 0)
        return r;
    struct learner_prediction made = {.copies = params->copies};
    if (params->device == PPO_CPU) {
        *ret = made;
        return 0;
    }
    size_t available;
    made.total = memory ? memory->total : 0;
    r = memory ? 0 : open_module(source, &stack, reason);
    if (r == 0 && !memory && ppo_device_memory(stack.module, &available, &made.total, reason) < 0)
        made.total = 0; /* the check below has the reason */
    if (r == 0)
        r = find_rung(&climb, &stack, reason);
    if (r == 0 && !memory)
        r = ppo_learner_parts(&climb.params, stack.env, climb.room.all, &climb.of, reason);
    ppo_learner_stack_destroy(&stack);
    if (r == 0) {
        report_rung(&climb);
        made.copies = climb.params.copies;
        made.device_bytes = climb.room.all;
        made.of = climb.of;
    } else {
        made.lacks_memory = r == -ENOMEM && !climb.host_failed;
        r = fall_back(&climb, r, reason, err);
    }
    if (r < 0)
        return r;
    *ret = made;
    return 0;
}
