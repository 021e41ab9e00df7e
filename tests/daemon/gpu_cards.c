/* AMD's and Intel's devices in trees of files as their drivers have them: an RX 7900 XTX, an Arc; with files
 * missing, malformed, and of random bytes. */
#include "daemon/gpu/source.h"

#include <errno.h>

#include "tests/check.h"
#include "tests/daemon/nvml_file.h"
#include "tests/daemon/tree.h"
#include "tests/random.h"

static char sys[SCRATCH_MAX], proc[SCRATCH_MAX];
static struct device_sample devices[DEVICES_MAX];

#define AMD   "class/drm/card1/device/"
#define HWMON AMD "hwmon/hwmon4/"
#define INTEL "class/drm/card0/"

static const struct file {
    const char *name, *text;
} rx7900[] = {
    {AMD "vendor", "0x1002\n"},
    {AMD "device", "0x744c\n"},
    {AMD "uevent", "DRIVER=amdgpu\nPCI_CLASS=30000\nPCI_ID=1002:744C\nPCI_SLOT_NAME=0000:03:00.0\n"},
    {AMD "gpu_busy_percent", "98\n"},
    {AMD "mem_busy_percent", "41\n"},
    {AMD "mem_info_vram_total", "25753026560\n"},
    {AMD "mem_info_vram_used", "8589934592\n"},
    {AMD "pp_dpm_sclk", "0: 500Mhz \n1: 2304Mhz *\n2: 2680Mhz \n"},
    {AMD "pp_dpm_mclk", "0: 96Mhz \n1: 456Mhz \n2: 772Mhz \n3: 1249Mhz *\n"},
    {AMD "pp_power_profile_mode",
     "PROFILE_INDEX(NAME) CLOCK_TYPE(NAME) FPS MinActiveFreqType\n 0 BOOTUP_DEFAULT :\n"
     "                    0(       GFXCLK)       0       5\n 5        COMPUTE*:\n                    0(       GFXCLK)\n"},
    {AMD "pcie_bw", "1000 500 256\n"},
    {HWMON "temp1_input", "64000\n"},
    {HWMON "power1_average", "303000000\n"},
    {HWMON "power1_cap", "339000000\n"},
    {HWMON "fan1_input", "1500\n"},
    {HWMON "fan1_max", "3000\n"},
    {HWMON "pwm1", "51\n"},
};
enum { RX7900_FILES = sizeof rx7900 / sizeof *rx7900 };

static void put_rx7900(void)
{
    for (size_t i = 0; i < RX7900_FILES; i++)
        tree_put(sys, rx7900[i].name, rx7900[i].text);
}

/* One sample by a source that was just opened; how many devices. */
static int sample(const struct gpu_source *source)
{
    char reason[GPU_REASON_MAX] = "";
    void *opened;
    int n = -1, e = source->open(&opened, reason);
    if (e == 0) {
        memset(devices, 0x5a, sizeof devices);
        e = source->sample(opened, 1000000000, devices, DEVICES_MAX, &n, reason);
        source->close(opened);
    }
    CHECK_STR(reason, "");
    return e < 0 ? e : n;
}

static void test_rx7900(void)
{
    const struct device_sample *d = devices;
    put_rx7900();
    CHECK_INT(sample(&daemon_gpu_intel), -ENOENT);
    CHECK_INT(sample(&daemon_gpu_amd), 1);
    CHECK_STR(d->device, "amd:0000:03:00.0");
    CHECK_STR(d->name, "AMD 1002:744c");
    CHECK_STR(d->driver, "amdgpu");
    CHECK_STR(d->profile, "COMPUTE");
    CHECK(d->figures.util_percent == 98);
    CHECK(d->figures.memory_util_percent == 41);
    CHECK(d->figures.memory_total_bytes == 25753026560.0);
    CHECK(d->figures.memory_used_bytes == 8589934592.0);
    CHECK(d->figures.clock_mhz == 2304);
    CHECK(d->figures.memory_clock_mhz == 1249);
    CHECK(d->figures.temperature_c == 64);
    CHECK(d->figures.power_w == 303);
    CHECK(d->figures.power_limit_w == 339);
    CHECK(d->figures.fan_percent == 50);
    CHECK(d->figures.pcie_rx_bytes_s == 256000);
    CHECK(d->figures.pcie_tx_bytes_s == 128000);
    CHECK(isnan(d->figures.throttle_power) && isnan(d->figures.throttle_thermal));
    CHECK(!d->processes_known); /* busy, and nothing is seen */
    CHECK_INT(d->n_processes, 0);
}

/* A file that is missing, or holds what is no figure, takes its own figure away and no other. */
static void test_each_missing(void)
{
    static const char *const malformed[] = {NULL,     "", "\n", "garbage\n", "-", "99999999999999999999\n",
                                            "0x10\n", "*"};
    put_rx7900();
    CHECK_INT(sample(&daemon_gpu_amd), 1);
    unsigned all = known_of(&devices[0]);
    for (size_t i = 3; i < RX7900_FILES; i++) { /* from behind those that say which it is */
        bool two = strstr(rx7900[i].name, "pcie_bw") != NULL;
        bool word = strstr(rx7900[i].name, "profile_mode") != NULL;
        bool twice =
            strstr(rx7900[i].name, "fan1") || strstr(rx7900[i].name, "pwm1"); /* the other says it too */
        for (size_t m = 0; m < sizeof malformed / sizeof *malformed; m++) {
            tree_put(sys, rx7900[i].name, malformed[m]);
            CHECK_INT(sample(&daemon_gpu_amd), 1);
            unsigned lost = all & ~known_of(&devices[0]);
            CHECK_INT(__builtin_popcount(lost), word || twice ? 0 : two ? 2 : 1);
        }
        tree_put(sys, rx7900[i].name, rx7900[i].text);
    }
}

static void test_amd_others(void)
{
    put_rx7900();
    tree_put(sys, HWMON "fan1_max", NULL);
    tree_put(sys, HWMON "power1_average", NULL);
    tree_put(sys, HWMON "power1_input", "250000000\n");
    tree_put(sys, AMD "product_name", "Radeon RX 7900 XTX\n");
    tree_put(sys, AMD "pp_power_profile_mode",
             "NUM        MODE_NAME\n  0   BOOTUP_DEFAULT:\n  1 3D_FULL_SCREEN *:\n");
    tree_put(sys, AMD "gpu_busy_percent", "101\n");
    tree_put(sys, AMD "mem_info_vram_total", "0\n");
    CHECK_INT(sample(&daemon_gpu_amd), 1);
    CHECK(isnan(devices[0].figures.memory_total_bytes)); /* 0 is no size */
    CHECK(devices[0].figures.memory_used_bytes == 8589934592.0);
    CHECK(devices[0].figures.fan_percent == 20); /* 51 of 255 */
    CHECK(devices[0].figures.power_w == 250);
    CHECK_STR(devices[0].name, "Radeon RX 7900 XTX");
    CHECK_STR(devices[0].profile, "3D_FULL_SCREEN");
    CHECK(isnan(devices[0].figures.util_percent));

    /* The clock of deep sleep has a letter for a number; without a star no line is in force. */
    tree_put(sys, AMD "pp_dpm_sclk", "S: 19Mhz *\n0: 615Mhz \n1: 800Mhz \n2: 888Mhz \n");
    CHECK_INT(sample(&daemon_gpu_amd), 1);
    CHECK(devices[0].figures.clock_mhz == 19);
    tree_put(sys, AMD "pp_dpm_sclk", "0: 615Mhz \n1: 800Mhz \n");
    CHECK_INT(sample(&daemon_gpu_amd), 1);
    CHECK(isnan(devices[0].figures.clock_mhz));

    /* Without its description it is known by its number, and names no driver. */
    tree_put(sys, AMD "uevent", NULL);
    tree_put(sys, AMD "product_name", "\n");
    tree_put(sys, AMD "device", NULL);
    CHECK_INT(sample(&daemon_gpu_amd), 1);
    CHECK_STR(devices[0].device, "amd:card1");
    CHECK_STR(devices[0].name, "AMD 1002:0000");
    CHECK_STR(devices[0].driver, "");
    tree_remove(sys, "class/drm/card1");
    CHECK_INT(sample(&daemon_gpu_amd), -ENOENT);
}

/* By number, not by name; connectors and other vendors' are none of ours. */
static void test_several(void)
{
    for (int i = 0; i < 20; i++) {
        char name[64], slot[64];
        snprintf(name, sizeof name, "class/drm/card%d/device/vendor", i);
        tree_put(sys, name, i == 5 ? "0x1a03\n" : "0x1002\n");
        snprintf(name, sizeof name, "class/drm/card%d/device/uevent", i);
        snprintf(slot, sizeof slot, "PCI_SLOT_NAME=0000:%02x:00.0\n", i);
        tree_put(sys, name, slot);
    }
    tree_put(sys, "class/drm/card1-HDMI-A-1/device/vendor", "0x1002\n");
    tree_put(sys, "class/drm/renderD128/device/vendor", "0x1002\n");
    CHECK_INT(sample(&daemon_gpu_amd), DEVICES_MAX);
    CHECK_STR(devices[2].device, "amd:0000:02:00.0");
    CHECK_STR(devices[5].device, "amd:0000:06:00.0");
    CHECK_STR(devices[15].device, "amd:0000:10:00.0");
    CHECK_INT(known_of(&devices[0]), 0);

    /* There is room for two. */
    char reason[GPU_REASON_MAX];
    void *opened;
    int n = -1;
    CHECK_INT(daemon_gpu_amd.open(&opened, reason), 0);
    CHECK_INT(daemon_gpu_amd.sample(opened, 1, devices, 2, &n, reason), 0);
    CHECK_INT(n, 2);

    /* Some are unplugged: the others are sampled, each as itself, for as long as there is one and longer. */
    tree_put(sys, "class/drm/card4/device/gpu_busy_percent", "44\n");
    tree_remove(sys, "class/drm/card0");
    tree_remove(sys, "class/drm/card3");
    CHECK_INT(daemon_gpu_amd.sample(opened, 2, devices, DEVICES_MAX, &n, reason), 0);
    CHECK_INT(n, DEVICES_MAX - 2);
    CHECK_STR(devices[0].device, "amd:0000:01:00.0");
    CHECK_STR(devices[2].device, "amd:0000:04:00.0");
    CHECK(devices[2].figures.util_percent == 44);
    CHECK_STR(devices[13].device, "amd:0000:10:00.0");
    tree_put(sys, "class/drm/card3/device/vendor", "0x1002\n"); /* and one is there again */
    CHECK_INT(daemon_gpu_amd.sample(opened, 3, devices, DEVICES_MAX, &n, reason), 0);
    CHECK_INT(n, DEVICES_MAX - 1);
    CHECK_STR(devices[2].device, "amd:0000:03:00.0");
    tree_remove(sys, "class");
    CHECK_INT(daemon_gpu_amd.sample(opened, 4, devices, DEVICES_MAX, &n, reason), 0);
    CHECK_INT(n, 0);
    daemon_gpu_amd.close(opened);
}

static void test_intel(void)
{
    char reason[GPU_REASON_MAX] = "";
    void *opened;
    int n;
    const struct device_sample *d = devices;
    tree_put(sys, INTEL "device/vendor", "0x8086\n");
    tree_put(sys, INTEL "device/device", "0x56a0\n");
    tree_put(sys, INTEL "device/uevent", "DRIVER=i915\nPCI_SLOT_NAME=0000:00:02.0\n");
    tree_put(sys, INTEL "gt_act_freq_mhz", "0\n");
    tree_put(sys, INTEL "device/hwmon/hwmon2/energy1_input", "5000000\n");
    tree_put(sys, INTEL "device/hwmon/hwmon2/power1_max", "190000000\n");
    tree_process(proc, 1, 0, "init", 1, 1, 1);
    CHECK_INT(daemon_gpu_intel.open(&opened, reason), 0);
    CHECK_INT(daemon_gpu_intel.sample(opened, 1000000000, devices, DEVICES_MAX, &n, reason), 0);
    CHECK_INT(n, 1);
    CHECK_STR(d->device, "intel:0000:00:02.0");
    CHECK_STR(d->name, "Intel 8086:56a0");
    CHECK_STR(d->driver, "i915");
    CHECK(d->figures.clock_mhz == 0);
    CHECK(d->figures.util_percent == 0); /* it sleeps, and no process has it */
    CHECK(d->processes_known);
    CHECK(isnan(d->figures.power_w)); /* energy, once */
    CHECK(d->figures.power_limit_w == 190);
    CHECK(isnan(d->figures.temperature_c));

    /* Half a second later: 20 J more are 40 W. It works, for a process that is not seen. */
    tree_put(sys, INTEL "device/hwmon/hwmon2/energy1_input", "25000000\n");
    tree_put(sys, INTEL "device/hwmon/hwmon2/temp2_input", "55000\n");
    tree_put(sys, INTEL "gt_act_freq_mhz", "2050\n");
    CHECK_INT(daemon_gpu_intel.sample(opened, 1500000000, devices, DEVICES_MAX, &n, reason), 0);
    CHECK(d->figures.power_w == 40);
    CHECK(d->figures.temperature_c == 55);
    CHECK(d->figures.clock_mhz == 2050);
    CHECK(isnan(d->figures.util_percent));
    CHECK(!d->processes_known);

    /* Two clients of it, whose busiest kind of engine worked a quarter and half of a second. */
    tree_process(proc, 70, 1, "train", 1, 1, 1);
    tree_descriptor(
        proc, 70, 5,
        "drm-driver:\ti915\ndrm-pdev:\t0000:00:02.0\ndrm-client-id:\t4\ndrm-engine-compute:\t0 ns\n");
    tree_descriptor(
        proc, 70, 6,
        "drm-driver:\ti915\ndrm-pdev:\t0000:00:02.0\ndrm-client-id:\t5\ndrm-engine-compute:\t0 ns\n");
    CHECK_INT(daemon_gpu_intel.sample(opened, 2000000000, devices, DEVICES_MAX, &n, reason), 0);
    tree_put(proc, "70/fdinfo/5",
             "drm-pdev: 0000:00:02.0\ndrm-client-id: 4\ndrm-engine-compute: 250000000 ns\n");
    tree_put(proc, "70/fdinfo/6",
             "drm-pdev: 0000:00:02.0\ndrm-client-id: 5\ndrm-engine-compute: 500000000 ns\n");
    CHECK_INT(daemon_gpu_intel.sample(opened, 3000000000, devices, DEVICES_MAX, &n, reason), 0);
    CHECK(d->figures.util_percent == 75);
    CHECK_INT(d->n_processes, 1);
    CHECK(d->processes[0].util_percent == 75);

    /* In a container others are hidden: the sum of those seen is not the device's use. */
    tree_link(proc, "self/ns/pid", "pid:[4026532999]");
    CHECK_INT(daemon_gpu_intel.sample(opened, 4000000000, devices, DEVICES_MAX, &n, reason), 0);
    CHECK(isnan(d->figures.util_percent));
    CHECK(d->processes_known); /* of one it is known */
    CHECK(d->processes[0].util_percent == 0);
    daemon_gpu_intel.close(opened);
    tree_remove(proc, "70");
    tree_remove(proc, "self");
    tree_remove(sys, "class");
}

/* Random bytes in each file: nothing crashes, and no figure is out of its range. */
static void test_random(void)
{
    enum { ROUNDS = 300 };
    static const char alphabet[] = "0123456789 \n:*.-MhzxAbZ_";
    struct random random = random_seeded("daemon/gpu_cards", 26);
    put_rx7900();
    for (int round = 0; round < ROUNDS; round++) {
        const struct file *file = &rx7900[(size_t)round % RX7900_FILES];
        unsigned char bytes[5000];
        size_t n = (size_t)random_between(&random, 0, round % 7 == 0 ? (int64_t)sizeof bytes : 60);
        for (size_t i = 0; i < n; i++)
            bytes[i] = round % 2 ? (unsigned char)random_next(&random)
                                 : (unsigned char)alphabet[random_next(&random) % (sizeof alphabet - 1)];
        tree_put_bytes(sys, file->name, bytes, n);
        int found = sample(&daemon_gpu_amd);
        CHECK(found == 1 || found == -ENOENT);
        if (found == 1) {
            const struct device_figures *figures = &devices[0].figures;
            CHECK(isnan(figures->util_percent) ||
                  (figures->util_percent >= 0 && figures->util_percent <= 100));
            CHECK(isnan(figures->fan_percent) || (figures->fan_percent >= 0 && figures->fan_percent <= 100));
            CHECK(isnan(figures->clock_mhz) || (figures->clock_mhz >= 0 && figures->clock_mhz < 1e6));
            CHECK(memchr(devices[0].name, 0, sizeof devices[0].name) != NULL);
            CHECK(memchr(devices[0].profile, 0, sizeof devices[0].profile) != NULL);
        }
        tree_put(sys, file->name, file->text);
    }
    tree_remove(sys, "class");
}

int main(void)
{
    scratch_in_memory();
    scratch_make(sys);
    scratch_make(proc);
    setenv("PAPERTAPE_SYSFS", sys, 1);
    setenv("PAPERTAPE_PROCFS", proc, 1);
    CHECK_INT(sample(&daemon_gpu_amd), -ENOENT);
    CHECK_INT(sample(&daemon_gpu_intel), -ENOENT);
    test_rx7900();
    test_each_missing();
    test_amd_others();
    test_several();
    test_intel();
    test_random();
    return check_done("daemon/gpu_cards");
}
