#include "exchange/replay/convert.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "exchange/fail.h"
#include "exchange/journal/journal.h"
#include "exchange/replay/lines.h"
#include "exchange/text.h"

#define NS_PER_S INT64_C(1000000000)

enum {
    SEGMENT_BYTES = 256 << 20,
    BATCH_BYTES = 4 << 20,
};

static const char host[] = "https://api.binance.com";

#define fail(error, code, what, where, right) \
    fail_with(code, error, CONVERT_ERROR_MAX, "%s: %.256s: %s", what, where, right)

/* ---- lines into a journal ---- */

struct import {
    struct lines *lines;
    struct frame_line *next;
    bool *ended;
    size_t n;
    struct journal_writer *writer;
    struct journal_batch batch;
    struct text reply;
    int64_t last_ns;
    struct convert_counts counts;
};

static int read_next(struct import *import, size_t i, char *error)
{
    int rc = replay_lines_next(&import->lines[i], &import->next[i]);
    if (rc < 0)
        snprintf(error, CONVERT_ERROR_MAX, "%s", import->lines[i].error);
    import->ended[i] = rc == 0;
    return rc < 0 ? rc : 0;
}

static int flush(struct import *import, const char *dir, char *error)
{
    int rc = journal_writer_put(import->writer, &import->batch);
    journal_batch_clear(&import->batch);
    return rc < 0 ? fail(error, rc, "cannot write", dir, strerror(-rc)) : 0;
}

/* The request's path of a URL, without its host. */
static void write_path(struct text *out, struct json_text url)
{
    const char *slashes = memmem(url.data, url.len, "://", 3);
    if (slashes) {
        const char *path = memchr(slashes + 3, '/', url.len - (size_t)(slashes + 3 - url.data));
        url.len = path ? url.len - (size_t)(path - url.data) : 0;
        url.data = path;
    }
    if (url.len > 0)
        text_bytes(out, url.data, url.len);
    else
        text_lit(out, "/");
}

/* Adds the line; a reply among frames without its request is identified by its content. */
static int add_line(struct import *import, const struct frame_line *line)
{
    struct journal_record record = {JOURNAL_FRAME, 0, line->ts_ns, line->frame.data, line->frame.len};
    struct replay_frame frame;
    if (line->ts_ns < import->last_ns) {
        record.recv_ns = import->last_ns;
        import->counts.late++;
    }
    import->last_ns = record.recv_ns;
    bool snapshot =
        line->url.len == 0 && replay_frame_read(line->frame, &frame) == 0 && frame.kind == FRAME_SNAPSHOT;
    if (line->url.len > 0 || snapshot) {
        text_clear(&import->reply);
        if (snapshot)
            text_lit(&import->reply, "/api/v3/depth");
        else
            write_path(&import->reply, line->url);
        text_lit(&import->reply, "\n");
        text_bytes(&import->reply, line->frame.data, line->frame.len);
        if (!text_ok(&import->reply))
            return -ENOMEM;
        record.kind = JOURNAL_REPLY;
        record.bytes = import->reply.data;
        record.len = import->reply.len;
        import->counts.replies++;
    } else {
        import->counts.frames++;
    }
    return journal_batch_add(&import->batch, &record);
}

static int import_lines(struct import *import, const char *dir, char *error)
{
    int rc = 0;
    for (size_t i = 0; i < import->n && rc == 0; i++) /* all are open */
        rc = read_next(import, i, error);
    while (rc == 0) {
        size_t first = import->n;
        for (size_t i = 0; i < import->n; i++)
            if (!import->ended[i] &&
                (first == import->n || import->next[i].ts_ns < import->next[first].ts_ns))
                first = i;
        if (first == import->n)
            break;
        if (import->batch.len == 0 && journal_writer_full(import->writer)) {
            /* Frames need no engine: a segment of them starts with a state of no bytes. */
            int64_t ns =
                import->next[first].ts_ns < import->last_ns ? import->last_ns : import->next[first].ts_ns;
            rc = journal_batch_add(&import->batch, &(struct journal_record){JOURNAL_STATE, 0, ns, NULL, 0});
        }
        if (rc == 0)
            rc = add_line(import, &import->next[first]);
        if (rc < 0)
            return fail(error, rc, "cannot keep", dir, strerror(-rc));
        if (import->batch.len >= BATCH_BYTES)
            rc = flush(import, dir, error);
        if (rc == 0)
            rc = read_next(import, first, error);
    }
    if (rc == 0 && import->counts.frames + import->counts.replies == 0)
        return fail(error, -EINVAL, "nothing to keep", import->lines[0].path, "a recording with frames");
    return rc == 0 ? flush(import, dir, error) : rc;
}

static int remove_segment(void *dir, const struct journal_segment_info *segment)
{
    char path[4096];
    int n = snprintf(path, sizeof(path), "%s/%s", (const char *)dir, segment->name);
    return n < (int)sizeof(path) && unlink(path) == 0 ? 0 : -EIO;
}

/* Removes what a failed import has put into the directory that it made, and the directory. */
static void remove_made(const char *dir)
{
    char name[4096], err[JOURNAL_ERROR_MAX];
    int n = snprintf(name, sizeof(name), "%s", dir);
    if (n < (int)sizeof(name))
        journal_list(dir, remove_segment, name, err, sizeof(err));
    n = snprintf(name, sizeof(name), "%s/" JOURNAL_LOCK_NAME, dir);
    if (n < (int)sizeof(name))
        unlink(name);
    rmdir(dir); /* one that holds anything else stays */
}

int replay_convert_import(const char *const *paths, size_t n_paths, const char *dir,
                          struct convert_counts *ret, char error[static CONVERT_ERROR_MAX])
{
    struct import import = {.n = n_paths, .last_ns = INT64_MIN};
    struct journal_writer_config config = {.dir = dir, .segment_bytes = SEGMENT_BYTES};
    struct journal_tail tail;
    char err[JOURNAL_ERROR_MAX];
    import.lines = calloc(n_paths, sizeof(*import.lines));
    import.next = calloc(n_paths, sizeof(*import.next));
    import.ended = calloc(n_paths, sizeof(*import.ended));
    journal_batch_init(&import.batch);
    struct stat info;
    bool made = stat(dir, &info) < 0 && errno == ENOENT;
    int rc = import.lines && import.next && import.ended ? 0 : fail(error, -ENOMEM, "out of memory", dir, "");
    for (size_t i = 0; i < n_paths && rc == 0; i++) {
        rc = replay_lines_open(&import.lines[i], paths[i]);
        if (rc < 0)
            snprintf(error, CONVERT_ERROR_MAX, "%s", import.lines[i].error);
    }
    if (rc == 0) {
        rc = journal_writer_open(&config, &import.writer, &tail, err, sizeof(err));
        if (rc < 0)
            snprintf(error, CONVERT_ERROR_MAX, "cannot write: %.400s", err);
        else if (tail.last_ns != 0 || tail.last_seq != 0)
            rc = fail(error, -EEXIST, "it holds a journal already", dir, "another directory");
    }
    if (rc == 0)
        rc = import_lines(&import, dir, error);
    if (rc == 0)
        *ret = import.counts;
    journal_writer_close(import.writer);
    if (rc < 0 && made && rc != -EEXIST && rc != -EBUSY)
        remove_made(dir);
    journal_batch_finish(&import.batch);
    text_finish(&import.reply);
    for (size_t i = 0; i < n_paths && import.lines; i++)
        replay_lines_finish(&import.lines[i]);
    free(import.lines);
    free(import.next);
    free(import.ended);
    return rc;
}

/* ---- a journal into lines ---- */

static void write_line(struct text *out, const struct frame_line *line, bool snapshot)
{
    char time[64];
    text_clear(out);
    if (line->url.len > 0 && !snapshot) {
        text_lit(out, host);
        text_bytes(out, line->url.data, line->url.len);
        snprintf(time, sizeof(time), " -> %" PRId64 ".%09" PRId64 ": ", line->ts_ns / NS_PER_S,
                 line->ts_ns % NS_PER_S);
    } else {
        snprintf(time, sizeof(time), "%" PRId64 " ", line->ts_ns);
    }
    text_str(out, time);
    text_bytes(out, line->frame.data, line->frame.len);
    text_lit(out, "\n");
}

static int export_lines(struct lines *lines, gzFile out, struct convert_counts *counts, char *error)
{
    struct frame_line line;
    struct text text = {0};
    int rc;
    while ((rc = replay_lines_next(lines, &line)) == 1) {
        struct replay_frame frame;
        bool reply = line.url.len > 0;
        bool snapshot = reply && replay_frame_read(line.frame, &frame) == 0 && frame.kind == FRAME_SNAPSHOT;
        if (memchr(line.frame.data, '\n', line.frame.len) || line.ts_ns < 0) {
            rc = replay_lines_fail(lines, -EINVAL, "no line can hold it",
                                   "frames of one line, received after 1970");
            break;
        }
        write_line(&text, &line, snapshot);
        if (!text_ok(&text) || text.len > INT32_MAX || gzwrite(out, text.data, (unsigned)text.len) == 0) {
            rc = text_ok(&text) ? -EIO : -ENOMEM;
            replay_lines_fail(lines, rc, "cannot write", "room on the disk");
            break;
        }
        counts->frames += !reply;
        counts->replies += reply;
    }
    text_finish(&text);
    if (rc < 0)
        snprintf(error, CONVERT_ERROR_MAX, "%s", lines->error);
    return rc;
}

int replay_convert_export(const char *journal, int fd, const char *file, struct convert_counts *ret,
                          char error[static CONVERT_ERROR_MAX])
{
    struct lines lines = {0};
    struct convert_counts counts = {0};
    size_t len = strlen(file);
    bool packed = len > 3 && strcmp(file + len - 3, ".gz") == 0;
    if (!replay_lines_is_journal(journal)) {
        close(fd);
        return fail(error, -EINVAL, "no journal", journal, "its directory, or a segment");
    }
    int rc = replay_lines_open(&lines, journal);
    if (rc < 0) {
        snprintf(error, CONVERT_ERROR_MAX, "%s", lines.error);
        replay_lines_finish(&lines);
        close(fd);
        return rc;
    }
    gzFile out = gzdopen(fd, packed ? "wb6" : "wbT");
    if (!out) {
        close(fd);
        rc = fail(error, -ENOMEM, "cannot write", file, strerror(ENOMEM));
    } else {
        gzbuffer(out, 1 << 18);
        rc = export_lines(&lines, out, &counts, error);
        if (gzclose(out) != Z_OK && rc == 0)
            rc = fail(error, -EIO, "cannot write", file, "room on the disk");
        if (rc == 0 && counts.frames + counts.replies == 0)
            rc = fail(error, -ENOENT, "no frames in it", journal, "a journal of papertaped --record");
    }
    replay_lines_finish(&lines);
    if (rc == 0)
        *ret = counts;
    return rc;
}
