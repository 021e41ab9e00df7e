/* A narrow policy network over few copies in one launch, and the actions: a block has the copies of
 * block_act(), all layers one after the other, and their rows in shared memory. Operands, sums and roundings
 * are those of the products and kernels that wider networks have, added in order. */
#ifndef TRAINER_PPO_CUDA_BLOCKS_POLICY_H
#define TRAINER_PPO_CUDA_BLOCKS_POLICY_H

#include "trainer/ppo/cuda/blocks/act.h"
#include "trainer/ppo/cuda/blocks/layer.h"

enum {
    POLICY_ROW = ROWS_AT_ONCE * KERNEL_POLICY_WIDTH,
    POLICY_COPIES = 8, /* of a thread at once, which take each weight together */
    POLICY_AHEAD = 8,  /* weights loaded before they are needed; their rows are multiples of it */
};

/* Rounded to TF32: to nearest, ties to even. */
BLOCK_FN float policy_tf32(float x)
{
    uint32_t bits = number_bits(x);
    return number_finite(x) ? number_of_bits((bits + 0xFFFu + (bits >> 13 & 1u)) & ~0x1FFFu) : x;
}

BLOCK_FN float policy_rounded(const struct kernel_policy *k, float x)
{
    return k->x.half ? number_whole(number_half(x)) : x;
}

BLOCK_FN float policy_operand(const struct kernel_policy *k, float x)
{
    return k->tf32 ? policy_tf32(x) : x;
}

BLOCK_FN float policy_param(const void *at, size_t i, bool half)
{
    return half ? number_whole(((const uint16_t *)at)[i]) : ((const float *)at)[i];
}

/* Column `column` of layer `i` for copies `copy`, `copy` + apart, … of the block's `here`; behind them the
 * last is computed again, so that no loop has a branch. */
BLOCK_FN void policy_column(const struct kernel_policy *k, enum kernel_activation activation, uint32_t i,
                            uint32_t first, uint32_t here, uint32_t copy, uint32_t apart, uint32_t column,
                            float *rows)
{
    const struct kernel_policy_layer *layer = &k->layers[i];
    const bool head = i + 1 == k->n_layers;
    const float *from = rows + ((i + 1) & 1u) * POLICY_ROW;
    float *to = rows + (i & 1u) * POLICY_ROW, sum[POLICY_COPIES];
    uint32_t at[POLICY_COPIES];
    BLOCK_UNROLL
    for (uint32_t j = 0; j < POLICY_COPIES; j++) {
        at[j] = copy + j * apart < here ? copy + j * apart : here - 1;
        sum[j] = 0;
    }
    for (uint32_t l = 0; l < layer->in; l += POLICY_AHEAD) {
        float w[POLICY_AHEAD];
        BLOCK_UNROLL
        for (uint32_t a = 0; a < POLICY_AHEAD; a++)
            w[a] = policy_param(layer->weight, (size_t)(l + a) * layer->out + column, k->x.half);
        BLOCK_UNROLL
        for (uint32_t a = 0; a < POLICY_AHEAD; a++)
            BLOCK_UNROLL
        for (uint32_t j = 0; j < POLICY_COPIES; j++) {
            float x =
                i == 0 ? row_load(&k->x, first + at[j], l + a) : from[at[j] * KERNEL_POLICY_WIDTH + l + a];
            sum[j] += policy_operand(k, x) * policy_operand(k, w[a]);
        }
    }
    float bias = policy_param(layer->bias, column, k->x.half && !head);
    BLOCK_UNROLL
    for (uint32_t j = 0; j < POLICY_COPIES; j++) {
        float y = sum[j] + bias;
        if (copy + j * apart >= here)
            continue;
        if (head)
            k->heads[(size_t)(first + at[j]) * k->act.head_stride + column] = y;
        else
            to[at[j] * KERNEL_POLICY_WIDTH + column] =
                column < layer->cols
                    ? policy_rounded(k, layer_activate(activation, policy_rounded(k, y) + 0.0f))
                    : 0;
    }
}

/* x: tile of copies. Shared: two layers' rows, then block_act()'s. */
BLOCK_FN void policy_act(const struct kernel_policy *k, enum kernel_activation activation, unsigned x,
                         void *shared)
{
    float *rows = (float *)shared; /* [2][ROWS_AT_ONCE][KERNEL_POLICY_WIDTH] */
    const uint32_t first = x * ROWS_AT_ONCE, left = k->act.copies - first,
                   here = left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE;
    for (uint32_t i = 0; i < k->n_layers; i++)
        BLOCK_PHASE(t, KERNEL_THREADS)
        {
            uint32_t across = layer_across(k->layers[i].out * KERNEL_PIECE, KERNEL_POLICY_WIDTH);
            uint32_t apart = KERNEL_THREADS / across, column = t % across;
            for (uint32_t copy = t / across; column < k->layers[i].out && copy < here;
                 copy += POLICY_COPIES * apart)
                policy_column(k, activation, i, first, here, copy, apart, column, rows);
        }
    block_act(&k->act, x, 0, rows + 2 * POLICY_ROW);
}

#define POLICY_BLOCK(name, activation) \
    BLOCK_FN void block_policy_##name(const struct kernel_policy *k, unsigned x, unsigned y, void *shared) \
    { \
        (void)y; \
        policy_act(k, activation, x, shared); \
    }
POLICY_BLOCK(tanh, KERNEL_TANH)
POLICY_BLOCK(relu, KERNEL_RELU)
POLICY_BLOCK(silu, KERNEL_SILU)

#endif
