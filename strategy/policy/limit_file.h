/* A policy's file with other limits: a copy for which all that reads the policy has these. */
#ifndef STRATEGY_POLICY_LIMIT_FILE_H
#define STRATEGY_POLICY_LIMIT_FILE_H

#include "strategy/policy/policy.h"

/* Writes `to`, whole or not at all, from the file at `from` of a trained policy or an ensemble, of which `to`
 * has the ending: the same except the limits, in the environment of a trained one, in "limits" of an
 * ensemble, whose members are named by absolute paths then. 0; -EINVAL for a file that has no such place;
 * errors of reading and writing; -ENOMEM; err: "what: where: what would be right". */
int policy_limit_file(const char *from, const char *to, const struct policy_limits *limits,
                      char err[static POLICY_ERROR_MAX]);

#endif
