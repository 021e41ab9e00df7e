#include "trainer/ppo/params.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int read_widths(const struct config_key *key, const char *text, void *base,
                       char why[static CONFIG_WHY_MAX])
{
    int widths[1 + NET_LAYERS_MAX] = {0};
    bool more = strcmp(text, "none") != 0;
    for (const char *p = text; more;) {
        char *end;
        bool digit = *p >= '0' && *p <= '9';
        long width = digit ? strtol(p, &end, 10) : 0;
        if (!digit || (*end != ',' && *end != '\0') || width < 1 || width > NET_WIDTH_MAX ||
            widths[0] == NET_LAYERS_MAX)
            return config_key_refuse(
                why, CONFIG_WHY_MAX,
                "\"%.60s\": at most %d widths from 1 to %d with commas, as 64,64, or none, are needed", text,
                NET_LAYERS_MAX, NET_WIDTH_MAX);
        widths[++widths[0]] = (int)width;
        more = *end == ',';
        p = end + more;
    }
    memcpy((char *)base + key->offset, widths, sizeof widths);
    return 0;
}

static void print_widths(const struct config_key *key, const void *base, FILE *to)
{
    int widths[1 + NET_LAYERS_MAX];
    memcpy(widths, (const char *)base + key->offset, sizeof widths);
    if (widths[0] == 0)
        fputs("none", to);
    for (int i = 1; i <= widths[0] && i <= NET_LAYERS_MAX; i++)
        fprintf(to, i == 1 ? "%d" : ",%d", widths[i]);
    if (widths[0] < 0 || widths[0] > NET_LAYERS_MAX)
        fprintf(to, " and more: %d", widths[0]);
}

#define AT(field) KEY_AT(struct ppo_params, field)
/* A list of widths: its count, and the array behind it. */
#define WIDTHS(count) \
    KEY_OWN(read_widths, print_widths), .offset = offsetof(struct ppo_params, net.count), \
                                        .size = (1 + NET_LAYERS_MAX) * sizeof(int), .words = "widths"
#define EXACT 0x1p53 /* whole numbers up to here are doubles, and JSON's */

static const struct config_key table[] = {
    {"network", "activation", "after each hidden layer", "tanh", KEY_WORDS("tanh relu silu"),
     AT(net.activation)},
    {"ppo", "adam_beta1", "Adam's decay of the gradients' mean", "0.9", KEY_NUMBER(0, 0.999999),
     AT(adam_beta1), .marks = CONFIG_KEY_TUNABLE},
    {"ppo", "adam_beta2", "Adam's decay of the squares' mean", "0.999", KEY_NUMBER(0, 0.999999),
     AT(adam_beta2), .marks = CONFIG_KEY_TUNABLE},
    {"ppo", "adam_epsilon", "Adam's addend to the root", "1e-5", KEY_NUMBER(1e-12, 1), AT(adam_epsilon),
     .marks = CONFIG_KEY_TUNABLE},
    {"ppo", "bad_updates", "minibatches in a row that are not finite, after which training ends", "10",
     KEY_WHOLE(1, 1000000), AT(bad_updates), .marks = CONFIG_KEY_TUNABLE},
    {"ppo", "bounded", "entropy_bound and value_bound hold", "false", KEY_SWITCH("false true"), AT(bounded),
     .marks = CONFIG_KEY_TUNABLE},
    {"ppo", "clip_observations", "normalised observations are clipped to +-this", "10", KEY_NUMBER(0.1, 1e6),
     AT(clip_observations)},
    {"ppo", "clip_range", "of the ratio of probabilities: 1 +- this", "0.2", KEY_NUMBER(1e-6, 10),
     AT(clip_range), .marks = CONFIG_KEY_TUNABLE},
    {"ppo", "clip_range_final", "clip_range at the end; linear in between; auto: clip_range", "auto",
     KEY_NUMBER(1e-6, 10), AT(clip_range_final), .none = "auto", .marks = CONFIG_KEY_TUNABLE},
    {"ppo", "clip_range_vf", "values are clipped to the old ones +- this; 0: not", "0", KEY_NUMBER(0, 1e6),
     AT(clip_range_vf), .marks = CONFIG_KEY_TUNABLE},
    {"ppo", "clip_rewards", "normalised rewards are clipped to +-this", "10", KEY_NUMBER(0.1, 1e6),
     AT(clip_rewards), .marks = CONFIG_KEY_TUNABLE},
    {"ppo", "copies", "of the environment, stepped together", "8", KEY_WHOLE(1, 1 << 20), AT(copies)},
    {"training", "device",
     "where it trains; auto: a device where there is one; cuda: only with one; for want of its memory both train on the CPU",
     "auto", KEY_WORDS("auto cpu cuda"), AT(device), .marks = CONFIG_KEY_TUNABLE | CONFIG_KEY_FIXED},
    {"ppo", "ent_coef", "weight of the entropy loss; auto: 0, with bounded 0.05", "auto", KEY_NUMBER(0, 10),
     AT(ent_coef), .none = "auto", .marks = CONFIG_KEY_TUNABLE},
    {"ppo", "ent_coef_final",
     "ent_coef at the end; linear in between; auto: ent_coef, but 0.005 where bounded and that is auto",
     "auto", KEY_NUMBER(0, 10), AT(ent_coef_final), .none = "auto", .marks = CONFIG_KEY_TUNABLE},
    {"ppo", "entropy_bound", "the entropy loss is clamped to +-this (bounded)", "1", KEY_NUMBER(1e-6, 1e6),
     AT(entropy_bound), .marks = CONFIG_KEY_TUNABLE},
    {"ppo", "epochs", "times that an update goes over a rollout", "4", KEY_WHOLE(1, 1000), AT(epochs),
     .marks = CONFIG_KEY_TUNABLE},
    {"ppo", "gae_lambda", "decay of advantages a step, beside gamma", "0.95", KEY_NUMBER(0, 1),
     AT(gae_lambda), .marks = CONFIG_KEY_TUNABLE},
    {"ppo", "gamma", "discount of rewards a step", "0.99", KEY_NUMBER(0, 1), AT(gamma),
     .marks = CONFIG_KEY_TUNABLE},
    {"network", "layer_norm", "layer normalisation of the hidden layers, before the activation", "false",
     KEY_SWITCH("false true"), AT(net.layer_norm)},
    {"ppo", "learning_rate", "Adam's, at the start", "3e-4", KEY_NUMBER(0, 10), AT(learning_rate),
     .marks = CONFIG_KEY_TUNABLE},
    {"network", "log_std_init", "log of the actions' deviation at the start", "0", KEY_NUMBER(-20, 5),
     AT(log_std_init)},
    {"network", "log_std_max", "its ceiling", "2", KEY_NUMBER(-20, 5), AT(log_std_max),
     .marks = CONFIG_KEY_TUNABLE},
    {"network", "log_std_min", "its floor", "-4", KEY_NUMBER(-20, 5), AT(log_std_min),
     .marks = CONFIG_KEY_TUNABLE},
    {"ppo", "lr_final", "share of learning_rate that is left at the end (linear, exponential)", "0.1",
     KEY_NUMBER(0, 1), AT(lr_final), .marks = CONFIG_KEY_TUNABLE},
    {"ppo", "lr_schedule", "how the learning rate goes there", "constant",
     KEY_WORDS("constant linear exponential"), AT(lr_schedule), .marks = CONFIG_KEY_TUNABLE},
    {"ppo", "max_grad_norm", "gradients are scaled to at most this norm; 0: not", "0.5", KEY_NUMBER(0, 1e6),
     AT(max_grad_norm), .marks = CONFIG_KEY_TUNABLE},
    {"training", "memory_cap", "share of a device's memory that is never exceeded", "0.8",
     KEY_NUMBER(0.01, 1), AT(memory_cap), .marks = CONFIG_KEY_TUNABLE | CONFIG_KEY_FIXED},
    {"ppo", "minibatch", "rows of one step of Adam", "1024", KEY_WHOLE(1, 1 << 24), AT(minibatch),
     .marks = CONFIG_KEY_TUNABLE},
    {"ppo", "normalise_advantages", "to mean 0 and deviation 1 in each minibatch", "true",
     KEY_SWITCH("false true"), AT(normalise_advantages), .marks = CONFIG_KEY_TUNABLE},
    {"ppo", "normalise_observations", "to mean 0 and deviation 1", "true", KEY_SWITCH("false true"),
     AT(normalise_observations)},
    {"ppo", "normalise_rewards", "by the deviation of their discounted return", "true",
     KEY_SWITCH("false true"), AT(normalise_rewards)},
    {"network", "policy_gain", "gain of the policy head's weights at the start", "0.01", KEY_NUMBER(0, 100),
     AT(policy_gain)},
    {"network", "policy_layers", "widths of the policy's hidden layers; of both, where shared", "64,64",
     WIDTHS(n_pi)},
    {"training", "precision", "of a device's products; the CPU's are float32; mixed is bf16", "bf16",
     KEY_WORDS("float32 tf32 bf16"), AT(precision), .marks = CONFIG_KEY_TUNABLE},
    {"training", "product_plans",
     "how a device's matrix products are chosen: measured at the start, or the library's first", "measured",
     KEY_WORDS("measured first"), AT(product_plans), .marks = CONFIG_KEY_TUNABLE | CONFIG_KEY_FIXED},
    {"network", "recurrent", "units of a recurrent layer (minGRU), a multiple of 16; 0: none", "0",
     KEY_WHOLE(0, 4096), AT(net.recurrent)},
    {"training", "seed", "of everything that is drawn", "1", KEY_WHOLE(0, EXACT), AT(seed)},
    {"network", "sequence", "steps of a row's sequence where there is a recurrent layer", "16",
     KEY_WHOLE(1, 1 << 20), AT(sequence)},
    {"network", "shared_layers", "one trunk for policy and value", "false", KEY_SWITCH("false true"),
     AT(net.shared)},
    {"ppo", "steps", "of each copy in a rollout", "1024", KEY_WHOLE(1, 1 << 20), AT(steps)},
    {"ppo", "target_kl", "epochs end once a minibatch's KL is above 1.5 of this; 0: never", "0",
     KEY_NUMBER(0, 100), AT(target_kl), .marks = CONFIG_KEY_TUNABLE},
    {"training", "threads", "of the CPU, and the parts of a minibatch; 0: one a core", "0",
     KEY_WHOLE(0, 1024), AT(threads), .marks = CONFIG_KEY_TUNABLE | CONFIG_KEY_FIXED},
    {"training", "total_steps", "of all copies together, to train for", "10000000", KEY_WHOLE(1, EXACT),
     AT(total_steps), .marks = CONFIG_KEY_FREE},
    {"ppo", "value_bound", "the value loss is clamped to +-this (bounded)", "10", KEY_NUMBER(1e-6, 1e9),
     AT(value_bound), .marks = CONFIG_KEY_TUNABLE},
    {"network", "value_layers", "widths of the value's hidden layers", "64,64", WIDTHS(n_vf)},
    {"ppo", "vf_coef", "weight of the value loss", "0.5", KEY_NUMBER(0, 100), AT(vf_coef),
     .marks = CONFIG_KEY_TUNABLE},
};

const struct config_key *ppo_params_list(size_t *ret_n)
{
    *ret_n = sizeof table / sizeof *table;
    return table;
}
