/* A stand-in for NVIDIA's management library, for tests and by hand:
 *
 *   PAPERTAPE_NVML=$PWD/build/tests/daemon/libfake-nvml-all.so PAPERTAPE_FAKE_NVML=/tmp/gpu papertaped …
 *   echo temperature=86 >>/tmp/gpu
 *
 * The file is read again at each call, so that it may change at any time (write a new one and rename it, or
 * append: the last line of a key counts). Its lines are KEY=VALUE, for one device N.KEY=VALUE (N from 0),
 * which takes precedence; what begins with # is none. Without the file, or a line, the value is that in
 * brackets.
 *
 *   devices=2                how many there are, 0 to 16 [2]
 *   no_driver=1              the library cannot start; in effect when it is opened [0]
 *   fails=1                  the driver has lost its devices: their number is an error [0]
 *   hang=1                   the next sample does not return until this is 0 again [0]
 *   driver=560.35.03         [999.42.01]
 *   lost=1                   every call for the device fails [0]
 *   name=Fake 0  uuid=GPU-…  [Fake N, GPU-0000000N-0000-4000-8000-00000000fa4e]
 *   utilization=97           percent, as are memory_utilization [40] and fan [30]
 *   memory_used=62464        MiB, as is memory_total [154624]
 *   power=612.345            W, as is power_limit [650]
 *   clock=1980               MHz, as is memory_clock [2619]
 *   temperature=71           degrees Celsius
 *   throttle=0x4             bits: 1 idle, 4 power cap, 8 hardware slowdown,
 *                            0x20 and 0x40 thermal, 0x80 power brake [0]
 *   pcie_rx=1200             KB/s, as is pcie_tx [800]
 *   processes=812:4096:55 …  of those that compute PID:MIB:PERCENT
 *                            [the caller's own, 1024 MiB, 40 %]; empty: none;
 *                            - in place of a number: not known; graphics=… likewise [none]
 *
 * KEY=unsupported: that call answers that the device does not support it; process_utilization and
 * memory_v2 are keys for that alone.
 *
 * Built twice: as it is, and with FAKE_V1, which has only the oldest names. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum {
    SUCCESS,
    UNINITIALIZED,
    INVALID_ARGUMENT,
    NOT_SUPPORTED,
    NOT_FOUND = 6,
    INSUFFICIENT_SIZE = 7,
    DRIVER_NOT_LOADED = 9,
    GPU_IS_LOST = 15,
    MISMATCH = 25
};
enum { DEVICES_MAX = 16, PROCESSES_MAX = 128, LINE_MAX_ = 4096 };

struct device {
    int index;
};

struct utilization {
    unsigned gpu, memory;
};

struct memory {
    unsigned long long total, free, used;
};

struct memory_v2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
};

struct process_v1 {
    unsigned pid;
    unsigned long long used;
};

struct process_v2 {
    unsigned pid;
    unsigned long long used;
    unsigned gpu_instance, compute_instance;
};

struct process_sample {
    unsigned pid;
    unsigned long long time_us;
    unsigned sm, memory, encoder, decoder; /* percent */
};

static struct device devices[DEVICES_MAX];
static atomic_int started;

/* The test's hands: it locks this to make the next sample hang, and reads how many began, and from which
 * time on the utilization of processes was asked last. */
EXPORT pthread_mutex_t fake_nvml_gate = PTHREAD_MUTEX_INITIALIZER;
EXPORT atomic_int fake_nvml_counts, fake_nvml_shutdowns;
EXPORT atomic_ullong fake_nvml_last_seen;

#ifdef FAKE_V1
#define V(name, suffix) name
#define process_info    process_v1
#else
#define V(name, suffix) name##suffix
#define process_info    process_v2
#endif

EXPORT int V(nvmlInit, _v2)(void);
EXPORT int nvmlShutdown(void);
EXPORT const char *nvmlErrorString(int result);
EXPORT int V(nvmlDeviceGetCount, _v2)(unsigned *count);
EXPORT int V(nvmlDeviceGetHandleByIndex, _v2)(unsigned index, struct device **ret);
EXPORT int nvmlSystemGetDriverVersion(char *text, unsigned size);
EXPORT int nvmlDeviceGetName(struct device *device, char *text, unsigned size);
EXPORT int nvmlDeviceGetUtilizationRates(struct device *device, struct utilization *ret);
EXPORT int nvmlDeviceGetMemoryInfo(struct device *device, struct memory *ret);
EXPORT int nvmlDeviceGetPowerUsage(struct device *device, unsigned *ret);
EXPORT int nvmlDeviceGetPowerManagementLimit(struct device *device, unsigned *ret);
EXPORT int nvmlDeviceGetClockInfo(struct device *device, int which, unsigned *ret);
EXPORT int nvmlDeviceGetTemperature(struct device *device, int sensor, unsigned *ret);
EXPORT int V(nvmlDeviceGetComputeRunningProcesses, _v2)(struct device *device, unsigned *count,
                                                        struct process_info *ret);
EXPORT int V(nvmlDeviceGetGraphicsRunningProcesses, _v2)(struct device *device, unsigned *count,
                                                         struct process_info *ret);

/* --- the file --- */

/* The value of the last line "PREFIX=…". */
static int look_up(FILE *file, const char *prefix, char ret[static LINE_MAX_])
{
    char line[LINE_MAX_];
    size_t n = strlen(prefix);
    int found = 0;
    rewind(file);
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, prefix, n) != 0 || line[n] != '=')
            continue;
        memcpy(ret, line + n + 1, strlen(line + n + 1) + 1);
        found = 1;
    }
    return found;
}

/* `device` below 0: of the library. */
static int setting(int device, const char *key, char ret[static LINE_MAX_])
{
    char own[64];
    const char *path = getenv("PAPERTAPE_FAKE_NVML");
    FILE *file = path ? fopen(path, "re") : NULL;
    if (!file)
        return 0;
    snprintf(own, sizeof own, "%d.%s", device, key);
    int found = (device >= 0 && look_up(file, own, ret)) || look_up(file, key, ret);
    fclose(file);
    return found;
}

static int is_set(int device, const char *key)
{
    char text[LINE_MAX_];
    return setting(device, key, text) && atoi(text) != 0;
}

static int text_of(const struct device *device, const char *key, const char *fallback,
                   char ret[static LINE_MAX_])
{
    if (is_set(device->index, "lost"))
        return GPU_IS_LOST;
    if (!setting(device->index, key, ret))
        snprintf(ret, LINE_MAX_, "%s", fallback);
    return strcmp(ret, "unsupported") == 0 ? NOT_SUPPORTED : SUCCESS;
}

/* As real ones do, *ret is written beside a refusal too. */
static int number_of(const struct device *device, const char *key, double fallback, double unit,
                     unsigned long long *ret)
{
    char text[LINE_MAX_], usual[32];
    snprintf(usual, sizeof usual, "%.17g", fallback);
    int result = text_of(device, key, usual, text);
    double value = text[0] == '0' && text[1] == 'x' ? (double)strtoul(text, NULL, 16) : strtod(text, NULL);
    *ret = result == SUCCESS ? (unsigned long long)(value * unit + 0.5) : 0;
    return result;
}

static int unsigned_of(const struct device *device, const char *key, double fallback, double unit,
                       unsigned *ret)
{
    unsigned long long value;
    int result = number_of(device, key, fallback, unit, &value);
    *ret = (unsigned)value;
    return result;
}

/* --- the library --- */

int V(nvmlInit, _v2)(void)
{
    if (is_set(-1, "no_driver"))
        return DRIVER_NOT_LOADED;
    started++;
    return SUCCESS;
}

int nvmlShutdown(void)
{
    atomic_fetch_add(&fake_nvml_shutdowns, 1);
    return atomic_fetch_sub(&started, 1) > 0 ? SUCCESS : UNINITIALIZED;
}

const char *nvmlErrorString(int result)
{
    return result == DRIVER_NOT_LOADED ? "Driver Not Loaded"
           : result == GPU_IS_LOST     ? "GPU is lost"
                                       : "Unknown Error";
}

static void nap(void)
{
    nanosleep(&(struct timespec){0, 5000000}, NULL);
}

int V(nvmlDeviceGetCount, _v2)(unsigned *count)
{
    char text[LINE_MAX_];
    if (started <= 0)
        return UNINITIALIZED;
    atomic_fetch_add(&fake_nvml_counts, 1);
    pthread_mutex_lock(&fake_nvml_gate);
    pthread_mutex_unlock(&fake_nvml_gate);
    while (is_set(-1, "hang"))
        nap();
    *count = setting(-1, "devices", text) ? (unsigned)atoi(text) : 2;
    return is_set(-1, "fails") ? GPU_IS_LOST : SUCCESS;
}

int V(nvmlDeviceGetHandleByIndex, _v2)(unsigned index, struct device **ret)
{
    if (index >= DEVICES_MAX)
        return INVALID_ARGUMENT;
    devices[index].index = (int)index;
    *ret = &devices[index];
    return SUCCESS;
}

int nvmlSystemGetDriverVersion(char *text, unsigned size)
{
    char value[LINE_MAX_];
    snprintf(text, size, "%s", setting(-1, "driver", value) ? value : "999.42.01");
    return strcmp(text, "unsupported") == 0 ? NOT_SUPPORTED : SUCCESS;
}

/* --- a device --- */

static int copy_text(const struct device *device, const char *key, const char *fallback, char *text,
                     unsigned size)
{
    char value[LINE_MAX_];
    int result = text_of(device, key, fallback, value);
    if (result == SUCCESS)
        snprintf(text, size, "%s", value);
    return result;
}

int nvmlDeviceGetName(struct device *device, char *text, unsigned size)
{
    char usual[32];
    snprintf(usual, sizeof usual, "Fake %d", device->index);
    return copy_text(device, "name", usual, text, size);
}

int nvmlDeviceGetUtilizationRates(struct device *device, struct utilization *ret)
{
    int result = unsigned_of(device, "utilization", 97, 1, &ret->gpu);
    int also = unsigned_of(device, "memory_utilization", 40, 1, &ret->memory);
    return result != SUCCESS ? result : also;
}

int nvmlDeviceGetMemoryInfo(struct device *device, struct memory *ret)
{
    int result = number_of(device, "memory_total", 151 << 10, 1 << 20, &ret->total);
    int also = number_of(device, "memory_used", 61 << 10, 1 << 20, &ret->used);
    ret->used += 1ull << 30; /* what the driver reserves */
    ret->free = ret->total - ret->used;
    return result != SUCCESS ? result : also;
}

int nvmlDeviceGetPowerUsage(struct device *device, unsigned *ret)
{
    return unsigned_of(device, "power", 612.345, 1000, ret);
}

int nvmlDeviceGetPowerManagementLimit(struct device *device, unsigned *ret)
{
    int result = unsigned_of(device, "power_limit", 650, 1000, ret);
    *ret += 50000; /* what is asked for, which is not always in force */
    return result;
}

int nvmlDeviceGetClockInfo(struct device *device, int which, unsigned *ret)
{
    *ret = 1;
    return which == 1   ? unsigned_of(device, "clock", 1980, 1, ret)
           : which == 2 ? unsigned_of(device, "memory_clock", 2619, 1, ret)
                        : SUCCESS;
}

int nvmlDeviceGetTemperature(struct device *device, int sensor, unsigned *ret)
{
    *ret = 1;
    return sensor == 0 ? unsigned_of(device, "temperature", 71, 1, ret) : SUCCESS;
}

/* --- its processes --- */

struct parsed {
    unsigned pid;
    unsigned long long used;
    int percent; /* below 0: not known */
};

static int parse_processes(const struct device *device, const char *key,
                           struct parsed ret[static PROCESSES_MAX], unsigned *ret_n)
{
    char text[LINE_MAX_], usual[64], *rest = text;
    snprintf(usual, sizeof usual, "%d:1024:40", (int)getpid());
    int result = text_of(device, key, strcmp(key, "processes") == 0 ? usual : "", text);
    *ret_n = 0;
    if (result != SUCCESS)
        return result;
    for (char *word; (word = strsep(&rest, " ")) && *ret_n < PROCESSES_MAX;) {
        const char *pid = strsep(&word, ":"), *used = strsep(&word, ":"), *percent = strsep(&word, ":");
        if (pid[0])
            ret[(*ret_n)++] = (struct parsed){(unsigned)atoi(pid),
                                              used && used[0] != '-' ? strtoull(used, NULL, 10) << 20 : ~0ull,
                                              percent && percent[0] != '-' ? atoi(percent) : -1};
    }
    return SUCCESS;
}

static int running(struct device *device, const char *key, unsigned *count, struct process_info *ret)
{
    struct parsed all[PROCESSES_MAX];
    unsigned n, room = *count;
    int result = parse_processes(device, key, all, &n);
    if (result != SUCCESS)
        return result;
    *count = n;
    for (unsigned i = 0; i < n && i < room; i++)
        ret[i] = (struct process_info){.pid = all[i].pid, .used = all[i].used};
    return n > room ? INSUFFICIENT_SIZE : SUCCESS;
}

int V(nvmlDeviceGetComputeRunningProcesses, _v2)(struct device *device, unsigned *count,
                                                 struct process_info *ret)
{
    return running(device, "processes", count, ret);
}

int V(nvmlDeviceGetGraphicsRunningProcesses, _v2)(struct device *device, unsigned *count,
                                                  struct process_info *ret)
{
    return running(device, "graphics", count, ret);
}

/* --- what came later --- */

#ifndef FAKE_V1

EXPORT int nvmlDeviceGetUUID(struct device *device, char *text, unsigned size);
EXPORT int nvmlDeviceGetMemoryInfo_v2(struct device *device, struct memory_v2 *ret);
EXPORT int nvmlDeviceGetEnforcedPowerLimit(struct device *device, unsigned *ret);
EXPORT int nvmlDeviceGetFanSpeed(struct device *device, unsigned *ret);
EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(struct device *device, unsigned long long *ret);
EXPORT int nvmlDeviceGetPcieThroughput(struct device *device, int which, unsigned *ret);
EXPORT int nvmlDeviceGetProcessUtilization(struct device *device, struct process_sample *ret, unsigned *count,
                                           unsigned long long last_seen);

int nvmlDeviceGetUUID(struct device *device, char *text, unsigned size)
{
    char usual[64];
    snprintf(usual, sizeof usual, "GPU-%08x-0000-4000-8000-00000000fa4e", (unsigned)device->index);
    return copy_text(device, "uuid", usual, text, size);
}

int nvmlDeviceGetMemoryInfo_v2(struct device *device, struct memory_v2 *ret)
{
    char text[LINE_MAX_];
    if (ret->version != (sizeof *ret | 2 << 24))
        return MISMATCH;
    if (text_of(device, "memory_v2", "", text) == NOT_SUPPORTED)
        return NOT_SUPPORTED;
    ret->reserved = 1ull << 30;
    int result = number_of(device, "memory_total", 151 << 10, 1 << 20, &ret->total);
    int also = number_of(device, "memory_used", 61 << 10, 1 << 20, &ret->used);
    return result != SUCCESS ? result : also;
}

int nvmlDeviceGetEnforcedPowerLimit(struct device *device, unsigned *ret)
{
    return unsigned_of(device, "power_limit", 650, 1000, ret);
}

int nvmlDeviceGetFanSpeed(struct device *device, unsigned *ret)
{
    return unsigned_of(device, "fan", 30, 1, ret);
}

int nvmlDeviceGetCurrentClocksThrottleReasons(struct device *device, unsigned long long *ret)
{
    return number_of(device, "throttle", 0, 1, ret);
}

int nvmlDeviceGetPcieThroughput(struct device *device, int which, unsigned *ret)
{
    return which == 0 ? unsigned_of(device, "pcie_tx", 800, 1, ret)
                      : unsigned_of(device, "pcie_rx", 1200, 1, ret);
}

static unsigned sampled(const struct parsed all[], unsigned n, struct process_sample *ret, unsigned room)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    unsigned long long time_us =
        (unsigned long long)now.tv_sec * 1000000 + (unsigned long long)now.tv_nsec / 1000;
    unsigned found = 0;
    for (unsigned i = 0; i < n; i++) {
        if (all[i].percent < 0)
            continue;
        if (found < room)
            ret[found] = (struct process_sample){
                .pid = all[i].pid, .time_us = time_us, .sm = (unsigned)all[i].percent};
        found++;
    }
    return found;
}

int nvmlDeviceGetProcessUtilization(struct device *device, struct process_sample *ret, unsigned *count,
                                    unsigned long long last_seen)
{
    struct parsed all[2 * PROCESSES_MAX];
    char text[LINE_MAX_];
    unsigned n = 0, more = 0, room = ret ? *count : 0;
    atomic_store(&fake_nvml_last_seen, last_seen);
    int result = text_of(device, "process_utilization", "", text);
    if (result != SUCCESS)
        return result;
    (void)parse_processes(device, "processes", all, &n);
    (void)parse_processes(device, "graphics", all + n, &more);
    *count = sampled(all, n + more, ret, room);
    return *count == 0 ? NOT_FOUND : *count > room ? INSUFFICIENT_SIZE : SUCCESS;
}

#endif
