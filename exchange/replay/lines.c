#include "exchange/replay/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE_BYTES_MAX = 64 << 20 };

int replay_lines_fail(struct lines *lines, int err, const char *what, const char *right, ...)
{
    char text[160];
    va_list args;
    va_start(args, right);
    vsnprintf(text, sizeof(text), right, args);
    va_end(args);
    if (lines->number > 0)
        snprintf(lines->error, SOURCE_ERROR_MAX, "%s: %.256s:%lu: %s", what, lines->path, lines->number,
                 text);
    else
        snprintf(lines->error, SOURCE_ERROR_MAX, "%s: %.256s: %s", what, lines->path, text);
    return err;
}

bool replay_lines_is_journal(const char *path)
{
    static const char magic[] = "\x89PTJ";
    char bytes[sizeof(magic) - 1];
    struct stat st;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return true;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool is = fd >= 0 && read(fd, bytes, sizeof(bytes)) == sizeof(bytes) &&
              memcmp(bytes, magic, sizeof(bytes)) == 0;
    if (fd >= 0)
        close(fd);
    return is;
}

int replay_lines_open(struct lines *lines, const char *path)
{
    lines->path = path;
    lines->number = 0;
    if (replay_lines_is_journal(path)) {
        char err[JOURNAL_ERROR_MAX];
        int rc = journal_reader_open(path, &lines->journal, err, sizeof(err));
        if (rc < 0)
            snprintf(lines->error, SOURCE_ERROR_MAX, "cannot open: %.400s: a whole journal", err);
        return rc;
    }
    errno = 0;
    lines->text = gzopen(path, "rbe");
    if (!lines->text)
        return replay_lines_fail(lines, errno ? -errno : -ENOMEM, "cannot open", "a readable recording (%s)",
                                 strerror(errno ? errno : ENOMEM));
    gzbuffer(lines->text, 1 << 18);
    return 0;
}

/* Recorders are killed: what comes before the cut is good. Reported once, though files are read twice. */
static int cut_off(struct lines *lines)
{
    if (!lines->cut_reported)
        fprintf(stderr, "papertape-replay: %.256s:%lu: cut off in the middle: all before it is taken\n",
                lines->path, lines->number);
    lines->cut_reported = true;
    return 0;
}

static bool whole_line(const char *line, size_t len)
{
    struct frame_line read;
    struct json json;
    if (replay_frame_line_read(line, len, &read) != 0)
        return false;
    json_init(&json, read.frame.data, read.frame.len);
    return read.frame.len == 0 || (json_skip(&json) && json_done(&json));
}

static int next_text(struct lines *lines, struct frame_line *ret)
{
    for (;;) {
        size_t len = 0;
        bool whole = false;
        while (!whole) {
            if (lines->cap - len < 4096) {
                size_t cap = lines->cap ? lines->cap * 2 : 1 << 16;
                char *buf = cap <= LINE_BYTES_MAX ? realloc(lines->buf, cap) : NULL;
                if (!buf)
                    return replay_lines_fail(lines, -ENOMEM, "line too long", "lines of at most %d bytes",
                                             LINE_BYTES_MAX);
                lines->buf = buf;
                lines->cap = cap;
            }
            if (!gzgets(lines->text, lines->buf + len, (int)(lines->cap - len))) {
                int code;
                const char *text = gzerror(lines->text, &code);
                bool ends_early = code == Z_BUF_ERROR && lines->number + len > 0; /* gzip without its end */
                if (code != Z_OK && code != Z_STREAM_END && !ends_early) {
                    lines->number++;
                    return replay_lines_fail(lines, -EIO, "cannot read on",
                                             "a whole file, plain or gzip (%s)", text);
                }
                if (len == 0)
                    return ends_early ? cut_off(lines) : 0;
                break;
            }
            len += strlen(lines->buf + len);
            whole = len > 0 && lines->buf[len - 1] == '\n';
        }
        lines->number++;
        while (len > 0 &&
               (lines->buf[len - 1] == '\n' || lines->buf[len - 1] == '\r' || lines->buf[len - 1] == ' '))
            len--;
        if (len == 0)
            continue;
        if (!whole && lines->number > 1 && !whole_line(lines->buf, len))
            return cut_off(lines);
        if (replay_frame_line_read(lines->buf, len, ret) != 0)
            return replay_lines_fail(lines, -EINVAL, "bad line",
                                     "`NANOSECONDS {json}` or `SECONDS.FRACTION: {json}`");
        if (ret->frame.len > 0)
            return 1;
    }
}

static int next_record(struct lines *lines, struct frame_line *ret)
{
    struct journal_record record;
    int rc;
    while ((rc = journal_reader_next(lines->journal, &record)) == 1) {
        if (record.kind != JOURNAL_FRAME && record.kind != JOURNAL_REPLY)
            continue;
        lines->number++;
        const char *bytes = record.bytes;
        *ret = (struct frame_line){.ts_ns = record.recv_ns, .frame = {bytes, record.len}};
        if (record.kind == JOURNAL_REPLY) {
            const char *end = memchr(bytes, '\n', record.len);
            if (!end)
                return replay_lines_fail(lines, -EBADMSG, "bad reply", "a path, a newline, the reply");
            ret->url = (struct json_text){bytes, (size_t)(end - bytes)};
            ret->frame = (struct json_text){end + 1, record.len - ret->url.len - 1};
        }
        if (ret->frame.len > 0)
            return 1;
    }
    if (rc < 0)
        snprintf(lines->error, SOURCE_ERROR_MAX, "cannot read on: %.400s: a whole journal",
                 journal_reader_error(lines->journal));
    return rc;
}

int replay_lines_next(struct lines *lines, struct frame_line *ret)
{
    return lines->journal ? next_record(lines, ret) : next_text(lines, ret);
}

void replay_lines_close(struct lines *lines)
{
    if (lines->text)
        gzclose(lines->text);
    journal_reader_close(lines->journal);
    lines->text = NULL;
    lines->journal = NULL;
}

void replay_lines_finish(struct lines *lines)
{
    replay_lines_close(lines);
    free(lines->buf);
    lines->buf = NULL;
    lines->cap = 0;
}
