/* Devices of the kernel's own drivers, as sysfs has them: /sys/class/drm/cardN. A file that is missing, or
 * holds what it should not, is NaN or "". */
#ifndef DAEMON_GPU_CARD_H
#define DAEMON_GPU_CARD_H

#include "daemon/gpu/fdinfo.h"
#include "daemon/gpu/source.h"
#include "daemon/procfs.h"

enum { GPU_SLOT_MAX = 32 };

struct gpu_card {
    char path[PROCFS_PATH_MAX / 2]; /* of cardN */
    char hwmon[PROCFS_PATH_MAX];    /* of its first sensor's folder; "": none */
    char slot[GPU_SLOT_MAX];        /* its PCI address, "0000:03:00.0"; else "cardN" */
    char name[DEVICE_NAME_MAX];     /* its product's, else vendor and PCI ids: "AMD 1002:744c" */
    char driver[DEVICE_DRIVER_MAX];
};

/* All of a vendor, in the order of their numbers, with what their processes use. */
struct gpu_cards {
    struct gpu_card all[DEVICES_MAX];
    const char *slots[DEVICES_MAX]; /* of each, for fdinfo.h */
    int n;
    struct gpu_fdinfo *fdinfo;
};

/* As gpu_source's open, of the cards of a vendor by its PCI id; `maker` is for their names. *ret has `size`
 * bytes, a vendor's own struct that begins with struct gpu_cards; the rest is zeroed. */
int daemon_gpu_cards_open(unsigned vendor, const char *maker, size_t size, void **ret,
                          char reason[static GPU_REASON_MAX]);
void daemon_gpu_cards_close(void *source);

/* Takes those of cards that are not there any more, as of a device that was unplugged, out of the samples, of
 * which each of the first n cards has one: how many are left. */
int daemon_gpu_cards_keep(const struct gpu_cards *cards, struct device_sample devices[], int n);

/* A device with its names: "KIND:SLOT". */
void daemon_gpu_card_begin(const struct gpu_card *card, const char *kind, struct device_sample *device);

#define GPU_CARD_ANY 9e18 /* as `most`: without a limit */

/* A whole number from `least` to `most`. */
double daemon_gpu_card_number(const struct gpu_card *card, const char *name, double least, double most);
double daemon_gpu_card_sensor(const struct gpu_card *card, const char *name, double least, double most);

/* Of two sensors the first that says a number of at least `least`. */
double daemon_gpu_card_either(const struct gpu_card *card, const char *name, const char *other, double least);

/* The beginning of a file's text; "" where there is none. */
void daemon_gpu_card_text(const struct gpu_card *card, const char *name, char *ret, size_t size);

#endif
