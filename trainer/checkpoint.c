#include "trainer/checkpoint.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "exchange/fail.h"
#include "exchange/whole_file.h"
#include "trainer/checkpoint_parse.h"

static const char magic[8] = "PTCKPT\r\n";
#define ORDER_MARK 0x01020304u

enum { ALIGN = 64, SUM_BYTES = sizeof(XXH128_canonical_t) };

/* As they lie in the file, little-endian; docs/training.md. */
struct head {
    char magic[sizeof magic];
    uint32_t version, order_mark, n_pieces, zero;
    uint64_t file_bytes; /* checksum included */
};
struct row {
    char name[CHECKPOINT_NAME_MAX];
    uint64_t offset, bytes;
};
_Static_assert(sizeof(struct head) == 32 && sizeof(struct row) == 48, "the file's layout");

struct checkpoint {
    unsigned char *bytes; /* 64-byte aligned */
    size_t n;
    char *path;
};

#define say(err, code, ...) fail_with(code, err, CHECKPOINT_ERROR_MAX, __VA_ARGS__)

static size_t aligned(size_t n)
{
    return (n + ALIGN - 1) / ALIGN * ALIGN;
}

/* ---- Writing. ---- */

struct writing {
    const struct whole_file *file;
    size_t at;
    XXH3_state_t *sum;
};

static int put_bytes(struct writing *writing, const void *bytes, size_t n)
{
    int r = whole_file_put(writing->file, bytes, n);
    if (r < 0)
        return r;
    if (writing->sum)
        XXH3_128bits_update(writing->sum, bytes, n);
    writing->at += n;
    return 0;
}

static int put_padding(struct writing *writing, size_t to)
{
    static const char zeros[ALIGN];
    return to > writing->at ? put_bytes(writing, zeros, to - writing->at) : 0;
}

static int put_table(struct writing *writing, const struct checkpoint_piece *pieces, size_t n)
{
    size_t at = aligned(sizeof(struct head) + n * sizeof(struct row)), end = at;
    for (size_t i = 0; i < n; i++)
        end = aligned(end) + pieces[i].n;
    struct head head = {.version = htole32(CHECKPOINT_VERSION),
                        .order_mark = ORDER_MARK, /* the host's order, on purpose */
                        .n_pieces = htole32((uint32_t)n),
                        .file_bytes = htole64(end + SUM_BYTES)};
    memcpy(head.magic, magic, sizeof magic);
    int r = put_bytes(writing, &head, sizeof head);
    for (size_t i = 0; i < n && r == 0; i++) {
        struct row row = {.offset = htole64(at), .bytes = htole64(pieces[i].n)};
        snprintf(row.name, sizeof row.name, "%s", pieces[i].name);
        r = put_bytes(writing, &row, sizeof row);
        at = aligned(at + pieces[i].n);
    }
    return r;
}

static int put_all(const struct whole_file *file, const struct checkpoint_piece *pieces, size_t n)
{
    struct writing writing = {.file = file, .sum = XXH3_createState()};
    if (!writing.sum)
        return -ENOMEM;
    XXH3_128bits_reset(writing.sum);
    int r = put_table(&writing, pieces, n);
    if (r == 0 && n == 0)
        r = put_padding(&writing, aligned(writing.at));
    for (size_t i = 0; i < n && r == 0; i++) {
        r = put_padding(&writing, aligned(writing.at));
        if (r == 0)
            r = put_bytes(&writing, pieces[i].bytes, pieces[i].n);
    }
    XXH128_canonical_t sum;
    XXH128_canonicalFromHash(&sum, XXH3_128bits_digest(writing.sum));
    XXH3_freeState(writing.sum);
    writing.sum = NULL;
    if (r == 0)
        r = put_bytes(&writing, &sum, sizeof sum);
    return r;
}

static int check_pieces(const char *path, const struct checkpoint_piece *pieces, size_t n,
                        char err[static CHECKPOINT_ERROR_MAX])
{
    if (n > CHECKPOINT_PIECES_MAX)
        return say(err, -EINVAL, "checkpoint: %.300s: %zu pieces: at most %d", path, n,
                   CHECKPOINT_PIECES_MAX);
    for (size_t i = 0; i < n; i++) {
        size_t length = strnlen(pieces[i].name, CHECKPOINT_NAME_MAX);
        bool twice = false;
        for (size_t j = 0; j < i; j++)
            twice = twice || strcmp(pieces[i].name, pieces[j].name) == 0;
        if (length == 0 || length == CHECKPOINT_NAME_MAX || twice)
            return say(err, -EINVAL, "checkpoint: %.300s: piece %zu: a name of its own, of 1 to %d letters",
                       path, i, CHECKPOINT_NAME_MAX - 1);
    }
    return 0;
}

static const char *advice(int error)
{
    return error == -ENOSPC || error == -EDQUOT || error == -EFBIG ? "room on the disk"
                                                                   : "a folder that can be written to";
}

int checkpoint_write(const char *path, const struct checkpoint_piece *pieces, size_t n,
                     char err[static CHECKPOINT_ERROR_MAX])
{
    struct whole_file file;
    int r = check_pieces(path, pieces, n, err);
    if (r < 0)
        return r;
    r = whole_file_open(path, CHECKPOINT_TEMPORARY, 0644, &file);
    if (r == -ENAMETOOLONG)
        return say(err, r, "cannot write a checkpoint: %.300s…: a shorter path", path);
    if (r < 0)
        return say(err, r, "cannot write a checkpoint: %.300s: %s: %s is needed", file.beside, strerror(-r),
                   advice(r));
    r = whole_file_close(&file, put_all(&file, pieces, n));
    if (r < 0)
        return say(err, r, "cannot write a checkpoint: %.300s: %s: %s is needed", path, strerror(-r),
                   r == -ENOMEM ? "memory" : advice(r));
    return 0;
}

/* ---- Reading. ---- */

static int truncated(const char *path, size_t n, uint64_t right, char err[static CHECKPOINT_ERROR_MAX])
{
    return say(err, -EBADMSG, "truncated checkpoint: %.300s: %zu bytes: %llu, or an older checkpoint", path,
               n, (unsigned long long)right);
}

static int foreign(const char *path, char err[static CHECKPOINT_ERROR_MAX])
{
    return say(err, -EINVAL, "no checkpoint: %.300s: a file that papertape-trainer wrote begins with PTCKPT",
               path);
}

static int check_head(const char *path, const unsigned char *bytes, size_t n,
                      char err[static CHECKPOINT_ERROR_MAX])
{
    struct head head = {0};
    size_t seen = n < sizeof magic ? n : sizeof magic;
    if (memcmp(bytes, magic, seen) != 0)
        return foreign(path, err);
    if (n < sizeof head)
        return truncated(path, n, sizeof head + SUM_BYTES, err);
    memcpy(&head, bytes, sizeof head);
    if (le32toh(head.version) != CHECKPOINT_VERSION)
        return say(err, -EINVAL, "checkpoint of version %u: %.300s: this program reads version %d",
                   le32toh(head.version), path, CHECKPOINT_VERSION);
    if (head.order_mark != ORDER_MARK)
        return say(err, -EINVAL,
                   "checkpoint of another byte order: %.300s: one that was written on a machine as this one",
                   path);
    uint64_t right = le64toh(head.file_bytes);
    if (n < right)
        return truncated(path, n, right, err);
    if (n != right)
        return say(err, -EBADMSG, "altered checkpoint: %.300s: %zu bytes: %llu, or an older checkpoint", path,
                   n, (unsigned long long)right);
    return 0;
}

static int check_sum(const char *path, const unsigned char *bytes, size_t n,
                     char err[static CHECKPOINT_ERROR_MAX])
{
    XXH128_canonical_t sum;
    if (n < sizeof(struct head) + SUM_BYTES)
        return truncated(path, n, sizeof(struct head) + SUM_BYTES, err);
    XXH128_canonicalFromHash(&sum, XXH3_128bits(bytes, n - SUM_BYTES));
    if (memcmp(&sum, bytes + n - SUM_BYTES, SUM_BYTES) != 0)
        return say(err, -EBADMSG, "altered checkpoint: %.300s: its checksum is another: an older checkpoint",
                   path);
    return 0;
}

static void read_row(const struct checkpoint *checkpoint, size_t i, struct row *ret)
{
    memcpy(ret, checkpoint->bytes + sizeof(struct head) + i * sizeof *ret, sizeof *ret);
    ret->offset = le64toh(ret->offset);
    ret->bytes = le64toh(ret->bytes);
}

static size_t count(const struct checkpoint *checkpoint)
{
    struct head head;
    memcpy(&head, checkpoint->bytes, sizeof head);
    return le32toh(head.n_pieces);
}

static bool name_is_new(const struct checkpoint *checkpoint, size_t i, const struct row *row)
{
    struct row other;
    for (size_t j = 0; j < i; j++) {
        read_row(checkpoint, j, &other);
        if (strcmp(other.name, row->name) == 0)
            return false;
    }
    return row->name[0] && memchr(row->name, '\0', sizeof row->name);
}

/* Even with a good checksum: another program may have written the file. Pieces must lie exactly where our
 * writer puts them. */
static bool table_is_good(const struct checkpoint *checkpoint)
{
    size_t n = count(checkpoint), room = checkpoint->n - SUM_BYTES;
    if (n > CHECKPOINT_PIECES_MAX || sizeof(struct head) + n * sizeof(struct row) > room)
        return false;
    size_t at = aligned(sizeof(struct head) + n * sizeof(struct row)), end = at;
    for (size_t i = 0; i < n; i++) {
        struct row row;
        read_row(checkpoint, i, &row);
        if (!name_is_new(checkpoint, i, &row) || row.offset != aligned(end) || row.offset > room ||
            row.bytes > room - row.offset)
            return false;
        end = row.offset + row.bytes;
    }
    return end == room;
}

int checkpoint_parse(const char *path, unsigned char *bytes, size_t n, struct checkpoint **ret,
                     char err[static CHECKPOINT_ERROR_MAX])
{
    int r = check_head(path, bytes, n, err);
    if (r == 0)
        r = check_sum(path, bytes, n, err);
    struct checkpoint *checkpoint = r == 0 ? calloc(1, sizeof *checkpoint) : NULL;
    if (!checkpoint) {
        free(bytes);
        return r < 0 ? r : say(err, -ENOMEM, "out of memory: %.300s: %zu bytes", path, n);
    }
    *checkpoint = (struct checkpoint){bytes, n, strdup(path)};
    if (!checkpoint->path)
        r = say(err, -ENOMEM, "out of memory: %.300s: %zu bytes", path, n);
    else if (!table_is_good(checkpoint))
        r = say(err, -EINVAL, "checkpoint: %.300s: its table of pieces is of another program", path);
    if (r < 0) {
        checkpoint_destroy(checkpoint);
        return r;
    }
    *ret = checkpoint;
    return 0;
}

static int read_bytes(int fd, unsigned char *bytes, size_t n, size_t *ret)
{
    size_t at = 0;
    while (at < n) {
        ssize_t done = read(fd, bytes + at, n - at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return -errno;
        if (done == 0)
            break;
        at += (size_t)done;
    }
    *ret = at;
    return 0;
}

int checkpoint_read(const char *path, struct checkpoint **ret, char err[static CHECKPOINT_ERROR_MAX])
{
    struct stat st = {0};
    unsigned char *bytes = NULL;
    size_t n = 0;
    int r = 0, fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st) < 0)
        r = -errno;
    if (r == 0 && !S_ISREG(st.st_mode))
        r = S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
    if (r == 0) {
        bytes = aligned_alloc(ALIGN, aligned((size_t)st.st_size + 1));
        r = bytes ? read_bytes(fd, bytes, (size_t)st.st_size, &n) : -ENOMEM;
    }
    if (fd >= 0)
        close(fd);
    if (r < 0) {
        free(bytes);
        return say(err, r, "cannot read a checkpoint: %.300s: %s: a file that papertape-trainer wrote", path,
                   strerror(-r));
    }
    return checkpoint_parse(path, bytes, n, ret, err);
}

void checkpoint_destroy(struct checkpoint *checkpoint)
{
    if (!checkpoint)
        return;
    free(checkpoint->bytes);
    free(checkpoint->path);
    free(checkpoint);
}

const char *checkpoint_path(const struct checkpoint *checkpoint)
{
    return checkpoint->path;
}

const void *checkpoint_find(const struct checkpoint *checkpoint, const char *name, size_t *ret_n)
{
    for (size_t i = 0; i < count(checkpoint); i++) {
        struct row row;
        read_row(checkpoint, i, &row);
        if (strcmp(row.name, name) == 0) {
            *ret_n = row.bytes;
            return checkpoint->bytes + row.offset;
        }
    }
    *ret_n = 0;
    return NULL;
}
