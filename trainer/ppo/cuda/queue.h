/* The device's interface for the learner's sequence (sequence.h): memory, copies, matrix products, graphs.
 * The module's is CUDA (queue.cu), the tests' is plain loops (tests/trainer/ppo/cpu_queue.c), so that the
 * sequence is one source over both.
 *
 * Work is queued in order on a lane; lane 1 runs beside lane 0 from ppo_queue_fork() to ppo_queue_join().
 * Only ppo_queue_wait() and ppo_queue_await() wait, and they are counted. The first failure is kept: later
 * calls do nothing, and ppo_queue_wait() returns it. */
#ifndef TRAINER_PPO_CUDA_QUEUE_H
#define TRAINER_PPO_CUDA_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gpu_indicators;

enum {
    QUEUE_LANES = 2,
    QUEUE_GRAPHS = 4,
    QUEUE_MARKS = 4,
    QUEUE_PRODUCTS_MAX = 256,
    QUEUE_WORKSPACE = 32 << 20, /* bytes of each lane: cuBLASLt's recommendation for sm_90 */
    QUEUE_MASK_UNIT = 128,      /* bits: a mask's rows are multiples of it */
    QUEUE_DRIVER =
        256 << 20, /* bytes that the driver takes for cuBLASLt's code and for graphs, on first use */
    QUEUE_CONTEXT = 512 << 20, /* and for a process's context with the module's code, of a device that is only
                                  planned for: 0.4 to 0.7 GiB by public figures */
};

enum queue_type { QUEUE_F32, QUEUE_BF16 };

/* Row-major products of x [rows][in], w [in][out], y [rows][out]; strides in elements, bases and strides are
 * multiples of 16 bytes. Sums are float32. */
enum queue_kind {
    QUEUE_FORWARD, /* y = x w + bias; with relu max(0, .), and a bit of `mask` for each that is above 0 */
    QUEUE_INPUT,   /* x = y w^T, added to x with `add`; with relu times the mask of x */
    QUEUE_WEIGHT,  /* w = x^T y; bias = sum of y's rows */
};
struct queue_product {
    enum queue_kind kind;
    size_t rows;
    int in, out;
    int x_stride, w_stride, y_stride;
    enum queue_type operands, result;
    bool tf32;                  /* of float32 operands: rounded to TF32 */
    bool bias, relu, keep, add; /* keep: relu's mask is wanted */
};
struct queue_operands {
    void *x, *w, *y;
    void *bias; /* of `result`'s type; QUEUE_WEIGHT: float */
    void *mask; /* [rows][queue_mask_bytes(width)]; the format is the device's own */
};
static inline size_t queue_mask_bytes(int width)
{
    return ((size_t)width + QUEUE_MASK_UNIT - 1) / QUEUE_MASK_UNIT * QUEUE_MASK_UNIT / 8;
}

struct ppo_queue;

/* On the device of `g`. Lane 0 is `stream` (NULL where the device has none). 0, or -errno with a sentence:
 * -ENOEXEC where the matrix library cannot be loaded. */
int ppo_queue_create(struct gpu_indicators *g, void *stream, struct ppo_queue **ret, char *reason,
                     size_t cap);
void ppo_queue_destroy(struct ppo_queue *q); /* waits, and frees the arena; NULL is fine */

/* Bytes of the device, those that are free, and how many of these the driver will use for code and graphs. */
int ppo_queue_memory(struct gpu_indicators *g, size_t *ret_free, size_t *ret_total, size_t *ret_driver,
                     char *reason, size_t cap);

/* The one allocation, zeroed; the first QUEUE_LANES * QUEUE_WORKSPACE bytes are the products'. */
int ppo_queue_arena(struct ppo_queue *q, size_t bytes, void **ret, char *reason, size_t cap);

/* Chooses the algorithm of a product, once. `*product` comes back without `relu` or (QUEUE_WEIGHT) `bias`
 * where the device cannot fuse it; the caller does it then. -ENOTSUP: the product is not supported at all. */
int ppo_queue_plan(struct ppo_queue *q, struct queue_product *product, int *ret_id, char *reason, size_t cap);
void ppo_queue_product(struct ppo_queue *q, int lane, int id, const struct queue_operands *operands);

/* From and to the host: its memory must stay until ppo_queue_wait(). */
void ppo_queue_upload(struct ppo_queue *q, void *to, const void *from, size_t bytes);
void ppo_queue_download(struct ppo_queue *q, void *to, const void *from, size_t bytes);
void ppo_queue_copy(struct ppo_queue *q, int lane, void *to, const void *from, size_t bytes);
void ppo_queue_zero(struct ppo_queue *q, int lane, void *at, size_t bytes);

/* Pinned memory of the host, for copies that do not wait; freed with the queue. NULL: out of memory. */
void *ppo_queue_pinned(struct ppo_queue *q, size_t bytes);

void ppo_queue_fork(struct ppo_queue *q);
void ppo_queue_join(struct ppo_queue *q);
void *ppo_queue_stream(struct ppo_queue *q, int lane);

/* Runs work that is the same every time and starts and ends on lane 0: the first time directly, the second
 * time it is recorded as graph `graph`, from then on the graph is launched and `work` is not called. What
 * changes lies in the device's memory: the kernels' arguments are the graph's (the environment's seed and
 * windows are among them). */
void ppo_queue_repeat(struct ppo_queue *q, int graph, void (*work)(void *ctx), void *ctx);

/* Drops the graphs: repeated work is recorded again. After another environment's state was loaded, and after
 * ppo_queue_wait(). */
void ppo_queue_forget(struct ppo_queue *q);

/* Stores a failure of work outside the queue (the environment). */
void ppo_queue_fail(struct ppo_queue *q, int error, const char *reason);
/* After a kernel launch of kernels.h: stores its error, if any. */
void ppo_queue_launched(struct ppo_queue *q);

/* Moments of lane 0, and the seconds between two of them, after ppo_queue_wait(). */
void ppo_queue_mark(struct ppo_queue *q, int mark);
double ppo_queue_seconds(struct ppo_queue *q, int from, int to);

/* Waits for a marked moment; counted as a wait. ppo_queue_wait() returns its failure. */
void ppo_queue_await(struct ppo_queue *q, int mark);
/* 0, or the first failure since the queue was made: -EIO: the device may be lost. */
int ppo_queue_wait(struct ppo_queue *q, char *reason, size_t cap);
uint64_t ppo_queue_waits(const struct ppo_queue *q);

#ifdef __cplusplus
}
#endif

#endif
