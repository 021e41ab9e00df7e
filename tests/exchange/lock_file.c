/* Files that are locks: who may open them, and who has them. */
#include "exchange/lock_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/scratch.h"

static int mode_of(const char *path)
{
    struct stat st;
    return stat(path, &st) < 0 ? -errno : (int)(st.st_mode & 07777);
}

static void make(const char *path, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    CHECK(fd >= 0 && fchmod(fd, mode) == 0);
    close(fd);
}

static void test_mode(void)
{
    const char *fresh = scratch_path("fresh"), *older = scratch_path("older"),
               *linked = scratch_path("linked");
    umask(0);
    int fd = lock_file_open(AT_FDCWD, fresh);
    CHECK(fd >= 0 && (fcntl(fd, F_GETFD) & FD_CLOEXEC));
    CHECK_INT(mode_of(fresh), 0600);
    close(fd);
    make(older, 0664);
    CHECK((fd = lock_file_open(AT_FDCWD, older)) >= 0);
    CHECK_INT(mode_of(older), 0600);
    close(fd);

    make(linked, 0640); /* the other name may be any file's */
    CHECK_INT(link(linked, scratch_path("name")), 0);
    CHECK((fd = lock_file_open(AT_FDCWD, scratch_path("name"))) >= 0);
    CHECK_INT(mode_of(linked), 0640);
    close(fd);
    CHECK_INT(symlink(linked, scratch_path("link")), 0);
    CHECK_INT(lock_file_open(AT_FDCWD, scratch_path("link")), -ELOOP);
    CHECK_INT(lock_file_open(AT_FDCWD, scratch_path("none/lock")), -ENOENT);
}

static void test_taken(void)
{
    CHECK_INT(mkdir(scratch_path("folder"), 0700), 0);
    int folder = open(scratch_path("folder"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int first = lock_file_take(folder, ".lock"), second;
    CHECK(first >= 0);
    CHECK_INT(mode_of(scratch_path("folder/.lock")), 0600);
    CHECK_INT(lock_file_take(folder, ".lock"), -EBUSY);
    CHECK((second = lock_file_open(folder, ".lock")) >= 0); /* which does not lock */
    close(first);
    close(second);
    CHECK((second = lock_file_take(folder, ".lock")) >= 0);
    close(second);
    close(folder);
}

int main(void)
{
    test_mode();
    test_taken();
    return check_done("exchange lock_file");
}
