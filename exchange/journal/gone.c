/* A journal whose directory, or newest segment, was removed while it is written. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exchange/journal/writer.h"

/* Is the directory at its path the one that is written to? */
static bool at_its_path(const struct journal_writer *writer)
{
    struct stat own, named;
    if (fstat(writer->dir, &own) < 0)
        return true; /* not known */
    if (stat(writer->config.dir, &named) < 0)
        return errno != ENOENT && errno != ENOTDIR;
    return own.st_dev == named.st_dev && own.st_ino == named.st_ino;
}

/* Does the newest segment still have its name? */
static bool has_its_name(const struct journal_writer *writer)
{
    const struct journal_segments *segments = &writer->segments;
    struct stat own, named;
    if (writer->broken || segments->n == 0 || writer->fd < 0 || fstat(writer->fd, &own) < 0)
        return true; /* not known */
    if (fstatat(writer->dir, segments->list[segments->n - 1].name, &named, AT_SYMLINK_NOFOLLOW) < 0)
        return errno != ENOENT;
    return own.st_dev == named.st_dev && own.st_ino == named.st_ino;
}

bool journal_writer_gone(const struct journal_writer *writer)
{
    return !at_its_path(writer) || !has_its_name(writer);
}

/* Remaining segments are moved aside: what comes cannot follow them. */
static int leave_segments(struct journal_writer *writer, char *words, size_t size)
{
    char aside[64] = "";
    writer->bad_number = writer->last_number;
    int r = journal_writer_set_aside(writer, aside, sizeof aside);
    if (r < 0)
        snprintf(words, size, "its newest segment was removed, and it cannot begin again: %s", strerror(-r));
    else
        snprintf(words, size, "its newest segment was removed: what is left of it is in %s", aside);
    return r;
}

static int leave_directory(struct journal_writer *writer, char *words, size_t size)
{
    struct journal_segments there = {0};
    char err[JOURNAL_ERROR_MAX] = "its segments cannot be listed";
    int dir, lock, r = journal_open_dir(writer->config.dir, &dir, &lock, err, sizeof err);
    if (r == 0 && (r = journal_segments_read(&there, dir)) == 0 && there.n > 0)
        r = -EEXIST;
    journal_segments_finish(&there);
    if (r < 0 && dir >= 0)
        close(dir);
    if (r < 0 && lock >= 0)
        close(lock);
    if (r < 0) {
        snprintf(words, size, "it was removed or renamed, and cannot begin again: %.160s",
                 r == -EEXIST ? "another log is in its place: move that away" : err);
        return r;
    }
    close(writer->dir);
    close(writer->lock);
    writer->dir = dir;
    writer->lock = lock;
    writer->segments.n = 0;
    journal_writer_stand_alone(writer);
    snprintf(words, size, "it was removed or renamed: it begins again in a new directory");
    return 0;
}

int journal_writer_begin_again(struct journal_writer *writer, char *words, size_t size)
{
    return at_its_path(writer) ? leave_segments(writer, words, size) : leave_directory(writer, words, size);
}
