/* The keys of a venue: two lines, id and secret, from a systemd credential or a file that only its owner
 * may read. From here on they are in the caller's memory, allocated by net_secret_alloc()
 * (exchange/net/secret.h), and in no message. */
#ifndef DAEMON_FEED_KEYS_H
#define DAEMON_FEED_KEYS_H

#include <stddef.h>

enum { FEED_KEY_MAX = 256 };

struct feed_keys {
    char id[FEED_KEY_MAX], secret[FEED_KEY_MAX];
};

/* `name`: a credential's name, looked for in $CREDENTIALS_DIRECTORY, or, with a slash, a file's path. 0; or
 * -errno with one line that says what is needed and quotes nothing of the file: -ENOENT, -EACCES (of a file
 * that others may read, too), -EINVAL for other contents. */
int feed_keys_read(const char *name, struct feed_keys *ret, char *err, size_t err_size);

/* Overwrites them. */
void feed_keys_forget(struct feed_keys *keys);

#endif
