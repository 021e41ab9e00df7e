/* The lines of an INI file: what inih leaves out is done around it: line numbers, sections without keys,
 * lines that do not fit its buffer. What sections and keys mean is its reader's. */
#ifndef EXCHANGE_INI_LINES_H
#define EXCHANGE_INI_LINES_H

#include <stddef.h>
#include <stdio.h>

enum { INI_ERROR_MAX = 512, INI_LINE_MAX = 131072 /* 4096 symbols fit */, INI_LINES_MAX = 4096 };

struct ini_line {
    int line;
    char *section, *key, *value; /* one piece of memory; key is NULL: the section's heading */
};

struct ini_lines {
    struct ini_line *lines; /* in the file's order */
    size_t n;
};

struct ini_rules {
    const char *example; /* a section, for a key that stands before all of them */
    int (*heading)(const char *section, char reason[static INI_ERROR_MAX]); /* 0, or -errno and why not */
    int line_max; /* bytes of a line, its NUL among them; 0: INI_LINE_MAX */
};

/* Reads to the file's end. 0, or -errno and one sentence that names the file, and the line where there is
 * one; it may hold control characters of the file's. */
int ini_lines_read(FILE *file, const char *name, const struct ini_rules *rules, struct ini_lines *ret,
                   char err[static INI_ERROR_MAX]);
void ini_lines_finish(struct ini_lines *lines);

#endif
