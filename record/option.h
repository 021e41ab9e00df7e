/* Command lines, described once. A program is a list of verbs, a verb has options and functions; parsing,
 * --help and `PROGRAM help`, manual pages and completion are derived from these rows. How to add one:
 * docs/overview.md. */
#ifndef RECORD_OPTION_H
#define RECORD_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct config_key;
struct option_call;

/* An option. Its value is stored in a struct of the verb's own, which is zeroed at the start. */
struct option_row {
    const char *name; /* without its dashes, '_' is '-'; NULL: `words` is a heading */
    /* "P"; NULL: a flag. Words with "|" between: one of these, which is checked. "F...": every word up to the
     * next option, one call of `take` each. */
    const char *argument;
    const char *words; /* its description; NULL: the key's sentence, range and default */
    size_t at;         /* in that struct: a const char *, of a flag a bool */
    /* Instead of `at`: takes the value (NULL of a flag), in the order of the line. EXIT_OK, or an exit status
     * with its line on stderr. */
    int (*take)(struct option_call *call, const struct option_row *row, const char *value);
    const char *of;  /* the actions that take it, separated by blanks; NULL: all */
    const char *arg; /* the argument's name in the sent command; NULL: the option's own */
    char letter;     /* 'o': -o is the same; 0 */
    /* With high > low: the value is a whole number in that range, and `at` an int64_t's or uint64_t's;
     * `take` is called after. */
    long long low;
    unsigned long long high;
    /* The value is read as this key of that struct, where there is no `take`. */
    const struct config_key *key;
    const char *with; /* the option without which it is refused; NULL: none */
    /* Names of options, separated by blanks. `without`: those that contradict it or that it has no use for.
     * `only`: the only other options of the verb that it allows. NULL: none; all. */
    const char *without, *only;
    const char *after; /* the option with an earlier time: both are int64_t; NULL */
};

/* The rows common to all programs. */
#define OPTION_HELP \
    { \
        "help", NULL, "this text", offsetof(struct option_call, help), .letter = 'h' \
    }
#define OPTION_VERSION \
    { \
        "version", NULL, "the version", offsetof(struct option_call, version), .letter = 'V' \
    }

enum option_need {
    OPTION_NEEDS_NOTHING,
    OPTION_NEEDS_STATE,  /* a state directory's database or log */
    OPTION_NEEDS_DAEMON, /* a running one */
    OPTION_NEEDS_NOW,    /* the same, unless its option --at names a past moment */
    OPTION_NEEDS_EITHER, /* without a daemon the stored data is shown, with exit status 3 */
};

/* An action of a verb. A verb that does one thing has one action without a name. */
struct option_action {
    const char *name; /* the word after the verb; "stop|resume" for two */
    const char
        *arguments;      /* "SYMBOL QTY", "[SYMBOL]", "FILE..."; NULL: none. Completion goes by these names */
    const char *words;   /* its description; NULL for one without a name */
    const char *example; /* its arguments, in the refusal of a line that lacks them; NULL */
    enum option_need need;
    bool bare; /* the word "list" may be left out */
    bool csv;  /* it also takes --csv */
    bool acts; /* it changes what the daemon does, in one request of it (cli/ask.h) */
    int (*run)(struct option_call *call);
    /* The required options, their names separated by blanks: "at|seq" is one of the two, "at,seq" one or
     * both; "*" stands for the arguments, which are then in brackets. NULL: none. */
    const char *needed;
};

/* An option that a verb does not take though others of its kind do: `why` is the refusal's sentence. */
struct option_refusal {
    const char *name, *why;
};

struct option_verb {
    const char *name;  /* NULL: of a program without verbs, or its action without one */
    const char *words; /* a line, for lists of verbs */
    const char *about; /* paragraphs, '\n' between */
    const char *exits; /* "1 also for a difference"; NULL */
    const char *page;  /* papertape-PAGE(1) describes it; NULL: the program's own page */
    const struct option_action *actions;
    size_t n_actions;
    const struct option_row *options;
    size_t n_options;
    const struct option_row *shared; /* of several verbs, whose structs have the same beginning */
    size_t n_shared;
    const struct option_refusal *refused; /* in no help */
    size_t n_refused;
    size_t size;                /* of the struct that rows set; 0: none */
    void (*init)(void *into);   /* values other than zero; NULL */
    void (*finish)(void *into); /* frees what `take` allocated; NULL */
};

#define OPTION_LISTS .bare = true, .csv = true

/* A verb's rows, from arrays. */
#define OPTION_ACTIONS(rows) .actions = (rows), .n_actions = sizeof(rows) / sizeof *(rows)
#define OPTION_OPTIONS(rows) .options = (rows), .n_options = sizeof(rows) / sizeof *(rows)
#define OPTION_REFUSED(rows) .refused = (rows), .n_refused = sizeof(rows) / sizeof *(rows)
#define OPTION_SHARED(rows)  .shared = (rows), .n_shared = sizeof(rows) / sizeof *(rows)

struct option_program {
    const char *name, *version, *about;
    const struct option_verb *bare;         /* without a verb; NULL: one is required */
    const struct option_verb *const *verbs; /* in alphabetical order */
    size_t n_verbs;
    const struct option_row *global; /* of all verbs, before or after them; `at` is in struct option_call */
    size_t n_global;
    /* Prints a line on stderr, which may contain the user's input; NULL: plainly. */
    void (*say)(const char *line);
    /* Calls offer() with each existing name of that kind of argument ("SYMBOL", for "KEY=VALUE" "KEY"): the
     * call has the state and, as arguments, the words before. NULL. */
    void (*names)(const char *kind, const struct option_call *call, void *ctx,
                  void (*offer)(void *ctx, const char *name));
    bool lines; /* its lines are option_line()'s: completion offers what acts alone */
};

/* A line that was parsed. */
struct option_call {
    const struct option_program *program;
    const struct option_verb *verb;
    const struct option_action *action;
    const char *word; /* of the action, as it was typed; "" without one */
    char **arguments; /* n of them, and NULL */
    int n;
    void *into;
    const char *state; /* --state; NULL */
    bool json, csv;
    bool help, version;
    FILE *out; /* what an action that acts prints; stdout */
    /* Of a line of option_line(): the program's own, for its verbs; NULL: they do what they do from a shell.
     */
    void *asking;
};

enum { OPTION_ERROR_MAX = 1024, OPTION_ROWS_MAX = 96 };

/* Runs the program: returns its exit status. stdout is flushed. */
int option_main(const struct option_program *program, int argc, char **argv);

/* One of its verbs, with argv[0] its name: what option_main() does once it has found it. */
int option_run(const struct option_program *program, const struct option_verb *verb, int argc, char **argv);

/* Prints "PROGRAM: VERB: …" on stderr and returns `status`. */
__attribute__((format(printf, 3, 4))) int option_fail(const struct option_call *call, int status,
                                                      const char *format, ...);

/* A line that is typed within the running program: n words, the first of them a verb. Actions that do not act
 * are refused. What an action prints goes to `out`. An exit status, or what the action returned. */
int option_line(const struct option_program *program, int n, char **words, FILE *out, void *asking);

enum { OPTION_LINE_MAX = 4096, OPTION_LINE_WORDS = 256 };
/* Divides a line into words at blanks; "…" and '…' hold a word together. Their number; -1: a quote is open,
 * there are more than OPTION_LINE_WORDS, or the line is longer than OPTION_LINE_MAX - 1. `ret` ends with
 * NULL, and points into `text`. *ret_from: where in the line the last word begins, the line's end after a
 * blank; NULL: not wanted. */
int option_line_words(const char *line, char text[static OPTION_LINE_MAX],
                      char *ret[static OPTION_LINE_WORDS + 1], size_t *ret_from);

/* ---- the parts ---- */

/* Reads the n words after the verb; call has program, verb and into. Words after options are moved to the
 * front of argv. EXIT_OK; or EXIT_USAGE, err: what, where, what would be right. */
int option_parse(struct option_call *call, int n, char **argv, char err[static OPTION_ERROR_MAX]);

/* The index of the first word that is no option and no option's value, n without one; *ret_known (or NULL):
 * the options before it are of the program. */
int option_first_word(const struct option_program *program, int n, char **argv, bool *ret_known);

/* Row i of all that a verb takes: its own, shared, global ones; NULL past the last. */
const struct option_row *option_row(const struct option_program *program, const struct option_verb *verb,
                                    size_t i);
const struct option_verb *option_find_verb(const struct option_program *program, const char *name);
const struct option_action *option_find_action(const struct option_verb *verb, const char *word);
bool option_row_is_of(const struct option_row *row, const struct option_action *action);

/* Is `word` one of `words`, which are separated by `between`? */
bool option_is_one_of(const char *words, char between, const char *word);

/* verb NULL: the program's own help. */
void option_help(const struct option_program *program, const struct option_verb *verb, FILE *out);

/* The manual page of that name in roff: all verbs whose `page` it is. For the program's own name the section
 * OPTIONS of its page (record/man_page.sh): all that has no other page. False: there is none. */
bool option_man(const struct option_program *program, const char *page, FILE *out);

/* Candidates for the last of n words after the program's name, one a line, "WORD\tDESCRIPTION"; none where a
 * file is expected. */
void option_complete(const struct option_program *program, int n, char **words, FILE *out);

/* The script that requests them: "bash", "zsh" or "fish". False: another shell. */
bool option_completion_script(const struct option_program *program, const char *shell, FILE *out);

#endif
