/* What `train` and `policy` share: lists from the daemon, or, where no daemon runs, from the database as it
 * last had them; and suggestions for misspelt names. */
#ifndef CLI_ANSWER_H
#define CLI_ANSWER_H

#include <jansson.h>
#include <stdbool.h>

#include "cli/control_client.h"
#include "cli/selected.h"

/* Objects as they are read. */
struct answer_reading {
    json_t *rows;
    int64_t now_ns; /* of the wall, or the moment that is asked for */
    bool past;      /* it is that */
    int r;          /* -ENOMEM once one could not be kept */
};

/* A list of objects, each with `name`: both of the daemon and of the database. */
struct answer_source {
    const char *cmd;  /* "train_list": answers {KEY: [{NAME: …}]} */
    const char *key;  /* "trainings": schema papertape.trainings/1 */
    const char *name; /* "training": what the daemon calls the name */
    /* Hands the database's to cli_answer_take(): 0 or -errno of the reader. */
    int (*read)(struct db_reader *reader, struct answer_reading *reading);
    const struct stored_column *columns;
    int n_columns;
    /* Sets members of a row that its columns show and that it lacks, or shows differently. May be NULL. */
    void (*prepare)(enum stored_form form, json_t *row);
    const char *time; /* the member that has a row's time, nanoseconds; NULL: it is in no period */
};

extern const struct answer_source cli_answer_trainings, cli_answer_policies;

/* Prints that list, of it what is selected (NULL: all; an account is the member `account`). An exit status,
 * EXIT_NO_DAEMON where it is the database's without being asked for a past moment. */
int cli_answer_list(const char *verb, const char *state, const struct answer_source *source,
                    const struct db_selection *selection, enum stored_form form);

/* A copy of an object of the daemon's with `name` for what it calls the name; NULL where it has none. */
json_t *cli_answer_named(const json_t *object, const struct answer_source *source);

/* Appends an object, which it takes. */
void cli_answer_take(struct answer_reading *reading, json_t *object);

/* Sends the call's arguments (cli/ask.h) as a request about its first word, `name`. EXIT_OK and the answer,
 * which is the caller's; else an exit status with its line. `first` and `second` (may be NULL) are where a
 * name unknown to the daemon is searched. */
int cli_answer_ask(struct option_call *call, const char *cmd, const struct answer_source *first,
                   const struct answer_source *second, json_t **ret_result);

/* Reports why the daemon refused a request about `name`: where there is no such name, with the nearest one
 * that exists. */
void cli_answer_refused(const struct option_call *call, const char *name, const struct control_error *error,
                        const struct answer_source *first, const struct answer_source *second);

/* Prints an answer's list of texts, a line each, or as {"schema": SCHEMA, KEY: [...]}. An exit status. */
int cli_answer_lines(const struct option_call *call, const json_t *result, const char *schema,
                     const char *key);

/* An object's values: "", `otherwise` for what is not known. */
const char *cli_answer_text(const json_t *row, const char *key);
int64_t cli_answer_integer_or(const json_t *row, const char *key, int64_t otherwise);

/* Replaces those of the named values that stand for "none" by null: "", below 0, of a time 0. */
void cli_answer_clear_none(json_t *object, const char *const *names, size_t n);

/* {"schema": SCHEMA, KEY: VALUE} in one line on stdout; takes the value. An exit status. */
int cli_answer_print(const char *verb, const char *schema, const char *key, json_t *value);

/* ---- a training's configuration file on its way to the daemon ---- */

/* The file's text as a JSON string that fits into one line of the control socket; NULL with its line on
 * stderr. */
json_t *cli_train_config_read(const char *path);

/* Sends it for a check and prints each error on stderr as `papertape: train: FILE:LINE: [section] key:
 * why`. EXIT_OK for a good one, EXIT_ERROR for errors, another exit status with its line where there was no
 * answer. With `json` the errors are one line on stdout instead, papertape.training-check/1. */
int cli_train_config_check(const char *state, const char *path, json_t *text, bool json);
/* Prints on stderr what an answer warns of: copies that a device has no room for; nothing where it does not.
 */
void cli_train_config_warn(const char *of, const json_t *answer);

#endif
