/* Syncs that take long: for LD_PRELOAD. Each fsync and fdatasync waits as many milliseconds as the file
 * $SLOW_SYNC says, and its end is written to $SLOW_SYNC.log: the process, and the file that was synced. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

static long delay_ms(const char *path)
{
    long ms = 0;
    FILE *file = fopen(path, "re");
    if (file && fscanf(file, "%ld", &ms) != 1)
        ms = 0;
    if (file)
        fclose(file);
    return ms;
}

static void note(const char *path, int fd)
{
    char log[512], link[64], name[512];
    snprintf(log, sizeof log, "%s.log", path);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, name, sizeof name - 1);
    name[n > 0 ? n : 0] = '\0';
    FILE *file = fopen(log, "ae");
    if (!file)
        return;
    fprintf(file, "%d %s\n", (int)getpid(), name);
    fclose(file);
}

static int slow(long call, int fd)
{
    const char *path = getenv("SLOW_SYNC");
    long ms = path ? delay_ms(path) : 0;
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
    int r = (int)syscall(call, fd);
    if (path)
        note(path, fd);
    return r;
}

PUBLIC int fsync(int fd)
{
    return slow(SYS_fsync, fd);
}

PUBLIC int fdatasync(int fd)
{
    return slow(SYS_fdatasync, fd);
}
