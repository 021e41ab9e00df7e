/* Memory for keys and what is made of them: pages of their own that are never written to swap or into a core
 * dump, and are overwritten before they go back. What libcurl, libwebsockets and OpenSSL copy for themselves
 * is theirs. */
#ifndef EXCHANGE_NET_SECRET_H
#define EXCHANGE_NET_SECRET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* Zeroed; whole pages are taken. NULL without memory. */
void *net_secret_alloc(size_t size);

/* Overwrites and frees. NULL is fine. */
void net_secret_free(void *memory);

/* Was every allocation so far locked? Not where the limit of locked memory (RLIMIT_MEMLOCK) is too low:
 * then the memory is used unlocked. */
bool net_secret_locked(void);

/* May a user's file, of this fstat(), hold a secret? It is root's or this process's user's, and others may
 * not read it. 0; -EPERM, -EACCES with "WHAT: PATH: …". */
int net_secret_check_file(const struct stat *file, const char *what, const char *path, char *err,
                          size_t err_size);

#endif
