/* A key whose value is a size of memory or of a file. */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "exchange/decimal.h"
#include "record/config_key.h"

enum { DIGITS = 6 }; /* after the point */

/* From the least on; powers of two first, which are what sizes are printed in. */
static const struct size_unit {
    const char *names[3];
    uint64_t bytes;
} units[] = {
    {{"", "B", "bytes"}, 1},
    {{"KiB", "K", NULL}, UINT64_C(1) << 10},
    {{"MiB", "M", NULL}, UINT64_C(1) << 20},
    {{"GiB", "G", NULL}, UINT64_C(1) << 30},
    {{"TiB", "T", NULL}, UINT64_C(1) << 40},
    {{"kB", NULL, NULL}, 1000},
    {{"MB", NULL, NULL}, 1000000},
    {{"GB", NULL, NULL}, 1000000000},
    {{"TB", NULL, NULL}, UINT64_C(1000000000000)},
};
enum { UNITS = sizeof units / sizeof *units, BINARY_UNITS = 5 };

/* 0: there is no such unit. */
static uint64_t bytes_of(const char *name)
{
    for (size_t i = 0; i < UNITS; i++)
        for (size_t j = 0; j < 3 && units[i].names[j]; j++)
            if (strcasecmp(units[i].names[j], name) == 0)
                return units[i].bytes;
    return 0;
}

/* -EINVAL: it is no size; -ERANGE: not within. */
static int read_size(const char *text, double least, double most, uint64_t *ret)
{
    const size_t n = strspn(text, "0123456789.");
    const uint64_t unit = bytes_of(text + n + strspn(text + n, " "));
    int128_t millionths;
    int r = unit > 0 ? decimal_parse128(text, n, DIGITS, &millionths) : -EINVAL;
    if (r == -EDOM)
        r = -EINVAL;
    if (r < 0)
        return r;
    const int128_t one = decimal_pow10(DIGITS);
    if (millionths > (int128_t)most * one || millionths * unit < (int128_t)least * one ||
        millionths * unit > (int128_t)most * one)
        return -ERANGE;
    *ret = (uint64_t)(millionths * unit / one);
    return 0;
}

static void print_size(uint64_t bytes, FILE *to)
{
    int at = 0;
    while (at + 1 < BINARY_UNITS && bytes > 0 && bytes % units[at + 1].bytes == 0)
        at++;
    fprintf(to, "%llu%s", (unsigned long long)(bytes / units[at].bytes), units[at].names[0]);
}

static const char *size_text(double bytes, char *buf, size_t cap)
{
    FILE *to = fmemopen(buf, cap, "w");
    buf[0] = '\0';
    if (to) {
        print_size((uint64_t)bytes, to);
        fclose(to);
    }
    return buf;
}

int config_key_read_size(const struct config_key *key, const char *text, void *base,
                         char why[static CONFIG_WHY_MAX])
{
    char least[32], most[32];
    uint64_t bytes;
    bool none = key->none && (strcmp(text, "0") == 0 || strcmp(text, key->none) == 0);
    int r = none ? 0 : read_size(text, key->min, key->max, &bytes);
    if (none)
        bytes = 0;
    if (r < 0)
        return config_key_refuse(
            why, CONFIG_WHY_MAX, "\"%.60s\": a size from %s to %s is needed, as 12GiB, 500MiB or bytes%s%s",
            text, size_text(key->min, least, sizeof least), size_text(key->max, most, sizeof most),
            key->none ? ", or " : "", key->none ? key->none : "");
    memcpy((char *)base + key->offset, &bytes, sizeof bytes);
    return 0;
}

void config_key_print_size(const struct config_key *key, const void *base, FILE *to)
{
    uint64_t bytes;
    memcpy(&bytes, (const char *)base + key->offset, sizeof bytes);
    if (bytes == 0 && key->none)
        fputs(key->none, to);
    else
        print_size(bytes, to);
}
