/* The one file of a zip archive, as it is unpacked (libarchive). */
#ifndef CLI_UNZIP_H
#define CLI_UNZIP_H

#include "exchange/bars_input.h"

struct unzip;

/* 0; -errno with a sentence. *ret_name: of the file in it; lives as long as the archive. */
int cli_unzip_open(const char *path, struct unzip **ret, const char **ret_name, const char **ret_why);
/* Its next bytes; 0 at the end, where no other file may follow; -errno with a sentence. */
ssize_t cli_unzip_read(void *unzip, void *buf, size_t size, const char **ret_why);
void cli_unzip_close(void *unzip); /* NULL is fine */

/* For struct ticks_options. */
int cli_unzip_bytes(const char *path, struct bars_bytes *ret, const char **ret_why);

#endif
