/* The GPU kernels' block functions, on the CPU: exact ones bit for bit, parallel ones within their tolerance,
 * both the same in whatever order threads and blocks run. */
#include "tests/indicators_gpu/batches.h"

static void compute(const struct gpu_batch *batch, bool again)
{
    bool kept = false;
    CHECK_INT(block_compute(batch, again, &kept), 0);
    CHECK(kept);
}

int main(void)
{
    batch_check_rows();
    CHECK_INT(TOLERANCE_SMA_WINDOW, SMA_WINDOW_MAX);
    batch_try_sizes(compute, GPU_EXACT, 100003);
    batch_try_many(compute, GPU_EXACT);
    batch_try_sizes(compute, GPU_PARALLEL, 100003);
    batch_try_many(compute, GPU_PARALLEL);
    batch_try_long(compute);
    return check_done("indicators_gpu/blocks");
}
