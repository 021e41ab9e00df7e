/* Syncs that take long: for LD_PRELOAD. The file $SLOW_SYNC says `MS TEXT`: each fsync and fdatasync of a
 * file in whose path the text stands waits so many milliseconds. Its end is written to $SLOW_SYNC.log: the
 * process, and the file that was synced. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

enum { PATH_LENGTH = 512 };

static long delay_ms(const char *config, const char *name)
{
    char text[64] = "";
    long ms = 0;
    FILE *file = fopen(config, "re");
    if (file && fscanf(file, "%ld %63s", &ms, text) != 2)
        ms = 0;
    if (file)
        fclose(file);
    return strstr(name, text) ? ms : 0;
}

static void note(const char *config, const char *name)
{
    char log[PATH_LENGTH];
    snprintf(log, sizeof log, "%s.log", config);
    FILE *file = fopen(log, "ae");
    if (!file)
        return;
    fprintf(file, "%d %s\n", (int)getpid(), name);
    fclose(file);
}

static int slow(long call, int fd)
{
    const char *config = getenv("SLOW_SYNC");
    char link[64], name[PATH_LENGTH];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, name, sizeof name - 1);
    name[n > 0 ? n : 0] = '\0';
    long ms = config ? delay_ms(config, name) : 0;
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
    int r = (int)syscall(call, fd);
    if (config)
        note(config, name);
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
