/* libarchive, which is loaded at its first use: where that may be reported. */
#ifndef CLI_LAZY_ARCHIVE_H
#define CLI_LAZY_ARCHIVE_H

#include <stddef.h>

int cli_archive_load(char *err, size_t err_size); /* as lazy_library_load() */

#endif
