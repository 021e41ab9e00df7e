/* What the database has of a symbol's older bars, and the note of what was asked for. */
#include <errno.h>
#include <stdio.h>

#include "daemon/feed/backfill.h"
#include "daemon/log.h"
#include "db/reader.h"

enum { KEY_MAX = 32 + VENUE_NAME_MAX + SYMBOL_NAME_MAX, GAPS_MAX = 1000 };

static void name_key(const struct feed *feed, int symbol, char ret[static KEY_MAX])
{
    snprintf(ret, KEY_MAX, "history %s %s %s", feed->venue->format->name, feed->listed[symbol].name,
             bar_interval_name(feed->daemon->config.interval_ns));
}

void feed_backfill_store(struct feed *feed, int symbol)
{
    struct backfill *past = feed->symbols[symbol].past;
    char key[KEY_MAX], text[COVERED_TEXT_MAX];
    name_key(feed, symbol, key);
    feed_covered_text(&past->covered, text);
    db_writer_put_meta(daemon_session_writer(feed->daemon->session), key, text);
    past->changed = false;
}

int feed_backfill_load(const struct feed *feed, struct db_reader *reader, int symbol)
{
    struct backfill *past = feed->symbols[symbol].past;
    int64_t first_ns = INT64_MAX,
            page_ns = feed->daemon->config.interval_ns * (int64_t)feed->venue->bars_page;
    char key[KEY_MAX], text[COVERED_TEXT_MAX];
    name_key(feed, symbol, key);
    feed_covered_init(&past->covered);
    int r = db_reader_meta(reader, key, text, sizeof text);
    past->first = r == -ENOENT;
    if (r == 0 && feed_covered_parse(&past->covered, text)) {
        r = db_reader_first_bar(reader, feed->listed[symbol].name, feed->daemon->config.interval_ns,
                                BAR_VENUE, &first_ns);
        if (r == 0 || r == -ENOENT)
            feed_covered_forget_before(&past->covered, first_ns == INT64_MAX ? first_ns : first_ns - page_ns);
    }
    past->loaded = r == 0 || r == -ENOENT;
    return past->loaded ? 0 : r;
}

/* How many bars open in [from_ns, end_ns), by the clock. */
static int64_t bars_by_clock(int64_t interval_ns, int64_t from_ns, int64_t end_ns)
{
    int64_t first_ns = bar_open_time(from_ns + interval_ns - 1, interval_ns);
    return end_ns > first_ns ? (bar_open_time(end_ns - 1, interval_ns) - first_ns) / interval_ns + 1 : 0;
}

static bool is_sparse(const struct feed *feed, int symbol)
{
    return feed->listed[symbol].loose_ids || feed->listed[symbol].calendar[0];
}

bool feed_backfill_is_whole(const struct feed *feed, struct db_reader *reader, int symbol, int64_t from_ns,
                            int64_t end_ns)
{
    int64_t n = 0, wanted = bars_by_clock(feed->daemon->config.interval_ns, from_ns, end_ns);
    if (is_sparse(feed, symbol))
        return false;
    int r = db_reader_count_bars(reader, feed->listed[symbol].name, feed->daemon->config.interval_ns,
                                 BAR_VENUE, from_ns, end_ns - 1, &n);
    return r == 0 && n >= wanted;
}

/* Gaps that are looked at. */
struct gaps {
    struct feed *feed;
    struct db_reader *reader;
    int symbol;
};

/* Of a market where an interval may have no bar there is what the venue has. */
static void end_gap(void *ctx, const struct db_gap *found)
{
    struct gaps *gaps = ctx;
    struct feed *feed = gaps->feed;
    struct db_gap gap = *found;
    if (gap.from_open_ns < feed->symbols[gaps->symbol].past->from_ns ||
        (!is_sparse(feed, gaps->symbol) &&
         !feed_backfill_is_whole(feed, gaps->reader, gaps->symbol, gap.from_open_ns, gap.to_open_ns + 1)))
        return;
    gap.symbol = feed->symbols[gaps->symbol].index;
    gap.filled_ns = daemon_session_now(feed->daemon->session);
    db_writer_put_gap(daemon_session_writer(feed->daemon->session), &gap);
}

void feed_backfill_end_gaps(struct feed *feed, struct db_reader *reader, int symbol)
{
    struct gaps gaps = {feed, reader, symbol};
    int r = db_reader_open_gaps(reader, feed->listed[symbol].name, feed->daemon->config.interval_ns, GAPS_MAX,
                                end_gap, &gaps);
    if (r < 0)
        daemon_log_warning("%s: its gaps cannot be read: %s", feed->listed[symbol].name,
                           db_reader_error(reader));
}
