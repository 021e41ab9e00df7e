/* PPO's kernels on the CPU: the launches of trainer/ppo/cuda/kernels.h as loops over blocks and threads. With
 * BLOCKS_REVERSED=1 in the environment both run in reverse. Shared memory is what the kernel asks for and no
 * more, and poisoned. */
#include <assert.h>

#include "strategy/policy/net.h"
#include "tests/indicators_gpu/cpu_device.h"
#include "trainer/ppo/cuda/blocks/list.h"
#include "trainer/ppo/state.h"

static_assert((int)KERNEL_TANH == NET_TANH && (int)KERNEL_RELU == NET_RELU && (int)KERNEL_SILU == NET_SILU,
              "the activations of kernels.h are those of net.h");

static_assert(sizeof(struct kernel_moments) == sizeof(struct ppo_moments) &&
                  offsetof(struct kernel_moments, m2) == offsetof(struct ppo_moments, m2),
              "a normaliser's state is a checkpoint's");

/* The module's (tests/indicators_gpu/cpu_setup.c); tests of the kernels alone have none. */
void cpu_launch(void) __attribute__((weak));

enum { POISON = 0xA5, SHARED_MAX = 48 << 10 };

struct cpu_counts cpu_counts;
bool cpu_recording;

static void *shared_memory(size_t bytes)
{
    assert(bytes <= SHARED_MAX); /* what a device gives without being asked */
    void *shared = aligned_alloc(16, (bytes + 16) / 16 * 16);
    if (!shared)
        abort();
    return shared;
}

#define KERNEL(name, type, threads, shared_bytes, across, down) \
    static void queue_##name(const type *k, void *stream) \
    { \
        const char *reversed = getenv("BLOCKS_REVERSED"); \
        uint32_t blocks = (across), rows = (down); \
        if (cpu_recording) \
            return; \
        cpu_counts.kernels += (size_t)blocks * rows > 0; \
        void *shared = shared_memory(shared_bytes); \
        (void)stream; \
        if (cpu_launch) \
            cpu_launch(); \
        block_reversed = reversed && reversed[0] == '1'; \
        for (size_t i = 0; i < (size_t)blocks * rows; i++) { \
            size_t at = block_reversed ? (size_t)blocks * rows - 1 - i : i; \
            memset(shared, POISON, (shared_bytes)); \
            block_##name(k, (unsigned)(at % blocks), (unsigned)(at / blocks), shared); \
        } \
        free(shared); \
    }

KERNEL_LIST(KERNEL)
LAUNCH_ALL
