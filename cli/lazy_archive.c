/* libarchive, at its first use. */
#include <archive.h>
#include <archive_entry.h>
#include <stdarg.h>
#include <stdio.h>

#include "cli/lazy_archive.h"
#include "exchange/lazy_library.h"

typedef struct archive *archive;
typedef struct archive_entry *entry;

static struct lazy_library lib = {.file = "libarchive.so.13"};

int cli_archive_load(char *err, size_t err_size)
{
    return lazy_library_load(&lib, err, err_size);
}

LAZY(lib, int, archive_errno, (archive a), (a))
LAZY(lib, const char *, archive_error_string, (archive a), (a))

static void set_error(archive a, int error, const char *text)
{
    static void *known;
    __typeof__(&archive_set_error) function = lazy_library_function(&lib, &known, "archive_set_error");
    function(a, error, "%s", text);
}

void archive_set_error(archive a, int error, const char *format, ...)
{
    char text[1024];
    va_list rest;

    va_start(rest, format);
    vsnprintf(text, sizeof(text), format, rest);
    va_end(rest);
    set_error(a, error, text);
}

LAZY(lib, archive, archive_read_new, (void), ())
LAZY(lib, int, archive_read_free, (archive a), (a))
LAZY(lib, int, archive_read_support_filter_zstd, (archive a), (a))
LAZY(lib, int, archive_read_support_format_tar, (archive a), (a))
LAZY(lib, int, archive_read_support_format_zip, (archive a), (a))
LAZY(lib, int, archive_read_open_fd, (archive a, int fd, size_t block), (a, fd, block))
LAZY(lib, int, archive_read_open_filename, (archive a, const char *name, size_t block), (a, name, block))
LAZY(lib, int, archive_read_next_header, (archive a, entry *ret), (a, ret))
LAZY(lib, la_ssize_t, archive_read_data, (archive a, void *buf, size_t size), (a, buf, size))

LAZY(lib, archive, archive_write_new, (void), ())
LAZY(lib, int, archive_write_free, (archive a), (a))
LAZY(lib, int, archive_write_add_filter_zstd, (archive a), (a))
LAZY(lib, int, archive_write_set_format_gnutar, (archive a), (a))
LAZY(lib, int, archive_write_set_bytes_in_last_block, (archive a, int bytes), (a, bytes))
LAZY(lib, int, archive_write_open,
     (archive a, void *user, archive_open_callback *opened, archive_write_callback *written,
      archive_close_callback *closed),
     (a, user, opened, written, closed))
LAZY(lib, int, archive_write_header, (archive a, entry e), (a, e))
LAZY(lib, la_ssize_t, archive_write_data, (archive a, const void *buf, size_t size), (a, buf, size))
LAZY(lib, int, archive_write_close, (archive a), (a))
LAZY(lib, int, archive_write_fail, (archive a), (a))

LAZY(lib, entry, archive_entry_new, (void), ())
LAZY(lib, void, archive_entry_free, (entry e), (e))
LAZY(lib, const char *, archive_entry_pathname, (entry e), (e))
LAZY(lib, const char *, archive_entry_hardlink, (entry e), (e))
LAZY(lib, const char *, archive_entry_symlink, (entry e), (e))
LAZY(lib, mode_t, archive_entry_filetype, (entry e), (e))
LAZY(lib, la_int64_t, archive_entry_size, (entry e), (e))
LAZY(lib, int, archive_entry_size_is_set, (entry e), (e))
LAZY(lib, void, archive_entry_set_pathname, (entry e, const char *name), (e, name))
LAZY(lib, void, archive_entry_set_filetype, (entry e, unsigned type), (e, type))
LAZY(lib, void, archive_entry_set_perm, (entry e, mode_t mode), (e, mode))
LAZY(lib, void, archive_entry_set_size, (entry e, la_int64_t size), (e, size))
LAZY(lib, void, archive_entry_set_mtime, (entry e, time_t s, long ns), (e, s, ns))
