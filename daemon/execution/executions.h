/* All accounts whose orders are filled at their venue: `execution = venue-paper` of the configuration. */
#ifndef DAEMON_EXECUTION_EXECUTIONS_H
#define DAEMON_EXECUTION_EXECUTIONS_H

#include "daemon/daemon.h"
#include "daemon/execution/account_keys.h"
#include "daemon/execution/venue_execution.h"

struct executions;

/* The keys that the configuration's accounts name, *ret secret memory, the caller's: [config->n_accounts];
 * NULL where no account has any. Two accounts with the same ones at a venue are an error. `ret_unseen` not
 * NULL: one that daemon_credential_unseen() is left out, and named there. 0 or -errno. */
int daemon_executions_read_keys(const struct daemon_config *config, struct execution_keys **ret,
                                const char **ret_unseen, char error[static CONFIG_ERROR_MAX]);
/* Can they be used? As feeds_check_keys(). */
int daemon_executions_check_keys(const struct daemon_config *config, const char **ret_unseen,
                                 char error[static CONFIG_ERROR_MAX]);

/* An account of the configuration whose orders would be sent, and which the start did not have; NULL: none.
 */
const char *daemon_executions_lack(const struct executions *executions, const struct daemon_config *config);

/* Reads the keys. 0 or -errno with one line: -ENOKEY where another start would not cure it. */
int daemon_executions_create(struct daemon *daemon, struct executions **ret, char *err, size_t err_size);

/* The session has started: the accounts are opened, each once its venue's clock is known. */
void daemon_executions_start(struct executions *executions);
/* Nothing more is sent. Before the feeds are stopped, whose network it uses. NULL is fine. */
void daemon_executions_stop(struct executions *executions);

/* The configuration was read again: another try of an account that is not attached, with `keys` of the file
 * that it began with. Are they others? Those of an attached account stay. */
bool daemon_executions_take_keys(struct executions *executions, const struct account_config *account,
                                 const struct execution_keys *keys);

/* struct session_hooks'. */
void daemon_executions_request(struct executions *executions, enum engine_venue_request request,
                               const struct order *order);
void daemon_executions_committed(struct executions *executions, uint64_t ticket);

/* A part of the program was banned by the venue, or is to wait. */
void daemon_executions_hold(struct executions *executions, const char *venue, int64_t until_ns,
                            const char *why);

/* The venue's time was read again. */
void daemon_executions_clock_renewed(struct executions *executions, const char *venue);

/* False: its orders are filled here, or it is not configured. */
bool daemon_executions_view(const struct executions *executions, const char *account,
                            struct venue_execution_view *ret);

#endif
