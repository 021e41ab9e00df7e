#include "exchange/zone.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/fail.h"

enum { FILE_MAX = 1 << 20, HEADER = 44, TYPE = 6, NAME_MAX_LEN = 63, DAY_S = 86400, NS_PER_S = 1000000000 };

struct zone {
    size_t n;        /* changes */
    int64_t *at;     /* [n] rising */
    int32_t *offset; /* [n] from then on */
    int32_t before;  /* the first */
    bool has_rule;
    struct zone_rule rule; /* after the last */
};

/* The counts of a header, in its order. */
struct counts {
    uint32_t isut, isstd, leap, time, type, chars;
};

static uint32_t big32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int64_t big64(const uint8_t *p)
{
    return (int64_t)((uint64_t)big32(p) << 32 | big32(p + 4));
}

/* A header at `at`; false where there is none. */
static bool read_header(const uint8_t *data, size_t size, size_t at, struct counts *ret)
{
    if (size < HEADER || at > size - HEADER || memcmp(data + at, "TZif", 4) != 0)
        return false;
    const uint8_t *p = data + at + 20;
    *ret = (struct counts){big32(p), big32(p + 4), big32(p + 8), big32(p + 12), big32(p + 16), big32(p + 20)};
    return ret->isut < FILE_MAX && ret->isstd < FILE_MAX && ret->leap < FILE_MAX && ret->time < FILE_MAX &&
           ret->type >= 1 && ret->type < 256 && ret->chars < FILE_MAX;
}

static size_t block_bytes(const struct counts *c, size_t time_bytes)
{
    return c->time * (time_bytes + 1) + c->type * (size_t)TYPE + c->chars + c->leap * (time_bytes + 4) +
           c->isstd + c->isut;
}

/* The block of 8-byte times that begins at `at`, behind its header. */
static int read_block(const uint8_t *data, const struct counts *c, size_t at, struct zone *zone)
{
    const uint8_t *times = data + at, *kinds = times + (size_t)c->time * 8, *types = kinds + c->time;
    zone->n = c->time;
    zone->at = calloc(zone->n + 1, sizeof(*zone->at));
    zone->offset = calloc(zone->n + 1, sizeof(*zone->offset));
    if (!zone->at || !zone->offset)
        return -ENOMEM;
    zone->before = (int32_t)big32(types);
    for (size_t i = 0; i < zone->n; i++) {
        if (kinds[i] >= c->type)
            return -EINVAL;
        zone->at[i] = big64(times + i * 8);
        zone->offset[i] = (int32_t)big32(types + kinds[i] * (size_t)TYPE);
        if (i > 0 && zone->at[i] <= zone->at[i - 1])
            return -EINVAL;
    }
    return 0;
}

/* The rule stands between two newlines at the end. */
static int read_rule(const uint8_t *data, size_t size, size_t at, struct zone *zone)
{
    char text[128];
    if (at >= size || data[at] != '\n')
        return -EINVAL;
    const uint8_t *start = data + at + 1, *end = memchr(start, '\n', size - at - 1);
    if (!end || (size_t)(end - start) >= sizeof text)
        return -EINVAL;
    memcpy(text, start, (size_t)(end - start));
    text[end - start] = '\0';
    zone->has_rule = text[0] != '\0';
    return !zone->has_rule || zone_rule_parse(text, &zone->rule) ? 0 : -EINVAL;
}

static int read_zone(const uint8_t *data, size_t size, struct zone *zone)
{
    struct counts c;
    if (!read_header(data, size, 0, &c) || data[4] < '2')
        return -EINVAL;
    size_t second = HEADER + block_bytes(&c, 4);
    if (!read_header(data, size, second, &c))
        return -EINVAL;
    size_t at = second + HEADER, bytes = block_bytes(&c, 8);
    if (bytes > size - at)
        return -EINVAL;
    int r = read_block(data, &c, at, zone);
    return r < 0 ? r : read_rule(data, size, at + bytes, zone);
}

static bool is_name(const char *name)
{
    size_t n = strlen(name);
    return n > 0 && n <= NAME_MAX_LEN && name[0] != '/' && !strstr(name, "..") &&
           strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/") == n;
}

static int load(const char *name, struct zone *zone, char err[static ZONE_ERROR_MAX])
{
    const char *folder = getenv("TZDIR");
    char path[512];
    snprintf(path, sizeof path, "%.400s/%s", folder && *folder ? folder : "/usr/share/zoneinfo", name);
    FILE *file = fopen(path, "re");
    if (!file) {
        int r = -errno;
        snprintf(err, ZONE_ERROR_MAX,
                 "%.64s: no such zone in %.100s: a name as America/New_York, or UTC (package tzdata)", name,
                 folder && *folder ? folder : "/usr/share/zoneinfo");
        return r;
    }
    uint8_t *data = malloc(FILE_MAX);
    size_t size = data ? fread(data, 1, FILE_MAX, file) : 0;
    fclose(file);
    int r = data ? read_zone(data, size, zone) : -ENOMEM;
    free(data);
    if (r < 0)
        snprintf(err, ZONE_ERROR_MAX,
                 r == -ENOMEM ? "out of memory" : "%.200s: a file of a time zone (TZif 2 or later)", path);
    return r;
}

int zone_open(const char *name, struct zone **ret, char err[static ZONE_ERROR_MAX])
{
    struct zone *zone = calloc(1, sizeof(*zone));
    int r = 0;
    if (!zone)
        return fail_with(-ENOMEM, err, ZONE_ERROR_MAX, "out of memory");
    if (!is_name(name)) {
        snprintf(err, ZONE_ERROR_MAX, "\"%.64s\": no name of a time zone: one as America/New_York, or UTC",
                 name);
        r = -EINVAL;
    } else if (strcmp(name, "UTC") != 0) {
        r = load(name, zone, err);
    }
    if (r < 0) {
        zone_close(zone);
        return r;
    }
    *ret = zone;
    return 0;
}

void zone_close(struct zone *zone)
{
    if (!zone)
        return;
    free(zone->at);
    free(zone->offset);
    free(zone);
}

static int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

int64_t zone_session(const struct zone *zone, int close_s, int64_t ns)
{
    int64_t s = floor_divide(ns - 1, NS_PER_S); /* the last second that began before it */
    return floor_divide(s + zone_offset(zone, s) - close_s, DAY_S);
}

int32_t zone_offset(const struct zone *zone, int64_t s)
{
    if (zone->n == 0 || s >= zone->at[zone->n - 1]) {
        if (zone->has_rule)
            return zone_rule_offset(&zone->rule, s);
        return zone->n > 0 ? zone->offset[zone->n - 1] : zone->before;
    }
    size_t low = 0, high = zone->n; /* changes at or before s: [0, low) */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (zone->at[middle] <= s)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? zone->offset[low - 1] : zone->before;
}

int64_t zone_utc(const struct zone *zone, int64_t local_s)
{
    /* Offsets are less than a day: the ones before and after any change that is near. */
    int32_t before = zone_offset(zone, local_s - DAY_S), after = zone_offset(zone, local_s + DAY_S);
    if (zone_offset(zone, local_s - before) == before || zone_offset(zone, local_s - after) != after)
        return local_s - before;
    return local_s - after;
}

int64_t zone_utc_second(const struct zone *zone, int64_t local_s)
{
    int32_t after = zone_offset(zone, local_s + DAY_S);
    return zone_offset(zone, local_s - after) == after ? local_s - after : zone_utc(zone, local_s);
}
