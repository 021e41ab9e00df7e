/* NVML's reading against fake libraries (fake_nvml.c): argv[1], and argv[2] with only the
 * oldest names. */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

#include "daemon/gpu/nvml.h"
#include "exchange/clock.h"
#include "tests/check.h"
#include "tests/daemon/nvml_file.h"

static char reason[GPU_REASON_MAX];

static int sample(const char *library, struct device_sample devices[static DEVICES_MAX])
{
    void *opened;
    int n = -1;
    setenv("PAPERTAPE_NVML", library, 1);
    CHECK_INT(daemon_gpu_nvidia.open(&opened, reason), 0);
    memset(devices, 0x5a, DEVICES_MAX * sizeof *devices);
    CHECK_INT(daemon_gpu_nvidia.sample(opened, 1, devices, DEVICES_MAX, &n, reason), 0);
    daemon_gpu_nvidia.close(opened);
    return n;
}

static void test_figures(const char *library)
{
    struct device_sample d[DEVICES_MAX];
    const struct device_figures *f = &d[0].figures;
    fake("throttle=0x44\n");
    CHECK_INT(sample(library, d), 2);
    CHECK_INT(known_of(&d[0]), KNOWN_ALL);
    CHECK_STR(d[0].device, "nvidia:GPU-00000000-0000-4000-8000-00000000fa4e");
    CHECK_STR(d[1].device, "nvidia:GPU-00000001-0000-4000-8000-00000000fa4e");
    CHECK_STR(d[0].name, "Fake 0");
    CHECK_STR(d[1].name, "Fake 1");
    CHECK_STR(d[0].driver, "999.42.01");
    CHECK_STR(d[0].profile, "");
    CHECK(f->util_percent == 97);
    CHECK(f->memory_util_percent == 40);
    CHECK(f->memory_used_bytes == 61.0 * (1 << 30));
    CHECK(f->memory_total_bytes == 151.0 * (1 << 30));
    CHECK(f->power_w == 612.345);
    CHECK(f->power_limit_w == 650);
    CHECK(f->clock_mhz == 1980);
    CHECK(f->memory_clock_mhz == 2619);
    CHECK(f->temperature_c == 71);
    CHECK(f->fan_percent == 30);
    CHECK(f->pcie_rx_bytes_s == 1200e3);
    CHECK(f->pcie_tx_bytes_s == 800e3);
    CHECK(f->throttle_power == 1);
    CHECK(f->throttle_thermal == 1);
    CHECK(f->throttle_hardware == 1); /* that the hardware slows it for its heat */
    CHECK(d[0].processes_known);
    CHECK_INT(d[0].n_processes, 1);
    CHECK_INT(d[0].processes[0].pid, getpid());
    CHECK(d[0].processes[0].memory_bytes == 1 << 30);
    CHECK(d[0].processes[0].util_percent == 40);
    CHECK_STR(d[0].processes[0].name, "test-gpu_nvml");
}

static void test_throttling(const char *library)
{
    static const struct {
        const char *lines;
        double power, thermal, hardware;
    } cases[] = {{"throttle=0x0", 0, 0, 0},  {"throttle=0x113", 0, 0, 0}, {"throttle=0x4", 1, 0, 0},
                 {"throttle=0x20", 0, 1, 0}, {"throttle=0x40", 0, 1, 1},  {"throttle=0x8", 0, 0, 1},
                 {"throttle=0x80", 0, 0, 1}};
    struct device_sample d[DEVICES_MAX];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fake(cases[i].lines);
        CHECK_INT(sample(library, d), 2);
        CHECK(d[0].figures.throttle_power == cases[i].power);
        CHECK(d[0].figures.throttle_thermal == cases[i].thermal);
        CHECK(d[0].figures.throttle_hardware == cases[i].hardware);
    }
}

/* A total of 0 is one that is not known. */
static void test_no_total(const char *library)
{
    struct device_sample d[DEVICES_MAX];
    fake("memory_total=0\n");
    CHECK_INT(sample(library, d), 2);
    CHECK_INT(known_of(&d[0]) & (BIT(memory_total_bytes) | BIT(memory_used_bytes)), BIT(memory_used_bytes));
}

/* Each call that a device does not support takes its own figures away and no other. */
static void test_unsupported(const char *library)
{
    static const struct {
        const char *key;
        unsigned lost;
    } cases[] = {
        {"utilization", BIT(util_percent) | BIT(memory_util_percent)},
        {"memory_utilization", BIT(util_percent) | BIT(memory_util_percent)},
        {"memory_used", BIT(memory_used_bytes) | BIT(memory_total_bytes)},
        {"memory_v2", 0}, /* the first version answers */
        {"power", BIT(power_w)},
        {"power_limit", BIT(power_limit_w)},
        {"clock", BIT(clock_mhz)},
        {"memory_clock", BIT(memory_clock_mhz)},
        {"temperature", BIT(temperature_c)},
        {"fan", BIT(fan_percent)},
        {"throttle", BIT(throttle_power) | BIT(throttle_thermal) | BIT(throttle_hardware)},
        {"pcie_rx", BIT(pcie_rx_bytes_s)},
        {"pcie_tx", BIT(pcie_tx_bytes_s)},
        {"name", 0},
        {"uuid", 0},
        {"driver", 0},
        {"processes", 0},
        {"graphics", 0},
        {"process_utilization", 0},
    };
    struct device_sample d[DEVICES_MAX];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[64];
        snprintf(line, sizeof line, "%s=unsupported\n", cases[i].key);
        fake(line);
        CHECK_INT(sample(library, d), 2);
        CHECK_INT(known_of(&d[0]), (unsigned)KNOWN_ALL & ~cases[i].lost);
        bool own = strcmp(cases[i].key, "processes") != 0;
        CHECK_INT(d[0].processes_known, own); /* it is busy, and the other list is empty */
        CHECK_INT(d[0].n_processes, own);
        CHECK_STR(d[0].name, strcmp(cases[i].key, "name") == 0 ? "" : "Fake 0");
        CHECK_STR(d[0].driver, strcmp(cases[i].key, "driver") == 0 ? "" : "999.42.01");
        CHECK_INT(isnan(d[0].processes[0].util_percent), strcmp(cases[i].key, "process_utilization") == 0);
        if (strcmp(cases[i].key, "uuid") == 0)
            CHECK_STR(d[1].device, "nvidia:1");
    }
}

static void test_oldest(const char *library)
{
    struct device_sample d[DEVICES_MAX];
    fake("processes=77:10:5\n");
    CHECK_INT(sample(library, d), 2);
    CHECK_INT(known_of(&d[0]),
              (unsigned)KNOWN_ALL & ~(BIT(fan_percent) | BIT(throttle_power) | BIT(throttle_thermal) |
                                      BIT(throttle_hardware) | BIT(pcie_rx_bytes_s) | BIT(pcie_tx_bytes_s)));
    CHECK_STR(d[0].device, "nvidia:0");
    CHECK(d[0].figures.memory_used_bytes == 62.0 * (1 << 30)); /* what the driver reserves too */
    CHECK(d[0].figures.power_limit_w == 700);
    CHECK_INT(d[0].n_processes, 1);
    CHECK_INT(d[0].processes[0].pid, 77);
    CHECK(d[0].processes[0].memory_bytes == 10 << 20);
    CHECK(isnan(d[0].processes[0].util_percent));
}

static void test_processes(const char *library)
{
    struct device_sample d[DEVICES_MAX];
    char lines[8192] = "processes=";
    fake("processes=900:100:30 901:-:- 902:5:0\ngraphics=900:100:30 903:7:200\n");
    CHECK_INT(sample(library, d), 2);
    CHECK_INT(d[0].n_processes, 4);
    CHECK_INT(d[0].processes[0].pid, 900); /* which also draws: once */
    CHECK(d[0].processes[0].memory_bytes == 100 << 20);
    CHECK(d[0].processes[0].util_percent == 30);
    CHECK(isnan(d[0].processes[1].memory_bytes));
    CHECK(d[0].processes[1].util_percent == 0); /* no sample: it has not used it */
    CHECK(d[0].processes[2].util_percent == 0);
    CHECK(d[0].processes[3].util_percent == 0); /* 200 % is none */
    CHECK_STR(d[0].processes[0].name, "");

    /* An empty list is one of an idle device; and no use at all is known of it. */
    fake("processes=\nutilization=0\nmemory_used=600\n");
    CHECK_INT(sample(library, d), 2);
    CHECK(d[0].processes_known);
    CHECK_INT(d[0].n_processes, 0);
    fake("processes=\nutilization=0\n");
    CHECK_INT(sample(library, d), 2);
    CHECK(!d[0].processes_known); /* of which 61 GiB are used, as in a container */
    fake("processes=900:100:-\nutilization=0\n");
    CHECK_INT(sample(library, d), 2);
    CHECK(d[0].processes[0].util_percent == 0);
    fake("processes=900:100:-\n");
    CHECK_INT(sample(library, d), 2);
    CHECK(isnan(d[0].processes[0].util_percent)); /* it works, for whom is not said */

    for (int i = 1; i <= 100; i++)
        snprintf(lines + strlen(lines), sizeof lines - strlen(lines), "%d:%d:1 ", i, i);
    fake(lines);
    CHECK_INT(sample(library, d), 2);
    CHECK_INT(d[0].n_processes, DEVICE_PROCESSES_MAX);
    double least = 1e18;
    for (int i = 0; i < DEVICE_PROCESSES_MAX; i++)
        least = fmin(least, d[0].processes[i].memory_bytes);
    CHECK(least == 37 << 20); /* the largest */
}

/* Asked from the time of the newest on; and a device that is lost keeps its key. */
static void test_again(const char *library)
{
    struct device_sample d[DEVICES_MAX];
    void *opened, *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    atomic_ullong *last_seen = handle ? dlsym(handle, "fake_nvml_last_seen") : NULL;
    int n;
    if (!last_seen)
        abort();
    setenv("PAPERTAPE_NVML", library, 1);
    fake("devices=1\n");
    CHECK_INT(daemon_gpu_nvidia.open(&opened, reason), 0);
    CHECK_INT(daemon_gpu_nvidia.sample(opened, 1, d, DEVICES_MAX, &n, reason), 0);
    CHECK(atomic_load(last_seen) == 0);
    int64_t before_us = clock_wall_ns() / 1000;
    CHECK_INT(daemon_gpu_nvidia.sample(opened, 1, d, DEVICES_MAX, &n, reason), 0);
    CHECK(atomic_load(last_seen) > 0 && (int64_t)atomic_load(last_seen) <= before_us);

    fake("devices=1\nlost=1\n");
    CHECK_INT(daemon_gpu_nvidia.sample(opened, 1, d, DEVICES_MAX, &n, reason), 0);
    CHECK_INT(known_of(&d[0]), 0);
    CHECK(!d[0].processes_known);
    CHECK_STR(d[0].name, "Fake 0");
    CHECK_STR(d[0].device, "nvidia:GPU-00000000-0000-4000-8000-00000000fa4e");
    CHECK_INT(daemon_gpu_nvidia.sample(opened, 1, d, 0, &n, reason), 0);
    CHECK_INT(n, 0);
    daemon_gpu_nvidia.close(opened);

    fake("lost=1\n"); /* from the start */
    CHECK_INT(sample(library, d), 2);
    CHECK_STR(d[1].device, "nvidia:1");
    CHECK_STR(d[1].name, "");
    fake("name=\t\377Evil\ndevices=16\n");
    CHECK_INT(sample(library, d), DEVICES_MAX);
    CHECK_STR(d[15].name, "??Evil");
    dlclose(handle);
}

static void test_refusals(void)
{
    void *opened = NULL;
    fake("no_driver=1\n");
    CHECK_INT(daemon_gpu_nvidia.open(&opened, reason), -EIO);
    CHECK_STR(reason, "NVML: Driver Not Loaded");
    fake("");
    setenv("PAPERTAPE_NVML", "libnvidia-ml-absent.so.1", 1);
    CHECK_INT(daemon_gpu_nvidia.open(&opened, reason), -ELIBACC);
    CHECK_STR(reason,
              "NVML (PAPERTAPE_NVML): libnvidia-ml-absent.so.1: cannot open shared object file: No such file "
              "or directory");
    setenv("PAPERTAPE_NVML", "", 1);
    CHECK_INT(daemon_gpu_nvidia.open(&opened, reason), -ENOENT);
    setenv("PAPERTAPE_NVML", "libm.so.6", 1);
    CHECK_INT(daemon_gpu_nvidia.open(&opened, reason), -ENOSYS);
    CHECK_STR(reason, "the NVML library lacks: nvmlInit_v2");
    CHECK(opened == NULL);
    daemon_gpu_nvidia.close(NULL);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    test_figures(argv[1]);
    test_throttling(argv[1]);
    test_no_total(argv[1]);
    test_no_total(argv[2]);
    test_unsupported(argv[1]);
    test_oldest(argv[2]);
    test_processes(argv[1]);
    test_again(argv[1]);
    test_refusals();
    return check_done("daemon/gpu_nvml");
}
