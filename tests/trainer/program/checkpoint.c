/* Checkpoints: what was written is read back, and everything else is refused. */
#include "trainer/checkpoint.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <xxhash.h>

#include "tests/check.h"
#include "tests/random.h"
#include "tests/scratch.h"
#include "trainer/checkpoint_parse.h"

static char err[CHECKPOINT_ERROR_MAX];

static unsigned char *slurp(const char *path, size_t *ret_n)
{
    FILE *file = fopen(path, "rbe");
    unsigned char *bytes = NULL;
    *ret_n = 0;
    if (file && fseek(file, 0, SEEK_END) == 0) {
        size_t n = (size_t)ftell(file);
        rewind(file);
        bytes = malloc(n + 1);
        *ret_n = fread(bytes, 1, n, file);
    }
    if (file)
        fclose(file);
    return bytes;
}

static void spill(const char *path, const unsigned char *bytes, size_t n)
{
    FILE *file = fopen(path, "wbe");
    CHECK(file && fwrite(bytes, 1, n, file) == n);
    if (file)
        fclose(file);
}

static size_t files_in(const char *dir)
{
    DIR *folder = opendir(dir);
    size_t n = 0;
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        n += entry->d_name[0] != '.';
    if (folder)
        closedir(folder);
    return n;
}

static void test_round(struct random *random)
{
    char dir[SCRATCH_MAX], path[SCRATCH_PATH_MAX];
    scratch_make(dir);
    snprintf(path, sizeof path, "%s/a.ckpt", dir);
    for (int turn = 0; turn < 60; turn++) {
        struct checkpoint_piece pieces[CHECKPOINT_PIECES_MAX];
        unsigned char *bytes[CHECKPOINT_PIECES_MAX];
        size_t n =
            turn < 3 ? (size_t[]){0, 1, CHECKPOINT_PIECES_MAX}[turn] : (size_t)random_between(random, 1, 9);
        for (size_t i = 0; i < n; i++) {
            pieces[i].n = (size_t)random_between(random, 0, turn % 2 ? 200 : 5000);
            bytes[i] = malloc(pieces[i].n + 1);
            for (size_t k = 0; k < pieces[i].n; k++)
                bytes[i][k] = (unsigned char)random_next(random);
            pieces[i].bytes = bytes[i];
            snprintf(pieces[i].name, sizeof pieces[i].name,
                     i == 0 ? "a_name_of_thirty_one_characters" : "p%zu", i);
        }
        struct checkpoint *checkpoint = NULL;
        CHECK_INT(checkpoint_write(path, pieces, n, err), 0);
        CHECK_INT(checkpoint_read(path, &checkpoint, err), 0);
        for (size_t i = 0; i < n && checkpoint; i++) {
            size_t got;
            const unsigned char *found = checkpoint_find(checkpoint, pieces[i].name, &got);
            CHECK(found && got == pieces[i].n && memcmp(found, bytes[i], got) == 0);
            CHECK((uintptr_t)found % 64 == 0);
        }
        size_t none = 1;
        if (checkpoint) {
            CHECK(!checkpoint_find(checkpoint, "q", &none) && none == 0);
            CHECK_STR(checkpoint_path(checkpoint), path);
        }
        checkpoint_destroy(checkpoint);
        for (size_t i = 0; i < n; i++)
            free(bytes[i]);
    }
    CHECK_INT(files_in(dir), 1);
}

/* docs/training.md's table of bytes, written out. */
static void test_bytes(void)
{
    const char *path = scratch_path("bytes.ckpt");
    const struct checkpoint_piece pieces[] = {{"one", "abc", 3}, {"two", "defgh", 5}};
    CHECK_INT(checkpoint_write(path, pieces, 2, err), 0);
    size_t n;
    unsigned char *bytes = slurp(path, &n), right[197 + 16] = "PTCKPT\r\n";
    const uint32_t words[] = {1, 0x01020304, 2, 0};
    const uint64_t whole = 213, places[2][2] = {{128, 3}, {192, 5}};
    memcpy(right + 8, words, sizeof words);
    memcpy(right + 24, &whole, 8);
    memcpy(right + 32, "one", 3);
    memcpy(right + 64, places[0], 16);
    memcpy(right + 80, "two", 3);
    memcpy(right + 112, places[1], 16);
    memcpy(right + 128, "abc", 3);
    memcpy(right + 192, "defgh", 5);
    XXH128_canonical_t sum;
    XXH128_canonicalFromHash(&sum, XXH3_128bits(right, 197));
    memcpy(right + 197, &sum, 16);
    CHECK_INT(n, sizeof right);
    CHECK(n == sizeof right && memcmp(bytes, right, n) == 0);
    free(bytes);
}

static int read_of(const unsigned char *bytes, size_t n)
{
    struct checkpoint *checkpoint = NULL;
    const char *path = scratch_path("changed.ckpt");
    spill(path, bytes, n);
    int r = checkpoint_read(path, &checkpoint, err);
    CHECK((r == 0) == (checkpoint != NULL));
    CHECK(r == 0 || strstr(err, "changed.ckpt"));
    checkpoint_destroy(checkpoint);
    return r;
}

/* Every length and every bit: head, table, padding, pieces, checksum. */
static void test_damage(void)
{
    const struct checkpoint_piece pieces[] = {{"one", "abc", 3}, {"two", "defgh", 5}, {"none", "", 0}};
    const char *path = scratch_path("whole.ckpt");
    CHECK_INT(checkpoint_write(path, pieces, 3, err), 0);
    size_t n;
    unsigned char *bytes = slurp(path, &n);
    CHECK_INT(read_of(bytes, n), 0);
    for (size_t length = 0; length < n; length++) {
        CHECK_INT(read_of(bytes, length), -EBADMSG);
        CHECK(strstr(err, "truncated"));
    }
    bytes[n] = 0;
    CHECK_INT(read_of(bytes, n + 1), -EBADMSG);
    for (size_t bit = 0; bit < 8 * n; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        int r = read_of(bytes, n), right = bit < 8 * 16 ? -EINVAL : -EBADMSG;
        CHECK_INT(r, right);
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    CHECK_INT(read_of(bytes, n), 0);

    bytes[8] = 2;
    CHECK_INT(read_of(bytes, n), -EINVAL);
    CHECK(strstr(err, "version 2") && strstr(err, "version 1"));
    bytes[8] = 1;
    bytes[12] ^= 5; /* 01 02 03 04 the other way round begins with 1, not 4 */
    CHECK_INT(read_of(bytes, n), -EINVAL);
    CHECK(strstr(err, "byte order"));
    free(bytes);
}

/* With a checksum that fits what lies in the file. */
static int read_sealed(unsigned char *bytes, size_t n)
{
    XXH128_canonical_t sum;
    XXH128_canonicalFromHash(&sum, XXH3_128bits(bytes, n - 16));
    memcpy(bytes + n - 16, &sum, 16);
    return read_of(bytes, n);
}

static void test_foreign(struct random *random)
{
    static const char *const texts[] = {"x", "PK\3\4 and more than a head's worth of bytes", "{\"a\": 1}\n",
                                        "PTCKPT\n\n old line ends"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        CHECK_INT(read_of((const unsigned char *)texts[i], strlen(texts[i])), -EINVAL);
        CHECK(strstr(err, "no checkpoint"));
    }
    struct checkpoint *checkpoint = NULL;
    CHECK_INT(checkpoint_read(scratch_path("missing.ckpt"), &checkpoint, err), -ENOENT);
    CHECK_INT(checkpoint_read(scratch_root(), &checkpoint, err), -EISDIR);
    CHECK_INT(checkpoint_read("/dev/null", &checkpoint, err), -EINVAL);

    const struct checkpoint_piece pieces[] = {{"one", "abc", 3}, {"two", "defgh", 5}};
    const char *path = scratch_path("sealed.ckpt");
    CHECK_INT(checkpoint_write(path, pieces, 2, err), 0);
    size_t n, refused = 0;
    unsigned char *bytes = slurp(path, &n);
    CHECK_INT(read_sealed(bytes, n), 0);
    /* Sealed again, a table that is changed anywhere but in a name is refused; the first piece may be as long
     * as its padding has room. */
    for (int turn = 0; turn < 2000; turn++) {
        size_t at = (size_t)random_between(random, 0, 1) * 48 + 64 + (size_t)random_between(random, 0, 15);
        unsigned char kept = bytes[at];
        bytes[at] = (unsigned char)random_next(random);
        if (bytes[at] != kept && (at != 72 || bytes[at] == 0 || bytes[at] > 64)) {
            CHECK_INT(read_sealed(bytes, n), -EINVAL);
            refused++;
        }
        bytes[at] = kept;
    }
    CHECK(refused > 1000);
    memcpy(bytes + 80, "one", 3); /* twice */
    CHECK_INT(read_sealed(bytes, n), -EINVAL);
    memset(bytes + 80, 'x', 32); /* endless */
    CHECK_INT(read_sealed(bytes, n), -EINVAL);
    memset(bytes + 80, 0, 32);
    CHECK_INT(read_sealed(bytes, n), -EINVAL);
    memcpy(bytes + 80, "two", 3);
    for (uint32_t more = 0; more < 70; more++) {
        memcpy(bytes + 16, &more, 4);
        CHECK_INT(read_sealed(bytes, n), more == 2 ? 0 : -EINVAL);
    }
    free(bytes);
}

static void test_refused(void)
{
    struct checkpoint_piece pieces[CHECKPOINT_PIECES_MAX + 1] = {{"same", "", 0}, {"same", "", 0}};
    const char *path = scratch_path("refused.ckpt");
    CHECK_INT(checkpoint_write(path, pieces, 2, err), -EINVAL);
    pieces[0].name[0] = '\0';
    CHECK_INT(checkpoint_write(path, pieces, 1, err), -EINVAL);
    CHECK_INT(checkpoint_write(path, pieces, CHECKPOINT_PIECES_MAX + 1, err), -EINVAL);
    memset(pieces[0].name, 'x', sizeof pieces[0].name);
    CHECK_INT(checkpoint_write(path, pieces, 1, err), -EINVAL);
    snprintf(pieces[0].name, sizeof pieces[0].name, "x");
    CHECK_INT(checkpoint_write(scratch_path("no/such.ckpt"), pieces, 1, err), -ENOENT);
    CHECK(access(path, F_OK) != 0);
}

/* A disk that is full in the middle, by the limit on a file's size. */
static void test_full(void)
{
    char dir[SCRATCH_MAX], path[SCRATCH_PATH_MAX];
    scratch_make(dir);
    static unsigned char large[100000];
    const struct checkpoint_piece before = {"a", "before", 6}, after = {"a", large, sizeof large};
    CHECK_INT(checkpoint_keep(dir, "x", 10, 2, &before, 1, err), 0);
    struct rlimit limit, old;
    getrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, SIG_IGN);
    for (rlim_t room = 0; room < 100200; room += room < 300 ? 7 : 9973) {
        limit = old;
        limit.rlim_cur = room;
        setrlimit(RLIMIT_FSIZE, &limit);
        int same = checkpoint_keep(dir, "x", 10, 2, &after, 1, err);
        int next = checkpoint_keep(dir, "x", 20, 2, &after, 1, err);
        setrlimit(RLIMIT_FSIZE, &old);
        CHECK_INT(same, -EFBIG);
        CHECK_INT(next, -EFBIG);
        CHECK(strstr(err, "room on the disk"));
        CHECK_INT(files_in(dir), 1);
    }
    struct checkpoint *checkpoint = NULL;
    snprintf(path, sizeof path, "%s/x-10.ckpt", dir);
    CHECK_INT(checkpoint_read(path, &checkpoint, err), 0);
    size_t n = 0;
    const void *bytes = checkpoint ? checkpoint_find(checkpoint, "a", &n) : NULL;
    CHECK(bytes && n == 6 && memcmp(bytes, "before", 6) == 0);
    checkpoint_destroy(checkpoint);
}

struct reported {
    int n;
    char last[CHECKPOINT_ERROR_MAX];
};

static void report(void *ctx, const char *reason)
{
    struct reported *reported = ctx;
    reported->n++;
    snprintf(reported->last, sizeof reported->last, "%s", reason);
}

/* What the newest good one of `name` holds; -1: none. */
static int64_t latest(const char *dir, const char *name, struct reported *reported)
{
    struct checkpoint *checkpoint = NULL;
    int64_t steps = -1;
    *reported = (struct reported){0};
    int r = checkpoint_latest(dir, name, report, reported, &checkpoint, err);
    CHECK(r == 0 || r == -ENOENT);
    if (r == 0) {
        size_t n;
        const void *bytes = checkpoint_find(checkpoint, "steps", &n);
        CHECK_INT(n, sizeof steps);
        memcpy(&steps, bytes, sizeof steps);
    }
    checkpoint_destroy(checkpoint);
    return steps;
}

static void keep(const char *dir, const char *name, int64_t steps, int n)
{
    const struct checkpoint_piece piece = {"steps", &steps, sizeof steps};
    CHECK_INT(checkpoint_keep(dir, name, steps, n, &piece, 1, err), 0);
}

static void test_folder(void)
{
    char dir[SCRATCH_MAX], path[SCRATCH_PATH_MAX];
    struct reported reported;
    scratch_make(dir);
    CHECK_INT(latest(dir, "a", &reported), -1);
    CHECK(strstr(err, "no checkpoint") && reported.n == 0);
    for (int64_t steps = 0; steps <= 1000; steps += 100)
        keep(dir, "a", steps, 3);
    CHECK_INT(files_in(dir), 3);
    keep(dir, "a-1", 5000, 1); /* another training's */
    snprintf(path, sizeof path, "%s/a-9999.ckpt.tmp.0123abcd", dir);
    spill(path, (const unsigned char *)"half", 4);
    snprintf(path, sizeof path, "%s/a-12x.ckpt", dir);
    spill(path, (const unsigned char *)"mine", 4);
    CHECK_INT(latest(dir, "a", &reported), 1000);
    CHECK_INT(latest(dir, "a-1", &reported), 5000);
    keep(dir, "a", 1100, 3);
    CHECK_INT(files_in(dir), 5); /* three, the other's, a-12x.ckpt; not the half one */

    /* The newest is cut, the one before altered. */
    snprintf(path, sizeof path, "%s/a-1100.ckpt", dir);
    CHECK(truncate(path, 100) == 0);
    CHECK_INT(latest(dir, "a", &reported), 1000);
    CHECK(reported.n == 1 && strstr(reported.last, "truncated") && strstr(reported.last, "a-1100.ckpt"));
    size_t n;
    snprintf(path, sizeof path, "%s/a-1000.ckpt", dir);
    unsigned char *bytes = slurp(path, &n);
    bytes[n / 2] ^= 1;
    spill(path, bytes, n);
    free(bytes);
    CHECK_INT(latest(dir, "a", &reported), 900);
    CHECK_INT(reported.n, 2);

    /* One that went further stays, and does not push out what is written now. */
    keep(dir, "a", 950, 1);
    CHECK_INT(latest(dir, "a", &reported), 950);
    CHECK_INT(files_in(dir), 5);
    snprintf(path, sizeof path, "%s/a-950.ckpt", dir);
    CHECK(truncate(path, 0) == 0);
    CHECK_INT(latest(dir, "a", &reported), -1);
    CHECK(strstr(err, "no good checkpoint") && reported.n == 3);

    struct checkpoint *none = NULL;
    CHECK_INT(checkpoint_latest(scratch_path("nowhere"), "a", NULL, NULL, &none, err), -ENOENT);
    CHECK(strstr(err, "nowhere"));
}

int main(void)
{
    struct random random = random_seeded("trainer/program/checkpoint", 20261122);
    scratch_in_memory();
    test_round(&random);
    test_bytes();
    test_damage();
    test_foreign(&random);
    test_refused();
    test_full();
    test_folder();
    return check_done("trainer/program/checkpoint");
}
