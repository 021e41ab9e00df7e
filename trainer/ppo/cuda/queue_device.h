/* Inside the module: the queue on CUDA (queue.cu), its graphs (graphs.cu) and products (products.cu). Only
 * for .cu files. */
#ifndef TRAINER_PPO_CUDA_QUEUE_DEVICE_H
#define TRAINER_PPO_CUDA_QUEUE_DEVICE_H

#include <cublasLt.h>

#include "indicators_gpu/cuda/device.h"
#include "trainer/ppo/cuda/product_plan.h"
#include "trainer/ppo/cuda/queue.h"
#include "trainer/ppo/cuda/repeat.h"

enum { REASON_MAX = 256, PINNED_MAX = 8, QUEUE_DEVICE_MAX = 320 };

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
    decltype(&cublasLtMatmulAlgoConfigGetAttribute) config;
    decltype(&cublasLtGetVersion) version;
};

/* As cuBLASLt sees it, column by column: d = op(a) op(b), each of our row-major matrices its transpose. */
struct planned {
    struct queue_product product;
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t a, b, d;
    cublasLtMatmulAlgo_t algo;
    size_t workspace; /* that it uses */
    enum queue_epilogue asked;
    struct product_choice choice;
};

/* A product that is being planned: as asked for, or without its epilogue. */
struct product_planning {
    struct planned planned;
    cublasLtMatmulHeuristicResult_t found[PRODUCT_HEURISTICS];
    int n;
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
    struct product_planner planner;
    struct product_planning planning[2];
    const struct queue_use *use; /* of the product that is being planned */
    bool filled;                 /* the arena, with numbers to measure by */
    char device[QUEUE_DEVICE_MAX];
    struct repeats repeats;
    cudaGraphExec_t graphs[QUEUE_GRAPHS];
    cudaGraph_t graph; /* that is recorded; with a condition the one around it */
    bool lost_before;
    uint64_t waits;
    int error;
    char reason[REASON_MAX];
};

extern "C" {

/* Stores a failure, if there is one; while a graph is recorded the recording's. */
void ppo_queue_cuda_did(struct ppo_queue *q, cudaError_t error, const char *what);

/* graphs.cu */
int ppo_queue_graph_did(cudaError_t error, const char *what, char *reason, size_t cap);
const struct repeat_calls *ppo_queue_graph_calls(void);

/* products.cu */
void ppo_queue_products_init(struct ppo_queue *q, bool measured);
void ppo_queue_products_finish(struct ppo_queue *q);
}

#endif
