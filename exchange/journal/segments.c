#include "exchange/journal/segments.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int by_number(const void *a, const void *b)
{
    const struct journal_segment *x = a, *y = b;
    return x->number != y->number ? (x->number < y->number ? -1 : 1) : strcmp(x->name, y->name);
}

int journal_segments_read(struct journal_segments *segments, int dir)
{
    struct journal_segments found = {0};
    size_t cap = 0;
    int r = 0, fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    if (!stream) {
        r = -errno;
        if (fd >= 0)
            close(fd);
        return r;
    }
    for (const struct dirent *entry; r == 0 && (errno = 0, entry = readdir(stream)) != NULL;) {
        struct stat st;
        uint32_t number;
        if (strlen(entry->d_name) >= JOURNAL_NAME_MAX || !journal_name_parse(entry->d_name, &number))
            continue;
        if (fstatat(dir, entry->d_name, &st, 0) < 0) {
            if (errno != ENOENT) /* retention is faster */
                r = -errno;
            continue;
        }
        if (found.n == cap) {
            struct journal_segment *grown = reallocarray(found.list, cap = cap ? 2 * cap : 16, sizeof *grown);
            if (!grown) {
                r = -ENOMEM;
                break;
            }
            found.list = grown;
        }
        struct journal_segment *segment = &found.list[found.n++];
        *segment = (struct journal_segment){.number = number, .size = st.st_size};
        strcpy(segment->name, entry->d_name);
    }
    if (r == 0 && errno != 0)
        r = -errno;
    closedir(stream);
    if (r < 0) {
        free(found.list);
        return r;
    }
    if (found.n > 0)
        qsort(found.list, found.n, sizeof *found.list, by_number);
    free(segments->list);
    *segments = found;
    return 0;
}

void journal_segments_finish(struct journal_segments *segments)
{
    free(segments->list);
    *segments = (struct journal_segments){0};
}

size_t journal_segments_find(const struct journal_segments *segments, uint32_t number)
{
    size_t i = 0;
    while (i < segments->n && segments->list[i].number < number)
        i++;
    return i;
}

int journal_segments_linked(struct journal_segments *segments, struct journal_scan *scan, int dir)
{
    uint8_t last[JOURNAL_HASH_SIZE];
    for (size_t i = 0; i < segments->n; i++) {
        struct journal_segment *segment = &segments->list[i];
        int r = journal_scan_open(scan, dir, segment->name);
        if (r < 0)
            return r == -ENODATA ? -EBADMSG : r;
        segment->first_ns = scan->header.first_ns;
        const char *before = i > 0 ? segment[-1].name : "";
        if (scan->header.number != segment->number)
            return journal_scan_fail(scan, -EBADMSG, "%s: file header at byte 0: it is of segment %" PRIu32,
                                     segment->name, scan->header.number);
        if (i > 0 && segment->number != segment[-1].number + 1)
            return journal_scan_fail(scan, -EBADMSG, "%s: segment %" PRIu32 " is missing before it",
                                     segment->name, segment->number - 1);
        if (i > 0 && memcmp(scan->header.previous, last, sizeof last) != 0)
            return journal_scan_fail(scan, -EBADMSG,
                                     "%s: file header at byte 0: it does not follow the end of %s",
                                     segment->name, before);
        if (i + 1 < segments->n && (r = journal_scan_last(scan, last)) < 0)
            return r;
    }
    return 0;
}
