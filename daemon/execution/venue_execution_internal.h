/* An account's execution, shared by its own files: venue_execution.c opens it and asks the venue,
 * execution_events.c makes events of what is learned. */
#ifndef DAEMON_EXECUTION_VENUE_EXECUTION_INTERNAL_H
#define DAEMON_EXECUTION_VENUE_EXECUTION_INTERNAL_H

#include "daemon/execution/venue_execution.h"

/* The engine's request, until its order is stored. */
struct execution_request {
    struct execution_request *next;
    enum engine_venue_request what;
    uint64_t ticket;
    int64_t at_ns; /* of struct case_time */
    struct order order;
};

/* A request whose answer has not come. */
struct execution_asked {
    struct execution_asked *next, **at;
    struct venue_execution *execution;
    struct case_ask ask;
    bool failed; /* it could not be made */
};

/* What the account's one alert is of, which is over once none of these lasts. */
enum execution_alert {
    EXECUTION_ALERT_LINK,    /* no user data, or it is not opened again */
    EXECUTION_ALERT_FAILING, /* it cannot be compared */
    EXECUTION_ALERT_RIGHTS,
    EXECUTION_ALERT_DOUBT,
};

struct venue_execution {
    struct venue_execution_config config;
    char account[ACCOUNT_NAME_MAX], venue[VENUE_NAME_MAX];
    struct execution_host host;
    struct order_cases *cases; /* NULL: not open */
    struct venue_account *at;  /* likewise */
    struct symbol *symbols;    /* [SYMBOLS_MAX] by the engine's numbers; those of other venues are blank */
    struct execution_request *requests, **last;
    struct execution_asked *asked;
    bool starved; /* no memory: it is opened again, which finds all that is to be done */
    bool denied;  /* before it was attached: it is not opened again */
    bool over;    /* nothing more is sent: closed at the next step */
    bool up;
    int64_t down_ns; /* since when it is not up */
    unsigned alerts; /* bits of enum execution_alert: those that last */
    char detail[VENUE_DETAIL_MAX];
};

/* After each input: asks what is due. */
void venue_execution_step(struct venue_execution *execution);
/* NULL: it is over. */
void venue_execution_alert(struct venue_execution *execution, enum execution_alert alert, const char *text);
int venue_execution_account(const struct venue_execution *execution); /* the engine's number, or -1 */

/* ---- execution_events.c: of struct order_cases_sink ---- */
void venue_execution_on_update(void *ctx, uint64_t order_id, enum venue_update update, const char *venue_id,
                               const char *text, const struct venue_fill *fill);
uint64_t venue_execution_on_duplicate(void *ctx, const struct venue_order *order);
bool venue_execution_differs(void *ctx, const struct venue_balance *balances, size_t n, int symbol);
void venue_execution_on_balances(void *ctx, const struct venue_balance *balances, size_t n);
void venue_execution_on_reset(void *ctx, const char *text);
void venue_execution_on_rights(void *ctx, const char *text);
void venue_execution_on_doubt(void *ctx, const char *client_id);

#endif
