/* notify.db in the state directory: notices of alerts that are to be delivered, and to which sinks. A file of
 * its own, so that a market database that is busy, full or damaged delays no notice. One thread at a time;
 * what is stored is on the disk when a function returns (synchronous = FULL). */
#ifndef DB_NOTICES_H
#define DB_NOTICES_H

#include "db/row.h"

enum {
    DB_NOTICE_KEY_MAX = 96,
    DB_NOTICE_RULE_MAX = 32,
    DB_NOTICE_SINK_MAX = 48,
    DB_NOTICE_INSTANCE_MAX = 17,
    DB_NOTICES_KEPT_DAYS = 30, /* of what is delivered and over */
};

enum db_notice_state { DB_NOTICE_RAISED, DB_NOTICE_RECOVERED };

struct db_notice {
    int64_t id; /* of its row, in the order of delivery; 0: not stored */
    char key[DB_NOTICE_KEY_MAX];
    uint64_t alert; /* 0: a summary, a test */
    enum db_severity severity;
    enum db_notice_state state;
    bool lasts;                 /* of a condition: a notice of its end follows */
    int64_t raised_ns, over_ns; /* wall clock; over_ns 0: it is not over */
    char rule[DB_NOTICE_RULE_MAX], text[DB_ALERT_TEXT_MAX];
    char except[DB_NOTICE_SINK_MAX]; /* the sink that it is about, and does not go to; "" */
    char only[DB_NOTICE_SINK_MAX];   /* the sink that it goes to alone; "" */
};

struct db_notices;

/* Opens the file, made where it is missing. One that is damaged, or another program's, is renamed to
 * FILE.damaged-SECONDS and a new one is made: *ret_aside is then true. 0, or -errno with a sentence. */
int db_notices_open(const char *path, int64_t now_ns, struct db_notices **ret, bool *ret_aside, char *err,
                    size_t err_size);
void db_notices_close(struct db_notices *notices); /* NULL is fine */

/* A random name of this file, for keys that no other one has. */
const char *db_notices_instance(const struct db_notices *notices);
bool db_notices_is_new(const struct db_notices *notices); /* it was made by db_notices_open() */
/* The newest alert's number that a notice was stored of, when the file was opened. */
uint64_t db_notices_last_alert(const struct db_notices *notices);

/* Several writes in one transaction. */
int db_notices_begin(struct db_notices *notices);
int db_notices_commit(struct db_notices *notices); /* rolled back where it fails */

/* Is it news? 0: yes, and of an end its severity becomes the worst that was stored of its alert; 1: no: the
 * alert was as severe before, or nothing was stored of what is over; -errno. */
int db_notices_severity(struct db_notices *notices, struct db_notice *notice);

/* Stores a notice for each of the sinks that it is not about. 0 with notice->id; 1: one of that key is there
 * already; -errno. */
int db_notices_put(struct db_notices *notices, struct db_notice *notice, const char *const sinks[], int n);

/* Those that a sink has not accepted, oldest first. 0 or -errno. */
int db_notices_pending(struct db_notices *notices, const char *sink,
                       void (*see)(void *ctx, const struct db_notice *notice), void *ctx);

/* Conditions that are not over, as far as notices say. 0 or -errno. */
int db_notices_lasting(struct db_notices *notices, void (*see)(void *ctx, const struct db_notice *notice),
                       void *ctx);

/* The sink accepted it: it is never delivered again. 0 or -errno. */
int db_notices_accepted(struct db_notices *notices, int64_t id, const char *sink);

/* Since when a sink has failed, by the wall clock; 0: it has not. 0 or -errno. */
int db_notices_failing(struct db_notices *notices, const char *sink, int64_t *ret_since_ns);
int db_notices_put_failing(struct db_notices *notices, const char *sink, int64_t since_ns);

/* Drops what is for sinks other than these, and since when they fail. Returns how many notices, or -errno. */
int db_notices_keep_sinks(struct db_notices *notices, const char *const sinks[], int n);

/* Removes what is delivered, over and older than DB_NOTICES_KEPT_DAYS. 0 or -errno. */
int db_notices_prune(struct db_notices *notices, int64_t now_ns);

#endif
