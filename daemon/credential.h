/* A secret that a key of the configuration names: a systemd credential, or a file that only its owner may
 * read. */
#ifndef DAEMON_CREDENTIAL_H
#define DAEMON_CREDENTIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* What a file must hold, in messages: "two lines, id and secret, are", "a file of two lines, id and secret,
 * is". */
struct credential_kind {
    const char *key; /* that names it: "keys" */
    const char *lines, *file;
};

/* Reads it into text[size], secret memory (exchange/net/secret.h), with a NUL. `name`: a credential's name,
 * looked for in $CREDENTIALS_DIRECTORY, or, with a slash, a file's path, which is put into `path`. Returns
 * its length, at most size - 1; or -errno with one line that says what is needed and quotes nothing of the
 * file: -ENOENT, -EPERM (of another user's file), -EACCES (of a file that others may read, too), -EINVAL (of
 * what is no file). */
enum { CREDENTIAL_PATH_MAX = 4096 };
ssize_t daemon_credential_read(const struct credential_kind *kind, const char *name, char *text, size_t size,
                               char path[static CREDENTIAL_PATH_MAX], char *err, size_t err_size);

/* Is it a credential's name, and this process was given none? Then nothing is known of it. */
bool daemon_credential_unseen(const char *name);

/* One line of such a text, of characters without blanks, into ret[size]. Returns what follows it; NULL: it is
 * none. */
const char *daemon_credential_take_line(const char *text, char *ret, size_t size);

/* The one line of a credential or file: a token, a password. 0 with it in ret[size], secret memory; or -errno
 * as above, -EINVAL for other contents. */
int daemon_credential_line(const char *key, const char *name, char *ret, size_t size, char *err,
                           size_t err_size);

#endif
