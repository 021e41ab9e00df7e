/* What a promotion or a retirement changes: pure rules over the table of policies. docs/policies.md, "The
 * arena". */
#ifndef DAEMON_ARENA_STEP_H
#define DAEMON_ARENA_STEP_H

#include <stdbool.h>

#include "db/row.h"

#define ARENA_CHAMPION DB_CHAMPION_ACCOUNT /* no policy's name */

enum {
    ARENA_PATH_MAX = 4096,
    ARENA_REASON_MAX = 512,
    ARENA_PROPOSAL_MAX = 128,
};

/* A row of `policies`. */
struct arena_row {
    char name[ACCOUNT_NAME_MAX], account[ACCOUNT_NAME_MAX];
    char training[ACCOUNT_NAME_MAX]; /* that made it; "": a file was given */
    char path[ARENA_PATH_MAX], reason[ARENA_REASON_MAX];
    enum db_policy_role role;
    uint8_t id[POLICY_ID_SIZE];
    char proposal[ARENA_PROPOSAL_MAX]; /* STUDY/TRIAL that it came by; "": by hand */
    int64_t since_ns;                  /* in that role */
    int64_t judged_ns;                 /* from when on its days count */
    int64_t expires_ns;                /* when it retires; 0: never */
};

enum arena_step {
    ARENA_CHALLENGE, /* a new one, or one that had retired: it trades on its own account */
    ARENA_CROWN,     /* a challenger becomes the champion, with what it trades by */
    ARENA_SWAP,      /* it keeps its role and trades by another file from now on */
    ARENA_RETIRE,
};

/* The step of a promotion of what has this row (NULL: none yet), with a file that was named, or without. */
enum arena_step arena_promotion(const struct arena_row *row, bool path_given);

/* Why a promotion that is to lead to the role `to` may not be carried out, in one sentence; NULL: it may.
 * *ret_code: EALREADY where it has that role already and the step would lead to another, else EINVAL. */
const char *arena_wrong_role(enum arena_step step, const struct arena_row *row, enum db_policy_role to,
                             const char **ret_code);

bool arena_step_needs_file(enum arena_step step);

/* The rows that the step changes, [2], and on how many accounts of `ret_accounts` [2] policies change: its
 * own, the champion's. `champion` is that account's row now, NULL without; `next` the row as it will be
 * except role, since_ns, judged_ns and reason; `reason`: why, NULL: by command. Returns how many rows;
 * where two, the first loses its role. Days are counted again from the start for what is new, for a file
 * that does not come from the same study's next proposal in its challenger's slot, and for a champion that
 * was replaced. */
int arena_take_step(enum arena_step step, const struct arena_row *row, const struct arena_row *champion,
                    const struct arena_row *next, const char *reason, int64_t now_ns,
                    struct arena_row ret[static 2], const char *ret_accounts[static 2], int *ret_n_accounts);

/* The name under which a study's next policy is added: the slot of its challenger, else its own name, else
 * NAME.2; NULL: others have both. Never the champion's, which is not replaced untested, nor that of a
 * policy that a person or another study promoted. `row`, `second`: the rows with these names now, NULL:
 * none. */
void arena_second_name(const char *name, char ret[static ACCOUNT_NAME_MAX]);
const char *arena_slot_for(const char *name, const struct arena_row *row, const char *second_name,
                           const struct arena_row *second);

/* Why no policy can have that name; NULL: one can. */
const char *arena_name_refusal(const char *name);

#endif
