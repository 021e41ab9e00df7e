/* queue.h on CUDA. cuBLASLt is loaded when the first learner is made (libcublasLt.so of the major version
 * that this was compiled with), so that the module serves indicators and environments where it is not
 * installed. It is searched as the loader does ($LD_LIBRARY_PATH first), then in $CUDA_PATH/lib64, in
 * /usr/local/cuda/lib64, and where pip had put it when this was configured. */
#include "trainer/ppo/cuda/queue_device.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "trainer/ppo/cublas_place.h"

#define QUEUE_TEXT2(x) #x
#define QUEUE_TEXT(x)  QUEUE_TEXT2(x)

extern "C" void ppo_queue_fail(struct ppo_queue *q, int error, const char *reason)
{
    if (q->error || ppo_repeat_failed(&q->repeats, error, reason))
        return;
    q->error = error;
    snprintf(q->reason, sizeof(q->reason), "%s", reason);
}

void ppo_queue_cuda_did(struct ppo_queue *q, cudaError_t error, const char *what)
{
    char reason[REASON_MAX];
    int r = q->repeats.recording ? ppo_queue_graph_did(error, what, reason, sizeof(reason))
                                 : gpu_device_check(q->g, error, what, reason, sizeof(reason));
    if (r < 0)
        ppo_queue_fail(q, r, reason);
}

template <typename F> static bool symbol(struct blas *blas, const char *name, F *ret)
{
    *ret = (F)dlsym(blas->library, name);
    return *ret != NULL;
}

/* In a folder; an empty one is none. */
static void *blas_in(const char *folder, const char *name)
{
    char path[PATH_MAX];
    if (!folder || !folder[0] || snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
        return NULL;
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static int blas_open(struct blas *blas, char *reason, size_t cap)
{
    static const char name[] = "libcublasLt.so." QUEUE_TEXT(CUBLAS_VER_MAJOR);
    const char *toolkit = secure_getenv("CUDA_PATH");
    char beside[PATH_MAX];
    snprintf(beside, sizeof(beside), "%s/lib64", toolkit ? toolkit : "");
    const char *const folders[] = {toolkit ? beside : "", "/usr/local/cuda/lib64", CUBLAS_LIBS};
    blas->library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]) && !blas->library; i++)
        blas->library = blas_in(folders[i], name);
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
               symbol(blas, "cublasLtMatmulAlgoGetHeuristic", &blas->heuristic) &&
               symbol(blas, "cublasLtMatmulAlgoConfigGetAttribute", &blas->config) &&
               symbol(blas, "cublasLtGetVersion", &blas->version);
    if (!all) {
        snprintf(reason, cap, "%s: %s", name, dlerror());
        return -ENOEXEC;
    }
    return 0;
}

extern "C" int ppo_queue_create(struct gpu_indicators *g, void *stream, bool measured, struct ppo_queue **ret,
                                char *reason, size_t cap)
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
    ppo_repeat_init(&q->repeats, ppo_queue_graph_calls(), q);
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
    ppo_queue_products_init(q, measured);
    *ret = q;
    return 0;
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
    ppo_queue_products_finish(q);
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

extern "C" int ppo_queue_memory(struct gpu_indicators *g, struct queue_memory *ret, char *reason, size_t cap)
{
    const struct process_memory process = *gpu_process_memory();
    size_t free_bytes, total;
    int r = gpu_device_alive(g, reason, cap);
    if (r == 0)
        r = gpu_device_check(g, cudaMemGetInfo(&free_bytes, &total), "device memory", reason, cap);
    if (r < 0)
        return r;
    *ret = {total, free_bytes, process.held, process.context + process.code, QUEUE_DRIVER - process.code};
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

/* ---- memory ---- */

extern "C" void ppo_queue_upload(struct ppo_queue *q, void *to, const void *from, size_t bytes)
{
    if (!q->error && bytes > 0)
        ppo_queue_cuda_did(q, cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, q->lanes[0]),
                           "copy to the device");
}

extern "C" void ppo_queue_download(struct ppo_queue *q, void *to, const void *from, size_t bytes)
{
    if (!q->error && bytes > 0)
        ppo_queue_cuda_did(q, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, q->lanes[0]),
                           "copy from the device");
}

extern "C" void ppo_queue_copy(struct ppo_queue *q, int lane, void *to, const void *from, size_t bytes)
{
    if (!q->error && bytes > 0)
        ppo_queue_cuda_did(q, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, q->lanes[lane]),
                           "copy");
}

extern "C" void ppo_queue_zero(struct ppo_queue *q, int lane, void *at, size_t bytes)
{
    if (!q->error && bytes > 0)
        ppo_queue_cuda_did(q, cudaMemsetAsync(at, 0, bytes, q->lanes[lane]), "memset");
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
    ppo_queue_cuda_did(q, cudaEventRecord(q->fork, q->lanes[0]), "CUDA event");
    ppo_queue_cuda_did(q, cudaStreamWaitEvent(q->lanes[1], q->fork, 0), "CUDA stream");
}

extern "C" void ppo_queue_join(struct ppo_queue *q)
{
    if (q->error)
        return;
    ppo_queue_cuda_did(q, cudaEventRecord(q->join, q->lanes[1]), "CUDA event");
    ppo_queue_cuda_did(q, cudaStreamWaitEvent(q->lanes[0], q->join, 0), "CUDA stream");
}

extern "C" void *ppo_queue_stream(struct ppo_queue *q, int lane)
{
    return q->lanes[lane];
}

extern "C" void ppo_queue_launched(struct ppo_queue *q)
{
    if (!q->error)
        ppo_queue_cuda_did(q, cudaGetLastError(), "kernel launch");
}

extern "C" void ppo_queue_mark(struct ppo_queue *q, int mark)
{
    if (!q->error)
        ppo_queue_cuda_did(q, cudaEventRecord(q->marks[mark], q->lanes[0]), "CUDA event");
}

extern "C" double ppo_queue_seconds(struct ppo_queue *q, int from, int to)
{
    float ms = 0;
    if (!q->error)
        ppo_queue_cuda_did(q, cudaEventElapsedTime(&ms, q->marks[from], q->marks[to]), "CUDA event");
    return (double)ms * 1e-3;
}

extern "C" void ppo_queue_await(struct ppo_queue *q, int mark)
{
    q->waits++;
    if (!q->error)
        ppo_queue_cuda_did(q, cudaEventSynchronize(q->marks[mark]), "kernel");
}

extern "C" int ppo_queue_wait(struct ppo_queue *q, char *reason, size_t cap)
{
    q->waits++;
    ppo_queue_cuda_did(q, cudaStreamSynchronize(q->lanes[0]), "kernel");
    if (q->error)
        snprintf(reason, cap, "%s", q->reason);
    return q->error;
}

extern "C" uint64_t ppo_queue_waits(const struct ppo_queue *q)
{
    return q->waits;
}
