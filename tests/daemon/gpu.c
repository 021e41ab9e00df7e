/* NVML's reading and the sampler against fake libraries (fake_nvml.c): argv[1], and argv[2] with only the
 * oldest names. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "daemon/gpu_sampler.h"
#include "daemon/nvml.h"
#include "tests/check.h"
#include "tests/scratch.h"

static const uint32_t everything =
    GPU_NAME | GPU_UTIL | GPU_MEM_USED | GPU_MEM_TOTAL | GPU_POWER | GPU_POWER_LIMIT | GPU_CLOCK | GPU_TEMP;
static char reason[GPU_REASON_MAX];

/* The fake library's file, which has these lines from now on. */
static void fake(const char *lines)
{
    const char *path = scratch_path("fake"), *next = scratch_write("next", lines);
    if (rename(next, path) < 0)
        abort();
    setenv("PAPERTAPE_FAKE_NVML", path, 1);
}

static int sample(const char *library, struct gpu_device devices[static GPU_DEVICES_MAX])
{
    struct nvml *nvml;
    int n = -1;
    setenv("PAPERTAPE_NVML", library, 1);
    CHECK_INT(daemon_nvml_open(&nvml, reason), 0);
    CHECK_STR(daemon_nvml_driver(nvml), "999.42.01");
    memset(devices, 0x5a, GPU_DEVICES_MAX * sizeof *devices);
    CHECK_INT(daemon_nvml_sample(nvml, devices, &n, reason), 0);
    daemon_nvml_close(nvml);
    return n;
}

static void test_nvml(char **libraries)
{
    struct gpu_device d[GPU_DEVICES_MAX];
    CHECK_INT(sample(libraries[0], d), 2);
    CHECK_INT(d[0].valid, everything);
    CHECK_STR(d[0].name, "Fake 0");
    CHECK_STR(d[1].name, "Fake 1");
    CHECK_INT(d[0].util_pct, 97);
    CHECK_INT(d[0].mem_used_bytes, 61ll << 30);
    CHECK_INT(d[0].mem_total_bytes, 151ll << 30);
    CHECK_INT(d[0].power_mw, 612345);
    CHECK_INT(d[0].power_limit_mw, 650000);
    CHECK_INT(d[0].clock_mhz, 1980);
    CHECK_INT(d[0].temp_c, 71);

    fake("power=unsupported\npower_limit=unsupported\n");
    CHECK_INT(sample(libraries[0], d), 2);
    CHECK_INT(d[0].valid, everything & ~(uint32_t)(GPU_POWER | GPU_POWER_LIMIT));
    CHECK_INT(d[0].power_mw, 0);

    fake("");
    CHECK_INT(sample(libraries[1], d), 2);
    CHECK_INT(d[0].valid, everything);
    CHECK_INT(d[0].mem_used_bytes, 62ll << 30);
    CHECK_INT(d[0].power_limit_mw, 700000);

    fake("1.lost=1\n");
    CHECK_INT(sample(libraries[0], d), 2);
    CHECK_INT(d[0].valid, everything);
    CHECK_INT(d[1].valid, 0);
    CHECK_STR(d[1].name, "");

    struct nvml *nvml = NULL;
    fake("no_driver=1\n");
    CHECK_INT(daemon_nvml_open(&nvml, reason), -EIO);
    CHECK_STR(reason, "NVML: Driver Not Loaded");
    fake("");
    setenv("PAPERTAPE_NVML", "libnvidia-ml-absent.so.1", 1);
    CHECK_INT(daemon_nvml_open(&nvml, reason), -ENOENT);
    CHECK_STR(reason, "no GPU: no NVIDIA driver (libnvidia-ml-absent.so.1)");
    setenv("PAPERTAPE_NVML", "libm.so.6", 1);
    CHECK_INT(daemon_nvml_open(&nvml, reason), -ENOSYS);
    CHECK_STR(reason, "the NVML library lacks: nvmlInit_v2");
    CHECK(nvml == NULL);
    daemon_nvml_close(NULL);
}

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
    CHECK_INT(daemon_gpu_sampler_create(&loop, 1, &sampler), 0);
    const struct gpu_status *status = daemon_gpu_sampler_status(sampler);
    CHECK_INT(status->state, GPU_NOT_AVAILABLE);
    CHECK_STR(status->reason, "not sampled yet");
    UNTIL(status->samples >= 2 && status->state == GPU_OK); /* a busy machine makes it late now and then */
    CHECK_STR(status->reason, "");
    CHECK_STR(status->driver, "999.42.01");
    CHECK_INT(status->n_devices, 2);
    CHECK_INT(status->devices[1].valid, everything);
    CHECK(status->sampled_ms > 0);

    /* The driver hangs: the loop turns on, nothing piles up, no old figure is shown as a new one. */
    pthread_mutex_lock(gate);
    UNTIL(status->state == GPU_STALLED);
    CHECK_INT(strncmp(status->reason, "the driver has not answered for ", 32), 0);
    CHECK_INT(status->n_devices, 2);
    CHECK_INT(status->devices[0].valid, GPU_NAME);
    uint64_t samples = status->samples;
    int before = atomic_load(counts);
    uint64_t now = uv_now(&loop);
    UNTIL(uv_now(&loop) > now + 50); /* fifty intervals */
    CHECK_INT(status->samples, samples);
    CHECK(atomic_load(counts) <=
          before + 1); /* the one that hangs, if it had not started when it was missed */
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

    setenv("PAPERTAPE_NVML", "libnvidia-ml-absent.so.1", 1);
    CHECK_INT(daemon_gpu_sampler_create(&loop, 1, &sampler), 0);
    status = daemon_gpu_sampler_status(sampler);
    UNTIL(status->samples >= 2);
    CHECK_INT(status->state, GPU_NOT_AVAILABLE);
    CHECK(strstr(status->reason, "libnvidia-ml-absent.so.1") != NULL);
    daemon_gpu_sampler_destroy(sampler);
    uv_run(&loop, UV_RUN_DEFAULT);

    /* Destroyed before it ever ran. */
    CHECK_INT(daemon_gpu_sampler_create(&loop, 1000, &sampler), 0);
    daemon_gpu_sampler_destroy(sampler);
    uv_run(&loop, UV_RUN_DEFAULT);
    dlclose(handle);
}

int main(int argc, char **argv)
{
    if (argc != 3 || uv_loop_init(&loop) != 0)
        return 2;
    test_nvml(argv + 1);
    uv_timer_init(&loop, &deadline);
    test_sampler(argv[1]);
    uv_close((uv_handle_t *)&deadline, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    CHECK_INT(uv_loop_close(&loop), 0);
    CHECK_STR(daemon_gpu_state_name(GPU_NOT_AVAILABLE), "n/a");
    CHECK_STR(daemon_gpu_state_name(GPU_OK), "ok");
    CHECK_STR(daemon_gpu_state_name(GPU_STALLED), "stalled");
    return check_done("daemon/gpu");
}
