/* Shared by help and manual pages. */
#ifndef RECORD_OPTION_TEXT_H
#define RECORD_OPTION_TEXT_H

#include "record/option.h"

enum { OPTION_TERM_MAX = 96, OPTION_WORDS_MAX = 640 };

/* "0 ok, 1 error, ...", the program's possible statuses; of a verb: 4 only for a program without verbs. */
const char *option_exits(const struct option_program *program, bool of_verb);

/* "-o, --output F". */
const char *option_term(const struct option_row *row, char ret[static OPTION_TERM_MAX]);

/* An option's description; of a key with range and default, in `ret`. */
const char *option_words(const struct option_row *row, char ret[static OPTION_WORDS_MAX]);

/* "papertape order cancel ID [--key K]", the caller's to free; NULL without memory. */
char *option_synopsis(const struct option_program *program, const struct option_verb *verb,
                      const struct option_action *action);

/* An action's description and requirements; the caller's to free; NULL without memory. */
char *option_does(const struct option_action *action);

/* The option of a word, "--NAME", "--NAME=VALUE", "-N", "-NVALUE": *ret_value the value in the word itself,
 * or NULL. NULL: a word without dashes, or no option of that verb. */
const struct option_row *option_of_word(const struct option_call *call, const char *word,
                                        const char **ret_value, size_t *ret_at);
/* By its whole name of `len` characters; NULL. */
const struct option_row *option_find_long(const struct option_call *call, const char *name, size_t len,
                                          size_t *ret_at);
/* The options of a group in an action's `needed`, "--at T|--seq N" with `between` for the bar. */
void option_group(const struct option_call *call, const char *group, const char *between,
                  char ret[static OPTION_WORDS_MAX]);
/* Is it in the action's `needed`? "*": the arguments. */
bool option_is_needed(const struct option_action *action, const char *name);
/* Does it look like an option? A number below zero does not. */
bool option_is_dashed(const char *word);
/* "F...", which takes several words. */
bool option_takes_many(const struct option_row *row);

/* A text in roff, and an entry: a term with its words below. */
void option_man_text(FILE *out, const char *text);
void option_man_entry(FILE *out, const char *term, const char *words);

/* The row of --csv, which only listing actions take; NULL. */
const struct option_row *option_csv_row(const struct option_program *program);

#endif
