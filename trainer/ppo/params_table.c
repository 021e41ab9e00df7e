#include "trainer/ppo/params_table.h"

#define AT(field) \
    .offset = offsetof(struct ppo_params, field), .size = sizeof(((struct ppo_params *)0)->field)
/* A list of widths: its count, and the array behind it. */
#define WIDTHS(count) \
    .min = 1, .max = NET_WIDTH_MAX, .words = "widths", .whole = true, \
    .offset = offsetof(struct ppo_params, net.count), .size = (1 + NET_LAYERS_MAX) * sizeof(int)
#define SWITCH .min = 0, .max = 1, .whole = true
#define SHARE  .min = 0, .max = 1
#define EXACT  0x1p53 /* whole numbers up to here are doubles, and JSON's */

const struct env_param ppo_params_table[] = {
    {"activation", "after each hidden layer", .words = "tanh relu silu", AT(net.activation)},
    {"adam_beta1", "Adam's decay of the gradients' mean", .min = 0, .max = 0.999999, AT(adam_beta1)},
    {"adam_beta2", "Adam's decay of the squares' mean", .min = 0, .max = 0.999999, AT(adam_beta2)},
    {"adam_epsilon", "Adam's addend to the root", .min = 1e-12, .max = 1, AT(adam_epsilon)},
    {"bad_updates", "minibatches in a row that are not finite, after which training ends", .min = 1,
     .max = 1000000, .whole = true, AT(bad_updates)},
    {"bounded", "entropy_bound and value_bound hold", SWITCH, AT(bounded)},
    {"clip_observations", "normalised observations are clipped to +-this", .min = 0.1, .max = 1e6,
     AT(clip_observations)},
    {"clip_range", "of the ratio of probabilities: 1 +- this", .min = 1e-6, .max = 10, AT(clip_range)},
    {"clip_range_final", "clip_range at the end; linear in between; auto: clip_range", .min = 1e-6, .max = 10,
     AT(clip_range_final)},
    {"clip_range_vf", "values are clipped to the old ones +- this; 0: not", .min = 0, .max = 1e6,
     AT(clip_range_vf)},
    {"clip_rewards", "normalised rewards are clipped to +-this", .min = 0.1, .max = 1e6, AT(clip_rewards)},
    {"copies", "of the environment, stepped together", .min = 1, .max = 1 << 20, .whole = true, AT(copies)},
    {"device", "where it trains; auto: a device where there is one", .words = "auto cpu cuda", AT(device)},
    {"ent_coef", "weight of the entropy loss; auto: 0, with bounded 0.05", .min = 0, .max = 10, AT(ent_coef)},
    {"ent_coef_final",
     "ent_coef at the end; linear in between; auto: ent_coef, but 0.005 where bounded and that is auto",
     .min = 0, .max = 10, AT(ent_coef_final)},
    {"entropy_bound", "the entropy loss is clamped to +-this (bounded)", .min = 1e-6, .max = 1e6,
     AT(entropy_bound)},
    {"epochs", "times that an update goes over a rollout", .min = 1, .max = 1000, .whole = true, AT(epochs)},
    {"gae_lambda", "decay of advantages a step, beside gamma", SHARE, AT(gae_lambda)},
    {"gamma", "discount of rewards a step", SHARE, AT(gamma)},
    {"layer_norm", "layer normalisation of the hidden layers, before the activation", SWITCH,
     AT(net.layer_norm)},
    {"learning_rate", "Adam's, at the start", .min = 0, .max = 10, AT(learning_rate)},
    {"log_std_init", "log of the actions' deviation at the start", .min = -20, .max = 5, AT(log_std_init)},
    {"log_std_max", "its ceiling", .min = -20, .max = 5, AT(log_std_max)},
    {"log_std_min", "its floor", .min = -20, .max = 5, AT(log_std_min)},
    {"lr_final", "share of learning_rate that is left at the end (linear, exponential)", SHARE, AT(lr_final)},
    {"lr_schedule", "how the learning rate goes there", .words = "constant linear exponential",
     AT(lr_schedule)},
    {"max_grad_norm", "gradients are scaled to at most this norm; 0: not", .min = 0, .max = 1e6,
     AT(max_grad_norm)},
    {"memory_cap", "share of a device's memory that is never exceeded", .min = 0.01, .max = 1,
     AT(memory_cap)},
    {"minibatch", "rows of one step of Adam", .min = 1, .max = 1 << 24, .whole = true, AT(minibatch)},
    {"normalise_advantages", "to mean 0 and deviation 1 in each minibatch", SWITCH, AT(normalise_advantages)},
    {"normalise_observations", "to mean 0 and deviation 1", SWITCH, AT(normalise_observations)},
    {"normalise_rewards", "by the deviation of their discounted return", SWITCH, AT(normalise_rewards)},
    {"policy_gain", "gain of the policy head's weights at the start", .min = 0, .max = 100, AT(policy_gain)},
    {"policy_layers", "widths of the policy's hidden layers; of both, where shared", WIDTHS(n_pi)},
    {"precision", "of a device's products; the CPU's are float32; mixed is bf16",
     .words = "float32 tf32 bf16", AT(precision)},
    {"recurrent", "units of a recurrent layer (minGRU), a multiple of 16; 0: none", .min = 0, .max = 4096,
     .whole = true, AT(net.recurrent)},
    {"seed", "of everything that is drawn", .min = 0, .max = EXACT, .whole = true, AT(seed)},
    {"sequence", "steps of a row's sequence where there is a recurrent layer", .min = 1, .max = 1 << 20,
     .whole = true, AT(sequence)},
    {"shared_layers", "one trunk for policy and value", SWITCH, AT(net.shared)},
    {"steps", "of each copy in a rollout", .min = 1, .max = 1 << 20, .whole = true, AT(steps)},
    {"target_kl", "epochs end once a minibatch's KL is above 1.5 of this; 0: never", .min = 0, .max = 100,
     AT(target_kl)},
    {"threads", "of the CPU, and the parts of a minibatch; 0: one a core", .min = 0, .max = 1024,
     .whole = true, AT(threads)},
    {"total_steps", "of all copies together, to train for", .min = 1, .max = EXACT, .whole = true,
     AT(total_steps)},
    {"value_bound", "the value loss is clamped to +-this (bounded)", .min = 1e-6, .max = 1e9,
     AT(value_bound)},
    {"value_layers", "widths of the value's hidden layers", WIDTHS(n_vf)},
    {"vf_coef", "weight of the value loss", .min = 0, .max = 100, AT(vf_coef)},
};

const size_t ppo_params_table_n = sizeof ppo_params_table / sizeof *ppo_params_table;
