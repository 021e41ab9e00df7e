#include "trainer/serve/events.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exchange/whole_file.h"
#include "trainer/serve/record.h"

enum { CHUNK = 1 << 16, LINE_MAX_BYTES = 1 << 21 };

/* Is it of a kind that is never thinned? */
static bool is_lasting(const json_t *event)
{
    static const char *const kinds[] = {"start", "evaluation", "proposal", "warning", "error", "end"};
    const char *kind = json_string_value(json_object_get(event, "event"));
    for (size_t i = 0; kind && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kind, kinds[i]) == 0)
            return true;
    /* A state with a cause is an end, of which the daemon makes an alert. */
    return json_is_string(json_object_get(event, "cause"));
}

static bool append_entry(struct events *events, const struct event_entry *entry)
{
    if (events->n == events->cap) {
        size_t cap = events->cap ? 2 * events->cap : 64;
        struct event_entry *grown = reallocarray(events->entries, cap, sizeof *grown);
        if (!grown)
            return false;
        events->entries = grown;
        events->cap = cap;
    }
    struct event_entry *added = &events->entries[events->n++];
    *added = *entry;
    added->lasting &= events->n - events->thinnable <= EVENTS_MOST; /* no kind may fill the disk */
    events->thinnable += !added->lasting;
    return true;
}

/* ---- Opening. ---- */

/* Takes a whole line of the file. false: neither it nor what follows is ours. */
static bool take_line(struct events *events, const char *line, size_t n, int64_t at, int64_t created_ns)
{
    json_t *event = json_loadb(line, n, 0, NULL);
    const json_t *seq = json_object_get(event, "seq"), *ts = json_object_get(event, "ts_ns");
    struct event_entry entry = {json_integer_value(seq), at, is_lasting(event)};
    bool good = json_is_integer(seq) && json_is_integer(ts) && entry.seq > events->last &&
                json_integer_value(ts) >= created_ns;
    json_decref(event);
    if (!good || !append_entry(events, &entry))
        return false;
    events->last = entry.seq;
    events->size = at + (int64_t)n + 1;
    return true;
}

static int scan(struct events *events, int64_t created_ns)
{
    size_t cap = CHUNK, n = 0;
    int64_t at = 0; /* of text[0] in the file */
    char *text = malloc(cap);
    int r = text ? 0 : -ENOMEM;
    for (bool more = true; r == 0 && more;) {
        if (n == cap) {
            char *grown = cap < LINE_MAX_BYTES ? realloc(text, 2 * cap) : NULL;
            if (!grown)
                break; /* such a long line is not ours */
            text = grown;
            cap *= 2;
        }
        ssize_t got = pread(events->fd, text + n, cap - n, at + (int64_t)n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            r = got < 0 ? -errno : 0;
            break;
        }
        n += (size_t)got;
        size_t done = 0;
        for (char *end; more && (end = memchr(text + done, '\n', n - done)); done = (size_t)(end - text) + 1)
            more =
                take_line(events, text + done, (size_t)(end - text) - done, at + (int64_t)done, created_ns);
        memmove(text, text + done, n - done);
        n -= done;
        at += (int64_t)done;
    }
    free(text);
    return r;
}

int serve_events_open(struct events *events, const char *path, int64_t created_ns, int64_t seq)
{
    *events = (struct events){0};
    if ((size_t)snprintf(events->path, sizeof events->path, "%s", path) >= sizeof events->path)
        return -ENAMETOOLONG;
    events->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640);
    if (events->fd < 0)
        return -errno;
    events->open = true;
    int r = scan(events, created_ns);
    if (r == 0 && ftruncate(events->fd, events->size) < 0)
        r = -errno;
    if (r < 0)
        serve_events_close(events);
    else if (seq > events->last)
        events->last = seq;
    return r;
}

void serve_events_close(struct events *events)
{
    if (events->open)
        close(events->fd);
    free(events->entries);
    *events = (struct events){0};
}

/* ---- Thinning. ---- */

size_t serve_events_thin(const struct event_entry *entries, size_t n, size_t newest, bool *ret_keep)
{
    size_t others = 0, seen = 0, go = 0;
    for (size_t i = 0; i < n; i++)
        others += !entries[i].lasting;
    size_t old = others > newest ? others - newest : 0;
    for (size_t i = 0; i < n; i++) {
        ret_keep[i] = entries[i].lasting || seen >= old || seen % 2 == 0;
        seen += !entries[i].lasting;
        go += !ret_keep[i];
    }
    return go;
}

static int64_t line_end(const struct events *events, size_t i)
{
    return i + 1 < events->n ? events->entries[i + 1].at : events->size;
}

static int copy_line(const struct events *events, size_t i, const struct whole_file *to)
{
    char chunk[CHUNK];
    int64_t at = events->entries[i].at, end = line_end(events, i);
    while (at < end) {
        size_t wanted = end - at < CHUNK ? (size_t)(end - at) : CHUNK;
        ssize_t got = pread(events->fd, chunk, wanted, at);
        if (got < 0 && errno == EINTR)
            continue;
        int r = got <= 0 ? got < 0 ? -errno : -EIO : whole_file_put(to, chunk, (size_t)got);
        if (r < 0)
            return r;
        at += got;
    }
    return 0;
}

/* Rewrites the file without the thinned entries. */
static int rewrite(struct events *events, const bool *keep)
{
    struct whole_file file;
    int r = whole_file_open(events->path, TRAINING_TEMPORARY, 0640, &file);
    if (r < 0)
        return r;
    for (size_t i = 0; i < events->n && r == 0; i++)
        if (keep[i])
            r = copy_line(events, i, &file);
    r = whole_file_close(&file, r);
    int fd = r == 0 ? open(events->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW) : -1;
    if (r == 0 && fd < 0)
        r = -errno;
    if (r < 0)
        return r;
    close(events->fd);
    events->fd = fd;
    size_t kept = 0;
    int64_t at = 0;
    for (size_t i = 0; i < events->n; i++) {
        int64_t length = line_end(events, i) - events->entries[i].at;
        if (!keep[i])
            continue;
        struct event_entry entry = events->entries[i];
        entry.at = at;
        at += length;
        events->entries[kept++] = entry;
    }
    events->n = kept;
    events->size = at;
    events->thinnable = 0;
    for (size_t i = 0; i < kept; i++)
        events->thinnable += !events->entries[i].lasting;
    return 0;
}

static int thin(struct events *events)
{
    bool *keep = malloc(events->n * sizeof *keep);
    int r = keep ? 0 : -ENOMEM;
    if (r == 0 && serve_events_thin(events->entries, events->n, EVENTS_NEWEST, keep) > 0)
        r = rewrite(events, keep);
    free(keep);
    return r;
}

/* ---- Adding, reading. ---- */

int serve_events_add(struct events *events, json_t *event, int64_t ts_ns)
{
    const struct event_entry entry = {events->last + 1, events->size, is_lasting(event)};
    json_t *line = json_pack("{s:I, s:I}", "seq", (json_int_t)entry.seq, "ts_ns", (json_int_t)ts_ns);
    char *text = NULL;
    if (line && json_object_update_missing(line, event) == 0)
        text = json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(12));
    json_decref(line);
    if (!text)
        return -ENOMEM;
    size_t n = strlen(text);
    text[n] = '\n'; /* replaces its terminating 0 */
    ssize_t done = pwrite(events->fd, text, n + 1, events->size);
    int r = done == (ssize_t)n + 1 ? 0 : done < 0 ? -errno : -ENOSPC;
    free(text);
    if (r == 0 && !append_entry(events, &entry))
        r = -ENOMEM;
    if (r < 0) {
        if (ftruncate(events->fd, events->size) < 0)
            return -errno;
        return r;
    }
    events->size += (int64_t)n + 1;
    events->last = entry.seq;
    return events->thinnable > EVENTS_MOST ? thin(events) : 0;
}

/* The first entry after a number; n: none. */
static size_t first_after(const struct events *events, int64_t after)
{
    size_t low = 0, high = events->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (events->entries[middle].seq > after)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static json_t *read_line(const struct events *events, size_t i)
{
    int64_t at = events->entries[i].at;
    size_t n = (size_t)(line_end(events, i) - at);
    char *text = malloc(n);
    json_t *event = NULL;
    if (text && pread(events->fd, text, n, at) == (ssize_t)n)
        event = json_loadb(text, n, 0, NULL);
    free(text);
    return event;
}

int serve_events_read(const struct events *events, int64_t after, size_t limit, size_t bytes_max,
                      json_t **ret)
{
    json_t *array = json_array();
    size_t bytes = 0;
    if (!array)
        return -ENOMEM;
    for (size_t i = first_after(events, after); i < events->n && json_array_size(array) < limit; i++) {
        bytes += (size_t)(line_end(events, i) - events->entries[i].at);
        if (bytes > bytes_max && json_array_size(array) > 0)
            break;
        if (json_array_append_new(array, read_line(events, i)) < 0) {
            json_decref(array);
            return -EIO;
        }
    }
    *ret = array;
    return 0;
}
