#include "daemon/gpu/card.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void daemon_gpu_card_text(const struct gpu_card *card, const char *name, char *ret, size_t size)
{
    char path[PROCFS_PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", card->path, name);
    daemon_procfs_read(path, ret, size);
}

static double number_in(const char *folder, const char *name, double least, double most)
{
    char path[2 * PROCFS_PATH_MAX], text[64], *end;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int n = daemon_procfs_read(path, text, sizeof text);
    if (n <= 0 || (size_t)n != strlen(text) || strchr(" \t\n\v\f\r+", text[0]))
        return NAN;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    bool whole = end != text && end[strspn(end, " ")] == '\0' && errno == 0;
    return whole && (double)value >= least && (double)value <= most ? (double)value : NAN;
}

double daemon_gpu_card_number(const struct gpu_card *card, const char *name, double least, double most)
{
    return number_in(card->path, name, least, most);
}

double daemon_gpu_card_sensor(const struct gpu_card *card, const char *name, double least, double most)
{
    return card->hwmon[0] ? number_in(card->hwmon, name, least, most) : NAN;
}

double daemon_gpu_card_either(const struct gpu_card *card, const char *name, const char *other, double least)
{
    double value = daemon_gpu_card_sensor(card, name, least, GPU_CARD_ANY);
    return isnan(value) ? daemon_gpu_card_sensor(card, other, least, GPU_CARD_ANY) : value;
}

/* --- which there are --- */

/* N of a name PREFIXN; -1: it is another. */
static long number_of(const char *name, const char *prefix)
{
    size_t n = strlen(prefix);
    const char *digits = name + n;
    bool fits = strncmp(name, prefix, n) == 0 && digits[0] && !digits[strspn(digits, "0123456789")];
    return fits && strlen(digits) < 8 ? strtol(digits, NULL, 10) : -1;
}

static int compare(const void *a, const void *b)
{
    const long *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The numbers of the entries PREFIXN of a folder, going up. */
static int numbered(const char *folder, const char *prefix, long ret[], int cap)
{
    int n = 0;
    DIR *dir = opendir(folder);
    for (const struct dirent *entry; dir && n < cap && (entry = readdir(dir));) {
        long number = number_of(entry->d_name, prefix);
        if (number >= 0)
            ret[n++] = number;
    }
    if (dir)
        closedir(dir);
    qsort(ret, (size_t)n, sizeof *ret, compare);
    return n;
}

/* What follows KEY= in the driver's description of the device; cut where it is too long. */
static void described(const char *uevent, const char *key, char *ret, size_t size)
{
    size_t n = strlen(key);
    ret[0] = '\0';
    for (const char *line = uevent; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, n) == 0 && line[n] == '=') {
            snprintf(ret, size, "%.*s", (int)strcspn(line + n + 1, "\n"), line + n + 1);
            return;
        }
    }
}

static void find_hwmon(struct gpu_card *card)
{
    enum { SENSORS_MAX = 16 };
    char folder[PROCFS_PATH_MAX / 2 + 16];
    long numbers[SENSORS_MAX];
    snprintf(folder, sizeof folder, "%s/device/hwmon", card->path);
    if (numbered(folder, "hwmon", numbers, SENSORS_MAX) > 0)
        snprintf(card->hwmon, sizeof card->hwmon, "%s/hwmon%ld", folder, numbers[0]);
}

/* The PCI id in a file as "0x1002"; 0 where it is none. */
static unsigned id_of(const struct gpu_card *card, const char *name)
{
    char text[16], *end;
    daemon_gpu_card_text(card, name, text, sizeof text);
    unsigned long id = strtoul(text, &end, 16);
    return end != text && !*end && id <= 0xffff ? (unsigned)id : 0;
}

static void learn(struct gpu_card *card, unsigned vendor, const char *maker, long number)
{
    char uevent[PROCFS_TEXT_MAX];
    daemon_gpu_card_text(card, "device/uevent", uevent, sizeof uevent);
    described(uevent, "PCI_SLOT_NAME", card->slot, sizeof card->slot);
    if (!card->slot[0])
        snprintf(card->slot, sizeof card->slot, "card%ld", number);
    described(uevent, "DRIVER", card->driver, sizeof card->driver);
    daemon_gpu_card_text(card, "device/product_name", card->name, sizeof card->name);
    if (!card->name[0])
        snprintf(card->name, sizeof card->name, "%s %04x:%04x", maker, vendor, id_of(card, "device/device"));
    daemon_gpu_clean(card->slot);
    daemon_gpu_clean(card->driver);
    daemon_gpu_clean(card->name);
    find_hwmon(card);
}

static void find(struct gpu_cards *cards, unsigned vendor, const char *maker)
{
    enum { CARDS_MAX = 64 };
    char folder[PROCFS_PATH_MAX / 2 - 32];
    long numbers[CARDS_MAX];
    if (snprintf(folder, sizeof folder, "%s/class/drm", daemon_sysfs_root()) >= (int)sizeof folder)
        return;
    int found = numbered(folder, "card", numbers, CARDS_MAX);
    for (int i = 0; i < found && cards->n < DEVICES_MAX; i++) {
        struct gpu_card *card = &cards->all[cards->n];
        *card = (struct gpu_card){0};
        snprintf(card->path, sizeof card->path, "%s/card%ld", folder, numbers[i]);
        if (id_of(card, "device/vendor") != vendor)
            continue;
        learn(card, vendor, maker, numbers[i]);
        cards->slots[cards->n++] = card->slot;
    }
}

int daemon_gpu_cards_open(unsigned vendor, const char *maker, size_t size, void **ret,
                          char reason[static GPU_REASON_MAX])
{
    struct gpu_cards *cards = calloc(1, size);
    if (cards)
        find(cards, vendor, maker);
    if (!cards || (cards->n > 0 && !(cards->fdinfo = daemon_gpu_fdinfo_create()))) {
        free(cards);
        snprintf(reason, GPU_REASON_MAX, "%s: %s", maker, strerror(ENOMEM));
        return -ENOMEM;
    }
    if (cards->n == 0) {
        free(cards);
        return -ENOENT;
    }
    *ret = cards;
    return 0;
}

void daemon_gpu_cards_close(void *source)
{
    struct gpu_cards *cards = source;
    if (!cards)
        return;
    daemon_gpu_fdinfo_destroy(cards->fdinfo);
    free(cards);
}

int daemon_gpu_cards_keep(const struct gpu_cards *cards, struct device_sample devices[], int n)
{
    int kept = 0;
    for (int i = 0; i < n; i++) {
        if (id_of(&cards->all[i], "device/vendor") == 0)
            continue;
        if (kept < i)
            devices[kept] = devices[i];
        kept++;
    }
    return kept;
}

void daemon_gpu_card_begin(const struct gpu_card *card, const char *kind, struct device_sample *device)
{
    daemon_gpu_device_clear(device);
    snprintf(device->device, sizeof device->device, "%s:%s", kind, card->slot);
    memcpy(device->name, card->name, sizeof device->name);
    memcpy(device->driver, card->driver, sizeof device->driver);
}
