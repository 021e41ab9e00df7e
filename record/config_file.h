/* The lines of a configuration file (INI), set in turns, and all of its errors, by line. The caller defines
 * sections and keys.
 *
 * [SECTION], and KEY = VALUE or KEY: VALUE below it; a line that begins with # or ; is a comment, as is the
 * rest of a line after a blank and a ; in a value. Lines are not continued. */
#ifndef RECORD_CONFIG_FILE_H
#define RECORD_CONFIG_FILE_H

#include "record/config_key.h"

enum { CONFIG_FILE_LINE_MAX = 131072 /* 4096 symbols fit */, CONFIG_FILE_LINES_MAX = 4096 };

struct config_line {
    int line;
    const char *section, *key, *value; /* key NULL: the section's heading */
};

struct config_error {
    int line; /* 0: no line, for a missing key; these are last */
    size_t order;
    char *section, *key, *words; /* one piece of memory, UTF-8 without control characters. "" where there is
                                  * none; key NULL: an error of the line as such */
};

struct config_file {
    const char *name;          /* its name in errors; borrowed */
    struct config_line *lines; /* except those below a wrong heading */
    struct config_error *errors;
    size_t n, cap, n_errors, cap_errors;
    char *text;
    bool no_memory;
};

struct config_form {
    const char *example; /* a section, for the error of a key before all sections */
    size_t line_max;     /* bytes of a line and its NUL; 0: CONFIG_FILE_LINE_MAX */
    /* 0, or -errno and why there is no such section; NULL: any is valid. */
    int (*heading)(const char *section, char why[static CONFIG_WHY_MAX]);
    /* Lines are set in turns 0 … turns - 1, regardless of their order. */
    int turns;
    int (*turn)(const struct config_line *line);
    bool (*same)(const char *a,
                 const char *b); /* do two sections share their keys? NULL: those of one name do */
    bool headings;               /* the error of a missing key is at its section's heading */
    /* 0, or -errno and the reason. */
    int (*set)(void *ctx, const struct config_line *line, char why[static CONFIG_WHY_MAX]);
};

/* Reads a file's lines. 0; -errno when it cannot be read or stored, with one error without a line. Lines of
 * no known form become errors. For config_file_finish() in either case. */
int config_file_read(struct config_file *file, const char *path, const struct config_form *form);
/* The same for n bytes, which may contain NUL; `name` is for errors. 0 or -ENOMEM. */
int config_file_parse(struct config_file *file, const char *name, const char *text, size_t n,
                      const struct config_form *form);
void config_file_finish(struct config_file *file);

/* Sets every line in its turn; a duplicate and a refused one become errors. */
void config_file_apply(struct config_file *file, const struct config_form *form, void *ctx);

void config_file_error(struct config_file *file, int line, const char *section, const char *key,
                       const char *words);

/* Adds an inconsistency, at the line of the first of `keys` that is there; unless one of the keys has an
 * error itself. Keys are separated by blanks; one of another section is "[section]key". */
void config_file_misfit(struct config_file *file, const struct config_form *form, const char *section,
                        const char *keys, const char *words);

/* Has the key an error, in a section of that very name? */
bool config_file_faulty(const struct config_file *file, const char *section, const char *key);

/* The line of a key; with `heading`, where there is no such key, of its section's heading; 0. */
int config_file_line(const struct config_file *file, const struct config_form *form, const char *section,
                     const char *key, bool heading);

/* All errors, sorted by line: "NAME:LINE: [SECTION] KEY: WORDS", one a line without a last '\n'; counts what
 * does not fit. */
void config_file_sort(struct config_file *file);
void config_file_words(const struct config_file *file, char *ret, size_t size);

#endif
