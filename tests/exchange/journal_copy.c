/* A copy of a log up to an event: what is copied reads as a log that ends there, whatever is removed or
 * written meanwhile. */
#include "tests/exchange/journal.h"

enum { RECORDS = 400, STATES = 40, EACH = 6, BLOCK = 200 };

static char err[JOURNAL_ERROR_MAX];
static char copy_dir[SCRATCH_MAX];

struct copying {
    int segments;
    uint64_t last_seq; /* as it was given */
    char newest[256];
    const char *remove; /* a segment that retention takes after the first was given; NULL */
    int fail_at;        /* -1 */
};

static int copy_segment(void *ctx, const struct journal_extent *extent)
{
    struct copying *copying = ctx;
    char path[PATH_MAX];
    if (copying->segments == copying->fail_at)
        return -ECANCELED;
    CHECK(copying->segments == 0 || strcmp(extent->name, copying->newest) < 0); /* the newest first */
    snprintf(copying->newest, sizeof copying->newest, "%s", extent->name);
    uint8_t *bytes = malloc((size_t)extent->bytes + 1);
    CHECK_INT(pread(extent->fd, bytes, (size_t)extent->bytes, 0), extent->bytes);
    snprintf(path, sizeof path, "%s/%s", copy_dir, extent->name);
    bytes_write(path, bytes, (size_t)extent->bytes);
    free(bytes);
    if (extent->last_seq > copying->last_seq)
        copying->last_seq = extent->last_seq;
    if (copying->segments++ == 0 && copying->remove)
        unlink(copying->remove);
    return 0;
}

static int copy_up_to(uint64_t seq, struct copying *copying)
{
    scratch_remove(copy_dir);
    mkdir(copy_dir, 0700);
    return journal_each_up_to(journal_dir, seq, copy_segment, copying, err, sizeof err);
}

/* Every event has its number's place; each batch of EACH records is a few blocks. */
static void test_every_event(void)
{
    struct journal_summary whole, sum;
    journal_make(RECORDS, STATES, EACH, BLOCK);
    CHECK_INT(journal_verify(journal_dir, &whole, err, sizeof err), 0);
    for (uint64_t seq = START_SEQ; seq <= whole.last_seq + 2; seq++) {
        struct copying copying = {.fail_at = -1};
        uint64_t end = seq < whole.last_seq ? seq : whole.last_seq;
        CHECK_INT(copy_up_to(seq, &copying), 0);
        CHECK_INT(journal_verify(copy_dir, &sum, err, sizeof err), 0);
        CHECK_INT(sum.torn_bytes, 0);
        CHECK_INT(sum.first_seq, whole.first_seq);
        CHECK(sum.last_seq >= end && sum.last_seq <= end + EACH);
        CHECK_INT(copying.last_seq, sum.last_seq);
    }
    struct copying none = {.fail_at = -1};
    CHECK_INT(copy_up_to(START_SEQ - 1, &none), 0);
    CHECK_INT(none.segments, 0);
}

static void test_ends(void)
{
    struct copying copying = {.fail_at = 2};
    CHECK_INT(copy_up_to(UINT64_MAX, &copying), -ECANCELED);
    CHECK_INT(copying.segments, 2);
    CHECK_STR(err, "");
    CHECK_INT(journal_each_up_to("/nonexistent", 1, copy_segment, &copying, err, sizeof err), -ENOENT);
    CHECK_STR(err, "/nonexistent: No such file or directory");
}

/* Retention removes the oldest while the newest is copied: what is behind it is left out too. */
static void test_retention(void)
{
    struct journal_summary sum;
    journal_make(RECORDS, STATES, EACH, BLOCK);
    int segments = journal_find();
    struct copying copying = {.fail_at = -1, .remove = journal_oldest_path};
    CHECK_INT(copy_up_to(UINT64_MAX, &copying), 0);
    CHECK_INT(copying.segments, segments - 1);
    CHECK_INT(journal_verify(copy_dir, &sum, err, sizeof err), 0);
}

/* A tail that is being written is no part of it. */
static void test_torn(void)
{
    struct journal_summary sum;
    journal_make(RECORDS, STATES, EACH, BLOCK);
    journal_find();
    struct bytes file = bytes_read(journal_newest_path);
    for (size_t cut = 1; cut < 60; cut += 7) {
        struct copying copying = {.fail_at = -1};
        bytes_write(journal_newest_path, file.bytes, file.len - cut);
        CHECK_INT(copy_up_to(UINT64_MAX, &copying), 0);
        CHECK_INT(journal_verify(copy_dir, &sum, err, sizeof err), 0);
        CHECK_INT(sum.torn_bytes, 0);
    }
    free(file.bytes);
}

/* A byte that is not what was written: its segment is named, and is not given; newer ones were. */
static void test_damage(void)
{
    char paths[2][PATH_MAX];
    journal_make(RECORDS, STATES, EACH, BLOCK);
    int segments = journal_find();
    CHECK(segments > 2);
    snprintf(paths[0], sizeof paths[0], "%s", journal_oldest_path);
    snprintf(paths[1], sizeof paths[1], "%s", journal_newest_path);
    for (int i = 0; i < 2; i++) {
        struct copying copying = {.fail_at = -1};
        struct bytes file = bytes_read(paths[i]);
        file.bytes[file.len / 2] ^= 1;
        bytes_write(paths[i], file.bytes, file.len);
        CHECK_INT(copy_up_to(UINT64_MAX, &copying), -EBADMSG);
        CHECK(strstr(err, strrchr(paths[i], '/') + 1) == err);
        CHECK_INT(copying.segments, i == 0 ? segments - 1 : 0);
        file.bytes[file.len / 2] ^= 1;
        bytes_write(paths[i], file.bytes, file.len);
        free(file.bytes);
    }
}

int main(void)
{
    journal_dir_make();
    scratch_make(copy_dir);
    test_every_event();
    test_ends();
    test_retention();
    test_torn();
    test_damage();
    return check_done("journal_copy");
}
