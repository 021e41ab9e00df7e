/* Archives of backups that someone else made: whatever is wrong with one, it is refused with a sentence, and
 * nothing is written. */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/backup_part.h"
#include "cli/restore.h"
#include "cli/restore_move.h"
#include "exchange/folder.h"
#include "tests/check.h"
#include "tests/random.h"
#include "tests/scratch.h"

enum { ROOM = 1 << 20, FLIPS = 1000 };

struct entry {
    const char *name, *text;
    const char *listed; /* the text whose hash the manifest has; NULL: its own */
    int kind;           /* AE_IFREG, … ; 0: a file */
    bool unlisted, hard;
    int64_t size; /* that is claimed; 0: its own */
};

static const char *const texts[] = {"SQLite format 3", "a segment", "a policy"};
static const struct entry good[] = {{"papertape.db", texts[0]},
                                    {"events/00000001-x.journal", texts[1]},
                                    {"policies/deep/er/p.json", texts[2]}};

static void hash_of(const char *text, char ret[static BACKUP_HASH_TEXT])
{
    uint8_t digest[EVP_MAX_MD_SIZE];
    CHECK_INT(EVP_Digest(text, strlen(text), digest, NULL, EVP_sha256(), NULL), 1);
    cli_backup_hash_text(digest, ret);
}

static void put(struct archive *archive, const struct entry *e)
{
    struct archive_entry *entry = archive_entry_new();
    archive_entry_set_pathname(entry, e->name);
    archive_entry_set_filetype(entry, e->kind ? (unsigned)e->kind : AE_IFREG);
    archive_entry_set_perm(entry, 0640);
    archive_entry_set_size(entry, e->size ? e->size : (int64_t)strlen(e->text));
    if (e->kind == AE_IFLNK)
        archive_entry_set_symlink(entry, "/etc/passwd");
    if (e->hard)
        archive_entry_set_hardlink(entry, "papertape.db");
    if (e->kind == AE_IFCHR)
        archive_entry_set_rdev(entry, 259);
    CHECK(archive_write_header(archive, entry) >= ARCHIVE_WARN);
    if (!e->kind && !e->hard)
        CHECK(archive_write_data(archive, e->text, strlen(e->text)) >= 0);
    archive_entry_free(entry);
}

static char *manifest_of(const struct entry *entries, size_t n)
{
    struct backup_manifest manifest;
    char hash[BACKUP_HASH_TEXT];
    CHECK_INT(cli_backup_manifest_init(&manifest), 0);
    for (size_t i = 0; i < n; i++) {
        const char *text = entries[i].listed ? entries[i].listed : entries[i].text;
        hash_of(text, hash);
        if (!entries[i].unlisted)
            CHECK_INT(cli_backup_manifest_add(
                          &manifest, &(struct backup_file){entries[i].name, (int64_t)strlen(text), hash}),
                      0);
    }
    char *text = cli_backup_manifest_text(&manifest);
    cli_backup_manifest_finish(&manifest);
    return text;
}

/* The good files, `more`, and a manifest of both; NULL: of its own text, "" for none. */
static const char *make(const struct entry *more, size_t n, const char *manifest)
{
    const char *path = scratch_path("made.tar.zst");
    struct entry all[16];
    size_t n_good = sizeof good / sizeof *good;
    memcpy(all, good, sizeof good);
    if (n > 0)
        memcpy(all + n_good, more, n * sizeof *more);
    char *own = manifest_of(all, n_good + n);
    struct archive *archive = archive_write_new();
    archive_write_add_filter_zstd(archive);
    archive_write_set_format_gnutar(archive);
    CHECK_INT(archive_write_open_filename(archive, path), ARCHIVE_OK);
    for (size_t i = 0; i < n_good + n; i++)
        put(archive, &all[i]);
    const char *text = manifest ? manifest : own;
    if (*text)
        put(archive, &(struct entry){BACKUP_MANIFEST, text});
    archive_write_free(archive);
    free(own);
    return path;
}

static int check(const char *path, int64_t room, char *err, size_t err_size)
{
    struct backup_manifest manifest = {0};
    int r = cli_restore_check(path, room, NULL, &manifest, err, err_size);
    cli_backup_manifest_finish(&manifest);
    return r;
}

static void refuses(const struct entry *more, size_t n, const char *manifest, int expected, const char *words)
{
    char err[BACKUP_ERROR_MAX] = "";
    const char *path = make(more, n, manifest);
    CHECK_INT(check(path, ROOM, err, sizeof err), expected);
    if (!strstr(err, words)) {
        fprintf(stderr, "\"%s\" is not in \"%s\"\n", words, err);
        check_failures++;
    }
    char state[PATH_MAX + 32]; /* and the whole leaves nothing */
    snprintf(state, sizeof state, "%s/state", scratch_root());
    CHECK(cli_restore_state(path, state, false, NULL, &(struct restore_result){0}, err, sizeof err) < 0);
    CHECK(access(state, F_OK) < 0);
    strcat(state, BACKUP_PART_ENDING);
    CHECK(access(state, F_OK) < 0);
}

static void refuses_one(struct entry entry, int expected, const char *words)
{
    refuses(&entry, 1, NULL, expected, words);
}

static void test_names(void)
{
    static const char *const names[] = {"../escape.db",         "/etc/cron.db",       "events/../x.journal",
                                        "policies/../../x",     "policies//x",        "./papertape.db",
                                        "events/sub/x.journal", "events/x.txt",       "keys",
                                        "policies/keys",        "policies/venue.key", "trainings/t.lock",
                                        "control.sock",         "papertaped.lock",    "other/x",
                                        "policies/a\nb",        "policies/\033[31m",  "policies/caf\303\251",
                                        "policies/a\\b",        "backup.json",        "papertape.db-wal"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        CHECK(!cli_backup_takes(names[i]));
        refuses_one((struct entry){names[i], "x", .unlisted = true}, -EBADMSG, "refused");
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CHECK(cli_backup_takes(good[i].name));
    CHECK(cli_backup_takes("studies.db") && cli_backup_takes("papertaped.ini") &&
          cli_backup_takes("checkpoints/a/b"));
}

static void test_kinds(void)
{
    refuses_one((struct entry){"policies/link", "", .kind = AE_IFLNK, .unlisted = true}, -EBADMSG, "a link");
    refuses_one((struct entry){"policies/hard", "", .hard = true, .unlisted = true}, -EBADMSG, "a link");
    refuses_one((struct entry){"policies/null", "", .kind = AE_IFCHR, .unlisted = true}, -EBADMSG,
                "a device");
    refuses_one((struct entry){"policies/fifo", "", .kind = AE_IFIFO, .unlisted = true}, -EBADMSG,
                "a device");
    refuses_one((struct entry){"policies/folder", "", .kind = AE_IFDIR, .unlisted = true}, -EBADMSG,
                "refused");
}

static void test_contents(void)
{
    refuses_one((struct entry){"policies/new", "x", .unlisted = true}, -EBADMSG, "does not list it");
    refuses_one((struct entry){"policies/new", "x", .listed = "y"}, -EBADMSG, "policies/new: it was altered");
    refuses_one((struct entry){"policies/new", "x", .listed = "longer"}, -EBADMSG, "it was altered");
    refuses_one((struct entry){"papertape.db", texts[0]}, -EBADMSG, "it comes twice");
    refuses_one((struct entry){"policies/bomb", "x", .size = 2 << 20, .unlisted = true}, -ENOSPC,
                "it does not fit");
    refuses(NULL, 0, "", -EBADMSG, "it is no whole backup");
    refuses(NULL, 0, "{", -EBADMSG, BACKUP_MANIFEST ": line 1");
    refuses(NULL, 0, "{\"schema\": \"papertape.backup/2\"}", -ENOTSUP, "another papertape wrote it");
    refuses(NULL, 0, "[]", -EBADMSG, "not of `papertape backup`");
    char *own = manifest_of(good, 2), *lacks = manifest_of(good + 1, 2); /* a file too many; no database */
    refuses(NULL, 0, own, -EBADMSG, "does not list it");
    refuses(NULL, 0, lacks, -EBADMSG, "does not list papertape.db");
    char *path = strstr(own, "events/");
    memcpy(path, "../../", 6);
    refuses(NULL, 0, own, -EBADMSG, "no file of a state");
    free(own);
    free(lacks);
}

/* One that is good, then cut off at every place, and with bytes altered: never taken for another content. */
static void test_damage(void)
{
    char err[BACKUP_ERROR_MAX];
    size_t n;
    const char *path = make(NULL, 0, NULL), *damaged = scratch_path("damaged.tar.zst");
    CHECK_INT(check(path, ROOM, err, sizeof err), 0);
    static uint8_t bytes[1 << 16];
    int fd = open(path, O_RDONLY);
    n = (size_t)read(fd, bytes, sizeof bytes);
    close(fd);
    struct random random = random_seeded("backup_archive", 3);
    int taken = 0;
    for (size_t i = 0; i < n + FLIPS; i++) {
        size_t len = i < n ? i : n, at = i < n ? 0 : (size_t)random_between(&random, 0, (int64_t)n - 1);
        uint8_t was = bytes[at];
        bytes[at] ^= i < n ? 0 : (uint8_t)(1 << random_between(&random, 0, 7));
        fd = open(damaged, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        CHECK_INT(write(fd, bytes, len), len);
        close(fd);
        bytes[at] = was;
        int r = check(damaged, ROOM, err, sizeof err);
        CHECK(i >= n || len > n - 64 || r < 0);
        taken += r == 0; /* what was altered is padding, a time or an owner */
    }
    printf("%zu cuts and %d flips of %zu bytes: %d without effect\n", n, FLIPS, n, taken);
}

/* A folder whose file is a link, or lies behind one. */
static void test_folder(void)
{
    char err[BACKUP_ERROR_MAX];
    char *manifest = manifest_of(good, sizeof good / sizeof *good);
    char path[PATH_MAX], folder[PATH_MAX - 64];
    snprintf(folder, sizeof folder, "%s/folder", scratch_root());
    mkdir(folder, 0700);
    scratch_write("folder/" BACKUP_MANIFEST, manifest);
    scratch_write("folder/papertape.db", texts[0]);
    scratch_write("outside", texts[1]);
    mkdir(scratch_path("folder/events"), 0700);
    snprintf(path, sizeof path, "%s/%s", folder, good[1].name);
    CHECK_INT(symlink(scratch_path("outside"), path), 0);
    CHECK_INT(check(folder, ROOM, err, sizeof err), -ELOOP);
    unlink(path);
    CHECK_INT(check(folder, ROOM, err, sizeof err), -ENOENT);
    CHECK_INT(mkfifo(path, 0600), 0);
    CHECK_INT(check(folder, ROOM, err, sizeof err), -EBADMSG);
    unlink(path);
    CHECK_INT(link(scratch_path("outside"), path), 0);
    mkdir(scratch_path("real"), 0700);
    mkdir(scratch_path("real/deep"), 0700);
    mkdir(scratch_path("real/deep/er"), 0700);
    scratch_write("real/deep/er/p.json", texts[2]);
    snprintf(path, sizeof path, "%s/policies", folder);
    CHECK_INT(symlink(scratch_path("real"), path), 0);
    CHECK(check(folder, ROOM, err, sizeof err) < 0);
    unlink(path);
    CHECK_INT(rename(scratch_path("real"), path), 0);
    CHECK_INT(check(folder, ROOM, err, sizeof err), 0);
    CHECK_INT(check(folder, 5, err, sizeof err), -ENOSPC);
    free(manifest);
}

static void make_folder(const char *name, const char *in)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", scratch_path(in), name);
    CHECK_INT(mkdir(path, 0700), 0);
}

/* ---- into a folder, name by name ---- */

/* The call of these three that is the last before a SIGKILL, or that fails; 0: none. */
static int kill_at, fail_at;

static bool fails(void)
{
    if (kill_at > 0 && --kill_at == 0)
        raise(SIGKILL);
    errno = EIO;
    return fail_at > 0 && --fail_at == 0;
}

int rename(const char *from, const char *to)
{
    return fails() ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int unlink(const char *path)
{
    return fails() ? -1 : (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int rmdir(const char *path)
{
    return fails() ? -1 : (int)syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
}

static const char *const moved[] = {"events/a.journal", "policies/p.json", "notify.db", "papertape.db"};
#define TO_PART "to/" STATE_RESTORE_PART
#define TO_LIST "to/" STATE_RESTORE_LIST

static bool is_there(const char *name)
{
    return access(scratch_path(name), F_OK) == 0;
}

/* A folder, where what is moved into it is prepared. */
static void prepare(char part[static PATH_MAX], char to[static PATH_MAX])
{
    char name[64];
    snprintf(to, PATH_MAX, "%s", scratch_path("to"));
    snprintf(part, PATH_MAX, "%s", scratch_path(TO_PART));
    CHECK_INT(folder_remove(to), 0);
    CHECK_INT(mkdir(to, 0700) + mkdir(part, 0700), 0);
    make_folder("events", TO_PART);
    make_folder("policies", TO_PART);
    for (size_t i = 0; i < sizeof moved / sizeof *moved; i++) {
        snprintf(name, sizeof name, TO_PART "/%s", moved[i]);
        scratch_write(name, moved[i]);
    }
}

static bool is_empty(const char *folder)
{
    char first[NAME_MAX + 1] = "";
    int r = cli_backup_part_is_empty(folder, STATE_RESTORE_PART, first);
    if (r < 0)
        fprintf(stderr, "%s: %s\n", folder, first);
    return r == 0;
}

static bool is_complete(void)
{
    char name[64];
    int n = 0;
    for (size_t i = 0; i < sizeof moved / sizeof *moved; i++) {
        snprintf(name, sizeof name, "to/%s", moved[i]);
        n += is_there(name);
    }
    return n == sizeof moved / sizeof *moved && !is_there(TO_PART) && !is_there(TO_LIST);
}

/* Is the state one that a daemon starts on? */
static int create(const char *path)
{
    struct state_dir state;
    char err[BACKUP_ERROR_MAX];
    CHECK_INT(db_state_dir_find(path, &state, err, sizeof err), 0);
    return db_state_dir_create(&state, err, sizeof err);
}

/* Moves it in a process that is killed at call `n`. False: it had ended before. */
static bool is_killed(int n, const char *part, const char *to)
{
    char err[BACKUP_ERROR_MAX];
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        kill_at = n;
        _exit(cli_restore_move(part, to, err, sizeof err) == 0 ? 0 : 1);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && (WIFSIGNALED(status) || WEXITSTATUS(status) == 0));
    return WIFSIGNALED(status);
}

/* Killed at every call: what was moved is removed by the next restore, and is no state until then. */
static void test_move_killed(void)
{
    char part[PATH_MAX], to[PATH_MAX], err[BACKUP_ERROR_MAX] = "";
    int n = 0, lists = 0;
    for (prepare(part, to); is_killed(++n, part, to); prepare(part, to)) {
        CHECK_INT(create(to), -EBUSY);
        lists += is_there(TO_LIST);
        CHECK(!is_complete());
        CHECK_INT(cli_restore_clear(to, err, sizeof err), 0);
        CHECK(is_empty(to) && !is_there(TO_LIST));
    }
    CHECK_INT(n, 8); /* the list, four names, the part, the list: and the one that ended */
    CHECK_INT(lists, 6);
    CHECK(is_complete());
    CHECK_INT(create(to), 0);
}

/* One that fails at any call leaves nothing. */
static void test_move_fails(void)
{
    char part[PATH_MAX], to[PATH_MAX], err[BACKUP_ERROR_MAX] = "";
    for (int n = 1; n < 8; n++) {
        prepare(part, to);
        fail_at = n;
        CHECK_INT(cli_restore_move(part, to, err, sizeof err), -EIO);
        CHECK(fail_at == 0 && is_empty(to) && strstr(err, "Input/output error"));
    }
    prepare(part, to);
    scratch_write("to/another", "x");
    CHECK_INT(cli_restore_move(part, to, err, sizeof err), -EEXIST);
    CHECK(strstr(err, "(another)") && is_there(TO_PART "/papertape.db"));
}

/* Removed is only what was moved, and never while it is. */
static void test_clear(void)
{
    char part[PATH_MAX], to[PATH_MAX], err[BACKUP_ERROR_MAX] = "";
    prepare(part, to);
    CHECK(is_killed(7, part, to));
    int held = open(scratch_path(TO_LIST), O_RDONLY | O_CLOEXEC);
    CHECK_INT(flock(held, LOCK_EX | LOCK_NB), 0);
    CHECK_INT(cli_restore_clear(to, err, sizeof err), -EBUSY);
    CHECK(is_there("to/papertape.db"));
    close(held);
    CHECK_INT(rename(scratch_path("to/notify.db"), scratch_path("to/former")), 0);
    scratch_write("to/notify.db", "another's");
    CHECK_INT(cli_restore_clear(to, err, sizeof err), 0);
    CHECK(is_there("to/notify.db") && is_there("to/former") && !is_there("to/papertape.db") &&
          !is_there("to/events") && !is_there("to/policies") && !is_there(TO_LIST));
    CHECK_INT(folder_remove(to), 0);
    CHECK_INT(mkdir(to, 0700), 0);
    struct stat above, own;
    char list[128];
    CHECK(stat(to, &own) == 0 && stat(scratch_root(), &above) == 0);
    snprintf(list, sizeof list, "{\"..\": %ju, \".\": %ju, \"../to\": %ju, \"\": %ju}",
             (uintmax_t)above.st_ino, (uintmax_t)own.st_ino, (uintmax_t)own.st_ino, (uintmax_t)own.st_ino);
    scratch_write(TO_LIST, list);
    scratch_write("to/kept", "x");
    CHECK_INT(cli_restore_clear(to, err, sizeof err), 0);
    CHECK(is_there("to/kept") && !is_there(TO_LIST)); /* no name leads out of it */
    scratch_write(TO_LIST, "{\"../outside\": 1");
    CHECK_INT(cli_restore_clear(to, err, sizeof err), -EBADMSG);
    CHECK_INT(cli_restore_clear(part, err, sizeof err), 0); /* there is nothing */
}

/* What a killed restore left in a state is no state: the next one takes its place, and removes it. */
static void test_left_within(void)
{
    char state[PATH_MAX], err[BACKUP_ERROR_MAX] = "";
    const char *path = make(NULL, 0, NULL);
    snprintf(state, sizeof state, "%s", scratch_path("left"));
    mkdir(state, 0700);
    make_folder(STATE_RESTORE_PART, "left");
    make_folder(STATE_RESTORE_PART "/events", "left");
    CHECK_INT(cli_restore_state(path, state, false, NULL, &(struct restore_result){0}, err, sizeof err),
              -EBADMSG); /* its papertape.db is none */
    CHECK(access(scratch_path("left/" STATE_RESTORE_PART), F_OK) < 0);
    make_folder("events", "left");
    CHECK_INT(cli_restore_state(path, state, false, NULL, &(struct restore_result){0}, err, sizeof err),
              -EEXIST);
}

int main(void)
{
    scratch_in_memory();
    test_move_killed();
    test_move_fails();
    test_clear();
    test_left_within();
    test_names();
    test_kinds();
    test_contents();
    test_damage();
    test_folder();
    return check_done("backup_archive");
}
