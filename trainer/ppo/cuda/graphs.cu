/* Of the queue on CUDA: repeated work as graphs (repeat.h). */
#include <errno.h>
#include <stdio.h>

#include "trainer/ppo/cuda/queue_device.h"

/* While a graph is recorded nothing runs that could lose the device. */
extern "C" int ppo_queue_graph_did(cudaError_t error, const char *what, char *reason, size_t cap)
{
    if (error == cudaSuccess)
        return 0;
    snprintf(reason, cap, "%s: %s", what, cudaGetErrorString(error));
    cudaGetLastError();
    return error == cudaErrorMemoryAllocation ? -ENOMEM : -EIO;
}

#if CUDART_VERSION >= 12040
/* The condition of a graph that leaves its work out. */
static __global__ void unless_kernel(cudaGraphConditionalHandle handle, const uint32_t *stop)
{
    cudaGraphSetConditional(handle, *stop == 0);
}

/* Conditional nodes came with CUDA 12.4: the driver must have them too. */
static bool graphs_skip(void)
{
    int driver = 0;
    return cudaDriverGetVersion(&driver) == cudaSuccess && driver >= 12040;
}

static cudaError_t add_node(cudaGraph_t graph, const cudaGraphNode_t *after, size_t n,
                            cudaGraphNodeParams *params)
{
    cudaGraphNode_t node;
#if CUDART_VERSION >= 13000
    return cudaGraphAddNode(&node, graph, after, NULL, n, params);
#else
    return cudaGraphAddNode(&node, graph, after, n, params);
#endif
}

/* A graph of two nodes: the condition, then an IF around what is recorded: *ret_body. */
static int make_condition(struct ppo_queue *q, const uint32_t *stop, cudaGraph_t *ret_body, char *reason,
                          size_t cap)
{
    cudaGraphConditionalHandle handle;
    cudaGraphNode_t first;
    cudaGraph_t same;
    size_t n = 1;
    cudaStream_t stream = q->lanes[0];
    int r = ppo_queue_graph_did(cudaGraphConditionalHandleCreate(&handle, q->graph, 0, 0), "CUDA graph",
                                reason, cap);
    if (r == 0)
        r = ppo_queue_graph_did(
            cudaStreamBeginCaptureToGraph(stream, q->graph, NULL, NULL, 0, cudaStreamCaptureModeThreadLocal),
            "CUDA graph", reason, cap);
    if (r < 0)
        return r;
    unless_kernel<<<1, 1, 0, stream>>>(handle, stop);
    r = ppo_queue_graph_did(cudaStreamEndCapture(stream, &same), "CUDA graph", reason, cap);
    if (r == 0)
        r = ppo_queue_graph_did(cudaGraphGetNodes(q->graph, &first, &n), "CUDA graph", reason, cap);
    if (r < 0)
        return r;
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = handle;
    params.conditional.type = cudaGraphCondTypeIf;
    params.conditional.size = 1;
    r = ppo_queue_graph_did(add_node(q->graph, &first, n, &params), "CUDA graph", reason, cap);
    if (r == 0)
        *ret_body = params.conditional.phGraph_out[0];
    return r;
}

static int graph_begin_skipping(struct ppo_queue *q, const uint32_t *stop, char *reason, size_t cap)
{
    cudaGraph_t body;
    cudaFuncAttributes loaded; /* its code: that cannot wait for the recording */
    int r = ppo_queue_graph_did(cudaFuncGetAttributes(&loaded, unless_kernel), "CUDA graph", reason, cap);
    if (r == 0)
        r = ppo_queue_graph_did(cudaGraphCreate(&q->graph, 0), "CUDA graph", reason, cap);
    if (r == 0)
        r = make_condition(q, stop, &body, reason, cap);
    if (r == 0)
        r = ppo_queue_graph_did(
            cudaStreamBeginCaptureToGraph(q->lanes[0], body, NULL, NULL, 0, cudaStreamCaptureModeThreadLocal),
            "CUDA graph", reason, cap);
    if (r < 0 && q->graph) {
        gpu_device_let_go(cudaGraphDestroy(q->graph));
        q->graph = NULL;
    }
    return r;
}
#else
static bool graphs_skip(void)
{
    return false;
}

static int graph_begin_skipping(struct ppo_queue *q, const uint32_t *stop, char *reason, size_t cap)
{
    (void)q;
    (void)stop;
    snprintf(reason, cap, "CUDA graph: no conditional nodes");
    return -ENOTSUP;
}
#endif

static int graph_begin(void *ctx, const uint32_t *stop, char *reason, size_t cap)
{
    struct ppo_queue *q = (struct ppo_queue *)ctx;
    q->graph = NULL;
    q->lost_before = q->g->lost;
    if (stop)
        return graph_begin_skipping(q, stop, reason, cap);
    return ppo_queue_graph_did(cudaStreamBeginCapture(q->lanes[0], cudaStreamCaptureModeThreadLocal),
                               "CUDA graph", reason, cap);
}

/* The environment's part of the work marks the device as lost where it could not be recorded; it is not: an
 * error from which there is no recovery comes again with the first launch. */
static int graph_end(void *ctx, int graph, bool failed, char *reason, size_t cap)
{
    struct ppo_queue *q = (struct ppo_queue *)ctx;
    cudaGraph_t ended = NULL;
    int r = ppo_queue_graph_did(cudaStreamEndCapture(q->lanes[0], &ended), "CUDA graph", reason, cap);
    if (!q->graph)
        q->graph = ended;
    if (r == 0 && !failed)
        r = ppo_queue_graph_did(cudaGraphInstantiate(&q->graphs[graph], q->graph, 0), "CUDA graph", reason,
                                cap);
    gpu_process_memory()->code = QUEUE_DRIVER;
    if (q->graph)
        gpu_device_let_go(cudaGraphDestroy(q->graph));
    q->graph = NULL;
    if (r < 0 || failed) {
        gpu_device_let_go(cudaGetLastError());
        q->g->lost = q->lost_before;
    }
    return r;
}

static void graph_drop(void *ctx, int graph)
{
    struct ppo_queue *q = (struct ppo_queue *)ctx;
    if (q->graphs[graph])
        gpu_device_let_go(cudaGraphExecDestroy(q->graphs[graph]));
    q->graphs[graph] = NULL;
}

static int graph_launch(void *ctx, int graph, char *reason, size_t cap)
{
    struct ppo_queue *q = (struct ppo_queue *)ctx;
    return gpu_device_check(q->g, cudaGraphLaunch(q->graphs[graph], q->lanes[0]), "CUDA graph", reason, cap);
}

extern "C" const struct repeat_calls *ppo_queue_graph_calls(void)
{
    static const struct repeat_calls plain = {false, graph_begin, graph_end, graph_launch, graph_drop},
                                     skipping = {true, graph_begin, graph_end, graph_launch, graph_drop};
    return graphs_skip() ? &skipping : &plain;
}

extern "C" void ppo_queue_repeat(struct ppo_queue *q, int graph, const uint32_t *stop,
                                 void (*work)(void *ctx), void *ctx)
{
    const struct repeat_work repeated = {work, ctx, stop};
    char reason[REASON_MAX];
    if (q->error)
        return;
    int r = ppo_repeat(&q->repeats, graph, &repeated, reason, sizeof(reason));
    if (r < 0)
        ppo_queue_fail(q, r, reason);
}

extern "C" bool ppo_queue_skips(const struct ppo_queue *q, int graph)
{
    return q->repeats.graphs[graph].how == REPEAT_SKIPS;
}

extern "C" const char *ppo_queue_notice(const struct ppo_queue *q)
{
    return q->repeats.notice;
}

extern "C" void ppo_queue_forget(struct ppo_queue *q)
{
    ppo_repeat_forget(&q->repeats);
}
