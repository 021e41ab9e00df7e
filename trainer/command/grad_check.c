#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/command/args.h"
#include "trainer/command/grad_batch.h"

enum { BATCH_MIN = 2, BATCH_MAX = 1 << 20 };

/* PPO's usual coefficients, and the bounds of the reference's bounded entropy. */
static const double clip_range = 0.2, vf_coef = 0.5, ent_coef = 0.01, entropy_bound = 1, value_bound = 10;

struct grad_check_request {
    struct grad_batch_options options;
    const char *out;
    int64_t obs, actions, batch;
    uint64_t seed;
};

#define AT(member) offsetof(struct grad_check_request, member)

static int take_widths(struct option_call *call, const struct option_row *row, const char *text)
{
    struct grad_check_request *request = call->into;
    struct net_shape *shape = &request->options.shape;
    const char *at = text;
    char *end;
    for (shape->n_pi = 0; shape->n_pi < NET_LAYERS_MAX && *at >= '0' && *at <= '9'; at = end + 1) {
        unsigned long width = strtoul(at, &end, 10);
        if (width < 1 || width > NET_WIDTH_MAX || (*end && *end != ','))
            break;
        shape->pi[shape->n_pi] = shape->vf[shape->n_pi] = (int)width;
        shape->n_vf = ++shape->n_pi;
        if (!*end)
            return EXIT_OK;
    }
    return option_fail(call, EXIT_USAGE,
                       "--%s: \"%.64s\": 1 to %d whole numbers from 1 to %d, as 64,64, are needed", row->name,
                       text, NET_LAYERS_MAX, NET_WIDTH_MAX);
}

static int take_activation(struct option_call *call, const struct option_row *row, const char *text)
{
    (void)row;
    policy_net_activation_parse(text, &((struct grad_check_request *)call->into)->options.shape.activation);
    return EXIT_OK;
}

static int take_bounded(struct option_call *call, const struct option_row *row, const char *text)
{
    struct grad_check_request *request = call->into;
    (void)row;
    (void)text;
    request->options.loss.entropy_bound = entropy_bound;
    request->options.loss.value_bound = value_bound;
    return EXIT_OK;
}

static int take_clip_range_vf(struct option_call *call, const struct option_row *row, const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value > 0) || !isfinite(value))
        return option_fail(call, EXIT_USAGE, "--%s: \"%.32s\": a number above 0 is needed", row->name, text);
    ((struct grad_check_request *)call->into)->options.loss.clip_range_vf = value;
    return EXIT_OK;
}

static const struct option_row options[] = {
    {"widths", "W,W", "of the hidden layers, 1 to 8 of them, of the policy and the value alike",
     .take = take_widths},
    {"obs", "N", "numbers of an observation", AT(obs), .low = 1, .high = NET_OBSERVATION_MAX},
    {"actions", "N", "numbers of an action", AT(actions), .low = 1, .high = NET_OUTPUTS_MAX},
    {"batch", "N", "rows", AT(batch), .low = BATCH_MIN, .high = BATCH_MAX},
    {"seed", "N", "what all is drawn from", AT(seed), .low = 0, .high = UINT64_MAX},
    {"activation", "tanh|relu|silu", "after each hidden layer; tanh by default", .take = take_activation},
    {"bounded", NULL, "clamp the entropy loss to +-1 and the value loss to +-10", .take = take_bounded},
    {"clip-range-vf", "X", "clip values to the old ones +-X; by default they are not",
     .take = take_clip_range_vf},
    {"out", "FILE", "the file, which is written whole or not at all", AT(out)},
};

static int run(struct option_call *call)
{
    struct grad_check_request *request = call->into;
    struct grad_batch *batch;
    char err[NET_ERROR_MAX], why[SAFETENSORS_ERROR_MAX];
    int status = EXIT_SUCCESS;

    request->options.shape.observation = (int)request->obs;
    request->options.shape.actions = (int)request->actions;
    request->options.rows = (size_t)request->batch;
    request->options.seed = request->seed;
    if (trainer_grad_batch_create(&request->options, &batch, err) < 0)
        return trainer_args_say(EXIT_FAILURE, "%s", err);
    if (trainer_grad_batch_write(batch, request->out, why) < 0)
        status = trainer_args_say(EXIT_FAILURE, "%s", why);
    trainer_grad_batch_destroy(batch);
    return status;
}

static void init(void *into)
{
    *(struct grad_check_request *)into = (struct grad_check_request){
        .options = {.shape = {.activation = NET_TANH},
                    .steps = 1,
                    .loss = {.clip_range = clip_range, .vf_coef = vf_coef, .ent_coef = ent_coef}}};
}

static const struct option_action actions[] = {{.needed = "widths obs actions batch seed out", .run = run}};
TRAINER_VERB(grad_check) = {
    .name = "grad-check",
    .words = "one batch, its loss and all gradients in float64, as a file",
    .about =
        "Draws networks and one batch from the seed, computes PPO's loss and all gradients in float64, and "
        "writes them as safetensors, for another library to compute them again. docs/training.md names the "
        "tensors and the metadata.",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    .size = sizeof(struct grad_check_request),
    .init = init,
};
