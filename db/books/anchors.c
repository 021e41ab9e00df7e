/* Files of anchors. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/books/attest.h"
#include "exchange/fail.h"

static struct db_anchor *append(struct db_anchors *anchors)
{
    if ((anchors->n & (anchors->n - 1)) == 0) {
        size_t n = anchors->n ? 2 * anchors->n : 1;
        struct db_anchor *more = realloc(anchors->list, n * sizeof *more);
        if (!more)
            return NULL;
        anchors->list = more;
    }
    struct db_anchor *anchor = &anchors->list[anchors->n++];
    *anchor = (struct db_anchor){.line = 0};
    return anchor;
}

static int take_line(struct db_anchors *anchors, const char *file, int number, const char *text, size_t len)
{
    struct db_anchor *anchor = append(anchors);
    if (!anchor)
        return -ENOMEM;
    anchor->line = number;
    anchor->file = strdup(file);
    anchor->text = strndup(text, len);
    if (!anchor->file || !anchor->text)
        return -ENOMEM;
    anchor->len = len;
    int r = db_head_parse(text, len, &anchor->head, anchor->failure, sizeof anchor->failure);
    return r == -EINVAL ? 0 : r;
}

static int read_lines(struct db_anchors *anchors, const char *file, FILE *from)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    int number = 0, r = 0;
    while (r == 0 && (n = getline(&line, &room, from)) >= 0) {
        number++;
        while (n > 0 && strchr(" \t\r\n", line[n - 1]))
            n--;
        if (n > 0)
            r = take_line(anchors, file, number, line, (size_t)n);
    }
    if (r == 0 && ferror(from))
        r = errno ? -errno : -EIO;
    free(line);
    return r;
}

int db_anchors_read(struct db_anchors *anchors, const char *file, char *err, size_t err_size)
{
    size_t before = anchors->n;
    FILE *from = fopen(file, "re");
    int r = from ? read_lines(anchors, file, from) : -errno;
    if (from)
        fclose(from);
    if (r < 0)
        return fail_with(r, err, err_size, "%.300s: %s", file, strerror(-r));
    if (anchors->n == before)
        return fail_with(-ENODATA, err, err_size,
                         "%.300s: has no anchor: lines of `papertape ledger head` are needed", file);
    return 0;
}

void db_anchors_finish(struct db_anchors *anchors)
{
    for (size_t i = 0; i < anchors->n; i++) {
        free(anchors->list[i].file);
        free(anchors->list[i].text);
        db_head_destroy(anchors->list[i].head);
    }
    free(anchors->list);
}
