#include "exchange/history/missing.h"

const char *const history_why_words[HISTORY_WHYS] = {
    [HISTORY_BEFORE] = "before the listing",
    [HISTORY_CLOSED] = "closed",
    [HISTORY_NO_TRADE] = "no eligible trade",
    [HISTORY_GAP] = "gap",
};

static enum history_why why_of(const struct history_looking *looking, int64_t open_ns, int64_t end_ns)
{
    enum bar_session session = trading_session_of(looking->calendar, open_ns, end_ns);
    return open_ns < looking->listed_ns    ? HISTORY_BEFORE
           : looking->calendar->n == 0     ? HISTORY_GAP
           : session == BAR_SESSION_CLOSED ? HISTORY_CLOSED
                                           : HISTORY_NO_TRADE;
}

/* The expected bars that open before `end_ns`, a run for each reason. */
static void report(struct history_looking *looking, int64_t end_ns)
{
    struct history_missing run = {.bars = 0};
    while (looking->next_ns < end_ns) {
        int64_t open_ns, bar_end_ns;
        trading_bar_span(looking->calendar, looking->interval_ns, looking->next_ns, &open_ns, &bar_end_ns);
        enum history_why why = why_of(looking, open_ns, bar_end_ns);
        if (run.bars > 0 && why != run.why) {
            looking->found(looking->ctx, &run);
            run.bars = 0;
        }
        if (run.bars == 0)
            run.from_ns = open_ns;
        run.why = why;
        run.end_ns = bar_end_ns;
        run.bars++;
        looking->next_ns = bar_end_ns;
    }
    if (run.bars > 0)
        looking->found(looking->ctx, &run);
}

void history_missing_bar(struct history_looking *looking, int64_t open_ns)
{
    int64_t from_ns;
    report(looking, open_ns);
    trading_bar_span(looking->calendar, looking->interval_ns, open_ns, &from_ns, &looking->next_ns);
}

void history_missing_end(struct history_looking *looking, int64_t end_ns)
{
    report(looking, end_ns);
}
