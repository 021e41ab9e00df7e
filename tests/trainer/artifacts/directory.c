/* The directory store: what is stored comes back, whole or not at all, also where calls of the system fail,
 * and what is damaged is found. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "exchange/folder.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include "trainer/artifacts/artifact.h"

static char folder[SCRATCH_MAX], err[ARTIFACT_ERROR_MAX];

/* ---- Calls that fail. ---- */

static int calls_left = -1; /* so many calls until one fails with EIO; -1: none does */

static bool fails(void)
{
    return calls_left >= 0 && calls_left-- == 0;
}

int fsync(int fd)
{
    errno = EIO;
    return fails() ? -1 : (int)syscall(SYS_fsync, fd);
}

int rename(const char *from, const char *to)
{
    errno = EIO;
    return fails() ? -1 : (int)syscall(SYS_rename, from, to);
}

ssize_t write(int fd, const void *bytes, size_t n)
{
    errno = EIO;
    return fails() ? -1 : (ssize_t)syscall(SYS_write, fd, bytes, n);
}

ssize_t read(int fd, void *bytes, size_t n)
{
    errno = EIO;
    return fails() ? -1 : (ssize_t)syscall(SYS_read, fd, bytes, n);
}

/* ---- */

static const char *in_folder(const char *name)
{
    static char whole[4][SCRATCH_MAX + 128];
    static int next;
    next = (next + 1) % 4;
    snprintf(whole[next], sizeof whole[next], "%s/%s", folder, name);
    return whole[next];
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    if (file) {
        fputs(text, file);
        fclose(file);
    }
}

static const char *read_file(const char *path)
{
    static char text[256];
    FILE *file = fopen(path, "r");
    size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[n] = '\0';
    if (file)
        fclose(file);
    return file ? text : NULL;
}

static int count(void *ctx, const char *name)
{
    (void)name;
    ++*(int *)ctx;
    return 0;
}

static int names_in(const char *path)
{
    int n = 0;
    folder_each(path, count, &n);
    return n;
}

static struct artifact_store *open_store(const char *name)
{
    struct artifact_store *store = NULL;
    CHECK_INT(artifact_store_open(in_folder(name), NULL, &store, err), 0);
    return store;
}

static struct artifact_digest digest_of(const char *path)
{
    struct artifact_digest digest = {0};
    CHECK_INT(artifact_digest_file(path, &digest, err), 0);
    return digest;
}

static void test_round_trip(void)
{
    struct artifact_store *store = open_store("new");
    write_file(in_folder("file"), "abc");
    const struct artifact_digest digest = digest_of(in_folder("file"));
    CHECK_INT(digest.size, 3);
    CHECK_STR(digest.sha256,
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"); /* FIPS 180-2 */
    CHECK_INT(artifact_store_put(store, "s/1/k", in_folder("file"), &digest, err), 0);
    CHECK_STR(read_file(in_folder("new/s/1/k")), "abc");
    CHECK_INT(artifact_store_put(store, "s/1/k", in_folder("file"), &digest, err), 0);
    CHECK_INT(artifact_store_get(store, "s/1/k", in_folder("back"), &digest, err), 0);
    CHECK_STR(read_file(in_folder("back")), "abc");
    CHECK_INT(artifact_store_get(store, "s/2/k", in_folder("none"), &digest, err), -ENOENT);
    CHECK_INT(artifact_store_get(store, "s/1/k/x", in_folder("none"), &digest, err), -ENOENT);
    CHECK_INT(artifact_store_delete(store, "s/1/k", err), 0);
    CHECK_INT(artifact_store_delete(store, "s/1/k", err), 0);
    CHECK(access(in_folder("none"), F_OK) < 0 && access(in_folder("new/s/1/k"), F_OK) < 0);
    artifact_store_close(store);
}

static void test_keys(void)
{
    static const char *const bad[] = {"", "/a", "a/", "a//b", ".", "..", "a/../b", "./a"};
    struct artifact_store *store = open_store("keys");
    const struct artifact_digest digest = digest_of(in_folder("file"));
    char longest[1024];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_INT(artifact_store_put(store, bad[i], in_folder("file"), &digest, err), -EINVAL);
    CHECK_INT(artifact_store_put(store, longest, in_folder("file"), &digest, err), -EINVAL);
    CHECK_INT(artifact_store_put(store, "..a/b..", in_folder("file"), &digest, err), 0);
    CHECK_INT(names_in(in_folder("keys")), 1);
    artifact_store_close(store);
}

static int add_key(void *ctx, const char *key, int64_t size)
{
    char *all = ctx;
    CHECK_INT(size, 3);
    snprintf(all + strlen(all), 256 - strlen(all), "%s ", key);
    return strstr(all, "stop") ? 7 : 0;
}

static void test_list(void)
{
    static const char *const keys[] = {"b/c", "a/x", "a-b", "a/b/c", "c/stop", "d"};
    struct artifact_store *store = open_store("list");
    const struct artifact_digest digest = digest_of(in_folder("file"));
    char all[256] = "";
    CHECK_INT(artifact_store_list(store, "", add_key, all, err), 0);
    CHECK_STR(all, "");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        CHECK_INT(artifact_store_put(store, keys[i], in_folder("file"), &digest, err), 0);
    write_file(in_folder("list/a/x.part.0123abcd"), "ab"); /* a killed writer's */
    CHECK_INT(artifact_store_list(store, "a", add_key, all, err), 0);
    CHECK_STR(all, "a-b a/b/c a/x ");
    all[0] = '\0';
    CHECK_INT(artifact_store_list(store, "a/b", add_key, all, err), 0);
    CHECK_STR(all, "a/b/c ");
    all[0] = '\0';
    CHECK_INT(artifact_store_list(store, "", add_key, all, err), 7);
    CHECK_STR(all, "a-b a/b/c a/x b/c c/stop ");
    artifact_store_close(store);
}

/* Cut off, longer, other bytes of the same length; a source that has changed. */
static void test_damaged(void)
{
    static const char *const others[] = {"", "ab", "abd", "abcd"};
    struct artifact_store *store = open_store("damaged");
    const struct artifact_digest digest = digest_of(in_folder("file"));
    CHECK_INT(artifact_store_put(store, "k", in_folder("file"), &digest, err), 0);
    write_file(in_folder("kept"), "kept");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        write_file(in_folder("damaged/k"), others[i]);
        CHECK_INT(artifact_store_get(store, "k", in_folder("kept"), &digest, err), -EBADMSG);
        CHECK(strstr(err, "the study has 3"));
        CHECK_STR(read_file(in_folder("kept")), "kept");
    }
    CHECK_INT(artifact_store_put(store, "k", in_folder("file"), &digest, err), 0); /* mends it */
    CHECK_STR(read_file(in_folder("damaged/k")), "abc");
    CHECK_INT(artifact_store_put(store, "new", in_folder("kept"), &digest, err), -ESTALE);
    CHECK_INT(names_in(in_folder("damaged")), 1);
    artifact_store_close(store);
}

/* Whichever call fails: the name has the whole object or none, and once no call fails it has it. */
static void test_faults(void)
{
    struct artifact_store *store = open_store("faults");
    const struct artifact_digest digest = digest_of(in_folder("file"));
    int failed = 0, r = -1;
    for (int i = 0; r < 0 && i < 64; i++) {
        calls_left = i;
        r = artifact_store_put(store, "k", in_folder("file"), &digest, err);
        failed += r < 0;
        if (r < 0)
            CHECK_INT(r, -EIO);
        calls_left = -1;
        const char *there = read_file(in_folder("faults/k"));
        CHECK(!there || strcmp(there, "abc") == 0);
        CHECK_INT(names_in(in_folder("faults")), there ? 1 : 0);
        if (r < 0 && there) /* the folder's own sync alone failed */
            unlink(in_folder("faults/k"));
    }
    CHECK_INT(r, 0);
    CHECK(failed >= 5); /* read, write, fsync, rename, fsync of the folder */
    failed = 0;
    CHECK_INT(mkdir(in_folder("to"), 0777), 0);
    for (int i = 0, got = -1; got < 0 && i < 64; i++) {
        calls_left = i;
        got = artifact_store_get(store, "k", in_folder("to/k"), &digest, err);
        failed += got < 0;
        calls_left = -1;
        const char *there = read_file(in_folder("to/k"));
        CHECK(got < 0 || there);
        CHECK(!there || strcmp(there, "abc") == 0);
        CHECK_INT(names_in(in_folder("to")), there ? 1 : 0);
        if (got < 0 && there)
            unlink(in_folder("to/k"));
    }
    CHECK(failed >= 5);
    artifact_store_close(store);
}

static bool is_stopped(void *ctx)
{
    (void)ctx;
    return true;
}

/* Its mount is gone after it was opened: nothing is made on this machine's own disk. */
static void test_unmounted(void)
{
    const struct artifact_digest digest = digest_of(in_folder("file"));
    CHECK_INT(mkdir(in_folder("mounted"), 0755), 0);
    struct artifact_store *store = open_store("mounted/studies");
    CHECK_INT(artifact_store_put(store, "s/k", in_folder("file"), &digest, err), 0);
    CHECK_INT(rename(in_folder("mounted"), in_folder("elsewhere")), 0);
    CHECK_INT(artifact_store_put(store, "s/k", in_folder("file"), &digest, err), -ENOENT);
    CHECK(strstr(err, "is it mounted?") && access(in_folder("mounted"), F_OK) < 0);
    CHECK_INT(rename(in_folder("elsewhere"), in_folder("mounted")), 0);
    CHECK_INT(artifact_store_put(store, "s/l", in_folder("file"), &digest, err), 0);
    artifact_store_close(store);
}

static void test_refused(void)
{
    const struct artifact_stop stop = {is_stopped, NULL};
    const struct artifact_digest digest = digest_of(in_folder("file"));
    struct artifact_store *store = NULL;
    CHECK_INT(artifact_store_open(in_folder("stopped"), &stop, &store, err), 0);
    CHECK_INT(artifact_store_put(store, "k", in_folder("file"), &digest, err), -ECANCELED);
    CHECK_INT(names_in(in_folder("stopped")), 0);
    artifact_store_close(store);
    store = NULL;
    CHECK_INT(artifact_store_open(in_folder("file"), NULL, &store, err), -ENOTDIR);
    CHECK_INT(artifact_store_open(in_folder("not/mounted"), NULL, &store, err), -ENOENT);
    CHECK(strstr(err, "is it mounted?") && access(in_folder("not"), F_OK) < 0);
    CHECK(artifact_store_open(in_folder("file/below"), NULL, &store, err) < 0);
    CHECK(store == NULL);
    CHECK_INT(truncate(in_folder("file"), ARTIFACT_BYTES_MAX + 1), 0);
    struct artifact_digest untouched = {.size = 5};
    CHECK_INT(artifact_digest_file(in_folder("file"), &untouched, err), -EFBIG);
    CHECK_INT(untouched.size, 5);
    CHECK_INT(artifact_digest_file(folder, &untouched, err), -EINVAL);
}

int main(void)
{
    scratch_make(folder);
    test_round_trip();
    test_keys();
    test_list();
    test_damaged();
    test_faults();
    test_unmounted();
    test_refused();
    scratch_remove(folder);
    return check_done("artifacts/directory");
}
