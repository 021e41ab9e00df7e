/* A venue's account whose requests go by HTTP and whose user data comes over one websocket: what such
 * accounts share (exchange/venue_account.h). A venue's own account begins with struct net_account, and its
 * table has the functions below for destroy, hold and status. */
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
    /* Names of the headers that the keys are sent in; NULL: it is not. */
    const char *id_header, *secret_header;
    /* User data: as in struct net_connection_handler. */
    void (*opened)(struct net_account *account);
    bool (*message)(struct net_account *account, const char *data, size_t len);
};

struct net_account {
    const struct account_venue *venue;
    const struct venue_account_handler *handler;
    void *user;
    struct account_keys *keys;
    struct account_calls calls;
    struct net_connection feed; /* user data */
    int open;                   /* handles that are not closed yet */
};

static inline struct net_account *net_account_of(struct venue_account *account)
{
    return (struct net_account *)account;
}

/* As struct venue_accounts says. Keys are texts that a header takes. */
int net_account_create(const struct account_venue *venue, const struct venue_account_config *config,
                       const struct venue_account_handler *handler, void *user, struct venue_account **ret);
void net_account_destroy(struct venue_account *account);
void net_account_hold(struct venue_account *account, int64_t until_ns, const char *why);
const struct venue_status *net_account_status(const struct venue_account *account);

/* Of user data: passes a fill (NULL: none) and its order's event on, and says whether the account is still
 * there. */
bool net_account_update(struct net_account *account, const struct venue_order *order,
                        const struct venue_fill *fill);
/* Of user data: it cannot go on, by that failure. */
void net_account_fail(struct net_account *account, enum link_failure failure, const char *why);

#endif
