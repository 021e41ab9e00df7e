/* Policies and their files: the kinds of files, copies that are kept by id, and how they are found again. */
#ifndef STRATEGY_POLICY_CACHE_H
#define STRATEGY_POLICY_CACHE_H

#include "strategy/policy/policy.h"

/* Reads a policy that an engine can trade by: F.safetensors of a trained one or NAME.ensemble.json, with no
 * actions (NULL or ""); PARAMS.json and ACTIONS.csv of a recorded one. 0, for policy_destroy(); -EINVAL for
 * their content, or for one that was trained for what no account here trades (another execution or task, a
 * world that is no market); errors of opening; -ENOMEM; err: "what: where: what would be right". */
int policy_load(const char *path, const char *actions, struct policy **ret,
                char err[static POLICY_ERROR_MAX]);
void policy_destroy(struct policy *policy); /* NULL is fine */

/* Writes the files that a policy was read from, byte by byte, to DIR/ID/, unless they are there: params.json
 * and actions.csv; policy.safetensors, for which its file at `path` is read again; or policy.ensemble.json
 * and member-1.safetensors …, for which the members' files are. 0 or -errno with err; -ESTALE: a file has
 * changed since. */
int policy_keep(const struct policy *policy, const char *path, const char *dir,
                char err[static POLICY_ERROR_MAX]);

/* The policies that policy_keep() left in `dir`, each read on first use. They live as long as the cache. NULL
 * without memory. */
struct policy_cache;
struct policy_cache *policy_cache_open(const char *dir);
/* Those of an event log, a directory or a segment: in policies/ beside it, as in a state directory, or in it,
 * as in a recording. */
struct policy_cache *policy_cache_of_log(const char *path);
struct policies policy_cache_find(struct policy_cache *cache);
void policy_cache_close(struct policy_cache *cache); /* NULL is fine */

#endif
