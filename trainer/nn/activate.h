/* Activations by kind, in either precision: float32's are strategy/policy/activation.h's. */
#ifndef TRAINER_NN_ACTIVATE_H
#define TRAINER_NN_ACTIVATE_H

#include <math.h>

#include "strategy/policy/activation.h"
#include "trainer/nn/kernels.h"

#ifdef NN_DOUBLE
static inline real real_exp(real x)
{
    return exp(x);
}
static inline real real_expm1(real x)
{
    return expm1(x);
}
static inline real real_log(real x)
{
    return log(x);
}
static inline real real_tanh(real x)
{
    return tanh(x);
}
static inline real real_sigmoid(real x)
{
    return 1 / (1 + exp(-x));
}
#else
static inline real real_exp(real x)
{
    return activation_exp(x);
}
static inline real real_expm1(real x)
{
    float scale;
    x = activation_at_most(activation_at_least(x, ACTIVATION_LEAST), ACTIVATION_MOST);
    float p = activation_expm1_scaled(x, &scale);
    return scale * p + (scale - 1.0f);
}
static inline real real_log(real x)
{
    return logf(x);
}
static inline real real_tanh(real x)
{
    return activation_tanh(x);
}
static inline real real_sigmoid(real x)
{
    return activation_sigmoid(x);
}
#endif

static inline real activate(int activation, real x)
{
    switch (activation) {
    case NET_TANH:
        return real_tanh(x);
    case NET_RELU:
        return 0 > x ? 0 : x; /* NaN stays */
    case NET_SILU:
        return x * real_sigmoid(x);
    default:
        return x;
    }
}

/* The derivative, by what struct nn_pull keeps. */
static inline real activate_slope(int activation, real kept)
{
    switch (activation) {
    case NET_TANH:
        return 1 - kept * kept;
    case NET_RELU:
        return kept > 0 ? 1 : 0;
    case NET_SILU: {
        real s = real_sigmoid(kept);
        return s + s * (kept * (1 - s));
    }
    default:
        return 1;
    }
}

#endif
