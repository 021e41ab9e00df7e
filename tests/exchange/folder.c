/* Removing a folder, also where its files have another device than it has: on overlayfs, mounted in a
 * namespace of the test's own (skipped where the system allows none). */
#include "exchange/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/mount.h>

#include "tests/check.h"
#include "tests/scratch.h"

static const char *within(const char *folder, const char *name)
{
    static char paths[8][SCRATCH_PATH_MAX + 64];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void put(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    CHECK(fd >= 0);
    close(fd);
}

/* A folder with files, folders and a link to a folder beside it, which stays. */
static void remove_in(const char *folder)
{
    CHECK_INT(mkdir(within(folder, "kept"), 0700), 0);
    put(within(folder, "kept/file"));
    CHECK_INT(mkdir(within(folder, "all"), 0700), 0);
    CHECK_INT(mkdir(within(folder, "all/inner"), 0500), 0);
    CHECK_INT(mkdir(within(folder, "all/full"), 0700), 0);
    put(within(folder, "all/full/file"));
    put(within(folder, "all/file"));
    CHECK_INT(symlink("../kept", within(folder, "all/link")), 0);
    CHECK_INT(folder_remove(within(folder, "all")), 0);
    CHECK(access(within(folder, "all"), F_OK) < 0 && errno == ENOENT);
    CHECK_INT(folder_remove(within(folder, "all")), 0);
    CHECK_INT(folder_remove(within(folder, "kept/file")), 0);
    CHECK_INT(rmdir(within(folder, "kept")), 0);
    CHECK(folder_remove("/proc/self/status") < 0);
}

static int add(void *ctx, const char *name)
{
    *(int *)ctx += name[0] - '0';
    return name[0] == '7' ? -ECANCELED : 0;
}

static void test_each(const char *folder)
{
    int sum = 0;
    CHECK_INT(folder_each(within(folder, "none"), add, &sum), -ENOENT);
    for (char name[] = "1"; name[0] <= '3'; name[0]++)
        put(within(folder, name));
    CHECK_INT(folder_each(folder, add, &sum), 0);
    CHECK_INT(sum, 6);
    put(within(folder, "7"));
    CHECK_INT(folder_each(folder, add, &sum), -ECANCELED);
}

/* By the variable, then the home; what is relative does not count. */
static void test_of_user(void)
{
    char path[PATH_MAX], longest[PATH_MAX + 8];
    setenv("HOME", "/home/ann", 1);
    setenv("XDG_TEST_HOME", "/x", 1);
    CHECK_INT(folder_of_user("XDG_TEST_HOME", ".usual", "a/b", path), 0);
    CHECK_STR(path, "/x/a/b");
    setenv("XDG_TEST_HOME", "relative", 1);
    CHECK_INT(folder_of_user("XDG_TEST_HOME", ".usual", "a/b", path), 0);
    CHECK_STR(path, "/home/ann/.usual/a/b");
    setenv("HOME", "relative", 1);
    CHECK_INT(folder_of_user("XDG_TEST_HOME", ".usual", "a/b", path), -ENOENT);
    memset(longest, '/', sizeof longest);
    longest[PATH_MAX - 1 - strlen("/a")] = '\0';
    setenv("XDG_TEST_HOME", longest, 1);
    CHECK_INT(folder_of_user("XDG_TEST_HOME", ".usual", "a", path), 0);
    CHECK_INT(folder_of_user("XDG_TEST_HOME", ".usual", "ab", path), -ENAMETOOLONG);
}

/* ---- overlayfs ---- */

static bool write_map(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        close(fd);
    return ok;
}

/* Two file systems in memory, and both layers of a third: false where that is not allowed. */
static bool mount_overlay(const char *folder)
{
    char users[64], groups[64], layers[4 * SCRATCH_PATH_MAX];
    snprintf(users, sizeof users, "0 %u 1", geteuid());
    snprintf(groups, sizeof groups, "0 %u 1", getegid());
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 || !write_map("/proc/self/setgroups", "deny") ||
        !write_map("/proc/self/uid_map", users) || !write_map("/proc/self/gid_map", groups) ||
        mount("lower", within(folder, "lower"), "tmpfs", 0, NULL) < 0 ||
        mount("upper", within(folder, "upper"), "tmpfs", 0, NULL) < 0 ||
        mkdir(within(folder, "upper/files"), 0700) < 0 || mkdir(within(folder, "upper/work"), 0700) < 0)
        return false;
    snprintf(layers, sizeof layers,
             "lowerdir=%s/lower,upperdir=%s/upper/files,workdir=%s/upper/work,xino=off", folder, folder,
             folder);
    return mount("both", within(folder, "both"), "overlay", 0, layers) == 0;
}

static void test_overlay(const char *folder)
{
    char both[SCRATCH_PATH_MAX];
    struct stat of_folder, of_file;
    snprintf(both, sizeof both, "%s/both", folder);
    for (const char *const *name = (const char *const[]){"lower", "upper", "both", NULL}; *name; name++)
        CHECK_INT(mkdir(within(folder, *name), 0700), 0);
    if (!mount_overlay(folder)) {
        printf("no overlayfs here: %s\n", strerror(errno));
        return;
    }
    put(within(both, "probe"));
    CHECK_INT(stat(both, &of_folder), 0);
    CHECK_INT(stat(within(both, "probe"), &of_file), 0);
    CHECK(of_folder.st_dev != of_file.st_dev); /* else it shows nothing */
    remove_in(both);
    umount2(both, MNT_DETACH);
    umount2(within(folder, "upper"), MNT_DETACH);
    umount2(within(folder, "lower"), MNT_DETACH);
}

int main(void)
{
    char plain[SCRATCH_MAX], names[SCRATCH_MAX], layers[SCRATCH_MAX];
    scratch_make(plain);
    scratch_make(names);
    scratch_make(layers);
    remove_in(plain);
    test_each(names);
    test_of_user();
    test_overlay(layers);
    return check_done("folder");
}
