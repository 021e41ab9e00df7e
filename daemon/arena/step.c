#include "daemon/arena/step.h"

#include <stdio.h>
#include <string.h>

#include "daemon/config_keys.h"

enum arena_step arena_promotion(const struct arena_row *row, bool path_given)
{
    if (!row || row->role == DB_POLICY_RETIRED)
        return ARENA_CHALLENGE;
    return row->role == DB_POLICY_CHALLENGER && !path_given ? ARENA_CROWN : ARENA_SWAP;
}

const char *arena_wrong_role(enum arena_step step, const struct arena_row *row, enum db_policy_role to,
                             const char **ret_code)
{
    enum db_policy_role has = row ? row->role : DB_POLICY_RETIRED;
    enum db_policy_role after = step == ARENA_CROWN  ? DB_POLICY_CHAMPION
                                : step == ARENA_SWAP ? has
                                                     : DB_POLICY_CHALLENGER;
    *ret_code = has == to ? "EALREADY" : "EINVAL";
    if (after == to)
        return NULL;
    if (has == to)
        return "is a challenger already: its next step is champion";
    if (to == DB_POLICY_CHALLENGER)
        return "is the champion: it is a challenger again once another is promoted";
    return has == DB_POLICY_CHALLENGER
               ? "stays a challenger with args.path: champion is a step of its own, without it"
               : "is no challenger yet, which comes before champion";
}

bool arena_step_needs_file(enum arena_step step)
{
    return step == ARENA_CHALLENGE || step == ARENA_SWAP;
}

static int64_t judged_from(enum arena_step step, const struct arena_row *row, const struct arena_row *next,
                           int64_t now_ns)
{
    bool follows =
        step == ARENA_SWAP && row->role == DB_POLICY_CHALLENGER && row->proposal[0] && next->proposal[0];
    return follows || step == ARENA_CROWN || step == ARENA_RETIRE ? row->judged_ns : now_ns;
}

int arena_take_step(enum arena_step step, const struct arena_row *row, const struct arena_row *champion,
                    const struct arena_row *next, const char *reason, int64_t now_ns,
                    struct arena_row ret[static 2], const char *ret_accounts[static 2], int *ret_n_accounts)
{
    static const enum db_policy_role roles[] = {[ARENA_CHALLENGE] = DB_POLICY_CHALLENGER,
                                                [ARENA_CROWN] = DB_POLICY_CHAMPION,
                                                [ARENA_RETIRE] = DB_POLICY_RETIRED};
    bool has_crown = row && row->role == DB_POLICY_CHAMPION;
    struct arena_row after = *next;
    int n = 0;
    after.role = step == ARENA_SWAP ? row->role : roles[step];
    after.since_ns = step == ARENA_SWAP ? row->since_ns : now_ns;
    after.judged_ns = judged_from(step, row, next, now_ns);
    if (step == ARENA_RETIRE)
        after.expires_ns = 0;
    snprintf(after.reason, sizeof after.reason, "%s",
             reason                 ? reason
             : step == ARENA_RETIRE ? "by command"
                                    : "");
    if (step == ARENA_CROWN && champion) {
        ret[n] = *champion;
        ret[n].role = DB_POLICY_CHALLENGER;
        ret[n].since_ns = ret[n].judged_ns = now_ns;
        snprintf(ret[n].reason, sizeof ret[n].reason, "%s became champion", after.name);
        n++;
    }
    ret[n++] = after;
    *ret_n_accounts = 0;
    if (step != ARENA_CROWN)
        ret_accounts[(*ret_n_accounts)++] = next->account;
    if (step == ARENA_CROWN || has_crown)
        ret_accounts[(*ret_n_accounts)++] = ARENA_CHAMPION;
    return n;
}

void arena_second_name(const char *name, char ret[static ACCOUNT_NAME_MAX])
{
    static const char tail[] = ".2";
    snprintf(ret, ACCOUNT_NAME_MAX, "%.*s%s", ACCOUNT_NAME_MAX - (int)sizeof tail, name, tail);
}

/* A challenger that came by a proposal of that study. */
static bool is_of(const struct arena_row *row, const char *study)
{
    return row && row->role == DB_POLICY_CHALLENGER && row->proposal[0] && strcmp(row->training, study) == 0;
}

static bool is_free(const struct arena_row *row)
{
    return !row || row->role == DB_POLICY_RETIRED;
}

const char *arena_slot_for(const char *name, const struct arena_row *row, const char *second_name,
                           const struct arena_row *second)
{
    if (is_of(row, name))
        return name;
    if (is_of(second, name))
        return second_name;
    return is_free(row) ? name : is_free(second) ? second_name : NULL;
}

const char *arena_name_refusal(const char *name)
{
    if (!account_name_good(name))
        return "letters, digits, - _ and . are needed, at most 31";
    if (strcmp(name, ARENA_CHAMPION) == 0)
        return "champion is the account of the best one: another name is needed";
    return NULL;
}
