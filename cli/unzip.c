#include "cli/unzip.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lazy_archive.h"

enum { BLOCK = 1 << 16, ABSENT_MAX = 256 };

struct unzip {
    struct archive *archive;
    char *name;
};

static int fail(int r, const char *why, const char **ret_why)
{
    *ret_why = why;
    return r;
}

void cli_unzip_close(void *unzip)
{
    struct unzip *own = unzip;
    if (!own)
        return;
    if (own->archive)
        archive_read_free(own->archive);
    free(own->name);
    free(own);
}

static int open_archive(struct unzip *unzip, const char *path, const char **ret_why)
{
    static _Thread_local char absent[ABSENT_MAX];
    struct archive_entry *entry;
    int r = cli_archive_load(absent, sizeof absent);
    if (r < 0)
        return fail(r, absent, ret_why);
    if (!(unzip->archive = archive_read_new()) ||
        archive_read_support_format_zip(unzip->archive) != ARCHIVE_OK)
        return fail(-ENOMEM, "out of memory", ret_why);
    if (archive_read_open_filename(unzip->archive, path, BLOCK) != ARCHIVE_OK ||
        archive_read_next_header(unzip->archive, &entry) != ARCHIVE_OK)
        return fail(-EBADMSG, "it is no zip file, or cut off", ret_why);
    const char *name = archive_entry_pathname(entry);
    return (unzip->name = strdup(name ? name : "")) ? 0 : fail(-ENOMEM, "out of memory", ret_why);
}

int cli_unzip_open(const char *path, struct unzip **ret, const char **ret_name, const char **ret_why)
{
    struct unzip *unzip = calloc(1, sizeof *unzip);
    int r = unzip ? open_archive(unzip, path, ret_why) : fail(-ENOMEM, "out of memory", ret_why);
    if (r < 0) {
        cli_unzip_close(unzip);
        return r;
    }
    *ret = unzip;
    *ret_name = unzip->name;
    return 0;
}

ssize_t cli_unzip_read(void *unzip, void *buf, size_t size, const char **ret_why)
{
    struct archive_entry *entry;
    struct unzip *own = unzip;
    la_ssize_t n = archive_read_data(own->archive, buf, size);
    if (n < 0)
        return fail(-EIO, "it is damaged or cut off", ret_why);
    if (n == 0 && archive_read_next_header(own->archive, &entry) != ARCHIVE_EOF)
        return fail(-EBADMSG, "it has more than one file, or is cut off", ret_why);
    return n;
}

int cli_unzip_bytes(const char *path, struct bars_bytes *ret, const char **ret_why)
{
    struct unzip *unzip;
    const char *name;
    int r = cli_unzip_open(path, &unzip, &name, ret_why);
    if (r == 0)
        *ret = (struct bars_bytes){cli_unzip_read, cli_unzip_close, unzip};
    return r;
}
