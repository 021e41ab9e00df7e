/* `papertape doctor`: the checks of checks.h, each in a process of its own, at the same time: a driver that
 * hangs or a library that crashes costs one check. They write nothing but a scratch file without a name. */
#ifndef CLI_DOCTOR_DOCTOR_H
#define CLI_DOCTOR_DOCTOR_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/doctor/checks.h"
#include "cli/service.h"
#include "daemon/config_load.h"
#include "db/state.h"

enum {
    DOCTOR_TEXT_MAX = 768,
    DOCTOR_LIMIT_MS = 7000, /* of a check; it is ended then */
    DOCTOR_VENUE_MS = 5000, /* of a venue's answer */
    DOCTOR_READ_MS = 3000,  /* of reading the database, and the event log */
};

enum doctor_state {
    DOCTOR_OK,
    DOCTOR_WARNING,
    DOCTOR_ERROR,
    DOCTOR_SKIPPED, /* it could not be made, for a reason that is no fault or that another check names */
};

#define DOCTOR_LISTED(name, needs, words, late) DOCTOR_##name,
enum doctor_check_name { DOCTOR_CHECKS(DOCTOR_LISTED) DOCTOR_N };
_Static_assert(DOCTOR_N < 32, "a bit of 32 each");

/* The verb's options. */
struct doctor_args {
    struct daemon_config_given given;
    bool offline;
};

/* What the checks know, found once before they start. Nothing of it changes after that. */
struct doctor {
    struct state_dir state;
    bool offline;
    struct cli_service service; /* of that state */

    struct daemon_config_given asked; /* this call's options: a file that may be installed later */
    struct daemon_config_given given; /* the configuration's file and the options that replace its keys */
    const char *config_from;          /* in words, where `given` is from: "the daemon's command line", … */
    struct daemon_config *config;
    bool config_good;
    char config_errors[CONFIG_ERRORS_MAX]; /* "FILE:LINE: …" a line each; "": good */

    pid_t holder;     /* of the lock; 0: no process */
    json_t *status;   /* the daemon's; NULL: no daemon answers */
    int status_errno; /* why there is none, -errno of cli_control_call(); of both sockets, if they deny it */
    char status_words[320];
};

/* Finds all that: EXIT_OK, or an exit status after its line on stderr (no state directory can be named). */
struct option_call;
int cli_doctor_find(struct option_call *call, struct doctor *ret);
void cli_doctor_forget(struct doctor *doctor);

/* Does a control socket that answered so deny this user? */
bool cli_doctor_denied(int r);
/* Or is a process there that does not answer, as one that hangs? A user who may not open the lock knows of it
 * by this alone. */
bool cli_doctor_silent(int r);

/* A check's results, in the order in which they are added. */
struct doctor_results {
    json_t *list; /* {"name":…,"state":…,"text":…,"remedy":…} each */
    const char *name;
};

/* Adds one. The text is a sentence that says what was found; characters that could control a terminal are
 * replaced, and it is cut at DOCTOR_TEXT_MAX. */
__attribute__((format(printf, 3, 4))) void cli_doctor_add(struct doctor_results *results,
                                                          enum doctor_state state, const char *format, ...);
/* What would cure the last result: a command where there is one. */
__attribute__((format(printf, 2, 3))) void cli_doctor_remedy(struct doctor_results *results,
                                                             const char *format, ...);

/* A path as a shell takes it, in quotes where it needs them: for remedies. Returns ret. */
enum { DOCTOR_QUOTED_MAX = 2 * STATE_PATH_MAX };
const char *cli_doctor_quote(const char *path, char ret[static DOCTOR_QUOTED_MAX]);
#define DOCTOR_QUOTE(path) cli_doctor_quote(path, (char[DOCTOR_QUOTED_MAX]){0})

/* Makes the checks whose bits are set: a list of results, in the order of checks.h. NULL without memory. */
json_t *cli_doctor_run(const struct doctor *doctor, uint32_t wanted);

/* What a bug report needs: versions, kernel, processor. No secret, no path of the user's. NULL without
 * memory. */
json_t *cli_doctor_system(const struct doctor *doctor);

/* For people, on stdout. */
void cli_doctor_print(const json_t *system, const json_t *results);
const char *cli_doctor_state_name(enum doctor_state state);

/* The checks. Each runs alone in its process, which ends by _exit(): memory, loops and descriptors need not
 * be freed. */
struct doctor_check {
    const char *name;
    unsigned needs;
    const char *words, *late;
    void (*make)(const struct doctor *doctor, struct doctor_results *results);
};
extern const struct doctor_check cli_doctor_checks[DOCTOR_N];

#define DOCTOR_DECLARED(name, needs, words, late) \
    void cli_doctor_##name(const struct doctor *doctor, struct doctor_results *results);
DOCTOR_CHECKS(DOCTOR_DECLARED)
#undef DOCTOR_DECLARED

#endif
