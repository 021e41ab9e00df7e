#include "trainer/telemetry/tensorboard.h"

#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Field numbers and wire types of Event, Summary, Summary.Value and SessionLog. */
enum {
    EVENT_WALL_TIME = 1 << 3 | 1,
    EVENT_STEP = 2 << 3,
    EVENT_FILE_VERSION = 3 << 3 | 2,
    EVENT_SUMMARY = 5 << 3 | 2,
    EVENT_SESSION_LOG = 7 << 3 | 2,
    SUMMARY_VALUE = 1 << 3 | 2,
    VALUE_TAG = 1 << 3 | 2,
    VALUE_SIMPLE = 2 << 3 | 5,
    SESSION_STATUS = 1 << 3,
    SESSION_START = 1,
};
enum {
    VALUE_MAX = TENSORBOARD_TAG_MAX + 16,
    SCALARS_MAX = 64,
    EVENT_MAX = 64 + SCALARS_MAX * (VALUE_MAX + 4)
};

struct tensorboard {
    FILE *file;
};

/* ---- CRC-32C. ---- */

static uint32_t table[256];

static void make_table(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t value = i;
        for (int bit = 0; bit < 8; bit++)
            value = value >> 1 ^ (value & 1 ? 0x82F63B78u : 0); /* the polynomial, bits reversed */
        table[i] = value;
    }
}

uint32_t telemetry_crc32c(const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    uint32_t sum = 0xFFFFFFFFu;
    if (table[1] == 0)
        make_table();
    for (size_t i = 0; i < n; i++)
        sum = sum >> 8 ^ table[(sum ^ p[i]) & 0xFF];
    return ~sum;
}

uint32_t telemetry_crc32c_masked(const void *bytes, size_t n)
{
    uint32_t sum = telemetry_crc32c(bytes, n);
    return (sum >> 15 | sum << 17) + 0xA282EAD8u;
}

/* ---- Messages. ---- */

struct tensorboard_message {
    size_t n;
    unsigned char bytes[EVENT_MAX];
};

static void put(struct tensorboard_message *message, const void *bytes, size_t n)
{
    memcpy(message->bytes + message->n, bytes, n);
    message->n += n;
}

static void put_byte(struct tensorboard_message *message, int byte)
{
    message->bytes[message->n++] = (unsigned char)byte;
}

static void put_varint(struct tensorboard_message *message, uint64_t value)
{
    for (; value >= 128; value >>= 7)
        put_byte(message, (int)(value & 127) | 128);
    put_byte(message, (int)value);
}

static void put_fixed32(struct tensorboard_message *message, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = htole32(bits);
    put(message, &bits, sizeof bits);
}

static void put_text(struct tensorboard_message *message, int field, const void *bytes, size_t n)
{
    put_byte(message, field);
    put_varint(message, n);
    put(message, bytes, n);
}

static void begin(struct tensorboard_message *message, int64_t step)
{
    struct timespec now;
    uint64_t bits;
    clock_gettime(CLOCK_REALTIME, &now);
    double seconds = (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
    memcpy(&bits, &seconds, sizeof bits);
    bits = htole64(bits);
    message->n = 0;
    put_byte(message, EVENT_WALL_TIME);
    put(message, &bits, sizeof bits);
    if (step > 0) {
        put_byte(message, EVENT_STEP);
        put_varint(message, (uint64_t)step);
    }
}

static int write_record(struct tensorboard *board, const struct tensorboard_message *message)
{
    uint64_t length = htole64(message->n);
    uint32_t head = htole32(telemetry_crc32c_masked(&length, sizeof length));
    uint32_t tail = htole32(telemetry_crc32c_masked(message->bytes, message->n));
    errno = EIO;
    bool whole = fwrite(&length, sizeof length, 1, board->file) == 1 &&
                 fwrite(&head, sizeof head, 1, board->file) == 1 &&
                 fwrite(message->bytes, message->n, 1, board->file) == 1 &&
                 fwrite(&tail, sizeof tail, 1, board->file) == 1 && fflush(board->file) == 0;
    return whole ? 0 : -errno;
}

static int write_beginning(struct tensorboard *board, int64_t resumed)
{
    static const char version[] = "brain.Event:2";
    struct tensorboard_message message;
    begin(&message, 0);
    put_text(&message, EVENT_FILE_VERSION, version, sizeof version - 1);
    int r = write_record(board, &message);
    if (r == 0 && resumed >= 0) {
        const unsigned char start[] = {SESSION_STATUS, SESSION_START};
        begin(&message, resumed + 1);
        put_text(&message, EVENT_SESSION_LOG, start, sizeof start);
        r = write_record(board, &message);
    }
    return r;
}

int telemetry_tensorboard_add(struct tensorboard *board, int64_t step,
                              const struct tensorboard_scalar *scalars, size_t n)
{
    struct tensorboard_message event, *summary = malloc(sizeof *summary), value;
    if (!summary)
        return -ENOMEM;
    summary->n = 0;
    for (size_t i = 0; i < n && i < SCALARS_MAX; i++) {
        size_t length = strnlen(scalars[i].tag, TENSORBOARD_TAG_MAX - 1);
        if (isnan(scalars[i].value))
            continue;
        value.n = 0;
        put_text(&value, VALUE_TAG, scalars[i].tag, length);
        put_byte(&value, VALUE_SIMPLE);
        put_fixed32(&value, (float)scalars[i].value);
        put_text(summary, SUMMARY_VALUE, value.bytes, value.n);
    }
    begin(&event, step);
    put_text(&event, EVENT_SUMMARY, summary->bytes, summary->n);
    free(summary);
    return write_record(board, &event);
}

/* ---- Files. ---- */

static int make_folders(char *path)
{
    for (char *slash = path + 1;; slash++) {
        slash = strchr(slash, '/');
        if (slash)
            *slash = '\0';
        int r = mkdir(path, 0777) < 0 && errno != EEXIST ? -errno : 0;
        if (slash)
            *slash = '/';
        if (r < 0 || !slash)
            return r;
    }
}

int telemetry_tensorboard_open(const char *dir, const char *name, int64_t resumed, struct tensorboard **ret,
                               char err[static TENSORBOARD_ERROR_MAX])
{
    char path[PATH_MAX], host[64] = "host";
    int n = snprintf(path, sizeof path, "%s/%s", dir, name), r = -ENAMETOOLONG;
    gethostname(host, sizeof host - 1);
    struct tensorboard *board = calloc(1, sizeof *board);
    if (!board)
        r = -ENOMEM;
    else if (n < (int)sizeof path)
        r = make_folders(path);
    if (r == 0 && snprintf(path + n, sizeof path - (size_t)n, "/events.out.tfevents.%lld.%s.%ld",
                           (long long)time(NULL), host, (long)getpid()) >= (int)sizeof path - n)
        r = -ENAMETOOLONG;
    if (r == 0 && !(board->file = fopen(path, "we")))
        r = -errno;
    if (r == 0)
        r = write_beginning(board, resumed);
    if (r < 0) {
        snprintf(err, TENSORBOARD_ERROR_MAX,
                 "cannot write event files: %.300s: %s: a folder that can be written to", path, strerror(-r));
        telemetry_tensorboard_close(board);
        return r;
    }
    *ret = board;
    return 0;
}

void telemetry_tensorboard_close(struct tensorboard *board)
{
    if (!board)
        return;
    if (board->file)
        fclose(board->file);
    free(board);
}
