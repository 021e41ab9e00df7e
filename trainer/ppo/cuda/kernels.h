/* Every kernel of PPO on a device except the matrix products: its arguments, and how it is queued. The
 * work of one block is in trainer/ppo/cuda/blocks/ (indicators_gpu/cuda/block.h); the launches are in
 * kernels.cu, and as loops over blocks and threads in tests/trainer/ppo/cpu_launch.c: their callers run on
 * either. C on both sides, no CUDA header; a host includes this file and no other.
 *
 * All memory is the device's. Launches are queued on `stream` (a cudaStream_t; NULL on the tests' CPU), wait
 * for nothing and report errors by cudaGetLastError(). No argument of a launch changes from one step,
 * minibatch or iteration to the next: what does change is read from struct kernel_clock and struct
 * kernel_rates, so that graphs are captured once and replayed. A launch of no rows queues nothing.
 *
 * The rollout. Rows are step-major: row = step * copies + copy; there are (steps + 1) * copies of
 * observations, since the values of what follows the last step are wanted. Queue, after rollout_begin:
 * observe, for the first row; steps times { products; act (policy: both); the environment's step; stepped },
 * whose last one writes the last row of all (and adds nothing to the statistics); observed and returned;
 * products for values over all rows and over the final observations; advantages; explained.
 * The update. Queue, after update_begin, epochs * (rows / minibatch) times { gather; products with activate;
 * loss_sums; loss_pull; products with pull_back; add_sums; grad_squares; grad_step; adam }; after clock->stop
 * minibatches may be left out.
 *
 * Sequences (recurrent nets; 1 step a sequence without): sequence q of a rollout is copy q % copies, steps
 * from (q / copies) * sequence on; ppo_shuffle() shuffles q. A minibatch of S sequences has its rows
 * step-major too: row = step * S + s. Feed-forward nets see S = minibatch, sequence = 1.
 *
 * No sum depends on the order in which blocks run: each block adds up tiles in a fixed order, in float64
 * from one tile on, and leaves its own; there are no float atomics. bfloat16 is rounded to nearest even by
 * integers (blocks/number.h), so host and device have the same bits.
 *
 * Padding: what kernels write between a row's columns and its stride is 0, and what they read there is not
 * used. Strides are multiples of 8; rows begin at multiples of 16 bytes.
 *
 * Bytes, for the reference: D = 350 observations (352 padded), 16,384 copies, [2048, 1024, 512] twice (7168
 * columns), A = 30 (32), minibatch 32,768, bf16. Each launch's comment counts what must move. The products of
 * a minibatch are 1.2 TFLOP (1.7 ms at 700 TFLOP/s); beside them all kernels move 0.3 GB where epilogues do
 * bias and ReLU both ways (0.06 ms at 4.8 TB/s), and 2.6 GB with tanh or SiLU (0.55 ms). */
#ifndef TRAINER_PPO_CUDA_KERNELS_H
#define TRAINER_PPO_CUDA_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trainer/ppo/shuffle.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rows that products read or write: float32, or bfloat16 where `half`. */
struct kernel_matrix {
    void *at; /* NULL: there is none */
    uint32_t stride;
    bool half;
};

static inline size_t kernel_matrix_bytes(size_t rows, uint32_t stride, bool half)
{
    return rows * stride * (half ? 2 : 4);
}

/* The device's progress; written by kernels alone, except run_step, epoch and adam_step, which the host sets
 * at the start and from a checkpoint. */
struct kernel_clock {
    uint64_t run_step;   /* steps of the run that are done: Philox's counter of an action */
    uint64_t epoch;      /* epochs of the run, whole ones and stopped: the shuffle's number */
    uint64_t adam_step;  /* steps of Adam that are done */
    uint32_t step;       /* of this rollout */
    uint32_t minibatch;  /* of this epoch */
    uint32_t started;    /* the epoch is counted */
    uint32_t skip;       /* this minibatch's gradients are not used */
    uint32_t stop;       /* target_kl, or too many bad ones: no more minibatches in this iteration */
    uint32_t bad_in_row; /* minibatches that were not finite, one after the other */
    uint32_t ticket;     /* blocks of kernel_stepped that have read the clock; 0 between launches */
    struct ppo_shuffle shuffle;
    double policy, value, entropy, loss, old_kl, kl, clipped; /* this minibatch's, as struct kernel_figures */
    float scale, rate, root_correction2; /* of gradients; lr / (1 - b1^t); 1 / sqrt(1 - b2^t) */
};

/* What a schedule changes: set by the host at the beginning of an iteration. */
struct kernel_rates {
    double learning_rate, clip_range, ent_coef;
};

/* An iteration's figures: read by the host after it. Sums are over the minibatches that were done. */
struct kernel_figures {
    double policy_loss, value_loss, entropy_loss, loss, old_kl, kl, clip_fraction, grad_norm;
    double explained_variance, std;                          /* std: NaN when discrete */
    double episodes, return_sum, return_squares, length_sum; /* of episodes that ended */
    double reward_sum;                                       /* raw, of all rows */
    uint64_t minibatches, skipped;
    uint32_t epochs, kl_stop, bad; /* epochs started; bad: params.bad_updates came in a row */
    uint32_t lost_finals; /* truncations beyond `slots` of a copy: must be 0, else a bug of the host */
};

/* struct ppo_moments of trainer/ppo/state.h, which is C alone. */
struct kernel_moments {
    double count, mean, m2;
};

enum {
    KERNEL_THREADS = 256,
    KERNEL_PIECE = 8,          /* columns of one thread: 16 bytes of bfloat16 */
    KERNEL_OBSERVE_TILE = 128, /* copies */
    KERNEL_GATHER_TILE = 64,   /* rows of a minibatch */
    KERNEL_LOSS_TILE = 128,
    KERNEL_SUM_TILE = 64,    /* rows of a layer's gradients that one block adds up */
    KERNEL_FLAT_TILE = 4096, /* floats of gradients, rows of a rollout's values */
    KERNEL_LOSS_SUMS = 6,
    KERNEL_JOBS_MAX = 64,
    KERNEL_COPY_COLUMNS = 10,  /* of struct kernel_reward's `copy` */
    KERNEL_POLICY_WIDTH = 128, /* of kernel_policy's layers, padded */
    KERNEL_POLICY_LAYERS = 9,
    KERNEL_POLICY_COPIES = 4096, /* for which it is used: a block for 32, a processor for each */
};

static inline uint32_t kernel_tiles(size_t n, uint32_t tile)
{
    return (uint32_t)((n + tile - 1) / tile);
}

/* ---- rollout ---- */

/* Sets clock->step, the statistics of the next rollout, truncations and figures to 0. Episodes and running
 * returns are kept. One pass over what it clears. */
struct kernel_rollout {
    struct kernel_clock *clock;
    struct kernel_figures *figures;
    double *observe_sums; /* kernel_observe's, or NULL */
    uint32_t *n_truncated;
    double *copy; /* kernel_reward's */
    uint32_t copies, size;
};
void ppo_launch_rollout_begin(const struct kernel_rollout *k, void *stream);

/* Raw observations of all copies -> normalised, clipped rows of step clock->step, and their part of the
 * statistics: thread a column, 64 columns and 128 copies a block.
 * Bytes a row: 4 D read, 2 stride written twice (350: 1400 + 1408), 32 D / 128 of statistics (88): 47 MB. */
struct kernel_observe {
    const struct kernel_clock *clock;
    const float *raw; /* [copies][size] */
    uint32_t copies, size, steps;
    const float *mean, *scale; /* [size]; 0 and 1 without normalisation */
    float clip;                /* INFINITY without */
    struct kernel_matrix rows; /* [(steps + 1) * copies] */
    struct kernel_matrix now;  /* [copies] the same again, where products find it; or none */
    double *sums;              /* [tiles of copies][2][size]: of x - mean and of its square; NULL: none */
    const uint8_t *started;    /* [copies] 1: an episode begins with this observation (kernel_reward's) */
    uint8_t *starts;           /* [(steps + 1) * copies] the same for kernel_scan; NULL: not wanted */
};
static inline size_t kernel_observe_sums_bytes(uint32_t copies, uint32_t size)
{
    return (size_t)kernel_tiles(copies, KERNEL_OBSERVE_TILE) * 2 * size * sizeof(double);
}
void ppo_launch_observe(const struct kernel_observe *k, void *stream);

/* Draws the actions of the rows of step clock->step, run step clock->run_step, and their log-probabilities:
 * Philox, key seed, counter {copy, run_step low, high, PPO_DRAW_ACTION << 24 | block}, word i of action i.
 * Continuous: mean + deviation * normal, by pairs of words (trainer/ppo/draw.h). 32 copies a block, thread a
 * counter block of a copy. Bytes a row: 4 heads + 8 A + 4: 380 (6 MB). */
struct kernel_act {
    const struct kernel_clock *clock;
    uint64_t seed;
    const float *heads; /* [copies][head_stride], with bias */
    uint32_t head_stride, copies, actions, levels;
    const float *log_std; /* [actions]; NULL with levels */
    float *env_actions;   /* [copies][actions]: what the environment's step is given */
    float *taken, *logp;  /* [steps * copies][actions], [steps * copies] */
};
void ppo_launch_act(const struct kernel_act *k, void *stream);

/* enum net_activation, whose header is C alone; and for sums alone, without a norm, the identity. */
enum kernel_activation { KERNEL_IDENTITY = -1, KERNEL_TANH, KERNEL_RELU, KERNEL_SILU };

/* Instead of products, activate and act: a whole policy network, without norm and recurrent layer, whose
 * padded layers are at most KERNEL_POLICY_WIDTH wide (the observation may be wider), and the actions. Blocks
 * as kernel_act's; each reads all weights, and its copies' rows stay in shared memory. */
struct kernel_policy_layer {
    const void *weight, *bias; /* [in][out], [out]; bfloat16 where x is, except the head's bias */
    uint32_t in, out;          /* padded */
    uint32_t cols;             /* of out */
};
struct kernel_policy {
    struct kernel_matrix x; /* [copies] */
    bool tf32;              /* float32 operands are rounded to TF32 */
    enum kernel_activation activation;
    uint32_t n_layers; /* the head is the last */
    struct kernel_policy_layer layers[KERNEL_POLICY_LAYERS];
    float *heads; /* [copies][act.head_stride], which `act` reads */
    struct kernel_act act;
};
void ppo_launch_policy(const struct kernel_policy *k, void *stream);

/* Final observations of copies that were truncated (and not terminated) by this step -> normalised rows; the
 * k-th of a copy in this rollout goes to row k * copies + copy. `slots` is how many a copy can have: steps /
 * shortest episode, + 1. Bytes: of ended copies alone. */
struct kernel_finals {
    const float *final_obs;                /* [copies][size] */
    const uint8_t *terminated, *truncated; /* [copies] */
    const uint32_t *n_truncated;
    uint32_t copies, size, slots;
    const float *mean, *scale;
    float clip;
    struct kernel_matrix rows; /* [slots * copies] */
};

/* A step's rewards and ends into the rollout, running return and its statistics, episodes. Thread a copy.
 * Bytes a copy: 160 of columns, 20 else: 3 MB. */
struct kernel_reward {
    const struct kernel_clock *clock;
    const float *rewards;                  /* [copies], raw */
    const uint8_t *terminated, *truncated; /* [copies] */
    uint32_t copies, slots;
    double gamma;
    float *kept;           /* [steps * copies] raw rewards */
    uint8_t *ends;         /* [steps * copies] 0, 1 terminated, 2 truncated */
    uint8_t *started;      /* [copies]; 1 at the very start: the host's to set */
    uint32_t *n_truncated; /* [copies] */
    uint32_t *final_rows;  /* [slots * copies] row of the rollout that a final observation ended; or NULL */
    /* [KERNEL_COPY_COLUMNS][copies]: running discounted return, the episode's return and length so far, which
     * last; then of this rollout: mean and m2 of the running return, rewards, episodes that ended, their
     * returns, squares of these, lengths. All 0 at the very start. */
    double *copy;
};

/* What follows the environment's step, one launch: finals and reward of step clock->step, observe for the
 * next one, and the clock: step and run_step + 1. Blocks as kernel_observe's. */
struct kernel_stepped {
    struct kernel_clock *clock;
    struct kernel_finals finals;
    struct kernel_reward reward;
    struct kernel_observe observe;
};
void ppo_launch_stepped(const struct kernel_stepped *k, void *stream);

/* After a rollout: its statistics of observations are merged into the normaliser's. 16 D bytes a tile. */
struct kernel_observed {
    const double *sums; /* kernel_observe's */
    uint32_t copies, steps, size;
    struct kernel_moments *moments; /* [size] */
    float *mean, *scale; /* [size] as kernel_observe reads them: 1 / sqrt(var + 1e-8); must be the ones that
                          * the rollout's sums were taken with, and are then updated */
};
void ppo_launch_observed(const struct kernel_observed *k, void *stream);

/* After a rollout, one block: episodes and rewards into the figures; with `normalise` the running returns'
 * statistics into moments, and reward_scale = 1 / sqrt(var + 1e-8), else 1. 56 bytes a copy. */
struct kernel_returned {
    const double *copy;
    const uint32_t *n_truncated;
    uint32_t copies, steps, slots;
    bool normalise;
    struct kernel_moments *moments; /* one */
    float *reward_scale;            /* one */
    struct kernel_figures *figures;
};
void ppo_launch_returned(const struct kernel_returned *k, void *stream);

/* Column 0 of a value head's product, packed: the first `rows` rows. */
struct kernel_take {
    const float *from; /* [rows][stride] */
    uint32_t stride;
    size_t rows;
    float *to; /* [rows] */
};
void ppo_launch_take(const struct kernel_take *k, void *stream);

/* Scales and clips rewards, bootstraps truncated ones by final_values; GAE; returns = A + V. Thread a copy,
 * backwards in time, eight steps' loads ahead of the chain. Bytes a row: 17 (9 MB a 32 steps). */
struct kernel_advantages {
    const float *rewards, *values; /* [steps * copies] raw; [(steps + 1) * copies] */
    const uint8_t *ends;
    const float *final_values; /* [slots * copies]; NULL where slots is 0 */
    const uint32_t *n_truncated;
    const float *reward_scale;
    float clip_rewards; /* INFINITY without */
    uint32_t copies, steps, slots;
    float gamma, lambda;
    float *advantages, *returns; /* [steps * copies] */
};
void ppo_launch_advantages(const struct kernel_advantages *k, void *stream);

/* Writes into the figures the explained variance of returns by values (NaN where returns do not vary), and
 * the mean of exp(log_std). Two launches in one call: tiles, then one block. 8 bytes a row. */
struct kernel_explained {
    const float *returns, *values; /* [rows] */
    size_t rows;
    const float *log_std; /* [actions] or NULL */
    uint32_t actions;
    double *partials; /* [tiles of KERNEL_FLAT_TILE][4] */
    struct kernel_figures *figures;
};
void ppo_launch_explained(const struct kernel_explained *k, void *stream);

/* ---- update ---- */

/* clock: first minibatch of the iteration's first epoch; stop, skip 0. One thread. */
struct kernel_order {
    struct kernel_clock *clock;
    uint64_t seed;
    uint32_t sequences;   /* that are shuffled: rows / sequence */
    uint32_t minibatches; /* of an epoch */
};
void ppo_launch_update_begin(const struct kernel_order *k, void *stream);

/* The minibatch's rows of the rollout, packed, and tiles of the sums of its advantages. A tile of rows a
 * block: 16-byte pieces of observations by neighbouring threads, then scalars, a thread a row.
 * Bytes a row: 4 stride + 8 A + 32 (350: 1408 + 272): 55 MB. */
struct kernel_gather {
    const struct kernel_clock *clock;
    uint32_t rows, sequence;          /* of the minibatch */
    uint32_t copies;                  /* of the rollout */
    struct kernel_matrix obs, to_obs; /* of the same stride and type */
    uint32_t actions;
    const float *taken, *logp, *values, *advantages, *returns;          /* the rollout's */
    float *to_taken, *to_logp, *to_values, *to_advantages, *to_returns; /* [rows] */
    double *advantage_sums; /* [tiles of KERNEL_GATHER_TILE][2]: of A and A^2 */
    /* Recurrent nets: the state before each sequence, [rows of kernel_scan's `keep`], and starts; or NULL. */
    const float *hidden;
    float *to_hidden; /* [rows / sequence][hidden_size] */
    uint32_t hidden_size;
    const uint8_t *starts;
    uint8_t *to_starts;
};
void ppo_launch_gather(const struct kernel_gather *k, void *stream);

/* The loss. ppo_launch_loss_sums(): log-probabilities and terms of each row, tiles of their sums.
 * ppo_launch_loss_pull(): each block adds up the sums (the clamps need the whole minibatch), then writes d
 * loss / d heads, values, and tiles of the sums over rows for the biases and log_std; block 0 writes figures
 * and clock->skip, stop. target_kl as SB3: the minibatch whose kl is above 1.5 of it is not done.
 * Bytes a row: 4 heads + 4 A + 30 read twice, 2 heads + 32 written: 700 (23 MB). */
struct kernel_loss {
    struct kernel_clock *clock;
    const struct kernel_rates *rates;
    struct kernel_figures *figures;
    uint32_t rows, actions, levels;
    const float *heads, *values; /* [rows][head_stride], [rows][value_stride]: products, with bias */
    uint32_t head_stride, value_stride;
    const float *log_std;                                              /* or NULL */
    const float *taken, *old_logp, *old_values, *advantages, *returns; /* kernel_gather's */
    const double *advantage_sums;
    bool normalise_advantages;
    double clip_range_vf, vf_coef, entropy_bound, value_bound, target_kl; /* 0: none */
    uint32_t bad_updates;
    float *logp;                            /* [rows], left by loss_sums */
    float *soft;                            /* [rows][actions][2], between both; NULL when continuous */
    double *partials;                       /* [tiles of KERNEL_LOSS_TILE][KERNEL_LOSS_SUMS] */
    struct kernel_matrix d_heads, d_values; /* d_values: column 0 */
    float *head_sums;                       /* [tiles][d_heads.stride]; NULL: not wanted */
    float *value_sums;                      /* [tiles][d_values.stride]; NULL: not wanted */
    float *log_std_sums;                    /* [tiles][log_std_stride]; NULL when discrete */
    uint32_t log_std_stride;
};
void ppo_launch_loss_sums(const struct kernel_loss *k, void *stream);
void ppo_launch_loss_pull(const struct kernel_loss *k, void *stream);

/* What follows a product: y = activation(norm(x + bias)), and backward. Where the product's epilogue
 * did all of that (bias and ReLU), there is no forward launch. In place (y.at == x.at) wherever x is not
 * needed afterwards, which it is with norm or SiLU; dx in place of dy always; all four have one stride.
 * Forward, bytes a row: 2 + 2 a column. Backward: dy, and y or x, and dx: 6 a column, + 2 x 4 /
 * KERNEL_SUM_TILE for the sums (7168 columns of both nets: forward 0.9 GB a minibatch, back 1.4 GB). With
 * norm x is read twice. Blocks take KERNEL_SUM_TILE rows of up to 256 columns (norm first: a row). */
struct kernel_layer {
    uint32_t rows, cols;
    enum kernel_activation activation;
    struct kernel_matrix x, y;
    const float *bias;                    /* [cols] to be added to x; NULL: it is in x */
    const float *norm_weight, *norm_bias; /* [cols]; NULL: no norm */
    float *norm_stats; /* [rows][2] mean and 1 / deviation: written forward, read backward; NULL: no norm */

    /* Backward. x is read with norm or SiLU, y else. dx.at NULL: sums alone are wanted. */
    struct kernel_matrix dy, dx;
    float *norm_pulls; /* [rows][2] scratch; NULL: no norm */
    /* [tiles of KERNEL_SUM_TILE][dy.stride] each: of d bias, d norm weight, d norm bias; NULL: not wanted */
    float *bias_sums, *norm_weight_sums, *norm_bias_sums;
};
void ppo_launch_activate(const struct kernel_layer *k, void *stream);
void ppo_launch_pull_back(const struct kernel_layer *k, void *stream);

/* The recurrent layer over sequences: rows = step * sequences + sequence, x [rows][2R] with z's columns
 * first. Thread a unit of a sequence; coalesced along units. h is float32 through the steps, rounded where it
 * is written. Global step = (clock ? clock->step : 0) + step: starts and keep are indexed by it.
 * Bytes a row and unit, forward: 4 + 2; backward: 4 + 2 + 2 + 4. */
struct kernel_scan {
    const struct kernel_clock *clock; /* NULL: from step 0 */
    uint32_t sequences, steps, units;
    struct kernel_matrix x; /* [rows][2 units], bias in it; or `bias` [2 units] is added */
    const float *bias;
    const uint8_t *starts; /* [global step * sequences + sequence] 1: h is 0 before this row; or NULL */
    const float *before;   /* [sequences][before_stride] state before the first row; NULL: 0 */
    uint32_t before_stride;
    struct kernel_matrix from; /* instead of `before`, where from_rows: state of sequence s is row
                                  from_rows[s] of it, units from 0 on (the final observations' values) */
    const uint32_t *from_rows;
    struct kernel_matrix y; /* [rows][units] */
    float *after;           /* [sequences][before_stride]; may be `before`; NULL: not wanted */
    float *keep; /* [global step / keep_every * sequences + sequence][keep_stride]: the state before each
                    keep_every-th step, before `starts` clears it; NULL: none */
    uint32_t keep_every, keep_stride;

    /* Backward, through the rows of a minibatch: x, y, before, starts as forward; clock NULL. */
    struct kernel_matrix dy, dx; /* [rows][units], [rows][2 units] */
};
void ppo_launch_scan(const struct kernel_scan *k, void *stream);
void ppo_launch_scan_back(const struct kernel_scan *k, void *stream);

/* Sums over rows from their tiles, of all layers in one launch: to[c] = from[0][c] + from[1][c] + …, in
 * float64; columns from cols to padded become 0. */
struct kernel_job {
    const float *from; /* [tiles][stride] */
    float *to;         /* [padded]: a bias's place among the gradients */
    uint32_t tiles, stride, cols, padded;
};
struct kernel_add {
    uint32_t n;
    struct kernel_job jobs[KERNEL_JOBS_MAX];
};
void ppo_launch_add_sums(const struct kernel_add *k, void *stream);

/* Gradients' norm, and what Adam needs: tiles of squares; one block: norm, clipping, t + 1 and corrections
 * into the clock unless it is skipped, figures, the next minibatch (and epoch, and its shuffle; a stopped
 * epoch ends there); then every parameter's step, its bfloat16 copy, the floor and ceiling of log_std. 4
 * bytes a parameter, then 28 read and written, + 2 of the copy (6.6 M parameters: 26 + 200 MB). */
struct kernel_adam {
    struct kernel_clock *clock;
    const struct kernel_rates *rates;
    struct kernel_figures *figures;
    struct kernel_order order; /* clock as here */
    size_t n_params;           /* with padding, whose gradients are 0; a multiple of NET_LANES, 16 */
    float *params, *m, *v;
    const float *grads;
    uint16_t *half;                              /* [n_params] the parameters in bfloat16; NULL: none */
    double *partials;                            /* [tiles of KERNEL_FLAT_TILE] */
    double beta1, beta2, epsilon, max_grad_norm; /* 0: no clipping */
    uint32_t bad_updates;
    size_t log_std_first; /* of its floats, n_log_std (0: none) */
    uint32_t n_log_std;
    float log_std_min, log_std_max;
};
void ppo_launch_grad_squares(const struct kernel_adam *k, void *stream);
void ppo_launch_grad_step(const struct kernel_adam *k, void *stream);
void ppo_launch_adam(const struct kernel_adam *k, void *stream);

/* bfloat16 copies of float32, as adam writes them: at the start and after a checkpoint was loaded. */
struct kernel_halve {
    const float *from;
    uint16_t *to;
    size_t n; /* a multiple of 4 */
};
void ppo_launch_halve(const struct kernel_halve *k, void *stream);

#ifdef __cplusplus
}
#endif

#endif
