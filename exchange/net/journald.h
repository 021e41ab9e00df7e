/* Entries for systemd's journal by its native protocol (systemd.io/JOURNAL_NATIVE_PROTOCOL): a datagram an
 * entry, of fields NAME=VALUE.
 *
 * Not sd_journal_sendv(3): that waits without a limit while the journal takes nothing, so that no program
 * could end in time. These functions never wait, and allocate nothing. */
#ifndef EXCHANGE_NET_JOURNALD_H
#define EXCHANGE_NET_JOURNALD_H

#include <stdbool.h>
#include <stddef.h>

#define NET_JOURNALD_SOCKET "/run/systemd/journal/socket"

/* An entry that is written into the caller's bytes. */
struct net_journald_entry {
    char *bytes;
    size_t len, size;
};

/* Adds a field, unless it is NULL, or has no room: false then. Names are A-Z, 0-9 and _, the first a letter;
 * a value of several lines is one field. */
bool net_journald_field(struct net_journald_entry *entry, const char *name, const char *value);
bool net_journald_fieldf(struct net_journald_entry *entry, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A descriptor of a socket connected with that path (POLLOUT: the journal takes more), or -errno. */
int net_journald_connect(const char *path);

/* Sends an entry. 0; -EAGAIN while the journal takes nothing; another -errno where it is gone: connect again.
 * May be called in a signal handler. */
int net_journald_send(int fd, const char *bytes, size_t len);

/* Is stderr the journal's? By $JOURNAL_STREAM (systemd.exec(5)), which may name an earlier stderr. */
bool net_journald_is_stderr(void);

#endif
