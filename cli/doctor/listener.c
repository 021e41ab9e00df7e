#include "cli/doctor/listener.h"

#include <dirent.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/http/listen.h"
#include "daemon/procfs.h"

enum {
    LISTENS = 0x0a, /* proc(5): a state of TCP's, a flag of a UNIX socket */
    ACCEPTS = 0x10000,
    ADDRESS_MAX = 2 * 16 + 1,
};

/* ---- the socket's number, by proc(5); 0: none ---- */

static FILE *open_net(const char *name)
{
    char path[PROCFS_PATH_MAX];
    snprintf(path, sizeof path, "%s/net/%s", daemon_procfs_root(), name);
    return fopen(path, "re");
}

/* As proc(5) prints an address: words of the machine's order. */
static void print_words(const void *address, size_t n, char ret[static ADDRESS_MAX])
{
    uint32_t word;
    for (size_t i = 0; i < n / sizeof word; i++) {
        memcpy(&word, (const char *)address + i * sizeof word, sizeof word);
        snprintf(ret + 8 * i, ADDRESS_MAX - 8 * i, "%08" PRIX32, word);
    }
}

/* The one of an address, or of all. */
static uint64_t find_tcp(const char *name, uint16_t port, const void *address, size_t n)
{
    char line[512], local[40], wanted[ADDRESS_MAX];
    unsigned at, state;
    uint64_t inode, found = 0;
    FILE *list = open_net(name);
    print_words(address, n, wanted);
    while (list && found == 0 && fgets(line, sizeof line, list)) {
        if (sscanf(line, " %*d: %39[0-9A-F]:%X %*s %X %*s %*s %*s %*d %*d %" SCNu64, local, &at, &state,
                   &inode) != 4 ||
            at != port || state != LISTENS)
            continue;
        if (local[strspn(local, "0")] == '\0' || strcmp(local, wanted) == 0)
            found = inode;
    }
    if (list)
        fclose(list);
    return found;
}

static uint64_t find_address(const char *where)
{
    struct sockaddr_storage address;
    socklen_t size;
    if (daemon_http_address(where, &address, &size) < 0)
        return 0;
    const struct sockaddr_in *four = (const void *)&address;
    const struct sockaddr_in6 *six = (const void *)&address;
    uint16_t port = ntohs(address.ss_family == AF_INET ? four->sin_port : six->sin6_port);
    if (port == 0)
        return 0;
    if (address.ss_family == AF_INET6)
        return find_tcp("tcp6", port, &six->sin6_addr, sizeof six->sin6_addr);
    struct in6_addr mapped = {.s6_addr = {[10] = 0xff, [11] = 0xff}};
    memcpy(mapped.s6_addr + 12, &four->sin_addr, sizeof four->sin_addr);
    uint64_t inode = find_tcp("tcp", port, &four->sin_addr, sizeof four->sin_addr);
    return inode ? inode : find_tcp("tcp6", port, &mapped, sizeof mapped);
}

static uint64_t find_path(const char *where)
{
    char line[1024];
    uint64_t inode, found = 0;
    unsigned flags;
    int at;
    FILE *list = open_net("unix");
    while (list && found == 0 && fgets(line, sizeof line, list)) {
        line[strcspn(line, "\n")] = '\0';
        if (sscanf(line, "%*s %*s %*s %X %*s %*s %" SCNu64 " %n", &flags, &inode, &at) == 2 &&
            (flags & ACCEPTS) && strcmp(line + at, where) == 0)
            found = inode;
    }
    if (list)
        fclose(list);
    return found;
}

/* ---- its process ---- */

static bool has_open(int64_t pid, const char *target)
{
    char path[PROCFS_PATH_MAX], link[64];
    snprintf(path, sizeof path, "%s/%" PRId64 "/fd", daemon_procfs_root(), pid);
    DIR *listing = opendir(path);
    bool found = false;
    for (const struct dirent *entry; listing && !found && (entry = readdir(listing));) {
        ssize_t n = readlinkat(dirfd(listing), entry->d_name, link, sizeof link - 1);
        link[n > 0 ? n : 0] = '\0';
        found = strcmp(link, target) == 0;
    }
    if (listing)
        closedir(listing);
    return found;
}

static pid_t find_process(uint64_t inode)
{
    char target[48];
    int64_t *pids;
    size_t n;
    pid_t found = 0;
    snprintf(target, sizeof target, "socket:[%" PRIu64 "]", inode);
    if (daemon_procfs_processes(&pids, &n) < 0)
        return 0;
    for (size_t i = 0; i < n && found == 0; i++)
        if (has_open(pids[i], target))
            found = (pid_t)pids[i];
    free(pids);
    return found;
}

bool cli_doctor_listener(const char *where, bool is_path, char ret[static DOCTOR_LISTENER_MAX],
                         pid_t *ret_pid)
{
    char name[32];
    uint64_t inode = is_path ? find_path(where) : find_address(where);
    if (inode == 0)
        return false;
    *ret_pid = find_process(inode);
    snprintf(ret, DOCTOR_LISTENER_MAX, "a process that cannot be seen");
    if (*ret_pid > 0 && daemon_procfs_read_of(*ret_pid, "comm", name, sizeof name) > 0)
        snprintf(ret, DOCTOR_LISTENER_MAX, "process %d (%.20s)", (int)*ret_pid, name);
    return true;
}
