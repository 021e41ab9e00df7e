/* The plain kernels: what the others are compared with. */
#include "strategy/policy/activation.h"
#include "strategy/policy/infer.h"

static void layer(const float *packed, const float *bias, const float *x, size_t in, size_t out, float *ret)
{
    for (size_t first = 0; first < out; first += INFER_PANEL) {
        size_t width = out - first < INFER_PANEL ? out - first : INFER_PANEL;
        for (size_t k = 0; k < width; k++) {
            float sum = bias[first + k];
            for (size_t i = 0; i < in; i++)
                sum = sum + packed[i * width + k] * x[i];
            ret[first + k] = sum;
        }
        packed += in * width;
    }
}

static void activate(enum net_activation activation, float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        switch (activation) {
        case NET_TANH:
            x[i] = activation_tanh(x[i]);
            break;
        case NET_RELU:
            x[i] = activation_relu(x[i]);
            break;
        case NET_SILU:
            x[i] = activation_silu(x[i]);
            break;
        }
}

static void gate(const float *zc, size_t r, const float *before, float *ret)
{
    for (size_t i = 0; i < r; i++) {
        float z = activation_sigmoid(zc[i]);
        ret[i] = (1.0f - z) * before[i] + z * zc[r + i];
    }
}

static void normalise(const float *x, const float *mean, const float *scale, float clip, size_t n, float *ret)
{
    for (size_t i = 0; i < n; i++) {
        float y = (x[i] - mean[i]) * scale[i];
        y = y > clip ? clip : y;
        ret[i] = y < -clip ? -clip : y;
    }
}

const struct infer_kernels policy_infer_scalar = {layer, activate, gate, normalise};
