/* AMD's devices by the files of the kernel's driver: https://docs.kernel.org/gpu/amdgpu/thermal.html and
 * driver-misc.html. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/gpu/card.h"

enum {
    AMD_VENDOR = 0x1002,
    /* pcie_bw: the driver measures for a second and lets the reader wait, so only one device's is read, and
     * that in every fifth sample; until its turn comes again its last figure stands. */
    PCIE_EVERY = 5,
    TABLE_MAX = 4096, /* of a sysfs file: a page */
};

struct amd {
    struct gpu_cards cards; /* first: what card.h opens and closes */
    double rx_bytes_s[DEVICES_MAX], tx_bytes_s[DEVICES_MAX];
    uint64_t samples;
};

static int open_source(void **ret, char reason[static GPU_REASON_MAX])
{
    int e = daemon_gpu_cards_open(AMD_VENDOR, "AMD", sizeof(struct amd), ret, reason);
    if (e < 0)
        return e;
    struct amd *amd = *ret;
    for (int i = 0; i < amd->cards.n; i++)
        amd->rx_bytes_s[i] = amd->tx_bytes_s[i] = NAN;
    return 0;
}

/* The clock in force, of lines as "1: 2304Mhz *". */
static double clock_of(const struct gpu_card *card, const char *name)
{
    char text[TABLE_MAX], *end;
    daemon_gpu_card_text(card, name, text, sizeof text);
    char *star = strchr(text, '*');
    if (!star)
        return NAN;
    *star = '\0';
    const char *line = strrchr(text, '\n'), *colon = strchr(line ? line : text, ':');
    if (!colon)
        return NAN;
    double mhz = (double)strtoul(colon + 1, &end, 10);
    return end != colon + 1 && strncasecmp(end, "mhz", 3) == 0 && mhz < 1e6 ? mhz : NAN;
}

/* The profile in force is the word before the star: "  5   COMPUTE*:", "1 3D_FULL_SCREEN *:". */
static void profile_of(const struct gpu_card *card, char ret[static DEVICE_PROFILE_MAX])
{
    char text[TABLE_MAX];
    ret[0] = '\0';
    daemon_gpu_card_text(card, "device/pp_power_profile_mode", text, sizeof text);
    const char *end = strchr(text, '*');
    while (end && end > text && end[-1] == ' ')
        end--;
    const char *start = end;
    while (start && start > text && (isalnum((unsigned char)start[-1]) || start[-1] == '_'))
        start--;
    if (start && end - start < DEVICE_PROFILE_MAX)
        snprintf(ret, DEVICE_PROFILE_MAX, "%.*s", (int)(end - start), start);
}

static double fan_percent(const struct gpu_card *card)
{
    double rpm = daemon_gpu_card_sensor(card, "fan1_input", 0, 1e6);
    double percent = rpm / daemon_gpu_card_sensor(card, "fan1_max", 1, 1e6) * 100;
    if (isnan(percent))
        percent = daemon_gpu_card_sensor(card, "pwm1", 0, 255) / 255 * 100;
    return percent > 100 ? 100 : percent;
}

/* Packets received and sent in a second, and the bytes of the largest. */
static void measure_pcie(struct amd *amd, int i)
{
    char text[128];
    unsigned long long received, sent, payload;
    daemon_gpu_card_text(&amd->cards.all[i], "device/pcie_bw", text, sizeof text);
    bool known = sscanf(text, "%llu %llu %llu", &received, &sent, &payload) == 3;
    amd->rx_bytes_s[i] = known ? (double)received * (double)payload : NAN;
    amd->tx_bytes_s[i] = known ? (double)sent * (double)payload : NAN;
}

static void sample_sensors(const struct gpu_card *card, struct device_figures *figures)
{
    figures->power_w = daemon_gpu_card_either(card, "power1_average", "power1_input", 0) / 1e6;
    figures->power_limit_w = daemon_gpu_card_sensor(card, "power1_cap", 0, GPU_CARD_ANY) / 1e6;
    figures->temperature_c = daemon_gpu_card_sensor(card, "temp1_input", -273150, 1e6) / 1000;
    figures->fan_percent = fan_percent(card);
}

static void sample_device(struct amd *amd, int i, struct device_sample *device)
{
    const struct gpu_card *card = &amd->cards.all[i];
    struct device_figures *figures = &device->figures;
    daemon_gpu_card_begin(card, "amd", device);
    figures->util_percent = daemon_gpu_card_number(card, "device/gpu_busy_percent", 0, 100);
    figures->memory_util_percent = daemon_gpu_card_number(card, "device/mem_busy_percent", 0, 100);
    figures->memory_total_bytes = daemon_gpu_card_number(card, "device/mem_info_vram_total", 1, GPU_CARD_ANY);
    figures->memory_used_bytes = daemon_gpu_card_number(card, "device/mem_info_vram_used", 0, GPU_CARD_ANY);
    figures->clock_mhz = clock_of(card, "device/pp_dpm_sclk");
    figures->memory_clock_mhz = clock_of(card, "device/pp_dpm_mclk");
    sample_sensors(card, figures);
    figures->pcie_rx_bytes_s = amd->rx_bytes_s[i];
    figures->pcie_tx_bytes_s = amd->tx_bytes_s[i];
    profile_of(card, device->profile);
}

static int sample(void *source, int64_t now_ns, struct device_sample *devices, int room, int *ret_n,
                  char reason[static GPU_REASON_MAX])
{
    struct amd *amd = source;
    double use[DEVICES_MAX];
    int n = amd->cards.n < room ? amd->cards.n : room;
    (void)reason; /* files do not fail */
    if (amd->samples % PCIE_EVERY == 0)
        measure_pcie(amd, (int)(amd->samples / PCIE_EVERY % (uint64_t)amd->cards.n));
    amd->samples++;
    for (int i = 0; i < n; i++)
        sample_device(amd, i, &devices[i]);
    bool all = daemon_gpu_fdinfo_sample(amd->cards.fdinfo, now_ns, amd->cards.slots, devices, n, use);
    for (int i = 0; i < n; i++)
        daemon_gpu_device_settle(&devices[i], all);
    *ret_n = daemon_gpu_cards_keep(&amd->cards, devices, n);
    return 0;
}

const struct gpu_source daemon_gpu_amd = {
    .open = open_source,
    .sample = sample,
    .close = daemon_gpu_cards_close,
};
