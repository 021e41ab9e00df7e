/* The alerts that are open. Pure: time is passed in, the caller stores the rows.
 *
 * An alert reports an event (an order was missed) or a condition (the feed is lost). An event's alert is
 * open until it is acknowledged. A condition's alert is open until it is acknowledged or the condition is
 * over, which closes it either way; an acknowledged one is kept until then, so that it is not raised a
 * second time. Acknowledging and closing do not change when it was last seen. A condition that becomes more
 * severe is the same alert, open again where it was acknowledged; one that becomes less severe stays so. */
#ifndef DAEMON_ALERTS_H
#define DAEMON_ALERTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/row.h"

enum {
    ALERTS_HELD_MAX = 4096, /* beyond it the oldest event is dropped, or else the oldest condition: it stays
                               open in the database until a restart reads it again */
    ALERT_CODE_MAX = 32,
};

struct alert {
    uint64_t id;
    int64_t ts_ns, last_ns, acked_ns, count;
    enum db_severity severity;
    bool lasts;      /* of a condition */
    int noticed;     /* 1 and the worst severity of which sinks were sent a notice; 0: none */
    uint64_t ticket; /* of its newest row, which is on the disk with it; 0: a former run's */
    char code[ALERT_CODE_MAX], text[DB_ALERT_TEXT_MAX];
};

struct alerts {
    struct alert *list; /* oldest first */
    size_t n, cap;
    uint64_t last_id;
};

void daemon_alerts_finish(struct alerts *alerts);

/* Adds one that a former run left; called newest first. */
void daemon_alerts_take(struct alerts *alerts, const struct db_alert *row);

/* Records an event: counted where one is open with the same code and text, else a new alert. Returns the
 * one to be stored, valid until the next call; NULL without memory. A text beyond 512 bytes is cut at a
 * character and ends in "…". */
const struct alert *daemon_alerts_event(struct alerts *alerts, int64_t now_ns, enum db_severity severity,
                                        const char *code, const char *text);

/* Records a condition, found by its code and a text that begins with the whole words `about`: where it
 * lasts already it is counted and takes this text and severity. */
const struct alert *daemon_alerts_condition(struct alerts *alerts, int64_t now_ns, enum db_severity severity,
                                            const char *code, const char *about, const char *text);

/* A condition that lasts has another text, and was seen then: it is not counted. NULL: there is none. */
const struct alert *daemon_alerts_reword(struct alerts *alerts, int64_t now_ns, const char *code,
                                         const char *about, const char *text);

/* Gives each condition that lasts, acknowledged or not, oldest first. */
void daemon_alerts_conditions(const struct alerts *alerts, void (*see)(void *ctx, const struct alert *alert),
                              void *ctx);

enum alert_standing {
    ALERT_STANDING_NONE, /* no alert ever had that id */
    ALERT_STANDING_OPEN,
    ALERT_STANDING_ACKED, /* its condition lasts */
    ALERT_STANDING_PAST,  /* it is not kept any more: an event that was acknowledged, a condition that is over
                           */
};
enum alert_standing daemon_alerts_standing(const struct alerts *alerts, uint64_t id);
size_t daemon_alerts_count(const struct alerts *alerts); /* of those that are open */

/* Acknowledges an open one: *ret is to be stored. 0 or -ENOENT. */
int daemon_alerts_ack(struct alerts *alerts, uint64_t id, int64_t now_ns, struct alert *ret);

/* Is a notice of it due: it is new, or worse than the last one said? From then on it counts as sent. An id
 * that is not kept: false. */
bool daemon_alerts_notice(struct alerts *alerts, uint64_t id);

/* Its row was put into the transaction with that ticket. An id that is not kept is ignored. */
void daemon_alerts_put(struct alerts *alerts, uint64_t id, uint64_t ticket);

/* The newest alert before `than` (NULL: of all) whose row is not stored yet at the ticket `committed`;
 * NULL: there is none. Valid as daemon_alerts_event()'s. */
const struct alert *daemon_alerts_unstored(const struct alerts *alerts, const struct alert *than,
                                           uint64_t committed);

/* Does a text begin with these whole words: "BTCUSDT", not "BTCUSD", of "BTCUSDT: its bars …"? */
bool daemon_alert_is_about(const char *text, const char *about);

/* Removes the newest condition of that code that a former run left, and that this one has not raised or
 * counted. False: there is none. */
bool daemon_alerts_over_former(struct alerts *alerts, const char *code, struct alert *ret);

/* Removes the newest condition of that code whose text begins with `about`: it is over. False: there is
 * none. */
bool daemon_alerts_over(struct alerts *alerts, const char *code, const char *about, struct alert *ret);

/* Its row; closed_ns 0: it is not over. The texts are the alert's. */
void daemon_alert_row(const struct alert *alert, int64_t closed_ns, struct db_alert *ret);

#endif
