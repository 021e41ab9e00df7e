#include "daemon/gpu/vendors.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "exchange/clock.h"

enum { RETRY_SAMPLES = 30 }; /* between two attempts to open what is absent, refuses, or misses a device */

static const struct gpu_source *const sources[GPU_VENDORS] = {&daemon_gpu_nvidia, &daemon_gpu_amd,
                                                              &daemon_gpu_intel};

/* Devices of one vendor of which the same is to be said. */
struct named {
    const char *first;
    int n;
};

static void name(struct named *named, const char *key)
{
    if (named->n++ == 0)
        named->first = key;
}

/* Adds "KEY: WHAT", or "KEY and N more: WHAT"; what is too long is cut. */
static void say(char reason[static GPU_REASON_MAX], const struct named *named, const char *what)
{
    size_t n = strlen(reason);
    char more[32] = "";
    if (named->n == 0)
        return;
    if (named->n > 1)
        snprintf(more, sizeof more, " and %d more", named->n - 1);
    snprintf(reason + n, GPU_REASON_MAX - n, "%s%s%s: %s", n ? "; " : "", named->first, more, what);
}

static bool has(const struct device_sample devices[], int n, const char *key)
{
    for (int i = 0; i < n; i++)
        if (strcmp(devices[i].device, key) == 0)
            return true;
    return false;
}

/* Says which devices are gone, and of which no figure is known. Returns how many are gone. A device's key
 * may change once its driver says more, so nothing is gone while there are as many as before. */
static int account_for(struct gpu_vendor *vendor, const struct device_sample devices[], int n)
{
    struct named gone = {0}, silent = {0};
    for (int i = 0; n < vendor->n_keys && i < vendor->n_keys; i++)
        if (!has(devices, n, vendor->keys[i]))
            name(&gone, vendor->keys[i]);
    for (int i = 0; i < n; i++)
        if (!daemon_gpu_device_known(&devices[i]))
            name(&silent, devices[i].device);
    say(vendor->reason, &gone, "the device is gone");
    say(vendor->reason, &silent, GPU_NO_ANSWER);
    if (gone.n == 0) {
        for (int i = 0; i < n; i++)
            memcpy(vendor->keys[i], devices[i].device, sizeof vendor->keys[i]);
        vendor->n_keys = n;
    }
    return gone.n;
}

static void close_vendor(const struct gpu_source *source, struct gpu_vendor *vendor, int wait)
{
    source->close(vendor->opened);
    vendor->opened = NULL;
    vendor->wait = wait;
}

static void ask(const struct gpu_source *source, struct gpu_vendor *vendor, struct gpu_result *result)
{
    struct device_sample *devices = result->devices + result->n_devices;
    int n = 0, e = 0, gone = 0, room = DEVICES_MAX - result->n_devices;
    if (!vendor->opened && vendor->wait-- > 0)
        return;
    vendor->reason[0] = '\0';
    if (!vendor->opened) {
        e = source->open(&vendor->opened, vendor->reason);
        vendor->wait = RETRY_SAMPLES;
    }
    if (e == 0)
        e = source->sample(vendor->opened, clock_now_ns(), devices, room, &n, vendor->reason);
    if (e == 0 || e == -ENOENT)
        gone = account_for(vendor, devices, n);
    if (e < 0)
        close_vendor(source, vendor, RETRY_SAMPLES - 1);
    else if (gone == 0)
        vendor->wait = RETRY_SAMPLES;
    else if (--vendor->wait <= 0)
        close_vendor(source, vendor, 0);
    result->n_devices += n;
}

void daemon_gpu_vendors_sample(struct gpu_vendors *vendors, struct gpu_result *result)
{
    result->n_devices = 0;
    result->reason[0] = '\0';
    result->sampled_ns = clock_wall_ns();
    for (int i = 0; i < GPU_VENDORS; i++) {
        ask(sources[i], &vendors->all[i], result);
        size_t n = strlen(result->reason);
        if (vendors->all[i].reason[0])
            snprintf(result->reason + n, sizeof result->reason - n, "%s%s", n ? "; " : "",
                     vendors->all[i].reason);
    }
}

void daemon_gpu_vendors_close(struct gpu_vendors *vendors)
{
    for (int i = 0; i < GPU_VENDORS; i++)
        sources[i]->close(vendors->all[i].opened);
}
