/* One account whose orders are filled at its venue: carries what order_cases.h asks to the venue, and what
 * the venue says to the engine, as events. An order is sent only once the row that has it is on the disk. */
#ifndef DAEMON_EXECUTION_VENUE_EXECUTION_H
#define DAEMON_EXECUTION_VENUE_EXECUTION_H

#include "daemon/execution/order_cases.h"
#include "engine/engine.h"

struct venue_execution;

/* What it is run by. */
struct execution_host {
    void *ctx;
    const struct engine *(*engine)(void *ctx);
    /* Gives it to the session; venue_execution_request() may be called within. */
    void (*event)(void *ctx, struct event *event);
    uint64_t (*ticket)(void *ctx); /* the newest row's */
    struct case_time (*now)(void *ctx);
    void (*due)(void *ctx, int64_t at_ns); /* venue_execution_tick() is to be called then; INT64_MAX: not */
    void (*prefix)(void *ctx, char ret[static 9]); /* one that no account had: 8 hexadecimal digits */
    /* A condition of the account; `text` NULL: it is over. */
    void (*alert)(void *ctx, const char *text);
    /* The venue refused a timestamp: its time is read again, then venue_execution_clock_renewed(). */
    void (*bad_timestamp)(void *ctx);
};

struct venue_execution_config {
    const char *account; /* its name; copied, with the next */
    const char *venue;   /* whose symbols alone it trades */
    const struct venue_accounts *accounts;
    int64_t settle_ns, reconcile_ns; /* struct order_cases_config */
    struct execution_host host;
};

/* 0 or -ENOMEM. Nothing is connected to yet. */
int venue_execution_create(const struct venue_execution_config *config, struct venue_execution **ret);
void venue_execution_destroy(struct venue_execution *execution); /* NULL is fine */

/* Opens the account, unless it is open; nothing of one that is halted, or that its venue has refused. The
 * engine is there. Former runs' orders are looked for. `open`: its texts outlive the account; symbols and
 * venue_ns are filled in. 0 or -errno as create() of struct venue_accounts. */
int venue_execution_open(struct venue_execution *execution, const struct venue_account_config *open);

/* Closes one that is not attached, so that venue_execution_open() tries it again, one that was denied, too.
 * False, and nothing is done: it is attached. */
bool venue_execution_again(struct venue_execution *execution);

/* struct engine_sink's: may be called before it is open, and from within an event. */
void venue_execution_request(struct venue_execution *execution, enum engine_venue_request request,
                             const struct order *order);
void venue_execution_committed(struct venue_execution *execution, uint64_t ticket);
/* When it is due, in a turn of the loop of its own. */
void venue_execution_tick(struct venue_execution *execution);
void venue_execution_hold(struct venue_execution *execution, int64_t until_ns, const char *why);

void venue_execution_clock_renewed(struct venue_execution *execution); /* the venue's time was read again */

struct venue_execution_view {
    const char *venue;
    bool attached, halted, open;
    enum venue_link link;
    const char *detail; /* of the link, or why nothing is sent or nothing could be compared; "" */
    const char *prefix; /* of its orders' client ids; "": it is not attached */
    size_t waiting;     /* requests whose order is not stored yet */
    struct order_cases_view cases;
};
void venue_execution_view(const struct venue_execution *execution, struct venue_execution_view *ret);

#endif
