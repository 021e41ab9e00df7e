/* How long the bars of symbols take to come back after an interruption: recovery.h, from what the feed sees.
 */
#include "daemon/feed/internal.h"
#include "exchange/clock.h"

/* How many bars of it have closed. */
static uint64_t closed(const struct feed *feed, int symbol)
{
    const struct engine *engine = daemon_session_engine(feed->daemon->session);
    struct engine_symbol_view view = {0};
    if (engine && feed->symbols[symbol].index < engine_symbols(engine))
        engine_symbol_view(engine, feed->symbols[symbol].index, &view);
    return view.bars;
}

static bool is_stale(const struct feed *feed, int symbol, int64_t now)
{
    for (int kind = 0; kind < MARKET_CHANNELS; kind++) {
        int at = feed->symbols[symbol].streams[kind];
        if (at >= 0 && feed_stream_counts(feed, (size_t)at) &&
            feed_silence_state(&feed->streams[at].rule, &feed->streams[at].silence, now) == SILENCE_STALE)
            return true;
    }
    return false;
}

/* A connection that is opened for the first time is no interruption, unless it failed. */
static bool is_interrupted(const struct feed *feed, int symbol, int64_t now)
{
    bool up = feed->up_since_ms != 0;
    return (!up && (feed->was_up || feed->cause[0])) || (up && feed->symbols[symbol].down) ||
           feed->ban_until_ns > clock_wall_ns() || (up && is_stale(feed, symbol, now));
}

void feed_recover_judge(struct feed *feed, int symbol, int64_t now)
{
    struct feed_symbol *ours = &feed->symbols[symbol];
    if (!ours->streamed || feed->final || feed->listed[symbol].gone ||
        (feed->refused[0] && feed_refuses(feed, symbol)) || !feed_symbol_open(feed, symbol)) {
        feed_recovery_drop(&ours->recovery);
        return;
    }
    bool interrupted = is_interrupted(feed, symbol, now);
    if (interrupted != ours->recovery.interrupted)
        feed_recovery_judge(&ours->recovery, interrupted, closed(feed, symbol), now);
}

void feed_recover_judge_all(struct feed *feed, int64_t now)
{
    for (int s = 0; s < feed->n_symbols; s++) {
        feed_recover_judge(feed, s, now);
        feed_recover_bars(feed, s);
    }
}

void feed_recover_lost(struct feed *feed, int symbol)
{
    feed_recovery_lost(&feed->symbols[symbol].recovery, closed(feed, symbol), clock_now_ms());
}

void feed_recover_bars(struct feed *feed, int symbol)
{
    struct feed_recovery *recovery = &feed->symbols[symbol].recovery;
    if (recovery->awaited)
        feed_recovery_bars(recovery, closed(feed, symbol), clock_now_ms(), &feed->recoveries);
}

void feed_recover_view(const struct feed *feed, struct feed_view *ret)
{
    const struct feed_recoveries *sum = &feed->recoveries;
    ret->recoveries = sum->n;
    ret->recovery_last_ms = sum->n ? sum->last_ms : -1;
    ret->recovery_worst_ms = sum->n ? sum->worst_ms : -1;
    ret->recovery_mean_ms = sum->n ? sum->sum_ms / (int64_t)sum->n : -1;
    for (int s = 0; s < feed->n_symbols; s++)
        ret->recovering += feed->symbols[s].recovery.interrupted || feed->symbols[s].recovery.awaited;
}
