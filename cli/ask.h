/* What the verbs that talk to the daemon share: the place of its socket, a request, and the text of a
 * failure. */
#ifndef CLI_ASK_H
#define CLI_ASK_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "cli/control_client.h"
#include "record/option.h"

/* Prints `papertape: VERB: WORDS` for a wrong command line; returns EXIT_USAGE. */
int cli_ask_usage(const char *verb, const char *words);

/* Sends a request to the daemon of that state directory (NULL: the usual one) and waits. EXIT_OK and the
 * result, which is the caller's; or an exit status, the reason on stderr: EXIT_NO_DAEMON without a daemon,
 * EXIT_ERROR when it refused or did not answer. Takes `args`, which may be NULL. */
int cli_ask_daemon(const char *verb, const char *state, const char *cmd, json_t *args, json_t **ret_result);

/* A line's request (option_line()): the program sends it itself. The first run of the line gives the command
 * and its arguments, `args` the caller's; a second one, with `reply`, prints what the verb says of it. */
struct ask_line {
    char cmd[32];
    json_t *args;
    const json_t *reply; /* NULL: the first run */
};
enum { ASK_LINE_FIRST = -1 }; /* what the first run returns, once it has the request */

/* As cli_ask_daemon(), of the call's verb; of a line as above. */
int cli_ask_call(struct option_call *call, const char *cmd, json_t *args, json_t **ret_result);

/* A number by which something is named: a whole one from 1 on. False: the text is none. */
bool cli_ask_id(const char *text, json_int_t *ret);

/* Options that are arguments of the daemon's command under their own names, "--client-id" as client_id: a
 * verb's `size`, `init`, `finish` and its rows' `take`. The daemon checks their values. */
struct ask_args {
    json_t *args;
    json_t *options; /* which option an argument is of, where its row does not say: "stop_loss.stop" */
};
void cli_ask_args_init(void *into);
void cli_ask_args_finish(void *into);
int cli_ask_args_take(struct option_call *call, const struct option_row *row, const char *value);
#define ASK_ARGS .size = sizeof(struct ask_args), .init = cli_ask_args_init, .finish = cli_ask_args_finish

/* Puts a text; it must be UTF-8: EXIT_OK, or EXIT_USAGE with its line. */
int cli_ask_args_put(struct option_call *call, const char *key, const char *text);

/* Notes that what is sent as that argument is of the option which takes `from`. */
void cli_ask_args_moved(const struct option_call *call, const char *from, const char *argument);

/* Sends the arguments, which are used up. EXIT_OK and the result, the caller's; else an exit status and its
 * line, in which the daemon's args.NAME are the options that were typed. */
int cli_ask_args_send(struct option_call *call, const char *cmd, json_t **ret_result);
/* The same in two steps: without printing; and the daemon's args.NAME as options. */
int cli_ask_args_send_quietly(struct option_call *call, const char *cmd, json_t **ret_result,
                              struct control_error *ret_error);
void cli_ask_as_options(const struct option_call *call, struct control_error *error);

/* A failure, as cli_ask_say(); of a line too. */
void cli_ask_call_say(const struct option_call *call, const struct control_error *error);

/* {"schema": SCHEMA, …} in one line on stdout: an answer, which it takes. An exit status. */
int cli_ask_print(const struct option_call *call, const char *schema, json_t *answer);

/* Finishes a request: with EXIT_OK prints the answer, which it takes, as JSON with --json, else by print().
 * An exit status. */
int cli_ask_done(const struct option_call *call, int status, const char *schema, json_t *answer,
                 void (*print)(const struct option_call *call, const json_t *answer));

/* The same in two steps: the request, without printing; and the text of a failure. */
int cli_ask_quietly(const char *state, const char *cmd, json_t *args, json_t **ret_result,
                    struct control_error *ret_error);
/* The whole answer, the caller's, also of a daemon that refuses: EXIT_OK; or an exit status and the failure.
 */
int cli_ask_reply(const char *state, const char *cmd, json_t *args, int timeout_ms, json_t **ret_reply,
                  struct control_error *ret_error);
void cli_ask_say(const char *verb, const struct control_error *error);

/* A line on `out` for each order of an answer that waits for its market: "order 9 waits for the open,
 * 2025-11-28 09:30 New York (14:30Z), until 13:00"; and for each that its venue gets with another time in
 * force: "order 9 is sent as GTC, and …". A dry run's has no number. */
void cli_ask_print_notes(FILE *out, const json_t *result);

#endif
