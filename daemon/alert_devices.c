#include "daemon/alert_devices.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN_LEAST = 12 }; /* "GPU-8f6c2a11" */
#define UUID "GPU-"

/* ---- names ---- */

/* The key without its vendor. */
static const char *key_of(const char *device)
{
    const char *colon = strchr(device, ':');
    return colon ? colon + 1 : device;
}

static void put_name(const char *name, const char *key, int shown, char ret[static ALERT_WHERE_MAX])
{
    if (name[0])
        snprintf(ret, ALERT_WHERE_MAX, "%.*s (%.*s)", DEVICE_NAME_MAX - 1, name, shown, key);
    else
        snprintf(ret, ALERT_WHERE_MAX, "%.*s", shown, key);
}

/* How many characters distinguish it from all others that were seen. */
static int to_show(const struct alert_devices *seen, const struct alert_device *device)
{
    const char *key = key_of(device->key);
    int len = (int)strlen(key), shown = SHOWN_LEAST;
    if (strncmp(key, UUID, strlen(UUID)) != 0)
        return len;
    for (int i = 0; i < seen->n; i++)
        while (shown < len && &seen->list[i] != device &&
               strncmp(key, key_of(seen->list[i].key), (size_t)shown) == 0)
            shown++;
    return shown < len ? shown : len;
}

void daemon_alert_device_where(const struct alert_device *device, char ret[static ALERT_WHERE_MAX])
{
    put_name(device->name, key_of(device->key), device->shown, ret);
}

/* Its place in the list; -1: it was not seen. */
static int find(const struct alert_devices *seen, const char *key)
{
    for (int i = 0; i < seen->n; i++)
        if (strcmp(seen->list[i].key, key) == 0)
            return i;
    return -1;
}

void daemon_alert_device_name(const struct alert_devices *seen, const struct device_sample *device,
                              char ret[static ALERT_WHERE_MAX])
{
    int i = find(seen, device->device);
    if (i >= 0)
        daemon_alert_device_where(&seen->list[i], ret);
    else
        put_name(device->name, key_of(device->device), DEVICE_KEY_MAX, ret);
}

/* ---- a sample ---- */

static void forget_oldest(struct alert_devices *seen)
{
    int oldest = 0;
    for (int i = 1; i < seen->n; i++)
        if (seen->list[i].last_ns < seen->list[oldest].last_ns)
            oldest = i;
    seen->n--;
    memmove(&seen->list[oldest], &seen->list[oldest + 1], (size_t)(seen->n - oldest) * sizeof *seen->list);
}

/* Adds what is new; how much of their keys is shown is decided once all are there. */
static void add_new(struct alert_devices *seen, const struct alert_sample *sample)
{
    for (int i = 0; i < sample->n; i++) {
        if (find(seen, sample->devices[i].device) >= 0)
            continue;
        if (seen->n == ALERT_DEVICES_MAX)
            forget_oldest(seen);
        struct alert_device *device = &seen->list[seen->n++];
        *device = (struct alert_device){.last_ns = sample->sampled_ns};
        memcpy(device->key, sample->devices[i].device, sizeof device->key);
    }
    for (int i = 0; i < seen->n; i++)
        if (seen->list[i].shown == 0)
            seen->list[i].shown = to_show(seen, &seen->list[i]);
}

/* That of its vendor in the sample, itself where it is there; NULL: none. */
static const struct device_sample *sample_of(const struct alert_sample *sample, const char *key)
{
    const struct device_sample *found = NULL;
    size_t vendor = strcspn(key, ":") + 1;
    for (int i = 0; i < sample->n; i++) {
        if (strcmp(sample->devices[i].device, key) == 0)
            return &sample->devices[i];
        if (strncmp(sample->devices[i].device, key, vendor) == 0)
            found = &sample->devices[i];
    }
    return found;
}

/* The sample's reason is that of any vendor's driver: of this one's only where it lists no device. The first
 * stays, since a driver that was opened again just does not list what is gone. */
static void take_reason(struct alert_device *device, const struct alert_sample *sample,
                        const struct device_sample *of_vendor)
{
    bool listed = of_vendor && strcmp(of_vendor->device, device->key) == 0;
    const char *reason = sample->stalled || (!of_vendor && sample->reason[0]) ? sample->reason
                         : listed ? "its driver gives no figure of it"
                                  : "its driver does not list it any more";
    if (sample->stalled || device->stalled || !device->reason[0])
        snprintf(device->reason, sizeof device->reason, "%s", reason);
    device->stalled = sample->stalled;
}

static void take(struct alert_device *device, const struct alert_sample *sample)
{
    const struct device_sample *of_vendor = sample_of(sample, device->key);
    bool listed = of_vendor && strcmp(of_vendor->device, device->key) == 0;
    if (listed && !device->name[0])
        memcpy(device->name, of_vendor->name, sizeof device->name);
    device->known = listed && daemon_gpu_device_known(of_vendor);
    if (!device->known) {
        take_reason(device, sample, of_vendor);
        return;
    }
    device->sampled = true;
    device->stalled = false;
    device->last_ns = sample->sampled_ns;
    device->reason[0] = '\0';
}

void daemon_alert_devices_take(struct alert_devices *seen, const struct alert_sample *sample)
{
    add_new(seen, sample);
    for (int i = 0; i < seen->n; i++)
        take(&seen->list[i], sample);
}

double daemon_alert_device_lost(const struct alert_device *device, int64_t now_ns,
                                char detail[static DB_ALERT_TEXT_MAX])
{
    double s = now_ns > device->last_ns ? (double)(now_ns - device->last_ns) * 1e-9 : 0;
    if (device->known)
        snprintf(detail, DB_ALERT_TEXT_MAX, "it is sampled again");
    else
        snprintf(detail, DB_ALERT_TEXT_MAX, "no figure for %.0f s: %s", floor(s), device->reason);
    return device->known ? 0 : device->sampled ? s : NAN;
}
