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

enum { LISTENS = 0x0a, ACCEPTS = 0x10000 }; /* proc(5): a state of TCP's, a flag of a UNIX socket */

/* ---- the socket's number, by proc(5); 0: none ---- */

static FILE *open_net(const char *name)
{
    char path[PROCFS_PATH_MAX];
    snprintf(path, sizeof path, "%s/net/%s", daemon_procfs_root(), name);
    return fopen(path, "re");
}

/* An IPv6 socket of that port may be one of all addresses. */
static uint64_t find_tcp(const char *name, uint16_t port, uint32_t address)
{
    char line[512], local[40];
    unsigned at, state;
    uint64_t inode, found = 0;
    FILE *list = open_net(name);
    while (list && found == 0 && fgets(line, sizeof line, list)) {
        if (sscanf(line, " %*d: %39[0-9A-F]:%X %*s %X %*s %*s %*s %*d %*d %" SCNu64, local, &at, &state,
                   &inode) != 4 ||
            at != port || state != LISTENS)
            continue;
        uint32_t is = (uint32_t)strtoul(local, NULL, 16);
        if (strlen(local) > 8 || is == 0 || is == address)
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
    uint64_t inode = port && address.ss_family == AF_INET ? find_tcp("tcp", port, four->sin_addr.s_addr) : 0;
    return inode || !port ? inode : find_tcp("tcp6", port, 0);
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
    snprintf(ret, DOCTOR_LISTENER_MAX, "another process");
    if (*ret_pid > 0 && daemon_procfs_read_of(*ret_pid, "comm", name, sizeof name) > 0)
        snprintf(ret, DOCTOR_LISTENER_MAX, "process %d (%.20s)", (int)*ret_pid, name);
    return true;
}
