#include "daemon/rebuild_log.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/state.h"

enum { PATH_SIZE = STATE_PATH_MAX + 128 };

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct rebuild_segment *)a)->name, ((const struct rebuild_segment *)b)->name);
}

static bool is_segment(const char *name, uint64_t *ret_seq)
{
    unsigned number, day, time;
    char end[9];
    return sscanf(name, "%8u-%8uT%6uZ-%" SCNu64 ".%8s", &number, &day, &time, ret_seq, end) == 5 &&
           strcmp(end, "journal") == 0 && strlen(name) < sizeof((struct rebuild_segment *)0)->name;
}

int daemon_rebuild_log_segments(const char *events, struct rebuild_segment **ret, size_t *ret_n)
{
    DIR *dir = opendir(events);
    struct rebuild_segment *list = NULL;
    size_t n = 0;
    if (!dir)
        return -errno;
    for (struct dirent *entry; (entry = readdir(dir));) {
        uint64_t seq;
        if (!is_segment(entry->d_name, &seq))
            continue;
        struct rebuild_segment *more =
            (n & (n - 1)) == 0 ? realloc(list, (n ? 2 * n : 1) * sizeof *list) : list;
        if (!more) {
            free(list);
            closedir(dir);
            return -ENOMEM;
        }
        list = more;
        snprintf(list[n].name, sizeof list[n].name, "%s", entry->d_name);
        list[n++].seq = seq;
    }
    closedir(dir);
    if (n > 0)
        qsort(list, n, sizeof *list, by_name);
    *ret = list;
    *ret_n = n;
    return 0;
}

/* Lists the segments: at least one. */
static int some_segments(const char *events, struct rebuild_segment **ret, size_t *ret_n)
{
    int r = daemon_rebuild_log_segments(events, ret, ret_n);
    return r == 0 && *ret_n == 0 ? -ENOENT : r;
}

int daemon_rebuild_log_begins(const char *events, uint64_t *ret_seq)
{
    struct rebuild_segment *segments;
    size_t n;
    int r = some_segments(events, &segments, &n);
    if (r == 0) {
        *ret_seq = segments[0].seq;
        free(segments);
    }
    return r;
}

static int take_newest(void *ctx, const struct journal_segment_info *info)
{
    uint64_t *newest = ctx;
    if (info->last_seq > *newest)
        *newest = info->last_seq;
    return 0;
}

/* Finds the newest event that one segment names: an altered segment hides no other. */
static void name_newest(const char *path, const struct rebuild_segment *segment, uint64_t *newest)
{
    char err[JOURNAL_ERROR_MAX];
    if (segment->seq > *newest)
        *newest = segment->seq;
    journal_list(path, take_newest, newest, err, sizeof err);
}

uint64_t daemon_rebuild_log_newest(const char *events)
{
    struct rebuild_segment *segments;
    char path[PATH_SIZE];
    uint64_t newest = 0;
    size_t n;
    if (some_segments(events, &segments, &n) < 0)
        return 0;
    for (size_t i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s", events, segments[i].name);
        name_newest(path, &segments[i], &newest);
    }
    free(segments);
    return newest;
}

/* Reads up to its end, or the first fault. */
static int read_segment(const char *path, struct rebuild_after *ret)
{
    struct journal_reader *reader;
    struct journal_record record;
    char err[JOURNAL_ERROR_MAX];
    int r = journal_reader_open(path, &reader, err, sizeof err);
    if (r < 0)
        return r == -ENOMEM ? r : 0;
    while ((r = journal_reader_next(reader, &record)) > 0) {
        if (record.kind == JOURNAL_STATE && record.seq > ret->end && ret->to == 0) {
            ret->from = ret->end + 1;
            ret->to = record.seq;
        }
        if (record.seq > ret->end)
            ret->end = record.seq;
    }
    journal_reader_close(reader);
    return r == -ENOMEM ? r : 0;
}

int daemon_rebuild_log_after(const char *events, uint64_t seq, struct rebuild_after *ret)
{
    struct rebuild_segment *segments;
    char path[PATH_SIZE];
    size_t n, first = 0;
    int r = some_segments(events, &segments, &n);
    if (r < 0)
        return r;
    struct rebuild_after after = {.end = seq, .newest = seq};
    for (size_t i = 0; i < n; i++)
        if (segments[i].seq <= seq)
            first = i;
    for (size_t i = first; i < n && r == 0; i++) {
        snprintf(path, sizeof path, "%s/%s", events, segments[i].name);
        name_newest(path, &segments[i], &after.newest);
        r = read_segment(path, &after);
    }
    free(segments);
    if (r == 0)
        *ret = after;
    return r;
}
