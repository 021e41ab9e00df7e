/* Bars of long ago, beside the stream: what the files backfill*.c share. backfill.c asks for pages,
 * backfill_stored.c knows what the database has, backfill_view.c says how far it is. */
#ifndef DAEMON_FEED_BACKFILL_H
#define DAEMON_FEED_BACKFILL_H

#include "daemon/feed/covered.h"
#include "daemon/feed/internal.h"

struct db_reader;

/* A symbol's. */
struct backfill {
    struct feed_covered covered;
    bool loaded, changed; /* from the database; since */
    bool first;           /* no run has fetched any before */
    uint64_t bars;        /* fetched */
    bool done, refused;   /* all is there; the venue has none: not asked for before the next start */
    int64_t from_ns, end_ns;
};

/* Is there something left to fetch? */
bool feed_backfill_goes_on(const struct feed *feed, int symbol);

/* What a former run knew. Bars that are gone since, by their age or with a lost file, are not known. 0 or
 * -errno of the database. */
int feed_backfill_load(const struct feed *feed, struct db_reader *reader, int symbol);
void feed_backfill_store(struct feed *feed, int symbol); /* what is known now */
/* Does the database have every bar of it? Not known of a market where an interval may have no bar. */
bool feed_backfill_is_whole(const struct feed *feed, struct db_reader *reader, int symbol, int64_t from_ns,
                            int64_t end_ns);
/* Writes which gaps of what was wanted are filled, now that all of it is there. */
void feed_backfill_end_gaps(struct feed *feed, struct db_reader *reader, int symbol);

/* In the log: at the beginning, and once an hour; at the end. */
void feed_backfill_say_progress(struct feed *feed);
void feed_backfill_say_end(struct feed *feed);

#endif
