/* What `train` and `policy` share: lists that the daemon tells, or, where none runs, the database as it last
 * had them; and the one that a misspelt name was meant to be. */
#ifndef CLI_ANSWER_H
#define CLI_ANSWER_H

#include <jansson.h>
#include <stdbool.h>

#include "cli/control_client.h"
#include "cli/stored.h"

/* What a column shows of a member: a text as it is, whatever the kind; "" for null. */
enum told_kind {
    TOLD_TEXT,
    TOLD_INTEGER,
    TOLD_REAL,  /* of so many decimals */
    TOLD_COUNT, /* "1.2M" in a table */
    TOLD_AGE,   /* of milliseconds */
    TOLD_TIME,  /* of nanoseconds; 0: none */
};

struct told_column {
    const char *name; /* the member's */
    int width;        /* of struct stored_column */
    enum told_kind kind;
    int decimals;
};

/* A list of objects, each with `name`: both of the daemon and of the database. */
struct answer_source {
    const char *cmd;  /* "train_list": answers {KEY: [{NAME: …}]} */
    const char *key;  /* "trainings": schema papertape.trainings/1 */
    const char *name; /* "training": what the daemon calls the name */
    /* Appends the database's to `rows`: 0 or -errno of the reader; -ENOMEM. now_ns: of the wall. */
    int (*read)(struct db_reader *reader, int64_t now_ns, json_t *rows);
    const struct told_column *columns;
    int n_columns;
    /* Sets in a row what columns show that is no member of it, or is shown otherwise. May be NULL. */
    void (*prepare)(enum stored_form form, json_t *row);
};

extern const struct answer_source cli_answer_trainings, cli_answer_policies;

/* Prints that list. An exit status, EXIT_NO_DAEMON where it is the database's. */
int cli_answer_list(const char *verb, const char *state, const struct answer_source *source,
                    enum stored_form form);

/* A copy of an object of the daemon's with `name` for what it calls the name; NULL where it has none. */
json_t *cli_answer_named(const json_t *object, const struct answer_source *source);

/* May it be a training's or a policy's name: letters, digits, - _ and dots, none first, at most 31? EXIT_OK,
 * or EXIT_USAGE with its line. */
int cli_answer_check_name(const char *verb, const char *name);

/* Asks the daemon a question about `name`; takes the arguments. EXIT_OK and its answer, which is the
 * caller's; else an exit status with its line. `first` and `second` (may be NULL) are where a name unknown to
 * it is looked for. */
int cli_answer_ask(const char *verb, const char *state, const char *cmd, const char *name, json_t *args,
                   const struct answer_source *first, const struct answer_source *second,
                   json_t **ret_result);

/* Says why the daemon refused what was asked of `name`: where there is no such, with the nearest of those
 * that are (second may be NULL). */
void cli_answer_refused(const char *verb, const char *state, const char *name,
                        const struct control_error *error, const struct answer_source *first,
                        const struct answer_source *second);

/* An object's values: "", `otherwise` for what is not known. */
const char *cli_answer_text(const json_t *row, const char *key);
int64_t cli_answer_integer_or(const json_t *row, const char *key, int64_t otherwise);

/* Values of the database for such an object: null for none. */
json_t *cli_answer_text_or_null(const char *text);
json_t *cli_answer_ns_or_null(int64_t ns);       /* 0: none */
json_t *cli_answer_count_or_null(int64_t n);     /* below 0: none */
json_t *cli_answer_number_or_null(double value); /* NaN: none */

/* {"schema": SCHEMA, KEY: VALUE} in one line on stdout; takes the value. An exit status. */
int cli_answer_print(const char *verb, const char *schema, const char *key, json_t *value);

#endif
