#include "trainer/command/grad_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/command/args.h"
#include "trainer/command/grad_batch.h"

enum { BATCH_MIN = 2, BATCH_MAX = 1 << 20 };

/* PPO's usual coefficients, and the bounds of the reference's bounded entropy. */
static const double clip_range = 0.2, vf_coef = 0.5, ent_coef = 0.01, entropy_bound = 1, value_bound = 10;

static const char help[] =
    "Usage: papertape-trainer grad-check --widths W,W --obs N --actions N --batch N --seed N --out F "
    "[OPTION]...\n"
    "\n"
    "Draws networks and one batch from the seed, reckons PPO's loss and all gradients in float64, and "
    "writes\n"
    "them as safetensors. docs/training.md names the tensors and the metadata.\n"
    "\n"
    "      --widths W,W        of the hidden layers, of policy and value alike\n"
    "      --obs N             numbers of an observation\n"
    "      --actions N         numbers of an action\n"
    "      --batch N           rows, 2 or more\n"
    "      --seed N\n"
    "      --activation A      tanh (default), relu or silu\n"
    "      --bounded           the entropy's loss is clamped to +-1, the value's to +-10\n"
    "      --clip-range-vf X   values are clipped to the old ones +-X\n"
    "      --out F             the file to write\n"
    "      --help              this text\n"
    "\n"
    "Exit status: 0 done, 1 an error, 2 a wrong command line.\n";

enum { WIDTHS = 256, OBS, ACTIONS, BATCH, SEED, ACTIVATION, BOUNDED, CLIP_RANGE_VF, OUT };

static const struct option long_options[] = {
    {"widths", required_argument, NULL, WIDTHS},
    {"obs", required_argument, NULL, OBS},
    {"actions", required_argument, NULL, ACTIONS},
    {"batch", required_argument, NULL, BATCH},
    {"seed", required_argument, NULL, SEED},
    {"activation", required_argument, NULL, ACTIVATION},
    {"bounded", no_argument, NULL, BOUNDED},
    {"clip-range-vf", required_argument, NULL, CLIP_RANGE_VF},
    {"out", required_argument, NULL, OUT},
    {"help", no_argument, NULL, ARGS_HELP},
    {0},
};

struct request {
    struct grad_batch_options options;
    const char *out;
    bool widths, seed;
};

static int set_int(const char *name, const char *text, int high, int *ret)
{
    uint64_t value = 0;
    int status = trainer_args_whole(name, text, 1, (uint64_t)high, &value);
    *ret = (int)value;
    return status;
}

static int set_widths(struct request *request, const char *text)
{
    struct net_shape *shape = &request->options.shape;
    const char *at = text;
    uint64_t width;
    for (shape->n_pi = 0; shape->n_pi < NET_LAYERS_MAX; at++) {
        if (!trainer_args_read_whole(&at, 1, NET_WIDTH_MAX, &width))
            break;
        shape->pi[shape->n_pi] = shape->vf[shape->n_pi] = (int)width;
        shape->n_pi++;
        if (!*at) {
            shape->n_vf = shape->n_pi;
            request->widths = true;
            return GO_ON;
        }
        if (*at != ',')
            break;
    }
    return trainer_args_say(EXIT_USAGE,
                            "bad widths: --widths %.64s: 1 to %d whole numbers from 1 to %d, as 64,64", text,
                            NET_LAYERS_MAX, NET_WIDTH_MAX);
}

static int set_clip_range_vf(struct request *request, const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value > 0) || !isfinite(value))
        return trainer_args_say(EXIT_USAGE, "bad number: --clip-range-vf %.32s: a number above 0", text);
    request->options.loss.clip_range_vf = value;
    return GO_ON;
}

static int take(void *ctx, int option)
{
    struct request *request = ctx;
    struct net_shape *shape = &request->options.shape;
    uint64_t rows = 0;
    int status = GO_ON;
    switch (option) {
    case WIDTHS:
        return set_widths(request, optarg);
    case OBS:
        return set_int("obs", optarg, NET_OBSERVATION_MAX, &shape->observation);
    case ACTIONS:
        return set_int("actions", optarg, NET_OUTPUTS_MAX, &shape->actions);
    case BATCH:
        status = trainer_args_whole("batch", optarg, BATCH_MIN, BATCH_MAX, &rows);
        request->options.rows = (size_t)rows;
        return status;
    case SEED:
        request->seed = true;
        return trainer_args_whole("seed", optarg, 0, UINT64_MAX, &request->options.seed);
    case ACTIVATION:
        if (!policy_net_activation_parse(optarg, &shape->activation))
            status = trainer_args_say(EXIT_USAGE,
                                      "unknown activation: --activation %.32s: tanh, relu or silu", optarg);
        return status;
    case BOUNDED:
        request->options.loss.entropy_bound = entropy_bound;
        request->options.loss.value_bound = value_bound;
        return GO_ON;
    case CLIP_RANGE_VF:
        return set_clip_range_vf(request, optarg);
    case OUT:
        request->out = optarg;
        return GO_ON;
    default:
        return trainer_args_say(EXIT_USAGE, "a word too many: %.64s: options only; see grad-check --help",
                                optarg);
    }
}

static int check_all_there(const struct request *request)
{
    const struct net_shape *shape = &request->options.shape;
    const char *missing = !request->widths         ? "--widths W,W"
                          : !shape->observation    ? "--obs N"
                          : !shape->actions        ? "--actions N"
                          : !request->options.rows ? "--batch N"
                          : !request->seed         ? "--seed N"
                          : !request->out          ? "--out F.safetensors"
                                                   : NULL;
    if (missing)
        return trainer_args_say(EXIT_USAGE, "something is missing: command line: %s; see grad-check --help",
                                missing);
    return GO_ON;
}

static int parse(int argc, char **argv, struct request *ret)
{
    static const struct args_rules rules = {
        .verb = "grad-check", .help = help, .letters = "", .options = long_options, .take = take};
    *ret = (struct request){.options = {
                                .shape = {.activation = NET_TANH},
                                .steps = 1,
                                .loss = {.clip_range = clip_range, .vf_coef = vf_coef, .ent_coef = ent_coef},
                            }};
    int status = trainer_args_parse(&rules, argc, argv, ret);
    return status == GO_ON ? check_all_there(ret) : status;
}

int trainer_command_grad_check(int argc, char **argv)
{
    struct request request;
    struct grad_batch *batch;
    char err[NET_ERROR_MAX], why[SAFETENSORS_ERROR_MAX];
    int status = parse(argc, argv, &request);
    if (status != GO_ON)
        return status;
    if (trainer_grad_batch_create(&request.options, &batch, err) < 0)
        return trainer_args_say(EXIT_FAILURE, "%s", err);
    status = trainer_grad_batch_write(batch, request.out, why) < 0 ? trainer_args_say(EXIT_FAILURE, "%s", why)
                                                                   : EXIT_SUCCESS;
    trainer_grad_batch_destroy(batch);
    return status;
}
