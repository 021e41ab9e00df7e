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

/* The limits that differ: "exposure_symbol is 0.3 and not 0.2, …". */
static void list_other(const struct policy_limits *in_force, const struct policy_limits *other, char *ret,
                       size_t size)
{
    size_t at = 0;
    for (int i = 0; i < POLICY_LIMITS_N && at < size; i++) {
        char has[POLICY_LIMIT_TEXT_MAX], asked[POLICY_LIMIT_TEXT_MAX];
        const struct config_key *key = &policy_limit_keys[i];
        bool whole = config_key_text(key, in_force, has, sizeof has) &&
                     config_key_text(key, other, asked, sizeof asked);
        if (whole && strcmp(has, asked) != 0)
            at += (size_t)snprintf(ret + at, size - at, "%s%s is %s and not %s", at ? ", " : "", key->name,
                                   has, asked);
    }
}

int arena_limits_again(const char *name, const struct policy_limits *in_force,
                       const struct arena_limits *given, char why[static POLICY_LIMITS_TEXT_MAX])
{
    struct policy_limits limits = *in_force;
    char other[POLICY_LIMITS_TEXT_MAX - 128];
    take_given(&limits, given);
    if (policy_limits_same(&limits, in_force))
        return 0;
    list_other(in_force, &limits, other, sizeof other);
    snprintf(why, POLICY_LIMITS_TEXT_MAX,
             "%.31s trades under other limits: give those in force, or no limits, or retire it first: %s",
             name, other);
    return -EINVAL;
}
