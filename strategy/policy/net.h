/* The layers of a policy's networks, and the layout of their parameters in memory: one description for the
 * trainer (CPU and device), the policy's file and inference.
 *
 * Networks: "pi" gives the means of the actions (or their logits), "vf" the value. Each is hidden layers
 * (linear, layer normalisation if wanted, activation), then a recurrent layer if wanted, then a head
 * (linear). With `shared` there is one trunk, "shared", with a head for each.
 *
 * Recurrent layer, of R units (minGRU: Feng et al. 2024, "Were RNNs All We Needed?", without its log space):
 *     z = sigmoid(x Wz + bz), c = x Wc + bc, h = (1 - z) h_before + z c
 * Its output is h; h_before is 0 where an episode begins. One weight: columns 0..R-1 are z, R..2R-1 are c.
 * Layer normalisation: (x - mean) / sqrt(variance + 1e-5) * weight + bias over a row, population variance.
 *
 * Parameters are one array; a weight is [rows_padded][stride], row i the weights of input i, so
 * y = x W + b with rows of x. In files a weight is PyTorch's [out, in]. Padding is 0 and stays 0. */
#ifndef STRATEGY_POLICY_NET_H
#define STRATEGY_POLICY_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    NET_LAYERS_MAX = 8,
    NET_WIDTH_MAX = 8192,
    NET_OBSERVATION_MAX = 1 << 16,
    NET_OUTPUTS_MAX = 4096, /* actions, times levels */
    NET_NAME_MAX = 40,
    NET_LANES = 16,    /* strides are multiples of it: 64 bytes of float32 */
    NET_ROWS_UNIT = 8, /* rows of weights, rounded up: 16 bytes of bfloat16 */
    NET_TENSORS_MAX = 2 * (4 * NET_LAYERS_MAX + 2 + 2) + 1,
    NET_ERROR_MAX = 512,
};
#define NET_NORM_EPSILON 1e-5

enum net_activation { NET_TANH, NET_RELU, NET_SILU };

struct net_shape {
    int observation;              /* floats of one observation */
    int actions;                  /* numbers of one action */
    int levels;                   /* 0: continuous; else discrete: logits [actions][levels] */
    int n_pi, pi[NET_LAYERS_MAX]; /* widths of the hidden layers, 0 to NET_LAYERS_MAX of them */
    int n_vf, vf[NET_LAYERS_MAX]; /* ignored with `shared` */
    bool shared, layer_norm;
    enum net_activation activation;
    int recurrent; /* R, a multiple of NET_LANES; 0: none */
};

enum net_kind { NET_WEIGHT, NET_BIAS, NET_NORM_WEIGHT, NET_NORM_BIAS, NET_LOG_STD };
enum net_part { NET_PI, NET_VF, NET_SHARED };

struct net_tensor {
    char name[NET_NAME_MAX]; /* "pi.0.weight", "pi.0.bias", "pi.0.norm.weight", "pi.recurrent.weight", …
                                "log_std"; the head is the number after the last hidden layer's; shared:
                                "shared.0.weight", …, "pi.0.weight", "vf.0.weight" */
    enum net_kind kind;
    enum net_part part;
    int rows, cols;  /* in, out; rows 1 except of weights */
    int rows_padded; /* rows rounded up to NET_ROWS_UNIT; 1 except of weights */
    int stride;      /* cols rounded up to NET_LANES */
    size_t offset;   /* of its first float in the array; a multiple of NET_LANES */
};

/* One hidden layer, recurrent layer or head, as indices of its tensors; -1: it has none. */
struct net_layer {
    int weight, bias, norm_weight, norm_bias;
    int in, out; /* out: 2R of the recurrent layer's linear part */
};

/* A chain of layers over observations, or (heads with `shared`) over the trunk's output. */
struct net_chain {
    int n_hidden;
    struct net_layer hidden[NET_LAYERS_MAX];
    bool has_recurrent, has_head; /* a shared trunk has no head; heads on one have nothing else */
    struct net_layer recurrent, head;
};

struct net_layout {
    struct net_shape shape;
    int outputs; /* of the policy's head: actions, or actions * levels */
    int n_tensors;
    struct net_tensor tensors[NET_TENSORS_MAX]; /* in the array's order: shared, pi, vf, log_std */
    struct net_chain chains[3];                 /* by enum net_part */
    int log_std;                                /* its tensor; -1 with levels */
    size_t n_params;                            /* floats of the array, padding included */
    size_t n_learned;                           /* without padding */
    int hidden; /* floats of recurrent state of one copy: [pi R][vf R], or [R] when shared; 0 */
};

/* Computes the layout. 0, or -EINVAL with "what: where: what would be right" for an invalid shape. */
int policy_net_layout_init(struct net_layout *layout, const struct net_shape *shape,
                           char err[static NET_ERROR_MAX]);

/* -1: there is none of that name. */
int policy_net_layout_find(const struct net_layout *layout, const char *name);

const char *policy_net_activation_name(enum net_activation activation); /* "tanh", "relu", "silu" */
bool policy_net_activation_parse(const char *text, enum net_activation *ret);

#endif
