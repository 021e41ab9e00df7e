/* Of the module whose device is the CPU (cpu_device.h): memory that processes share. The file has a place for
 * each process with the bytes that it holds. A place is looked at under the file's lock, and one whose
 * process has ended, as a zombie too, is free: as a driver frees what a process held, whatever ended it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/indicators_gpu/cpu_device.h"

enum { PLACES = 256 };

struct place {
    int64_t pid;      /* 0: free */
    uint64_t started; /* a pid is used again, but not with this */
    uint64_t bytes;
};
struct device_file {
    uint64_t total;
    struct place places[PLACES];
};

/* Of this process; a child of fork() has no context, and begins as one that never opened the device. */
static struct {
    pid_t pid;
    int fd, handles;
    struct device_file *file;
    struct place *place;
    size_t held, context, code;
} own = {.fd = -1};

bool cpu_memory_is_shared(void)
{
    return cpu_setup()->memory[0] != '\0';
}

/* ---- the file ---- */

/* When it was started, in the kernel's ticks; 0: it has ended. */
static uint64_t started_at(int64_t pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *at = strrchr(text, ')'); /* a name may have blanks */
    if (!at || at[2] == 'Z' || at[2] == 'X')
        return 0;
    for (int field = 2; field < 22 && at; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) : 0;
}

static void lock(void)
{
    while (flock(own.fd, LOCK_EX) < 0)
        if (errno != EINTR)
            abort();
}

static void unlock(void)
{
    if (flock(own.fd, LOCK_UN) < 0)
        abort();
}

/* Locked. */
static size_t count_free(void)
{
    uint64_t used = 0;
    for (int i = 0; i < PLACES; i++) {
        struct place *place = &own.file->places[i];
        if (place->pid && started_at(place->pid) != place->started)
            *place = (struct place){0};
        used += place->bytes;
    }
    return used < own.file->total ? own.file->total - used : 0;
}

static bool take_place(void)
{
    const size_t left = count_free(); /* and places whose process has ended */
    for (int i = 0; i < PLACES; i++) {
        if (own.file->places[i].pid)
            continue;
        if (left < cpu_setup()->context)
            return false;
        own.place = &own.file->places[i];
        *own.place = (struct place){getpid(), started_at(getpid()), cpu_setup()->context};
        own.context = cpu_setup()->context;
        return true;
    }
    return false;
}

static int attach(void)
{
    if (own.pid == getpid() && own.handles > 0)
        return 0;
    if (own.fd >= 0) {
        close(own.fd);
        munmap(own.file, sizeof *own.file);
    }
    memset(&own, 0, sizeof own);
    own.fd = -1;
    int fd = open(cpu_setup()->memory, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    void *at = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, sizeof *own.file) == 0)
        at = mmap(NULL, sizeof *own.file, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) {
        int r = -errno;
        if (fd >= 0)
            close(fd);
        return r;
    }
    own.fd = fd;
    own.file = at;
    own.pid = getpid();
    lock();
    if (own.file->total == 0)
        own.file->total = cpu_setup()->total;
    unlock();
    return 0;
}

/* ---- the device ---- */

int cpu_memory_identify(char ret[GPU_DEVICE_ID_MAX])
{
    struct stat file;
    ret[0] = '\0';
    if (!cpu_memory_is_shared())
        return 0;
    int r = attach();
    if (r == 0 && fstat(own.fd, &file) < 0)
        r = -errno;
    if (r == 0)
        snprintf(ret, GPU_DEVICE_ID_MAX, "cpu-%llx-%llx", (unsigned long long)file.st_dev,
                 (unsigned long long)file.st_ino);
    return r;
}

int cpu_memory_open(char *reason, size_t cap)
{
    int r = cpu_memory_is_shared() ? attach() : 0;
    if (r < 0) {
        snprintf(reason, cap, "CPU_DEVICE: %s: %s", cpu_setup()->memory, strerror(-r));
        return r;
    }
    if (cpu_memory_is_shared() && own.handles == 0) {
        lock();
        bool room = take_place();
        unlock();
        if (!room)
            return cpu_none_left(reason, cap);
    }
    own.handles++;
    return 0;
}

void cpu_memory_close(void)
{
    if (--own.handles > 0)
        return;
    cpu_reset();
    if (!own.place)
        return;
    if (own.held > 0)
        abort();
    lock();
    *own.place = (struct place){0};
    unlock();
    own.place = NULL;
    own.context = own.code = 0;
}

bool cpu_memory_take(size_t bytes)
{
    if (!cpu_memory_is_shared())
        return true;
    lock();
    bool room = bytes <= count_free();
    if (room)
        own.place->bytes += bytes;
    unlock();
    own.held += room ? bytes : 0;
    return room;
}

void cpu_memory_give(size_t bytes)
{
    if (!cpu_memory_is_shared())
        return;
    lock();
    own.place->bytes -= bytes;
    unlock();
    own.held -= bytes;
}

bool cpu_memory_take_code(void)
{
    if (own.code > 0)
        return true;
    if (!cpu_memory_take(cpu_setup()->code))
        return false;
    if (cpu_memory_is_shared()) {
        own.code = cpu_setup()->code;
        own.held -= own.code; /* the driver's, not the program's */
    }
    return true;
}

void cpu_memory_count(struct cpu_memory_figures *ret)
{
    lock();
    *ret = (struct cpu_memory_figures){.total = own.file->total,
                                       .free = count_free(),
                                       .held = own.held,
                                       .context = own.context + own.code,
                                       .driver = cpu_setup()->code - own.code};
    unlock();
}
