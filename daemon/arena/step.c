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

bool arena_reads(enum arena_step step)
{
    return step == ARENA_CHALLENGE || step == ARENA_SWAP;
}

int arena_take_step(enum arena_step step, const struct arena_row *row, const struct arena_row *champion,
                    const struct arena_row *next, int64_t now_ns, struct arena_row ret[static 2],
                    const char *ret_accounts[static 2], int *ret_n_accounts)
{
    static const enum db_policy_role roles[] = {[ARENA_CHALLENGE] = DB_POLICY_CHALLENGER,
                                                [ARENA_CROWN] = DB_POLICY_CHAMPION,
                                                [ARENA_RETIRE] = DB_POLICY_RETIRED};
    bool has_crown = row && row->role == DB_POLICY_CHAMPION;
    struct arena_row after = *next;
    int n = 0;
    after.role = step == ARENA_SWAP ? row->role : roles[step];
    after.since_ns = step == ARENA_SWAP ? row->since_ns : now_ns;
    snprintf(after.reason, sizeof after.reason, "%s", step == ARENA_RETIRE ? "by command" : "");
    if (step == ARENA_CROWN && champion) {
        ret[n] = *champion;
        ret[n].role = DB_POLICY_CHALLENGER;
        ret[n].since_ns = now_ns;
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

const char *arena_name_refusal(const char *name)
{
    if (!account_name_good(name))
        return "letters, digits, - _ and . are needed, at most 31";
    if (strcmp(name, ARENA_CHAMPION) == 0)
        return "champion is the account of the best one: another name is needed";
    return NULL;
}
