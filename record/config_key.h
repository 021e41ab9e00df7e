/* A key of a configuration: one row, from which its value's parsing, checks, errors, output and help are
 * derived. Tables of rows describe the sections of a file, the options of a verb, the fields of a form. */
#ifndef RECORD_CONFIG_KEY_H
#define RECORD_CONFIG_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct nearest;

enum { CONFIG_WHY_MAX = 320 };

enum config_kind {
    CONFIG_WHOLE,  /* int32_t, int64_t, uint64_t: a decimal of at most `scale` digits, times 10^scale */
    CONFIG_NUMBER, /* double */
    CONFIG_SPAN,   /* two doubles: low..high, or one number for both */
    CONFIG_SWITCH, /* bool: one of two words; the second is true */
    CONFIG_WORD,   /* int, an enumeration's value: its place among the words */
    CONFIG_TEXT,   /* char[]: one line of a file; where the row has words: one of them */
    CONFIG_NAME,   /* char[]: letters, digits, - _ and . */
    CONFIG_OWN,    /* by the row's read() and print() */
};

enum config_key_mark {
    CONFIG_KEY_FREE = 1,    /* a resumed run may have another value */
    CONFIG_KEY_TUNABLE = 2, /* also that, if the resume permits changes: no shapes, no data */
    CONFIG_KEY_FIXED = 4,   /* it is not searched: the machine's, and those that define episodes */
    CONFIG_KEY_LIVE = 8,    /* a running daemon takes another value, without a restart */
    CONFIG_KEY_START = 16,  /* a daemon uses it before the first answer of a venue */
};

struct config_key {
    const char *section, *name;
    const char *about;    /* its description, for files, forms and the reference */
    const char *fallback; /* the text of its default; NULL: its owner sets it */
    enum config_kind kind;
    double min, max; /* of numbers, both included, as in the text; of text: its shortest length */
    int scale;
    bool share;          /* 5% is 0.05 */
    const char *none;    /* the word for no number: NaN of a double, -1 of a whole number, 0 of a size */
    const char *words;   /* separated by blanks, in the order of their values */
    size_t offset, size; /* of the value in the struct that `base` points to */
    unsigned marks;      /* its owner's marks: enum config_key_mark */
    const char *more;    /* more sentences for the reference page; NULL: none */
    int (*read)(const struct config_key *key, const char *text, void *base, char why[static CONFIG_WHY_MAX]);
    void (*print)(const struct config_key *key, const void *base, FILE *to); /* NULL: as text */
};

/* Of an interval of bars, an int64_t of ns; 0 is empty, where that is its default. */
int config_key_read_interval(const struct config_key *key, const char *text, void *base,
                             char why[static CONFIG_WHY_MAX]);
void config_key_print_interval(const struct config_key *key, const void *base, FILE *to);

/* Of a size, a uint64_t of bytes within min and max: digits with at most six after a point, and a unit: none,
 * B or bytes; KiB, MiB, GiB, TiB, and K, M, G, T for the same; kB, MB, GB, TB of powers of 1000. Letters of
 * either case; what is left of a byte is dropped. 0 too where the row has `none`, which is how it is printed
 * then. Printed in the largest unit that leaves no rest. */
int config_key_read_size(const struct config_key *key, const char *text, void *base,
                         char why[static CONFIG_WHY_MAX]);
void config_key_print_size(const struct config_key *key, const void *base, FILE *to);

/* Parts of rows. */
#define KEY_WHOLE(least, most)          .kind = CONFIG_WHOLE, .min = least, .max = most
#define KEY_SCALED(least, most, digits) KEY_WHOLE(least, most), .scale = digits
#define KEY_RATE(least, most, digits)   KEY_SCALED(least, most, digits), .share = true
#define KEY_NUMBER(least, most)         .kind = CONFIG_NUMBER, .min = least, .max = most
#define KEY_SPAN(least, most)           .kind = CONFIG_SPAN, .min = least, .max = most
#define KEY_SHARE(most)                 KEY_NUMBER(0, most), .share = true
#define KEY_WORDS(list)                 .kind = CONFIG_WORD, .words = list
#define KEY_SWITCH(list)                .kind = CONFIG_SWITCH, .words = list
#define KEY_TEXT                        .kind = CONFIG_TEXT
#define KEY_INTERVAL                    KEY_OWN(config_key_read_interval, config_key_print_interval)
#define KEY_OWN(reader, printer)        .kind = CONFIG_OWN, .read = reader, .print = printer
#define KEY_AT(type, field)             .offset = offsetof(type, field), .size = sizeof(((type *)NULL)->field)

/* Reads a value. 0; or -EINVAL with the error and what would be right, and nothing set. */
int config_key_read(const struct config_key *key, const char *text, void *base,
                    char why[static CONFIG_WHY_MAX]);

/* Writes the value as config_key_read() takes it, numbers in few digits. */
void config_key_print(const struct config_key *key, const void *base, FILE *to);
bool config_key_text(const struct config_key *key, const void *base, char *buf,
                     size_t cap); /* false: no room */

/* Would config_key_read() take it? For values of up to 128 bytes, whose read() sets nothing else. */
int config_key_try(const struct config_key *key, const char *text, char why[static CONFIG_WHY_MAX]);

/* Does the row allow a value that a program has set? 0 or -EINVAL. */
int config_key_check(const struct config_key *key, const void *base, char why[static CONFIG_WHY_MAX]);

/* What would be right: "a whole number from 0 to 4096", the words; "" of text. */
void config_key_right(const struct config_key *key, char *buf, size_t size);

/* A row by its name, of one section (NULL: of any); NULL. */
const struct config_key *config_key_find(const struct config_key *keys, size_t n, const char *section,
                                         const char *name);

/* -EINVAL: a section (NULL: the table) has no such key, with the nearest one or all; _near: the nearest of
 * those that were offered. */
int config_key_unknown_near(const struct nearest *nearest, const char *name, char why[static CONFIG_WHY_MAX]);
int config_key_unknown(const struct config_key *keys, size_t n, const char *section, const char *name,
                       char why[static CONFIG_WHY_MAX]);

/* Sets the rows of a section to their defaults. */
void config_key_defaults(const struct config_key *keys, size_t n, const char *section, void *base);

/* Writes the rows of a section as lines of a file, each after its sentence. */
void config_key_print_section(const struct config_key *keys, size_t n, const char *section, const void *base,
                              FILE *to);

/* Its range for a table: "0 to 4096, whole", the words separated by commas, "text". */
void config_key_range(const struct config_key *key, char *buf, size_t size);

/* Writes a row as an example: its sentence and what would be right, then the line, after `sign` ("#" where it
 * is commented out). */
void config_key_print_example(const struct config_key *key, const void *base, const char *sign, FILE *to);

/* Writes the rows of a section for a manual page: name and value, sentence, what would be right, and more.
 * `base` NULL: the values are the rows' defaults, and left out where that is empty. */
void config_key_man(const struct config_key *keys, size_t n, const char *section, const void *base, FILE *to);

/* After the name of the other one, of two keys for the same thing. */
#define CONFIG_ONE_OF_TWO "is given too: one of the two is right"

/* Writes the sentence, its control characters replaced; returns -EINVAL. */
int config_key_refuse(char *why, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The word's place; -EINVAL, with the nearest word or all. */
int config_key_word(const char *text, const char *words, char why[static CONFIG_WHY_MAX]);

#endif
