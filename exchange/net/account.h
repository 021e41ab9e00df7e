/* A venue's account whose requests go by HTTP and whose user data comes over one websocket: what such
 * accounts share (exchange/venue_account.h). A venue's own account begins with struct net_account, and its
 * table has NET_ACCOUNT_FUNCTIONS. */
#ifndef EXCHANGE_NET_ACCOUNT_H
#define EXCHANGE_NET_ACCOUNT_H

#include "exchange/net/account_calls.h"
#include "exchange/net/connection.h"

enum { ACCOUNT_KEY_MAX = 256 }; /* with its NUL */

/* Pages of their own: exchange/net/secret.h. */
struct account_keys {
    char id[ACCOUNT_KEY_MAX], secret[ACCOUNT_KEY_MAX];
};

struct net_account;

struct account_venue {
    size_t size; /* of the venue's own struct */
    const struct venue_accounts *accounts;
    const char *path; /* of user data: "/stream" */
    const struct account_calls_venue *calls;
    /* Names of the headers that the keys are sent in. */
    const char *id_header, *secret_header;
    /* User data: as in struct net_connection_handler. `opened` NULL: the keys go in the upgrade's headers,
     * and nothing more is needed. */
    void (*opened)(struct net_account *account);
    bool (*message)(struct net_account *account, const char *data, size_t len);
};

struct net_account {
    struct account_calls calls;
    const struct account_venue *venue;
    const struct venue_account_handler *handler;
    void *user;
    struct account_keys *keys;
    struct net_header headers[ACCOUNT_HEADERS_MAX];
    struct net_connection feed; /* user data */
    struct venue_status status; /* as it was last asked for */
    int open;                   /* handles that are not closed yet */
};

static inline struct net_account *net_account_of(struct venue_account *account)
{
    return (struct net_account *)account;
}

/* As struct venue_accounts says, as all below. Keys are texts that a header takes. */
int net_account_create(const struct account_venue *venue, const struct venue_account_config *config,
                       const struct venue_account_handler *handler, void *user, struct venue_account **ret);
void net_account_destroy(struct venue_account *account);
void net_account_hold(struct venue_account *account, int64_t until_ns, const char *why);
const struct venue_status *net_account_status(struct venue_account *account);

/* All of them, in the venue's table, beside its own `create`. */
#define NET_ACCOUNT_FUNCTIONS \
    .destroy = net_account_destroy, .hold = net_account_hold, .status = net_account_status, NET_ACCOUNT_CALLS

/* Of user data: passes fills, orders and balances on, and says whether the account is still there. */
bool net_account_push(struct net_account *account, const struct venue_lists *lists);
/* Of user data: it cannot be continued: that failure. */
void net_account_fail(struct net_account *account, enum link_failure failure, const char *why);

#endif
