/* A configuration's text (INI) as rows of which single values are changed. What is not changed comes out
 * unchanged, to the byte. Knows neither screens nor daemons.
 *
 * A line of the text is a row. `rows[at]` are the form's: read them, and change them by the functions
 * below. */
#ifndef TUI_FORM_H
#define TUI_FORM_H

#include <stdbool.h>
#include <stddef.h>

#include "tui/form_parts.h"

enum {
    FORM_TEXT_MAX = 60000, /* bytes: more would not go through the control socket in one line */
    FORM_ROWS_MAX = 4096,
};

/* A key that a configuration may have. */
struct form_known {
    char section[24], key[40], value[64]; /* value: what holds where it is left out, cut if need be */
    char about[FORM_WORDS_MAX];           /* what it is, and what it may be */
    int group;       /* keys of sections of one group may be in any of them; each of them in one place */
    bool may_change; /* by a training that continues from a checkpoint */
};

struct form_row {
    enum form_kind kind;
    char *line;    /* as it is now, without the newline; owned */
    char *was;     /* as it came, owned; NULL where it is unchanged or was added */
    bool added;    /* here */
    bool left_out; /* of the text that the form makes */
    int sent;      /* its number, from 1, in the text that was last checked; 0: it was not in it */
    char *error;   /* that the check found, owned; NULL */
};

struct form {
    struct form_row *rows;
    size_t n, cap;
    bool newline;       /* the text ends with one */
    bool carriage;      /* its lines end with CR LF */
    char *other_errors; /* that belong to no row, a sentence on each line, owned; NULL */
    int errors;         /* that the last check found; -1: there was no check */
    bool changed;       /* since that check */
    const struct form_known *known;
    size_t n_known;
};

/* Reads the text. `known` stays the caller's and must outlive the form. 0, -ENOMEM, or -EFBIG for a text of
 * more than FORM_TEXT_MAX bytes or FORM_ROWS_MAX lines. */
int tui_form_init(struct form *form, const char *text, const struct form_known *known, size_t n_known);
void tui_form_finish(struct form *form);

/* The text as it is now, for free(); NULL without memory. */
char *tui_form_text(const struct form *form);

/* How many rows differ from what came: changed, added, left out. */
int tui_form_changes(const struct form *form);

/* The row's line split into its parts, which point into it. */
struct form_parts tui_form_parts(const struct form *form, size_t row);

/* The row's section, into `buf`, "" before the first. */
void tui_form_section(const struct form *form, size_t row, char *buf, size_t size);

/* The known key that the row is, or NULL. */
const struct form_known *tui_form_row_known(const struct form *form, size_t row);

/* The comment lines that stand right above the row, without their signs, as one line of text in `buf`. */
void tui_form_above(const struct form *form, size_t row, char *buf, size_t size);

/* Gives a key another value, or the row of an error another text. 0; -EINVAL with a sentence in `words` for
 * one that would not be read back as it is; -ENOMEM. The value that it came with makes it unchanged again. */
int tui_form_set(struct form *form, size_t row, const char *value, char words[static FORM_WORDS_MAX]);

/* Leaves a key out of the text, so that its default holds. */
void tui_form_leave_out(struct form *form, size_t row);

/* Restores a row; one that was added is removed, with a section that was added for it. */
void tui_form_undo(struct form *form, size_t row);

/* The known keys that the text has not, in their order: those whose "section.key" has `filter` in it. Returns
 * how many; writes at most `cap` indices into `known`. */
size_t tui_form_missing(const struct form *form, const char *filter, size_t *ret, size_t cap);

/* Adds a known key with its default at the end of its section, which is made if need be. Returns its row, or
 * -ENOMEM, -EFBIG. One that was left out comes back as it was. */
long tui_form_add(struct form *form, size_t known);

/* Changes of `from` in another configuration of the same keys: the values that differ, keys that were added
 * or left out, each found by its section and name. Other differences between the two stay. 0; -EINVAL with
 * a sentence in `words`: what was changed is no key; -ENOMEM, -EFBIG likewise. After an error `to` has some
 * of them. */
int tui_form_carry(const struct form *from, struct form *to, char words[static FORM_WORDS_MAX]);

/* The text is sent for a check: the numbers of its lines are kept. */
void tui_form_keep_lines(struct form *form);

/* The check's answer: tui_form_errors_begin(), then each error. Errors stay with the row that had that
 * number when the text was sent, wherever it is by now, until the next answer. Line 0: of none; then the
 * key's row if there is one. */
void tui_form_errors_begin(struct form *form);
void tui_form_error(struct form *form, int line, const char *section, const char *key, const char *message);

/* The keys that a training's configuration may have, of the trainer that was built with this program
 * (form_known.c): all of them in the order of a file, with their defaults. Made at the first call, for the
 * whole run; NULL and *ret_n 0 without memory. */
const struct form_known *tui_form_known_keys(size_t *ret_n);

#endif
