/* What others do to keep a feed: lines of JSON through gzip, as recorders of market data write them
 * (cryptofeed, hftbacktest's examples), or through zstd; beside the journal, given the same frames and given
 * what they mean: engine_log_peers FOLDER [FILE]. FILE: a recording, else the synthetic market.
 *
 * On standard output a line a figure: case, value, unit between tabs. Processor time and bytes, of a frame.
 * - gzip_6_write, gzip_6_bytes: zlib's deflate at its usual level; gzip_1_…: at its fastest
 * - zstd_1_write, zstd_1_bytes: one zstd stream at level 1
 * - frames_write, frames_bytes: the journal with the frames as they stand (--record): batch, blocks, hashes,
 *   write()
 *
 * Prediction: a frame is 270 bytes. deflate at 6 takes 40 MB/s of such text: 7 us, 33 bytes; at 1 100 MB/s,
 * 2.7 us, 45 bytes; zstd at 1 500 MB/s, 0.5 us, 35 bytes; the journal adds SHA-256 of what was compressed and
 * one copy, 0.1 us, and starts a new block every 256 KiB: 0.6 us, 38 bytes. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "bench/frames.h"
#include "exchange/journal/journal.h"

enum { BATCH = 256 << 10, SYNTHETIC_S = 600, ROUNDS = 5, OUT = 1 << 18 };

_Noreturn static void die(const char *what)
{
    fprintf(stderr, "engine_log_peers: %s\n", what);
    exit(EXIT_FAILURE);
}

static void print(const char *name, const char *what, double value, const char *unit)
{
    printf("%s_%s\t%.12g\t%s\n", name, what, value, unit);
}

/* Takes one line; a last call with NULL. Returns the bytes that came out. */
struct peer {
    const char *name;
    int level;
    void *(*open)(int level);
    size_t (*line)(void *stream, const char *text, size_t len, int fd);
    void (*close)(void *stream);
};

static uint8_t out[OUT];
static char line[1 << 20];

static void put(int fd, const void *bytes, size_t len)
{
    if (write(fd, bytes, len) != (ssize_t)len)
        die("write");
}

static void *gzip_open(int level)
{
    z_stream *z = calloc(1, sizeof *z);
    if (!z || deflateInit2(z, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        die("zlib");
    return z;
}

static size_t gzip_line(void *stream, const char *text, size_t len, int fd)
{
    z_stream *z = stream;
    size_t sum = 0;
    z->next_in = (Bytef *)(uintptr_t)text;
    z->avail_in = (uInt)len;
    do {
        z->next_out = out;
        z->avail_out = sizeof out;
        if (deflate(z, text ? Z_NO_FLUSH : Z_FINISH) == Z_STREAM_ERROR)
            die("deflate");
        put(fd, out, sizeof out - z->avail_out);
        sum += sizeof out - z->avail_out;
    } while (z->avail_out == 0);
    return sum;
}

static void gzip_close(void *stream)
{
    deflateEnd(stream);
    free(stream);
}

static void *zstd_open(int level)
{
    ZSTD_CCtx *z = ZSTD_createCCtx();
    if (!z || ZSTD_isError(ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, level)))
        die("zstd");
    return z;
}

static size_t zstd_line(void *stream, const char *text, size_t len, int fd)
{
    ZSTD_inBuffer in = {text, len, 0};
    size_t sum = 0, left;
    do {
        ZSTD_outBuffer to = {out, sizeof out, 0};
        left = ZSTD_compressStream2(stream, &to, &in, text ? ZSTD_e_continue : ZSTD_e_end);
        if (ZSTD_isError(left))
            die("zstd");
        put(fd, out, to.pos);
        sum += to.pos;
    } while (text ? in.pos < in.size : left > 0);
    return sum;
}

static void zstd_close(void *stream)
{
    ZSTD_freeCCtx(stream);
}

static const struct peer peers[] = {
    {"gzip_6", 6, gzip_open, gzip_line, gzip_close},
    {"gzip_1", 1, gzip_open, gzip_line, gzip_close},
    {"zstd_1", 1, zstd_open, zstd_line, zstd_close},
};

static void measure_peer(const struct peer *peer, const struct frames *frames, const char *path)
{
    int64_t best_ns = INT64_MAX;
    size_t bytes = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0640);
        void *stream = peer->open(peer->level);
        int64_t begin_ns = frames_cpu_ns();
        if (fd < 0)
            die(path);
        bytes = 0;
        for (size_t i = 0; i < frames->n; i++) {
            const struct frame_at *at = &frames->list[i];
            size_t len =
                (size_t)snprintf(line, sizeof line, "%lld ", 1723161240000000000LL + (long long)i * 8000000);
            if (len + at->len + 1 > sizeof line)
                die("a frame too long");
            memcpy(line + len, frames->text + at->offset, at->len);
            line[len += at->len] = '\n';
            bytes += peer->line(stream, line, len + 1, fd);
        }
        bytes += peer->line(stream, NULL, 0, fd);
        int64_t took_ns = frames_cpu_ns() - begin_ns;
        best_ns = took_ns < best_ns ? took_ns : best_ns;
        peer->close(stream);
        close(fd);
    }
    print(peer->name, "write", 1e-9 * (double)best_ns / (double)frames->n, "s");
    print(peer->name, "bytes", (double)bytes / (double)frames->n, "B");
}

static void measure_journal(const struct frames *frames, const char *dir)
{
    int64_t best_ns = INT64_MAX;
    uint64_t bytes = 0;
    struct journal_batch batch;
    journal_batch_init(&batch);
    for (int round = 0; round < ROUNDS; round++) {
        const struct journal_writer_config config = {.dir = dir};
        struct journal_writer *writer;
        struct journal_writer_stats before, after;
        struct journal_tail tail;
        char err[JOURNAL_ERROR_MAX];
        if (journal_writer_open(&config, &writer, &tail, err, sizeof err) < 0)
            die(err);
        int64_t ns = tail.last_ns > 0 ? tail.last_ns : 1723161240000000000LL;
        journal_batch_clear(&batch);
        struct journal_record record = {JOURNAL_STATE, 0, ns, NULL, 0};
        if (journal_batch_add(&batch, &record) < 0 || journal_writer_put(writer, &batch) < 0)
            die("journal");
        journal_writer_stats(writer, &before);
        int64_t begin_ns = frames_cpu_ns();
        for (size_t i = 0; i < frames->n;) {
            journal_batch_clear(&batch);
            for (; i < frames->n && batch.len < BATCH; i++) {
                const struct frame_at *at = &frames->list[i];
                record = (struct journal_record){JOURNAL_FRAME, 0, ns += 8000000, frames->text + at->offset,
                                                 at->len};
                if (journal_batch_add(&batch, &record) < 0)
                    die("memory");
            }
            if (journal_writer_put(writer, &batch) < 0)
                die("journal");
        }
        int64_t took_ns = frames_cpu_ns() - begin_ns;
        best_ns = took_ns < best_ns ? took_ns : best_ns;
        journal_writer_stats(writer, &after);
        bytes = after.file_bytes - before.file_bytes;
        journal_writer_close(writer);
    }
    journal_batch_finish(&batch);
    print("frames", "write", 1e-9 * (double)best_ns / (double)frames->n, "s");
    print("frames", "bytes", (double)bytes / (double)frames->n, "B");
}

int main(int argc, char **argv)
{
    struct frames frames;
    char path[512];
    if (argc != 2 && argc != 3) {
        fputs("usage: engine_log_peers FOLDER [FILE]\n", stderr);
        return 2;
    }
    if (argc == 3)
        frames_read(argv[2], &frames);
    else
        frames_serve(NULL, SYNTHETIC_S, &frames);
    mkdir(argv[1], 0750);
    frames_pin();
    snprintf(path, sizeof path, "%s/lines", argv[1]);
    for (size_t i = 0; i < sizeof peers / sizeof *peers; i++)
        measure_peer(&peers[i], &frames, path);
    snprintf(path, sizeof path, "%s/journal", argv[1]);
    measure_journal(&frames, path);
    frames_finish(&frames);
    return EXIT_SUCCESS;
}
