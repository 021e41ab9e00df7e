/* Which limits (strategy/policy/limit_rules.h) a policy of the arena trades under: pure rules. */
#ifndef DAEMON_ARENA_LIMITS_H
#define DAEMON_ARENA_LIMITS_H

#include "strategy/policy/limit_keys.h"

/* Those that a promotion names; others are 0. */
struct arena_limits {
    struct policy_limits values;
    bool given[POLICY_LIMITS_N];
};

/* Of a new policy: those of its file, over them those that [arena] sets, over them those given. 0; -EINVAL
 * with a sentence: they contradict each other. */
int arena_limits_new(const struct policy_limits *file, const struct policy_limits *configured,
                     const struct arena_limits *given, struct policy_limits *ret,
                     char why[static CONFIG_WHY_MAX]);

/* Of one that trades under `in_force`: these. 0; -EINVAL with a sentence: others are given. */
int arena_limits_again(const char *name, const struct policy_limits *in_force,
                       const struct arena_limits *given, char why[static POLICY_LIMITS_TEXT_MAX]);

#endif
