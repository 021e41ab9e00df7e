/* Of the module whose device is the CPU: $CPU_DEVICE (cpu_device.h explains its words), latency, and the
 * failures that it asks for. */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/indicators_gpu/cpu_device.h"

enum { SPIN_US = 200 }; /* below it a sleep is longer than it is asked to be */

static const struct cpu_setup defaults = {
    .total = (size_t)16 << 30, .context = (size_t)256 << 20, .code = (size_t)1 << 20};
static struct cpu_setup setup;
static atomic_uint_fast64_t counts[CPU_FAULTS];
static atomic_bool lost;

/* ---- the words ---- */

static const struct word {
    const char *name;
    size_t *size;
    uint64_t *number;
} words[] = {
    {"total", &setup.total, NULL},
    {"context", &setup.context, NULL},
    {"code", &setup.code, NULL},
    {"launch_us", NULL, &setup.launch_us},
    {"sync_us", NULL, &setup.sync_us},
    {"fail_allocation", NULL, &setup.faults[CPU_FAIL_ALLOCATION]},
    {"fail_launch", NULL, &setup.faults[CPU_FAIL_LAUNCH]},
    {"fail_capture", NULL, &setup.faults[CPU_FAIL_CAPTURE]},
    {"lose", NULL, &setup.faults[CPU_LOSE]},
};

static bool read_value(const struct word *word, const char *text)
{
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    uint64_t value = strtoull(text, &end, 10);
    unsigned shift = 0;
    if (word->size && *end)
        shift = strcmp(end, "KiB") == 0   ? 10
                : strcmp(end, "MiB") == 0 ? 20
                : strcmp(end, "GiB") == 0 ? 30
                                          : 0;
    if (errno || (*end && !shift))
        return false;
    if (word->size)
        *word->size = (size_t)value << shift;
    else
        *word->number = value;
    return true;
}

static bool read_word(const char *text)
{
    const char *value = strchr(text, '=');
    if (!value)
        return false;
    size_t n = (size_t)(value - text);
    if (n == strlen("memory") && memcmp(text, "memory", n) == 0)
        return value[1] &&
               snprintf(setup.memory, sizeof setup.memory, "%s", value + 1) < (int)sizeof setup.memory;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].name) == n && memcmp(text, words[i].name, n) == 0)
            return read_value(&words[i], value + 1);
    return false;
}

int cpu_setup_read(char *reason, size_t cap)
{
    const char *text = getenv("CPU_DEVICE"), *bytes = getenv("QUEUE_MEMORY");
    char *own = text ? strdup(text) : NULL, *rest = NULL;
    int r = 0;
    if (text && !own)
        return cpu_none_left(reason, cap);
    setup = defaults;
    if (bytes)
        setup.total = strtoull(bytes, NULL, 10);
    for (char *word = own ? strtok_r(own, " ", &rest) : NULL; word && r == 0;
         word = strtok_r(NULL, " ", &rest))
        if (!read_word(word)) {
            snprintf(reason, cap,
                     "CPU_DEVICE: %s: a word of tests/indicators_gpu/cpu_device.h would be right", word);
            r = -EINVAL;
        }
    free(own);
    return r;
}

const struct cpu_setup *cpu_setup(void)
{
    return &setup;
}

/* ---- what happens ---- */

bool cpu_fails(enum cpu_fault kind)
{
    return setup.faults[kind] > 0 && atomic_fetch_add(&counts[kind], 1) + 1 == setup.faults[kind];
}

void cpu_lose(void)
{
    lost = true;
}

void cpu_reset(void)
{
    lost = false;
}

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

static void pass(uint64_t us)
{
    if (us > SPIN_US) {
        const struct timespec pause = {(time_t)(us / 1000000), (long)(us % 1000000 * 1000)};
        nanosleep(&pause, NULL);
    } else if (us > 0) {
        const double end = now_us() + (double)us;
        while (now_us() < end)
            ;
    }
}

void cpu_launch(void)
{
    pass(setup.launch_us);
    if (cpu_fails(CPU_FAIL_LAUNCH))
        cpu_lose();
}

int cpu_alive(char *reason, size_t cap)
{
    if (!lost)
        return 0;
    snprintf(reason, cap, "the CPU was lost: $CPU_DEVICE asked for it");
    return -EIO;
}

int cpu_wait(char *reason, size_t cap)
{
    pass(setup.sync_us);
    if (cpu_fails(CPU_LOSE))
        cpu_lose();
    return cpu_alive(reason, cap);
}
