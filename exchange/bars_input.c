#include "exchange/bars_input.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum {
    CHUNK = 256 * 1024, /* read at once: stays in the cache until it is parsed */
    TEXT_SIZE = CHUNK + BARS_LINE_MAX,
    GZIP_WINDOW = 15 + 16, /* zlib: the largest window, with gzip's header and trailer */
};

enum input_kind { STREAM_NEW, STREAM_PLAIN, STREAM_GZIP, STREAM_ENDED };

struct bars_input {
    int fd;
    struct bars_bytes from; /* instead, where its read is not NULL */
    enum input_kind kind;
    bool fd_ended;
    bool member_open; /* gzip: between a header and its trailer */
    unsigned long line;
    bool in_rows; /* JSON: behind the bracket of the outer array */
    uint64_t bytes;
    EVP_MD_CTX *hash;
    uint8_t *sha256;
    z_stream inflate;
    unsigned char *raw; /* [CHUNK], gzip only */
    char *text;         /* [TEXT_SIZE + 1] */
    char *p, *end;      /* the part that is not parsed yet */
    char why[BARS_INPUT_WHY_MAX];
};

/* NULL without memory. */
static struct bars_input *new_input(void)
{
    struct bars_input *in = calloc(1, sizeof(*in));
    if (!in)
        return NULL;
    in->fd = -1;
    in->text = malloc(TEXT_SIZE + 1);
    in->raw = malloc(CHUNK);
    in->p = in->end = in->text;
    if (in->text && in->raw)
        return in;
    bars_input_close(in);
    return NULL;
}

int bars_input_open_bytes(const struct bars_bytes *bytes, struct bars_input **ret)
{
    struct bars_input *in = new_input();
    if (!in) {
        bytes->close(bytes->ctx);
        return -ENOMEM;
    }
    in->from = *bytes;
    *ret = in;
    return 0;
}

int bars_input_open(const char *path, uint8_t *sha256, struct bars_input **ret)
{
    struct bars_input *in = new_input();
    int r = -ENOMEM;
    if (!in)
        return r;
    in->sha256 = sha256;
    if (sha256 && (!(in->hash = EVP_MD_CTX_new()) || EVP_DigestInit_ex(in->hash, EVP_sha256(), NULL) != 1))
        goto fail;
    in->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (in->fd < 0) {
        r = -errno;
        goto fail;
    }
    *ret = in;
    return 0;
fail:
    bars_input_close(in);
    return r;
}

void bars_input_close(struct bars_input *in)
{
    if (!in)
        return;
    if (in->kind == STREAM_GZIP)
        inflateEnd(&in->inflate);
    if (in->fd >= 0)
        close(in->fd);
    if (in->from.close)
        in->from.close(in->from.ctx);
    EVP_MD_CTX_free(in->hash);
    free(in->text);
    free(in->raw);
    free(in);
}

static int fail(struct bars_input *in, int err, const char *why)
{
    snprintf(in->why, sizeof(in->why), "%s", why);
    return err;
}

/* Up to `size` bytes of the file: how many, 0 at its end, or -errno. */
static ssize_t read_bytes(struct bars_input *in, void *buf, size_t size)
{
    const char *why = NULL;
    ssize_t n;
    if (in->fd_ended)
        return 0;
    do
        n = in->from.read ? in->from.read(in->from.ctx, buf, size, &why) : read(in->fd, buf, size);
    while (!in->from.read && n < 0 && errno == EINTR);
    if (n < 0 && in->from.read)
        return fail(in, (int)n, why ? why : strerror((int)-n));
    if (n < 0)
        return fail(in, -errno, strerror(errno));
    if (n == 0) {
        in->fd_ended = true;
        if (in->hash && EVP_DigestFinal_ex(in->hash, in->sha256, NULL) != 1)
            return fail(in, -ENOMEM, "no SHA-256");
        return 0;
    }
    in->bytes += (uint64_t)n;
    if (in->hash && EVP_DigestUpdate(in->hash, buf, (size_t)n) != 1)
        return fail(in, -ENOMEM, "no SHA-256");
    return n;
}

/* More of the file behind what inflate() has not taken yet. */
static ssize_t refill(struct bars_input *in)
{
    memmove(in->raw, in->inflate.next_in, in->inflate.avail_in);
    in->inflate.next_in = in->raw;
    ssize_t n = read_bytes(in, in->raw + in->inflate.avail_in, CHUNK - in->inflate.avail_in);
    if (n > 0)
        in->inflate.avail_in += (uInt)n;
    return n;
}

static bool at_header(const struct bars_input *in)
{
    return in->inflate.avail_in >= 2 && in->inflate.next_in[0] == 0x1f && in->inflate.next_in[1] == 0x8b;
}

/* Moves to the next member; what follows the last one and is not a member is not part of the text. */
static int next_member(struct bars_input *in)
{
    ssize_t n = 1;
    while (in->inflate.avail_in < 2 && n > 0)
        if ((n = refill(in)) < 0)
            return (int)n;
    if (at_header(in)) {
        in->member_open = true;
        return inflateReset(&in->inflate) == Z_OK ? 0 : fail(in, -EIO, "zlib fails");
    }
    while ((n = read_bytes(in, in->raw, CHUNK)) > 0) /* reads on for the hash */
        ;
    in->kind = STREAM_ENDED;
    inflateEnd(&in->inflate);
    return (int)n;
}

/* Text of a gzip file: how many bytes, 0 at the end, or -errno. */
static ssize_t inflate_text(struct bars_input *in, char *buf, size_t size)
{
    in->inflate.next_out = (unsigned char *)buf;
    in->inflate.avail_out = (uInt)size;
    while (in->kind == STREAM_GZIP && in->inflate.avail_out == size) {
        if (!in->member_open) {
            int r = next_member(in);
            if (r < 0)
                return r;
            continue;
        }
        if (in->inflate.avail_in == 0) {
            ssize_t n = refill(in);
            if (n < 0)
                return n;
            if (n == 0)
                return fail(in, -EIO, "it breaks off");
        }
        int code = inflate(&in->inflate, Z_NO_FLUSH);
        if (code == Z_STREAM_END)
            in->member_open = false;
        else if (code != Z_OK && code != Z_BUF_ERROR)
            return fail(in, code == Z_MEM_ERROR ? -ENOMEM : -EIO,
                        in->inflate.msg ? in->inflate.msg : "damaged gzip");
    }
    return (ssize_t)(size - in->inflate.avail_out);
}

/* Finds by its first bytes what the file is: *ret_n of them are text. */
static int begin(struct bars_input *in, char *buf, size_t *ret_n)
{
    *ret_n = 0;
    in->inflate.next_in = in->raw;
    in->inflate.avail_in = 0;
    while (in->inflate.avail_in < 2) {
        ssize_t n = refill(in);
        if (n < 0)
            return (int)n;
        if (n == 0)
            break;
    }
    if (at_header(in)) {
        if (inflateInit2(&in->inflate, GZIP_WINDOW) != Z_OK)
            return fail(in, -ENOMEM, "no memory for zlib");
        in->kind = STREAM_GZIP;
        in->member_open = true;
        return 0;
    }
    in->kind = STREAM_PLAIN;
    *ret_n = in->inflate.avail_in;
    memcpy(buf, in->raw, *ret_n);
    return 0;
}

/* More text behind in->end, after moving what is left to the front. 1, 0 at the end, or -errno. */
static int fill(struct bars_input *in)
{
    size_t left = (size_t)(in->end - in->p), n = 0;
    memmove(in->text, in->p, left);
    in->p = in->text;
    in->end = in->text + left;
    if (in->kind == STREAM_NEW) {
        int r = begin(in, in->end, &n);
        if (r < 0)
            return r;
    }
    if (n == 0) {
        size_t room = TEXT_SIZE - left < CHUNK ? TEXT_SIZE - left : CHUNK;
        ssize_t got = in->kind == STREAM_PLAIN  ? read_bytes(in, in->end, room)
                      : in->kind == STREAM_GZIP ? inflate_text(in, in->end, room)
                                                : 0;
        if (got < 0)
            return (int)got;
        n = (size_t)got;
    }
    in->end += n;
    return n > 0;
}

int bars_input_line(struct bars_input *in, char **ret_line, size_t *ret_len)
{
    for (;;) {
        char *stop = memchr(in->p, '\n', (size_t)(in->end - in->p));
        while (!stop) {
            size_t had = (size_t)(in->end - in->p);
            if (had >= BARS_LINE_MAX)
                break;
            int r = fill(in);
            if (r < 0) {
                in->line++;
                return r;
            }
            if (r == 0)
                break;
            stop = memchr(in->p + had, '\n', (size_t)(in->end - in->p) - had);
        }
        char *line = in->p, *end = stop ? stop : in->end;
        if (!stop && line == end)
            return 0;
        in->line++;
        in->p = stop ? stop + 1 : end;
        if (end - line >= BARS_LINE_MAX - 1)
            return -EINVAL;
        while (end > line && isspace((unsigned char)end[-1]))
            end--;
        if (end > line) {
            *end = '\0';
            *ret_line = line;
            *ret_len = (size_t)(end - line);
            return 1;
        }
    }
}

/* The next character that is no white space; 0: the end; or -errno. */
static int skip_space(struct bars_input *in)
{
    for (;;) {
        while (in->p < in->end && isspace((unsigned char)*in->p))
            in->p++;
        if (in->p < in->end)
            return (unsigned char)*in->p;
        int r = fill(in);
        if (r <= 0)
            return r;
    }
}

static bool at_mark(const struct bars_input *in, const char *p)
{
    return in->end - p >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0;
}

int bars_input_peek(struct bars_input *in)
{
    char *p = in->p;
    int r = 1;
    for (;;) {
        if (at_mark(in, p))
            p += 3;
        while (p < in->end && isspace((unsigned char)*p))
            p++;
        if (in->end - p >= 3 || r == 0 || p - in->p >= BARS_LINE_MAX)
            return p < in->end ? (unsigned char)*p : 0;
        size_t seen = (size_t)(p - in->p);
        if ((r = fill(in)) < 0)
            return r;
        p = in->p + seen;
    }
}

int bars_input_first(struct bars_input *in, size_t wanted, const char **ret, size_t *ret_n)
{
    int r = 1;
    while (r > 0 && (size_t)(in->end - in->p) < wanted)
        r = fill(in);
    if (r < 0)
        return r;
    *ret = in->p;
    *ret_n = (size_t)(in->end - in->p);
    return 0;
}

/* Moves past the bracket that opens a row: 1; 0 past the one that closes the outer array. */
static int enter_row(struct bars_input *in)
{
    if (at_mark(in, in->p))
        in->p += 3;
    int c = skip_space(in);
    if (!in->in_rows && c == '[') {
        in->in_rows = true;
        in->p++;
        c = skip_space(in);
    } else if (c == ',' && in->line > 1) {
        in->p++;
        c = skip_space(in);
        if (c == ']')
            return fail(in, -EINVAL, "a comma before the end");
    } else if (c == '[') {
        return fail(in, -EINVAL, "no comma between two rows");
    }
    if (c == ']') {
        in->p++;
        c = skip_space(in);
        return c == 0 ? 0 : c < 0 ? c : fail(in, -EINVAL, "something behind the end");
    }
    if (c != '[')
        return c < 0 ? c : fail(in, -EINVAL, c == 0 ? "it breaks off" : "a row that is no array");
    in->p++;
    return 1;
}

int bars_input_row(struct bars_input *in, char **ret_row, size_t *ret_len)
{
    in->line++;
    int r = enter_row(in);
    if (r <= 0)
        return r;
    char *stop;
    while (!(stop = memchr(in->p, ']', (size_t)(in->end - in->p)))) {
        if (in->end - in->p >= BARS_LINE_MAX - 1)
            return fail(in, -EINVAL, "a row of 65536 bytes or more");
        r = fill(in);
        if (r <= 0)
            return r < 0 ? r : fail(in, -EINVAL, "it breaks off");
    }
    if (memchr(in->p, '[', (size_t)(stop - in->p)))
        return fail(in, -EINVAL, "an array in a row");
    *stop = '\0';
    *ret_row = in->p;
    *ret_len = (size_t)(stop - in->p);
    in->p = stop + 1;
    return 1;
}

unsigned long bars_input_number(const struct bars_input *in)
{
    return in->line;
}

uint64_t bars_input_bytes(const struct bars_input *in)
{
    return in->bytes;
}

const char *bars_input_why(const struct bars_input *in)
{
    return in->why;
}
