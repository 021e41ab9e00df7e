/* What `train` and `policy` share: lists that the daemon tells, or, where none runs, the database as it last
 * had them; and the one that a misspelt name was meant to be. */
#ifndef CLI_TOLD_H
#define CLI_TOLD_H

#include <jansson.h>
#include <stdbool.h>

#include "cli/control_client.h"
#include "cli/stored.h"

/* A list of objects, each with `name`: both of the daemon and of the database. */
struct told_source {
    const char *cmd;  /* "train_list": answers {KEY: [{NAME: …}]} */
    const char *key;  /* "trainings" */
    const char *name; /* "training": what the daemon calls the name */
    /* Appends the database's to `rows`: 0 or -errno of the reader; -ENOMEM. now_ns: of the wall. */
    int (*read)(struct db_reader *reader, int64_t now_ns, json_t *rows);
};

extern const struct told_source told_trainings, told_policies;

/* Prints that list in the form of `list`: `row` prints one as a line of it, `schema` is the JSON's. An exit
 * status, EXIT_NO_DAEMON where it is the database's. */
int told_list(const char *verb, const char *schema, const char *state, const struct told_source *source,
              struct stored_list *list, void (*row)(struct stored_list *list, const json_t *row));

/* A copy of an object of the daemon's with `name` for what it calls the name; NULL where it has none. */
json_t *told_named(const json_t *object, const struct told_source *source);

/* May it be a training's or a policy's name: letters, digits, - _ and dots, none first, at most 31? EXIT_OK,
 * or EXIT_USAGE with its line. */
int told_check_name(const char *verb, const char *name);

/* Asks the daemon a question about `name`; takes the arguments. EXIT_OK and its answer, which is the
 * caller's; else an exit status with its line. `first` and `second` (may be NULL) are where a name unknown to
 * it is looked for. */
int told_ask(const char *verb, const char *state, const char *cmd, const char *name, json_t *args,
             const struct told_source *first, const struct told_source *second, json_t **ret_result);

/* Says why the daemon refused what was asked of `name`: where there is no such, with the nearest of those
 * that are (second may be NULL). */
void told_refused(const char *verb, const char *state, const char *name, const struct control_error *error,
                  const struct told_source *first, const struct told_source *second);

/* An object's values as texts: "" for what is not known. buf[STORED_CELL] where they are made. */
const char *told_text(const json_t *row, const char *key);
int64_t told_integer_or(const json_t *row, const char *key, int64_t otherwise);
const char *told_integer(char *buf, const json_t *row, const char *key);
const char *told_real(char *buf, const json_t *row, const char *key, int decimals);
const char *told_count(enum stored_form form, char *buf, const json_t *row,
                       const char *key); /* "1.2M" in a table */
const char *told_age(enum stored_form form, char *buf, const json_t *row,
                     const char *key); /* of milliseconds */
const char *told_time(enum stored_form form, char *buf, const json_t *row, const char *key);

/* Values of the database for such an object: null for none. */
json_t *told_text_or_null(const char *text);
json_t *told_ns_or_null(int64_t ns);       /* 0: none */
json_t *told_count_or_null(int64_t n);     /* below 0: none */
json_t *told_number_or_null(double value); /* NaN: none */

/* {"schema": SCHEMA, KEY: VALUE} in one line on stdout; takes the value. An exit status. */
int told_print(const char *verb, const char *schema, const char *key, json_t *value);

#endif
