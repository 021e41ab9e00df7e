/* Intel's devices by the files of the kernel's drivers i915 and xe, which have no figure for a device's use:
 * that is the sum of its clients'. */
#include <math.h>

#include "daemon/gpu/card.h"

enum { INTEL_VENDOR = 0x8086 };

struct intel {
    struct gpu_cards cards;        /* first: what card.h opens and closes */
    double energy_uj[DEVICES_MAX]; /* of the last sample; NaN */
    int64_t sampled_ns;
};

static int open_source(void **ret, char reason[static GPU_REASON_MAX])
{
    int e = daemon_gpu_cards_open(INTEL_VENDOR, "Intel", sizeof(struct intel), ret, reason);
    if (e < 0)
        return e;
    struct intel *intel = *ret;
    for (int i = 0; i < intel->cards.n; i++)
        intel->energy_uj[i] = NAN;
    return 0;
}

/* The clock in force, 0 while the device sleeps: of i915, older and newer, and of xe. */
static double clock_of(const struct gpu_card *card)
{
    static const char *const names[] = {"gt_act_freq_mhz", "gt/gt0/rps_act_freq_mhz",
                                        "device/tile0/gt0/freq0/act_freq"};
    double mhz = NAN;
    for (size_t i = 0; isnan(mhz) && i < sizeof names / sizeof *names; i++)
        mhz = daemon_gpu_card_number(card, names[i], 0, 1e6);
    return mhz;
}

/* Of a sensor, else of the energy that was used since the last sample. */
static double power_of(struct intel *intel, int i, int64_t now_ns)
{
    const struct gpu_card *card = &intel->cards.all[i];
    double before_uj = intel->energy_uj[i], passed_ns = (double)(now_ns - intel->sampled_ns);
    intel->energy_uj[i] = daemon_gpu_card_sensor(card, "energy1_input", 0, GPU_CARD_ANY);
    double power_uw = daemon_gpu_card_either(card, "power1_average", "power1_input", 0);
    double used_uj = intel->energy_uj[i] - before_uj;
    return !isnan(power_uw)                ? power_uw / 1e6
           : used_uj >= 0 && passed_ns > 0 ? used_uj * 1000 / passed_ns
                                           : NAN;
}

static void sample_device(struct intel *intel, int i, int64_t now_ns, struct device_sample *device)
{
    const struct gpu_card *card = &intel->cards.all[i];
    struct device_figures *figures = &device->figures;
    daemon_gpu_card_begin(card, "intel", device);
    figures->power_w = power_of(intel, i, now_ns);
    figures->power_limit_w = daemon_gpu_card_either(card, "power1_cap", "power1_max", 0) / 1e6;
    figures->clock_mhz = clock_of(card);
    figures->temperature_c = daemon_gpu_card_either(card, "temp1_input", "temp2_input", -273150) / 1000;
}

/* The sum of what its processes use is the device's use only where none of them is hidden: without a client
 * it must also sleep. */
static void settle(struct device_sample *device, bool all, double use)
{
    bool none = device->n_processes == 0;
    if (none && device->figures.clock_mhz == 0)
        use = 0;
    else if (none)
        all = false;
    device->figures.util_percent = all ? use : NAN;
    daemon_gpu_device_settle(device, all);
}

static int sample(void *source, int64_t now_ns, struct device_sample *devices, int room, int *ret_n,
                  char reason[static GPU_REASON_MAX])
{
    struct intel *intel = source;
    double use[DEVICES_MAX];
    int n = intel->cards.n < room ? intel->cards.n : room;
    (void)reason; /* files do not fail */
    for (int i = 0; i < n; i++)
        sample_device(intel, i, now_ns, &devices[i]);
    intel->sampled_ns = now_ns;
    bool all = daemon_gpu_fdinfo_sample(intel->cards.fdinfo, now_ns, intel->cards.slots, devices, n, use);
    for (int i = 0; i < n; i++)
        settle(&devices[i], all, use[i]);
    *ret_n = daemon_gpu_cards_keep(&intel->cards, devices, n);
    return 0;
}

const struct gpu_source daemon_gpu_intel = {
    .open = open_source,
    .sample = sample,
    .close = daemon_gpu_cards_close,
};
