/* Of the queue on CUDA: matrix products by cuBLASLt, planned by measuring (product_plan.h). */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "trainer/ppo/cuda/queue_device.h"

enum { ALIGNMENT = 16, PATTERN = 1 << 15 /* numbers */, ROUNDS = 4, ROUNDS_SMALL = 20 };

/* A product below this takes about as long as its launch. */
static const double SMALL_FLOP = 1e9;

/* The alignment of biases and masks that cuBLASLt may assume when it chooses: it looks at the address alone.
 * A bias lies at NET_LANES elements. */
static const uintptr_t BIAS_AT = 32, MASK_AT = 256;

/* Choices that this process knows. */
static struct product_cache known;

static cudaDataType_t data_type(enum queue_type type)
{
    return type == QUEUE_BF16 ? CUDA_R_16BF : CUDA_R_32F;
}

static cublasLtEpilogue_t epilogue_of(const struct queue_product *p)
{
    switch (p->kind) {
    case QUEUE_FORWARD:
        if (p->relu)
            return p->keep ? (p->bias ? CUBLASLT_EPILOGUE_RELU_AUX_BIAS : CUBLASLT_EPILOGUE_RELU_AUX)
                           : (p->bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU);
        return p->bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
    case QUEUE_INPUT:
        return p->relu ? CUBLASLT_EPILOGUE_DRELU : CUBLASLT_EPILOGUE_DEFAULT;
    case QUEUE_WEIGHT:
        break;
    }
    return p->bias ? CUBLASLT_EPILOGUE_BGRADA : CUBLASLT_EPILOGUE_DEFAULT;
}

template <typename T> static bool set(struct ppo_queue *q, struct planned *p, int attribute, T value)
{
    return q->blas.desc_set(p->desc, (cublasLtMatmulDescAttributes_t)attribute, &value, sizeof(value)) ==
           CUBLAS_STATUS_SUCCESS;
}

static bool layout(struct ppo_queue *q, cublasLtMatrixLayout_t *ret, enum queue_type type, size_t rows,
                   size_t cols, int stride)
{
    return q->blas.layout_create(ret, data_type(type), (uint64_t)rows, (uint64_t)cols, (int64_t)stride) ==
           CUBLAS_STATUS_SUCCESS;
}

/* All except the choice of the algorithm. */
static bool describe(struct ppo_queue *q, struct planned *p)
{
    const struct queue_product *s = &p->product;
    cublasComputeType_t compute = s->tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    cublasLtEpilogue_t epilogue = epilogue_of(s);
    size_t in = (size_t)s->in, out = (size_t)s->out;
    bool ok = q->blas.desc_create(&p->desc, compute, CUDA_R_32F) == CUBLAS_STATUS_SUCCESS &&
              set(q, p, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
    switch (s->kind) {
    case QUEUE_FORWARD: /* y^T [out][rows] = w^T x^T */
        ok = ok && layout(q, &p->a, s->operands, out, in, s->w_stride) &&
             layout(q, &p->b, s->operands, in, s->rows, s->x_stride) &&
             layout(q, &p->d, s->result, out, s->rows, s->y_stride);
        break;
    case QUEUE_INPUT: /* x^T [in][rows] = w y^T */
        ok = ok && set(q, p, CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T) &&
             layout(q, &p->a, s->operands, out, in, s->w_stride) &&
             layout(q, &p->b, s->operands, out, s->rows, s->y_stride) &&
             layout(q, &p->d, s->result, in, s->rows, s->x_stride);
        break;
    case QUEUE_WEIGHT: /* w^T [out][in] = y^T x */
        ok = ok && set(q, p, CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_T) &&
             layout(q, &p->a, s->operands, out, s->rows, s->y_stride) &&
             layout(q, &p->b, s->operands, in, s->rows, s->x_stride) &&
             layout(q, &p->d, s->result, out, in, s->w_stride);
        break;
    }
    if (ok && s->relu && (s->keep || s->kind == QUEUE_INPUT)) {
        int width = s->kind == QUEUE_INPUT ? s->in : s->out;
        ok = set(q, p, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, (int64_t)queue_mask_bytes(width) * 8) &&
             set(q, p, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, (void *)MASK_AT);
    }
    if (ok && s->bias)
        ok = set(q, p, CUBLASLT_MATMUL_DESC_BIAS_POINTER, (void *)BIAS_AT);
    return ok;
}

static void plan_release(struct ppo_queue *q, struct planned *p)
{
    if (p->a)
        q->blas.layout_destroy(p->a);
    if (p->b)
        q->blas.layout_destroy(p->b);
    if (p->d)
        q->blas.layout_destroy(p->d);
    if (p->desc)
        q->blas.desc_destroy(p->desc);
    p->a = p->b = p->d = NULL;
    p->desc = NULL;
}

/* ---- plans ---- */

static bool prefer(struct ppo_queue *q, cublasLtMatmulPreference_t preference)
{
    static const cublasLtMatmulPreferenceAttributes_t alignments[] = {
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES};
    const size_t workspace = QUEUE_WORKSPACE;
    const uint32_t alignment = ALIGNMENT;
    bool ok = q->blas.preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace,
                                     sizeof(workspace)) == CUBLAS_STATUS_SUCCESS;
    for (size_t i = 0; i < sizeof(alignments) / sizeof(alignments[0]) && ok; i++)
        ok = q->blas.preference_set(preference, alignments[i], &alignment, sizeof(alignment)) ==
             CUBLAS_STATUS_SUCCESS;
    return ok;
}

/* The algorithms of planning->planned that may be used, to the front. */
static void find(struct ppo_queue *q, struct product_planning *planning)
{
    const struct planned *p = &planning->planned;
    cublasLtMatmulPreference_t preference = NULL;
    int n = 0;
    bool ok = q->blas.preference_create(&preference) == CUBLAS_STATUS_SUCCESS && prefer(q, preference) &&
              q->blas.heuristic(q->handle, p->desc, p->a, p->b, p->d, p->d, preference, PRODUCT_HEURISTICS,
                                planning->found, &n) == CUBLAS_STATUS_SUCCESS;
    if (preference)
        q->blas.preference_destroy(preference);
    for (int i = 0; i < n && ok; i++)
        if (planning->found[i].state == CUBLAS_STATUS_SUCCESS &&
            planning->found[i].workspaceSize <= QUEUE_WORKSPACE)
            planning->found[planning->n++] = planning->found[i];
}

static struct product_planning *planning_of(struct ppo_queue *q, const struct queue_product *product)
{
    return &q->planning[queue_epilogue_of(product) != q->planned[q->n_planned].asked];
}

static int product_list(void *ctx, const struct queue_product *product)
{
    struct ppo_queue *q = (struct ppo_queue *)ctx;
    struct product_planning *planning = planning_of(q, product);
    planning->planned.product = *product;
    if (describe(q, &planning->planned))
        find(q, planning);
    return planning->n;
}

static double product_now(void *ctx)
{
    struct timespec now;
    (void)ctx;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Numbers of either sign from 0.5 to 2, as bfloat16, float32 and float64 alike: with zeros a device takes
 * less power and looks faster than it is. */
static void fill_arena(struct ppo_queue *q)
{
    uint16_t *numbers = (uint16_t *)malloc(PATTERN * sizeof(*numbers));
    unsigned char *at = (unsigned char *)q->arena.at;
    uint32_t random = 1;
    q->filled = true;
    if (!numbers)
        return;
    for (int i = 0; i < PATTERN; i++) {
        random = random * 1664525 + 1013904223;
        numbers[i] = (uint16_t)(0x3f00 | (random >> 24) | (random >> 23 & 1) << 15);
    }
    size_t done = PATTERN * sizeof(*numbers);
    if (done <= q->arena.bytes)
        ppo_queue_upload(q, at, numbers, done);
    for (size_t n; done < q->arena.bytes; done += n) {
        n = done < q->arena.bytes - done ? done : q->arena.bytes - done;
        ppo_queue_copy(q, 0, at + done, at, n);
    }
    ppo_queue_cuda_did(q, cudaStreamSynchronize(q->lanes[0]), "copy to the device");
    free(numbers);
}

static cublasStatus_t multiply(struct ppo_queue *q, struct planned *p, int lane,
                               const struct queue_operands *operands);

/* Queues it `rounds` times on each of its lanes. */
static bool run_rounds(struct ppo_queue *q, struct planned *p, int rounds)
{
    bool ok = true;
    if (q->use->lanes > 1)
        ppo_queue_fork(q);
    for (int i = 0; i < rounds && ok; i++)
        for (int lane = 0; lane < q->use->lanes && ok; lane++) {
            ok = multiply(q, p, lane, &q->use->operands) == CUBLAS_STATUS_SUCCESS;
            if (ok)
                q->use->rest(q->use->ctx, &p->product, q->lanes[lane]);
        }
    if (q->use->lanes > 1)
        ppo_queue_join(q);
    return ok;
}

/* The first one loads its code. */
static double product_time(void *ctx, const struct queue_product *product, int i)
{
    struct ppo_queue *q = (struct ppo_queue *)ctx;
    struct product_planning *planning = planning_of(q, product);
    struct planned *p = &planning->planned;
    const double flop = 2 * (double)product->rows * product->in * product->out;
    const int rounds = flop < SMALL_FLOP ? ROUNDS_SMALL : ROUNDS;
    if (!q->filled)
        fill_arena(q);
    p->algo = planning->found[i].algo;
    bool ok = run_rounds(q, p, 1);
    if (ok) {
        ppo_queue_mark(q, 0);
        ok = run_rounds(q, p, rounds);
        ppo_queue_mark(q, 1);
    }
    if (!q->error)
        ppo_queue_cuda_did(q, cudaStreamSynchronize(q->lanes[0]), "matrix product");
    if (!ok || q->error) {
        gpu_device_let_go(cudaGetLastError());
        return (double)INFINITY;
    }
    return ppo_queue_seconds(q, 0, 1) / (rounds * q->use->lanes);
}

static const struct product_calls product_calls = {product_now, product_list, product_time};

extern "C" void ppo_queue_products_init(struct ppo_queue *q, bool measured)
{
    int driver = 0;
    if (cudaDriverGetVersion(&driver) != cudaSuccess)
        driver = 0;
    snprintf(q->device, sizeof(q->device), "%s|driver %d|cuBLASLt %zu", q->g->name, driver,
             q->blas.version());
    for (char *c = q->device; *c; c++)
        if (*c == '\t' || *c == '\n')
            *c = ' ';
    q->planner.calls = &product_calls;
    q->planner.ctx = q;
    q->planner.measured = measured;
    q->planner.cache = &known;
    q->planner.device = q->device;
    if (measured && !known.path[0])
        ppo_product_cache_open(&known, "");
}

extern "C" void ppo_queue_products_finish(struct ppo_queue *q)
{
    for (int i = 0; i < q->n_planned; i++)
        plan_release(q, &q->planned[i]);
}

/* Of the planned variant its description and algorithm; the other one's go. */
static void settle(struct ppo_queue *q, struct planned *p)
{
    const struct product_choice choice = p->choice;
    const enum queue_epilogue asked = p->asked;
    struct product_planning *planning = &q->planning[choice.apart];
    *p = planning->planned;
    p->algo = planning->found[choice.heuristic].algo;
    p->workspace = planning->found[choice.heuristic].workspaceSize;
    p->choice = choice;
    p->asked = asked;
    plan_release(q, &q->planning[!choice.apart].planned);
}

extern "C" int ppo_queue_plan(struct ppo_queue *q, struct queue_product *product, const struct queue_use *use,
                              int *ret_id, char *reason, size_t cap)
{
    if (q->n_planned == QUEUE_PRODUCTS_MAX) {
        snprintf(reason, cap, "more than %d matrix products", QUEUE_PRODUCTS_MAX);
        return -ENOTSUP;
    }
    struct planned *p = &q->planned[q->n_planned];
    memset(q->planning, 0, sizeof(q->planning));
    p->asked = queue_epilogue_of(product);
    q->use = use;
    int r = ppo_product_choose(&q->planner, product, use->lanes, &p->choice);
    if (r == 0 && q->error) {
        snprintf(reason, cap, "%s", q->reason);
        r = q->error;
    } else if (r < 0) {
        snprintf(reason, cap, "cuBLASLt has no product for %zu rows, %d in, %d out", product->rows,
                 product->in, product->out);
    }
    if (r < 0) {
        plan_release(q, &q->planning[0].planned);
        plan_release(q, &q->planning[1].planned);
        return r;
    }
    settle(q, p);
    *ret_id = q->n_planned++;
    return 0;
}

extern "C" int ppo_queue_plan_end(struct ppo_queue *q, char *reason, size_t cap)
{
    if (q->filled)
        ppo_queue_zero(q, 0, q->arena.at, q->arena.bytes);
    q->filled = false;
    return ppo_queue_wait(q, reason, cap);
}

/* ---- products ---- */

static cublasStatus_t multiply(struct ppo_queue *q, struct planned *p, int lane,
                               const struct queue_operands *operands)
{
    const struct queue_product *s = &p->product;
    const float one = 1, more = s->add ? 1 : 0;
    void *a = s->kind == QUEUE_WEIGHT ? operands->y : operands->w;
    void *b = s->kind == QUEUE_INPUT ? operands->y : operands->x;
    void *d = s->kind == QUEUE_FORWARD ? operands->y : s->kind == QUEUE_INPUT ? operands->x : operands->w;
    bool ok = true;
    if (s->bias)
        ok = set(q, p, CUBLASLT_MATMUL_DESC_BIAS_POINTER, operands->bias);
    if (ok && s->relu && (s->keep || s->kind == QUEUE_INPUT))
        ok = set(q, p, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, operands->mask);
    unsigned char *workspace = (unsigned char *)q->arena.at + (size_t)lane * QUEUE_WORKSPACE;
    if (!ok)
        return CUBLAS_STATUS_INVALID_VALUE;
    return q->blas.matmul(q->handle, p->desc, &one, a, p->a, b, p->b, &more, d, p->d, d, p->d, &p->algo,
                          workspace, QUEUE_WORKSPACE, q->lanes[lane]);
}

extern "C" void ppo_queue_product(struct ppo_queue *q, int lane, int id,
                                  const struct queue_operands *operands)
{
    if (!q->error && multiply(q, &q->planned[id], lane, operands) != CUBLAS_STATUS_SUCCESS)
        ppo_queue_fail(q, -EIO, "cuBLASLt refused a matrix product that it had planned");
}

static int configured(const struct ppo_queue *q, const struct planned *p,
                      cublasLtMatmulAlgoConfigAttributes_t what)
{
    int32_t value = -1;
    size_t written;
    return q->blas.config(&p->algo, what, &value, sizeof(value), &written) == CUBLAS_STATUS_SUCCESS ? value
                                                                                                    : -1;
}

extern "C" size_t ppo_queue_records(const struct ppo_queue *q, struct queue_record *ret, size_t n)
{
    for (size_t i = 0; i < n && i < (size_t)q->n_planned; i++) {
        const struct planned *p = &q->planned[i];
        ret[i] = queue_record_of(&p->product, p->asked, &p->choice);
        ret[i].algorithm = configured(q, p, CUBLASLT_ALGO_CONFIG_ID);
        ret[i].split_k = configured(q, p, CUBLASLT_ALGO_CONFIG_SPLITK_NUM);
        ret[i].workspace = p->workspace;
    }
    return (size_t)q->n_planned;
}
