/* The policies that accounts trade by: those of the configuration, read from their files, and those of the
 * arena. They live longer than any engine that has them. */
#ifndef DAEMON_POLICIES_H
#define DAEMON_POLICIES_H

#include "daemon/config.h"
#include "strategy/policy/policy.h"

struct policy_set;

/* Reads them all, and checks each against the configuration's symbols and interval. 0, for
 * daemon_policy_set_destroy(); -EINVAL, errors of opening, -ENOMEM with one line: account, key, file, what
 * would be right. */
int daemon_policy_set_load(const struct daemon_config *config, struct policy_set **ret,
                           char error[static CONFIG_ERROR_MAX]);
void daemon_policy_set_destroy(struct policy_set *set); /* NULL is fine */

/* Keeps copies of their files in `dir`, where replays of the log find them, and loads from there those that
 * former runs had; also copies them to a recording's folder policies/, "" for none. 0 or -errno with one
 * line. */
int daemon_policy_set_keep(struct policy_set *set, const char *dir, const char *recording,
                           char error[static CONFIG_ERROR_MAX]);

/* Has a device compute the trained policies, present and future, as soon as one is open; where none can be
 * opened, or it does not answer within `wait_ms`, the CPU computes them. `path`: policy_net_device_open(). */
void daemon_policy_set_on_device(struct policy_set *set, const char *path, int wait_ms);
/* Returns once why the device is given up (or that there is none). NULL: nothing new. */
const char *daemon_policy_set_device_trouble(struct policy_set *set);

/* The policy of an account of the configuration, by its name; NULL: it has none. */
const struct policy *daemon_policy_set_of(const struct policy_set *set, const char *account);

/* Finds policies by their ids, also copied ones. */
struct policies daemon_policy_set_find(struct policy_set *set);

/* Takes over a policy that was read and copied. Returns the one of that id to trade by: this one, or an
 * earlier one, and then this one is destroyed. NULL without memory. */
const struct policy *daemon_policy_set_add(struct policy_set *set, struct policy *policy);
/* Destroys added policies that no account uses any more. */
void daemon_policy_set_drop(struct policy_set *set, bool (*used)(void *ctx, const struct policy *policy),
                            void *ctx);

/* policy_refusal() for what this daemon trades: also of a policy of the extended session where no venue has
 * `extended_hours` on, since its environment trades in these hours. */
const char *daemon_policy_refusal(const struct policy *policy, const char *currency,
                                  const struct symbol *symbols, int n_symbols, int64_t interval_ns,
                                  bool extended_hours, char err[static POLICY_ERROR_MAX]);

/* Fills in the account's cash and fees from the policy where the configuration does not set them. 0, or
 * -EINVAL for a capital that has more digits than the currency. */
int daemon_policy_set_account(const struct policy *policy, const struct account_config *wanted,
                              struct account_spec *account);

#endif
