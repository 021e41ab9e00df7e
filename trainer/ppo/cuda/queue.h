/* The device's interface for the learner's sequence (sequence.h): memory, copies, matrix products, graphs.
 * The module's is CUDA (queue.cu, graphs.cu, products.cu), the tests' is plain loops
 * (tests/trainer/ppo/cpu_queue.c), so that the sequence is one source over both.
 *
 * Work is queued in order on a lane; lane 1 runs beside lane 0 from ppo_queue_fork() to ppo_queue_join().
 * Only ppo_queue_wait() and ppo_queue_await() wait, and they are counted. The first failure is kept: later
 * calls do nothing, and ppo_queue_wait() returns it. */
#ifndef TRAINER_PPO_CUDA_QUEUE_H
#define TRAINER_PPO_CUDA_QUEUE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trainer/ppo/cuda/product_cache.h"

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
    QUEUE_DRIVER = 32 << 20, /* bytes that the driver takes for cuBLASLt's code and for graphs, on first use:
                                12 to 15 MB on an H200 (docs/gpu-results.md) */
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
/* What the device does in the same launch as a product. */
enum queue_epilogue {
    QUEUE_EPILOGUE_NONE,
    QUEUE_EPILOGUE_BIAS,
    QUEUE_EPILOGUE_RELU,      /* with the bias */
    QUEUE_EPILOGUE_RELU_MASK, /* with the bias, and the mask is kept */
    QUEUE_EPILOGUE_RELU_BACK, /* times the mask */
    QUEUE_EPILOGUE_BIAS_SUMS, /* the sums of y's rows */
    QUEUE_EPILOGUES,
};
static inline enum queue_epilogue queue_epilogue_of(const struct queue_product *p)
{
    if (p->kind == QUEUE_FORWARD)
        return p->relu && p->keep ? QUEUE_EPILOGUE_RELU_MASK
               : p->relu          ? QUEUE_EPILOGUE_RELU
               : p->bias          ? QUEUE_EPILOGUE_BIAS
                                  : QUEUE_EPILOGUE_NONE;
    if (p->kind == QUEUE_INPUT)
        return p->relu ? QUEUE_EPILOGUE_RELU_BACK : QUEUE_EPILOGUE_NONE;
    return p->bias ? QUEUE_EPILOGUE_BIAS_SUMS : QUEUE_EPILOGUE_NONE;
}
static inline const char *queue_epilogue_name(enum queue_epilogue epilogue)
{
    static const char *const names[QUEUE_EPILOGUES] = {"none",      "bias",      "relu",
                                                       "relu_mask", "relu_back", "bias_sums"};
    return names[epilogue];
}

/* How a planned product runs, for reports. */
struct queue_record {
    enum queue_kind kind;
    enum queue_type operands;
    bool tf32;
    size_t m, n, k; /* [m][n] = [m][k] [k][n], row-major */
    enum queue_epilogue asked, got;
    int algorithm, split_k; /* the matrix library's numbers; -1: not known */
    size_t workspace;       /* bytes that it uses */
    int tried;      /* candidates that were timed at creation; 0: it is the first heuristic, or known */
    double seconds; /* of one, with the kernels for what was asked and not got; NaN: not measured */
};
/* Of `planned`, for which `asked` was asked. */
static inline struct queue_record queue_record_of(const struct queue_product *planned,
                                                  enum queue_epilogue asked,
                                                  const struct product_choice *choice)
{
    struct queue_record r = {planned->kind, planned->operands, planned->tf32};
    r.m = planned->kind == QUEUE_WEIGHT ? (size_t)planned->in : planned->rows;
    r.n = (size_t)(planned->kind == QUEUE_INPUT ? planned->in : planned->out);
    r.k = planned->kind == QUEUE_WEIGHT  ? planned->rows
          : planned->kind == QUEUE_INPUT ? (size_t)planned->out
                                         : (size_t)planned->in;
    r.asked = asked;
    r.got = queue_epilogue_of(planned);
    r.algorithm = r.split_k = -1;
    r.tried = choice->tried;
    r.seconds = choice->seconds;
    return r;
}
/* Multiplications and additions a second; NaN: not measured. */
static inline double queue_record_rate(const struct queue_record *r)
{
    return 2 * (double)r->m * (double)r->n * (double)r->k / r->seconds;
}

static inline size_t queue_mask_bytes(int width)
{
    return ((size_t)width + QUEUE_MASK_UNIT - 1) / QUEUE_MASK_UNIT * QUEUE_MASK_UNIT / 8;
}

struct ppo_queue;

/* On the device of `g`. Lane 0 is `stream` (NULL where the device has none). `measured`: products are planned
 * by measuring; else as the library's heuristics say. 0, or -errno with a sentence: -ENOEXEC where the matrix
 * library cannot be loaded. */
int ppo_queue_create(struct gpu_indicators *g, void *stream, bool measured, struct ppo_queue **ret,
                     char *reason, size_t cap);
void ppo_queue_destroy(struct ppo_queue *q); /* waits, and frees the arena; NULL is fine */

/* Bytes of the device's memory. What is not free all processes hold together, contexts included. */
struct queue_memory {
    size_t total, free;
    size_t held;    /* that this process has allocated */
    size_t context; /* that the driver took for it: when it opened the device, measured then, and since */
    size_t driver;  /* that the driver will take, of `free`, in a learner's first two iterations: for code and
                       graphs */
};
int ppo_queue_memory(struct gpu_indicators *g, struct queue_memory *ret, char *reason, size_t cap);

/* The one allocation, zeroed; the first QUEUE_LANES * QUEUE_WORKSPACE bytes are the products'. */
int ppo_queue_arena(struct ppo_queue *q, size_t bytes, void **ret, char *reason, size_t cap);

/* How a product will run, so that it can be measured. Its operands lie in the arena, which measuring fills
 * with numbers. */
struct queue_use {
    struct queue_operands operands;
    int lanes; /* 2: one of its kind runs on the other lane meanwhile */
    /* Queues the kernels that follow a product which has no more epilogue than `got`. */
    void (*rest)(void *ctx, const struct queue_product *got, void *stream);
    void *ctx;
};

/* Chooses the algorithm of a product, once (product_plan.h). `*product` comes back without `relu` or
 * (QUEUE_WEIGHT) `bias` where the device cannot fuse it, or is faster without; the caller does it then.
 * -ENOTSUP: the product is not supported at all. */
int ppo_queue_plan(struct ppo_queue *q, struct queue_product *product, const struct queue_use *use,
                   int *ret_id, char *reason, size_t cap);
/* After the last product: the arena is all zeros again. */
int ppo_queue_plan_end(struct ppo_queue *q, char *reason, size_t cap);
void ppo_queue_product(struct ppo_queue *q, int lane, int id, const struct queue_operands *operands);

/* The planned products in the order of their ids, the first n of them into ret. Returns how many there are.
 */
size_t ppo_queue_records(const struct ppo_queue *q, struct queue_record *ret, size_t n);

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
 * windows are among them). Where it cannot be recorded, `work` is called every time, and ppo_queue_notice()
 * says so.
 *
 * `stop` (NULL: never), of the device: where it is not 0 when the graph's turn comes, the work may be left
 * out, which it must make no difference to: ppo_queue_skips() says whether the device does that. */
void ppo_queue_repeat(struct ppo_queue *q, int graph, const uint32_t *stop, void (*work)(void *ctx),
                      void *ctx);
bool ppo_queue_skips(const struct ppo_queue *q, int graph);

/* "", or a sentence for the user: what the device does not do as it should. */
const char *ppo_queue_notice(const struct ppo_queue *q);

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
