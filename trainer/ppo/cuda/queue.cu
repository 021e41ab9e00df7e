/* queue.h on CUDA. cuBLASLt is loaded when the first learner is made (libcublasLt.so of the major version
 * that this was compiled with), so that the module serves indicators and environments where it is not
 * installed. It is searched as the loader does ($LD_LIBRARY_PATH first), then in $CUDA_PATH/lib64, then in
 * /usr/local/cuda/lib64. */
#include "trainer/ppo/cuda/queue.h"

#include <cublasLt.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "indicators_gpu/cuda/device.h"

#define QUEUE_TEXT2(x) #x
#define QUEUE_TEXT(x)  QUEUE_TEXT2(x)

enum { REASON_MAX = 256, ALIGNMENT = 16, PINNED_MAX = 8 };

/* The alignment of biases and masks that cuBLASLt may assume when it chooses: it looks at the address alone.
 * A bias lies at NET_LANES elements. */
static const uintptr_t BIAS_AT = 32, MASK_AT = 256;

/* What the driver allocates for cuBLASLt's code and for graphs, on first use. */
static const size_t DRIVER_BYTES = QUEUE_DRIVER;

struct blas {
    void *library;
    decltype(&cublasLtCreate) create;
    decltype(&cublasLtDestroy) destroy;
    decltype(&cublasLtMatmul) matmul;
    decltype(&cublasLtMatmulDescCreate) desc_create;
    decltype(&cublasLtMatmulDescDestroy) desc_destroy;
    decltype(&cublasLtMatmulDescSetAttribute) desc_set;
    decltype(&cublasLtMatrixLayoutCreate) layout_create;
    decltype(&cublasLtMatrixLayoutDestroy) layout_destroy;
    decltype(&cublasLtMatmulPreferenceCreate) preference_create;
    decltype(&cublasLtMatmulPreferenceDestroy) preference_destroy;
    decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set;
    decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic;
};

/* As cuBLASLt sees it, column by column: d = op(a) op(b), each of our row-major matrices its transpose. */
struct planned {
    struct queue_product product;
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t a, b, d;
    cublasLtMatmulAlgo_t algo;
};

struct ppo_queue {
    struct gpu_indicators *g;
    struct blas blas;
    cublasLtHandle_t handle;
    cudaStream_t lanes[QUEUE_LANES];
    cudaEvent_t fork, join, marks[QUEUE_MARKS];
    struct device_memory arena;
    void *pinned[PINNED_MAX];
    int n_pinned;
    struct planned planned[QUEUE_PRODUCTS_MAX];
    int n_planned;
    cudaGraphExec_t graphs[QUEUE_GRAPHS];
    bool seen[QUEUE_GRAPHS];
    uint64_t waits;
    int error;
    char reason[REASON_MAX];
};

extern "C" void ppo_queue_fail(struct ppo_queue *q, int error, const char *reason)
{
    if (q->error)
        return;
    q->error = error;
    snprintf(q->reason, sizeof(q->reason), "%s", reason);
}

static void cuda_did(struct ppo_queue *q, cudaError_t error, const char *what)
{
    char reason[REASON_MAX];
    int r = gpu_device_check(q->g, error, what, reason, sizeof(reason));
    if (r < 0)
        ppo_queue_fail(q, r, reason);
}

template <typename F> static bool symbol(struct blas *blas, const char *name, F *ret)
{
    *ret = (F)dlsym(blas->library, name);
    return *ret != NULL;
}

static int blas_open(struct blas *blas, char *reason, size_t cap)
{
    static const char name[] = "libcublasLt.so." QUEUE_TEXT(CUBLAS_VER_MAJOR);
    static const char beside[] = "/usr/local/cuda/lib64/libcublasLt.so." QUEUE_TEXT(CUBLAS_VER_MAJOR);
    const char *toolkit = secure_getenv("CUDA_PATH");
    char in_toolkit[PATH_MAX];
    blas->library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!blas->library && toolkit &&
        snprintf(in_toolkit, sizeof(in_toolkit), "%s/lib64/%s", toolkit, name) < (int)sizeof(in_toolkit))
        blas->library = dlopen(in_toolkit, RTLD_NOW | RTLD_LOCAL);
    if (!blas->library)
        blas->library = dlopen(beside, RTLD_NOW | RTLD_LOCAL);
    if (!blas->library) {
        snprintf(reason, cap,
                 "no matrix library for the device: %s is not in the loader's path, $LD_LIBRARY_PATH, "
                 "$CUDA_PATH/lib64 or /usr/local/cuda/lib64: install cuBLAS %d",
                 name, CUBLAS_VER_MAJOR);
        return -ENOEXEC;
    }
    bool all = symbol(blas, "cublasLtCreate", &blas->create) &&
               symbol(blas, "cublasLtDestroy", &blas->destroy) &&
               symbol(blas, "cublasLtMatmul", &blas->matmul) &&
               symbol(blas, "cublasLtMatmulDescCreate", &blas->desc_create) &&
               symbol(blas, "cublasLtMatmulDescDestroy", &blas->desc_destroy) &&
               symbol(blas, "cublasLtMatmulDescSetAttribute", &blas->desc_set) &&
               symbol(blas, "cublasLtMatrixLayoutCreate", &blas->layout_create) &&
               symbol(blas, "cublasLtMatrixLayoutDestroy", &blas->layout_destroy) &&
               symbol(blas, "cublasLtMatmulPreferenceCreate", &blas->preference_create) &&
               symbol(blas, "cublasLtMatmulPreferenceDestroy", &blas->preference_destroy) &&
               symbol(blas, "cublasLtMatmulPreferenceSetAttribute", &blas->preference_set) &&
               symbol(blas, "cublasLtMatmulAlgoGetHeuristic", &blas->heuristic);
    if (!all) {
        snprintf(reason, cap, "%s: %s", name, dlerror());
        return -ENOEXEC;
    }
    return 0;
}

extern "C" int ppo_queue_create(struct gpu_indicators *g, void *stream, struct ppo_queue **ret, char *reason,
                                size_t cap)
{
    int r = gpu_device_alive(g, reason, cap);
    if (r < 0)
        return r;
    struct ppo_queue *q = (struct ppo_queue *)calloc(1, sizeof(*q));
    if (!q) {
        snprintf(reason, cap, "out of memory");
        return -ENOMEM;
    }
    q->g = g;
    q->lanes[0] = stream ? (cudaStream_t)stream : g->stream;
    r = blas_open(&q->blas, reason, cap);
    cublasStatus_t created = r == 0 ? q->blas.create(&q->handle) : CUBLAS_STATUS_SUCCESS;
    if (created != CUBLAS_STATUS_SUCCESS) {
        const bool full = created == CUBLAS_STATUS_ALLOC_FAILED;
        snprintf(reason, cap, "%scuBLASLt does not start on %s", full ? "out of memory: " : "", g->name);
        r = full ? -ENOMEM : -EIO;
    }
    if (r == 0)
        r = gpu_device_check(g, cudaStreamCreateWithFlags(&q->lanes[1], cudaStreamNonBlocking), "CUDA stream",
                             reason, cap);
    if (r == 0)
        r = gpu_device_check(g, cudaEventCreateWithFlags(&q->fork, cudaEventDisableTiming), "CUDA event",
                             reason, cap);
    if (r == 0)
        r = gpu_device_check(g, cudaEventCreateWithFlags(&q->join, cudaEventDisableTiming), "CUDA event",
                             reason, cap);
    for (int i = 0; i < QUEUE_MARKS && r == 0; i++)
        r = gpu_device_check(g, cudaEventCreate(&q->marks[i]), "CUDA event", reason, cap);
    if (r < 0) {
        ppo_queue_destroy(q);
        return r;
    }
    *ret = q;
    return 0;
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

extern "C" void ppo_queue_destroy(struct ppo_queue *q)
{
    if (!q)
        return;
    if (q->lanes[1]) {
        gpu_device_let_go(cudaStreamSynchronize(q->lanes[0]));
        gpu_device_let_go(cudaStreamSynchronize(q->lanes[1]));
    }
    ppo_queue_forget(q);
    for (int i = 0; i < q->n_planned; i++)
        plan_release(q, &q->planned[i]);
    if (q->handle)
        q->blas.destroy(q->handle);
    for (int i = 0; i < QUEUE_MARKS; i++)
        if (q->marks[i])
            gpu_device_let_go(cudaEventDestroy(q->marks[i]));
    if (q->fork)
        gpu_device_let_go(cudaEventDestroy(q->fork));
    if (q->join)
        gpu_device_let_go(cudaEventDestroy(q->join));
    if (q->lanes[1])
        gpu_device_let_go(cudaStreamDestroy(q->lanes[1]));
    for (int i = 0; i < q->n_pinned; i++)
        gpu_device_let_go(cudaFreeHost(q->pinned[i]));
    gpu_device_release(q->g, &q->arena);
    /* The library stays loaded: threads that used it run its clean-up when they end. */
    free(q);
}

extern "C" int ppo_queue_memory(struct gpu_indicators *g, size_t *ret_free, size_t *ret_total,
                                size_t *ret_driver, char *reason, size_t cap)
{
    size_t free_bytes, total;
    int r = gpu_device_alive(g, reason, cap);
    if (r == 0)
        r = gpu_device_check(g, cudaMemGetInfo(&free_bytes, &total), "device memory", reason, cap);
    if (r < 0)
        return r;
    *ret_free = free_bytes;
    *ret_total = total;
    *ret_driver = DRIVER_BYTES;
    return 0;
}

extern "C" int ppo_queue_arena(struct ppo_queue *q, size_t bytes, void **ret, char *reason, size_t cap)
{
    int r = gpu_device_reserve(q->g, &q->arena, bytes, 1, "device memory for a learner", reason, cap);
    if (r == 0)
        r = gpu_device_check(q->g, cudaMemsetAsync(q->arena.at, 0, bytes, q->lanes[0]), "memset", reason,
                             cap);
    if (r == 0)
        *ret = q->arena.at;
    return r;
}

/* ---- products ---- */

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

static bool choose(struct ppo_queue *q, struct planned *p)
{
    cublasLtMatmulPreference_t preference = NULL;
    cublasLtMatmulHeuristicResult_t found;
    size_t workspace = QUEUE_WORKSPACE;
    uint32_t alignment = ALIGNMENT;
    int n = 0;
    bool ok = q->blas.preference_create(&preference) == CUBLAS_STATUS_SUCCESS &&
              q->blas.preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace,
                                     sizeof(workspace)) == CUBLAS_STATUS_SUCCESS;
    static const cublasLtMatmulPreferenceAttributes_t alignments[] = {
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES};
    for (size_t i = 0; i < sizeof(alignments) / sizeof(alignments[0]) && ok; i++)
        ok = q->blas.preference_set(preference, alignments[i], &alignment, sizeof(alignment)) ==
             CUBLAS_STATUS_SUCCESS;
    ok = ok && q->blas.heuristic(q->handle, p->desc, p->a, p->b, p->d, p->d, preference, 1, &found, &n) ==
                   CUBLAS_STATUS_SUCCESS;
    ok = ok && n == 1 && found.state == CUBLAS_STATUS_SUCCESS && found.workspaceSize <= workspace;
    if (ok)
        p->algo = found.algo;
    if (preference)
        q->blas.preference_destroy(preference);
    return ok;
}

extern "C" int ppo_queue_plan(struct ppo_queue *q, struct queue_product *product, int *ret_id, char *reason,
                              size_t cap)
{
    if (q->n_planned == QUEUE_PRODUCTS_MAX) {
        snprintf(reason, cap, "more than %d matrix products", QUEUE_PRODUCTS_MAX);
        return -ENOTSUP;
    }
    struct planned *p = &q->planned[q->n_planned];
    for (;;) {
        p->product = *product;
        if (describe(q, p) && choose(q, p))
            break;
        plan_release(q, p);
        if (product->relu) {
            product->relu = product->keep = false;
        } else if (product->kind == QUEUE_WEIGHT && product->bias) {
            product->bias = false;
        } else {
            snprintf(reason, cap, "cuBLASLt has no product for %zu rows, %d in, %d out", product->rows,
                     product->in, product->out);
            return -ENOTSUP;
        }
    }
    *ret_id = q->n_planned++;
    return 0;
}

extern "C" void ppo_queue_product(struct ppo_queue *q, int lane, int id,
                                  const struct queue_operands *operands)
{
    if (q->error)
        return;
    struct planned *p = &q->planned[id];
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
    ok = ok && q->blas.matmul(q->handle, p->desc, &one, a, p->a, b, p->b, &more, d, p->d, d, p->d, &p->algo,
                              workspace, QUEUE_WORKSPACE, q->lanes[lane]) == CUBLAS_STATUS_SUCCESS;
    if (!ok)
        ppo_queue_fail(q, -EIO, "cuBLASLt refused a matrix product that it had planned");
}

/* ---- memory ---- */

extern "C" void ppo_queue_upload(struct ppo_queue *q, void *to, const void *from, size_t bytes)
{
    if (!q->error && bytes > 0)
        cuda_did(q, cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, q->lanes[0]),
                 "copy to the device");
}

extern "C" void ppo_queue_download(struct ppo_queue *q, void *to, const void *from, size_t bytes)
{
    if (!q->error && bytes > 0)
        cuda_did(q, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, q->lanes[0]),
                 "copy from the device");
}

extern "C" void ppo_queue_copy(struct ppo_queue *q, int lane, void *to, const void *from, size_t bytes)
{
    if (!q->error && bytes > 0)
        cuda_did(q, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, q->lanes[lane]), "copy");
}

extern "C" void ppo_queue_zero(struct ppo_queue *q, int lane, void *at, size_t bytes)
{
    if (!q->error && bytes > 0)
        cuda_did(q, cudaMemsetAsync(at, 0, bytes, q->lanes[lane]), "memset");
}

extern "C" void *ppo_queue_pinned(struct ppo_queue *q, size_t bytes)
{
    void *at = NULL;
    if (q->n_pinned == PINNED_MAX || cudaMallocHost(&at, bytes) != cudaSuccess) {
        gpu_device_let_go(cudaErrorMemoryAllocation);
        return NULL;
    }
    q->pinned[q->n_pinned++] = at;
    return at;
}

/* ---- order ---- */

extern "C" void ppo_queue_fork(struct ppo_queue *q)
{
    if (q->error)
        return;
    cuda_did(q, cudaEventRecord(q->fork, q->lanes[0]), "CUDA event");
    cuda_did(q, cudaStreamWaitEvent(q->lanes[1], q->fork, 0), "CUDA stream");
}

extern "C" void ppo_queue_join(struct ppo_queue *q)
{
    if (q->error)
        return;
    cuda_did(q, cudaEventRecord(q->join, q->lanes[1]), "CUDA event");
    cuda_did(q, cudaStreamWaitEvent(q->lanes[0], q->join, 0), "CUDA stream");
}

extern "C" void *ppo_queue_stream(struct ppo_queue *q, int lane)
{
    return q->lanes[lane];
}

static void record(struct ppo_queue *q, int graph, void (*work)(void *ctx), void *ctx)
{
    cudaGraph_t made = NULL;
    cuda_did(q, cudaStreamBeginCapture(q->lanes[0], cudaStreamCaptureModeThreadLocal), "CUDA graph");
    if (q->error)
        return;
    work(ctx);
    /* A capture must be ended even where the work failed. */
    cudaError_t ended = cudaStreamEndCapture(q->lanes[0], &made);
    cuda_did(q, ended, "CUDA graph");
    if (!q->error)
        cuda_did(q, cudaGraphInstantiate(&q->graphs[graph], made, 0), "CUDA graph");
    if (made)
        gpu_device_let_go(cudaGraphDestroy(made));
}

extern "C" void ppo_queue_repeat(struct ppo_queue *q, int graph, void (*work)(void *ctx), void *ctx)
{
    if (q->error)
        return;
    if (!q->seen[graph]) { /* first without a graph: it loads code, which a capture does not allow */
        q->seen[graph] = true;
        work(ctx);
        return;
    }
    if (!q->graphs[graph])
        record(q, graph, work, ctx);
    if (!q->error)
        cuda_did(q, cudaGraphLaunch(q->graphs[graph], q->lanes[0]), "CUDA graph");
}

extern "C" void ppo_queue_forget(struct ppo_queue *q)
{
    for (int i = 0; i < QUEUE_GRAPHS; i++) {
        if (q->graphs[i])
            gpu_device_let_go(cudaGraphExecDestroy(q->graphs[i]));
        q->graphs[i] = NULL;
    }
}

extern "C" void ppo_queue_launched(struct ppo_queue *q)
{
    if (!q->error)
        cuda_did(q, cudaGetLastError(), "kernel launch");
}

extern "C" void ppo_queue_mark(struct ppo_queue *q, int mark)
{
    if (!q->error)
        cuda_did(q, cudaEventRecord(q->marks[mark], q->lanes[0]), "CUDA event");
}

extern "C" double ppo_queue_seconds(struct ppo_queue *q, int from, int to)
{
    float ms = 0;
    if (!q->error)
        cuda_did(q, cudaEventElapsedTime(&ms, q->marks[from], q->marks[to]), "CUDA event");
    return (double)ms * 1e-3;
}

extern "C" void ppo_queue_await(struct ppo_queue *q, int mark)
{
    q->waits++;
    if (!q->error)
        cuda_did(q, cudaEventSynchronize(q->marks[mark]), "kernel");
}

extern "C" int ppo_queue_wait(struct ppo_queue *q, char *reason, size_t cap)
{
    q->waits++;
    cuda_did(q, cudaStreamSynchronize(q->lanes[0]), "kernel");
    if (q->error)
        snprintf(reason, cap, "%s", q->reason);
    return q->error;
}

extern "C" uint64_t ppo_queue_waits(const struct ppo_queue *q)
{
    return q->waits;
}
