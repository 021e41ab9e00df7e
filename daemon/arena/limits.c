#include "daemon/arena/limits.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void take(int i, struct policy_limits *to, const struct policy_limits *from)
{
    const struct config_key *key = &policy_limit_keys[i];
    memcpy((char *)to + key->offset, (const char *)from + key->offset, key->size);
}

static void take_given(struct policy_limits *limits, const struct arena_limits *given)
{
    for (int i = 0; i < POLICY_LIMITS_N; i++)
        if (given->given[i])
            take(i, limits, &given->values);
}

int arena_limits_new(const struct policy_limits *file, const struct policy_limits *configured,
                     const struct arena_limits *given, struct policy_limits *ret,
                     char why[static CONFIG_WHY_MAX])
{
    struct policy_limits limits = *file;
    for (int i = 0; i < POLICY_LIMITS_N; i++)
        if (!policy_limit_off(&policy_limit_keys[i], configured))
            take(i, &limits, configured);
    take_given(&limits, given);
    if (policy_limits_check(&limits, why) < 0)
        return -EINVAL;
    *ret = limits;
    return 0;
}

int arena_limits_again(const char *name, const struct policy_limits *in_force,
                       const struct arena_limits *given, char why[static 2 * POLICY_LIMITS_TEXT_MAX])
{
    struct policy_limits limits = *in_force;
    char now[POLICY_LIMITS_TEXT_MAX], then[POLICY_LIMITS_TEXT_MAX];
    take_given(&limits, given);
    if (policy_limits_same(&limits, in_force))
        return 0;
    policy_limits_text(in_force, now);
    policy_limits_text(&limits, then);
    snprintf(
        why, 2 * POLICY_LIMITS_TEXT_MAX,
        "%.31s trades under limits (%.300s), and others are given (%.300s): these, or none, are right, or "
        "retire it first",
        name, now, then);
    return -EINVAL;
}
