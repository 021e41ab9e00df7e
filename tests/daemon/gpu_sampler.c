/* The sampler on a loop: a driver that hangs and fails (argv[1], fake_nvml.c), several vendors, no device. */
#include "daemon/gpu/sampler.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "exchange/clock.h"
#include "tests/check.h"
#include "tests/daemon/nvml_file.h"
#include "tests/daemon/tree.h"

static char sys[SCRATCH_MAX];

/* --- the sampler: every condition is waited for on the loop, with a deadline --- */

enum { DEADLINE_MS = 20000 };

static uv_loop_t loop;
static uv_timer_t deadline;

static void on_deadline(uv_timer_t *timer)
{
    *(int *)timer->data = 1;
}

/* Turns the loop until `condition` holds. */
#define UNTIL(condition) \
    do { \
        int late = 0; \
        deadline.data = &late; \
        uv_timer_start(&deadline, on_deadline, DEADLINE_MS, 0); \
        while (!(condition) && !late) { \
            uv_run(&loop, UV_RUN_NOWAIT); \
            sched_yield(); \
        } \
        uv_timer_stop(&deadline); \
        CHECK(condition); \
    } while (0)

static void test_sampler(const char *library)
{
    struct gpu_sampler *sampler;
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    pthread_mutex_t *gate = handle ? dlsym(handle, "fake_nvml_gate") : NULL;
    atomic_int *counts = handle ? dlsym(handle, "fake_nvml_counts") : NULL;
    atomic_int *shutdowns = handle ? dlsym(handle, "fake_nvml_shutdowns") : NULL;
    if (!gate || !counts || !shutdowns)
        abort();

    setenv("PAPERTAPE_NVML", library, 1);
    fake("");
    int64_t started_ns = clock_wall_ns();
    CHECK_INT(daemon_gpu_sampler_create(&loop, 1, &sampler), 0);
    const struct gpu_status *status = daemon_gpu_sampler_status(sampler);
    CHECK_INT(status->state, GPU_NOT_AVAILABLE);
    CHECK_STR(status->reason, "not sampled yet");
    UNTIL(status->samples >= 2 && status->state == GPU_OK); /* a busy machine makes it late now and then */
    CHECK_STR(status->reason, "");
    CHECK_STR(status->devices[0].driver, "999.42.01");
    CHECK_INT(status->n_devices, 2);
    CHECK_INT(known_of(&status->devices[1]), KNOWN_ALL);
    CHECK(status->sampled_ms > 0);
    CHECK(status->sampled_ns > started_ns && status->sampled_ns <= clock_wall_ns());

    /* The driver hangs: the loop turns on, nothing piles up, no old figure is shown as a new one. */
    pthread_mutex_lock(gate);
    UNTIL(status->state == GPU_STALLED);
    char stalled[GPU_REASON_MAX];
    memcpy(stalled, status->reason, sizeof stalled);
    CHECK_INT(strncmp(stalled, "the driver has not answered since ", 34), 0);
    CHECK_INT(status->n_devices, 2);
    CHECK_INT(known_of(&status->devices[0]), 0);
    CHECK(!status->devices[0].processes_known);
    CHECK_INT(status->devices[0].n_processes, 0);
    CHECK_STR(status->devices[0].name, "Fake 0");
    uint64_t samples = status->samples;
    int before = atomic_load(counts);
    uint64_t now = uv_now(&loop);
    UNTIL(uv_now(&loop) > now + 50); /* fifty intervals */
    CHECK_INT(status->samples, samples);
    CHECK(atomic_load(counts) <=
          before + 1);                  /* the one that hangs, if it had not started when it was missed */
    CHECK_STR(status->reason, stalled); /* it counts nothing, so that it is stored once */
    pthread_mutex_unlock(gate);
    UNTIL(status->state == GPU_OK && status->samples > samples + 1);

    /* The device is lost, and later found again. */
    fake("fails=1\n");
    UNTIL(status->state == GPU_NOT_AVAILABLE);
    CHECK_STR(status->reason, "NVML: GPU is lost");
    CHECK_INT(status->n_devices, 0);
    fake("");
    UNTIL(status->state == GPU_OK);

    /* Destroyed while a sample hangs: the loop ends at once, and the thread tidies up when the driver
     * answers. */
    pthread_mutex_lock(gate);
    UNTIL(status->state == GPU_STALLED);
    int stopped = atomic_load(shutdowns);
    daemon_gpu_sampler_destroy(sampler);
    uv_run(&loop, UV_RUN_DEFAULT);
    CHECK_INT(atomic_load(shutdowns), stopped);
    pthread_mutex_unlock(gate);
    UNTIL(atomic_load(shutdowns) == stopped + 1);

    /* Destroyed before it ever ran. */
    CHECK_INT(daemon_gpu_sampler_create(&loop, 1000, &sampler), 0);
    daemon_gpu_sampler_destroy(sampler);
    uv_run(&loop, UV_RUN_DEFAULT);
    dlclose(handle);
}

static struct gpu_sampler *start(const char *library)
{
    struct gpu_sampler *sampler;
    setenv("PAPERTAPE_NVML", library, 1);
    CHECK_INT(daemon_gpu_sampler_create(&loop, 1, &sampler), 0);
    const struct gpu_status *status = daemon_gpu_sampler_status(sampler);
    UNTIL(status->samples >= 2);
    return sampler;
}

static void stop(struct gpu_sampler *sampler)
{
    daemon_gpu_sampler_destroy(sampler);
    uv_run(&loop, UV_RUN_DEFAULT);
}

/* One line says why there is no device; several vendors are in one list. */
static void test_vendors(const char *library)
{
    struct gpu_sampler *sampler = start("");
    const struct gpu_status *status = daemon_gpu_sampler_status(sampler);
    CHECK_INT(status->state, GPU_NOT_AVAILABLE);
    CHECK_STR(status->reason, "no GPU");
    stop(sampler);

    fake("devices=0\n");
    sampler = start(library);
    status = daemon_gpu_sampler_status(sampler);
    CHECK_INT(status->state, GPU_NOT_AVAILABLE);
    CHECK_STR(status->reason, "no GPU");
    stop(sampler);

    fake("");
    tree_put(sys, "class/drm/card0/device/vendor", "0x8086\n");
    tree_put(sys, "class/drm/card1/device/vendor", "0x1002\n");
    tree_put(sys, "class/drm/card1/device/gpu_busy_percent", "12\n");
    sampler = start(library);
    status = daemon_gpu_sampler_status(sampler);
    CHECK_INT(status->state, GPU_OK);
    CHECK_STR(status->reason, "intel:card0: it does not answer");
    CHECK_INT(status->n_devices, 4);
    CHECK_STR(status->devices[0].name, "Fake 0");
    CHECK_STR(status->devices[2].device, "amd:card1");
    CHECK(status->devices[2].figures.util_percent == 12);
    CHECK_STR(status->devices[3].device, "intel:card0");
    stop(sampler);

    /* What one vendor's driver fails at is said beside the other's device. */
    tree_remove(sys, "class/drm/card0");
    sampler = start("libnvidia-ml-absent.so.1");
    status = daemon_gpu_sampler_status(sampler);
    CHECK_INT(status->state, GPU_OK);
    CHECK_INT(status->n_devices, 1);
    CHECK(strstr(status->reason, "libnvidia-ml-absent.so.1") != NULL);
    stop(sampler);
    tree_remove(sys, "class");
}

static bool says(const struct gpu_status *status, enum gpu_state state, int n_devices, const char *reason)
{
    return status->state == state && status->n_devices == n_devices && strcmp(status->reason, reason) == 0;
}

#define GPU_0 "nvidia:GPU-00000000-0000-4000-8000-00000000fa4e"
#define GPU_1 "nvidia:GPU-00000001-0000-4000-8000-00000000fa4e"

static void put_amd(int number)
{
    char name[64], slot[64];
    snprintf(name, sizeof name, "class/drm/card%d/device/gpu_busy_percent", number);
    tree_put(sys, name, "12\n");
    snprintf(name, sizeof name, "class/drm/card%d/device/uevent", number);
    snprintf(slot, sizeof slot, "PCI_SLOT_NAME=0000:%02x:00.0\n", number % 10);
    tree_put(sys, name, slot);
    snprintf(name, sizeof name, "class/drm/card%d/device/vendor", number);
    tree_put(sys, name, "0x1002\n");
}

/* A device that is gone, or does not answer, is named, and the others are sampled. */
static void test_gone(const char *library)
{
    fake("");
    struct gpu_sampler *sampler = start(library);
    const struct gpu_status *status = daemon_gpu_sampler_status(sampler);
    UNTIL(says(status, GPU_OK, 2, ""));
    fake("1.lost=1\n");
    UNTIL(says(status, GPU_OK, 2, GPU_1 ": it does not answer"));
    CHECK(status->devices[0].figures.util_percent == 97);
    fake("lost=1\n");
    UNTIL(says(status, GPU_OK, 2, GPU_0 " and 1 more: it does not answer"));
    fake("");
    UNTIL(says(status, GPU_OK, 2, ""));

    /* Named until it is back, though its vendor's driver is opened again in between. */
    fake("devices=1\n");
    UNTIL(says(status, GPU_OK, 1, GPU_1 ": the device is gone"));
    uint64_t samples = status->samples;
    UNTIL(status->samples > samples + 100 && says(status, GPU_OK, 1, GPU_1 ": the device is gone"));
    fake("devices=0\n");
    UNTIL(says(status, GPU_NOT_AVAILABLE, 0, GPU_0 " and 1 more: the device is gone"));
    fake("");
    UNTIL(says(status, GPU_OK, 2, ""));
    stop(sampler);

    put_amd(3);
    put_amd(4);
    sampler = start("");
    status = daemon_gpu_sampler_status(sampler);
    UNTIL(says(status, GPU_OK, 2, ""));
    tree_remove(sys, "class/drm/card3");
    UNTIL(says(status, GPU_OK, 1, "amd:0000:03:00.0: the device is gone"));
    CHECK_STR(status->devices[0].device, "amd:0000:04:00.0");
    CHECK(status->devices[0].figures.util_percent == 12);
    tree_remove(sys, "class/drm/card4");
    UNTIL(says(status, GPU_NOT_AVAILABLE, 0, "amd:0000:03:00.0 and 1 more: the device is gone"));
    put_amd(4);
    put_amd(13); /* the first again, by another number */
    UNTIL(says(status, GPU_OK, 2, ""));
    stop(sampler);
    tree_remove(sys, "class");
}

int main(int argc, char **argv)
{
    if (argc != 2 || uv_loop_init(&loop) != 0)
        return 2;
    scratch_make(sys);
    setenv("PAPERTAPE_SYSFS", sys, 1);
    uv_timer_init(&loop, &deadline);
    test_sampler(argv[1]);
    test_vendors(argv[1]);
    test_gone(argv[1]);
    uv_close((uv_handle_t *)&deadline, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    CHECK_INT(uv_loop_close(&loop), 0);
    CHECK_STR(daemon_gpu_state_name(GPU_NOT_AVAILABLE), "n/a");
    CHECK_STR(daemon_gpu_state_name(GPU_OK), "ok");
    CHECK_STR(daemon_gpu_state_name(GPU_STALLED), "stalled");
    return check_done("daemon/gpu_sampler");
}
