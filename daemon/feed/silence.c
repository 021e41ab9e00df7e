#include "daemon/feed/silence.h"

enum {
    MINUTE_MS = 60 * 1000,
    GRACE_MS = 3000,      /* of what a stream brings at once */
    GRACE_SHARE = 4,      /* and at most this part of the limit */
    BAR_GRACE_MS = 10000, /* of a bar that has closed */
    GAP_WEIGHT = 16,      /* of a gap in the running mean: one part of so many */
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

struct silence_rule feed_silence_rule(enum market_kind kind, bool sparse, const struct silence_limits *limits)
{
    struct silence_rule rule = {.limit_ms = limits->stale_ms, .grace_ms = GRACE_MS};
    switch (kind) {
    case MARKET_TRADE:
    case MARKET_AGG_TRADE:
    case MARKET_DEPTH: /* expensive to ask for, and the quote says as much of the price */
        rule = (struct silence_rule){limits->stale_trade_ms, limits->stale_ms, GRACE_MS, true};
        break;
    case MARKET_KLINE: /* one is due when an interval ends */
        rule =
            (struct silence_rule){limits->interval_ms + (sparse ? limits->stale_trade_ms : limits->stale_ms),
                                  0, BAR_GRACE_MS, sparse};
        break;
    case MARKET_TICKER:
        rule = sparse
                   ? (struct silence_rule){MINUTE_MS + limits->stale_trade_ms, 0, MINUTE_MS + GRACE_MS, true}
                   : (struct silence_rule){limits->stale_trade_ms, limits->stale_ms, GRACE_MS, true};
        break;
    default: /* quotes */
        break;
    }
    rule.least_ms = least(rule.least_ms, rule.limit_ms);
    if (!sparse || kind != MARKET_TICKER)
        rule.grace_ms = least(rule.grace_ms, rule.limit_ms / GRACE_SHARE);
    return rule;
}

void feed_silence_begin(struct silence *silence, int64_t now_ms)
{
    *silence = (struct silence){.received_ms = now_ms, .gap_ms = silence->gap_ms, .asking = silence->asking};
}

void feed_silence_received(struct silence *silence, int64_t now_ms)
{
    int64_t gap = now_ms - silence->received_ms;
    if (silence->spoke)
        silence->gap_ms = silence->gap_ms == 0
                              ? most(gap, 1)
                              : most(silence->gap_ms + (gap - silence->gap_ms) / GAP_WEIGHT, 1);
    silence->received_ms = now_ms;
    silence->confirmed_ms = silence->behind_ms = silence->asked_ms = 0;
    silence->quiet = 0;
    silence->spoke = true;
}

int64_t feed_silence_limit(const struct silence_rule *rule, const struct silence *silence)
{
    int64_t limit = rule->limit_ms;
    if (rule->least_ms > 0 && silence->gap_ms > 0)
        limit = least(most(SILENCE_BUSY_GAPS * silence->gap_ms, rule->least_ms), limit);
    unsigned doublings = silence->quiet < SILENCE_QUIET_DOUBLINGS ? silence->quiet : SILENCE_QUIET_DOUBLINGS;
    return rule->rare ? limit << doublings : limit;
}

int64_t feed_silence_known_ms(const struct silence *silence)
{
    return most(silence->received_ms, silence->confirmed_ms);
}

enum silence_state feed_silence_state(const struct silence_rule *rule, const struct silence *silence,
                                      int64_t now_ms)
{
    if (silence->behind_ms != 0 && now_ms - silence->behind_ms >= rule->grace_ms)
        return SILENCE_STALE;
    if (now_ms - feed_silence_known_ms(silence) > feed_silence_limit(rule, silence))
        return SILENCE_STALE;
    return silence->confirmed_ms > silence->received_ms ? SILENCE_QUIET : SILENCE_FRESH;
}

int64_t feed_silence_early_ms(int64_t limit_ms)
{
    return limit_ms * 2 / 3;
}

/* Once it is known to be behind, only REST brings its data: at the rate of a busy stream. */
bool feed_silence_ask_due(const struct silence_rule *rule, const struct silence *silence, int64_t now_ms)
{
    bool behind = silence->behind_ms != 0 && rule->least_ms > 0;
    int64_t since = most(feed_silence_known_ms(silence), silence->asked_ms);
    int64_t limit = behind ? rule->least_ms : feed_silence_limit(rule, silence);
    return !silence->asking && now_ms - since >= feed_silence_early_ms(limit);
}

void feed_silence_asked(struct silence *silence, int64_t now_ms)
{
    silence->asked_ms = now_ms;
    silence->asking = true;
}

bool feed_silence_newer_than(const struct silence *asked, const struct silence *other)
{
    return other->received_ms < asked->asked_ms;
}

void feed_silence_answered(struct silence *silence, enum silence_answer answer, int64_t now_ms)
{
    silence->asking = false;
    if (silence->asked_ms == 0) /* it brought data in the meantime */
        return;
    if (answer == SILENCE_NEWER && silence->behind_ms == 0) {
        silence->behind_ms = now_ms;
    } else if (answer == SILENCE_NOTHING && silence->behind_ms == 0) {
        silence->confirmed_ms = now_ms;
        silence->quiet++;
    }
}

void feed_silence_link_add(struct silence_link *link, const struct silence_rule *rule,
                           const struct silence *silence)
{
    int64_t limit = feed_silence_limit(rule, silence);
    link->received_ms =
        link->streams == 0 ? silence->received_ms : most(link->received_ms, silence->received_ms);
    link->limit_ms = link->streams == 0 ? limit : least(link->limit_ms, limit);
    if (silence->spoke)
        link->spoke_ms = most(link->spoke_ms, silence->received_ms);
    if (silence->behind_ms != 0) {
        link->behind_ms = link->behind == 0 ? silence->behind_ms : least(link->behind_ms, silence->behind_ms);
        link->behind++;
    } else if (silence->confirmed_ms > silence->received_ms) {
        link->quiet++;
    }
    link->streams++;
}

/* One stream that is behind does not show that the quiet ones beside it lose messages: where there are such
 * streams, it must have been behind for as long as a silence. */
bool feed_silence_link_due(const struct silence_link *link, const struct silence_replaced *replaced,
                           const struct silence_limits *limits, int64_t now_ms)
{
    int doublings = replaced->times < SILENCE_REPLACE_DOUBLINGS ? replaced->times : SILENCE_REPLACE_DOUBLINGS;
    int64_t since = replaced->times > 0 ? most(replaced->at_ms, link->received_ms) : link->received_ms;
    int64_t wait = most(limits->silence_ms, link->limit_ms);
    if (link->streams == 0)
        return false;
    if (link->behind == link->streams)
        wait = least(limits->stale_ms, wait);
    else if (link->quiet > 0 && (link->behind == 0 || now_ms - link->behind_ms < limits->silence_ms))
        return false;
    return now_ms - since > wait << doublings;
}

void feed_silence_link_replaced(struct silence_replaced *replaced, int64_t now_ms)
{
    replaced->at_ms = now_ms;
    replaced->times++;
}

bool feed_silence_link_well(const struct silence_link *link, struct silence_replaced *replaced)
{
    if (replaced->times == 0 || link->spoke_ms <= replaced->at_ms)
        return false;
    replaced->times = 0;
    return true;
}

void feed_silence_flowed(struct silence_flow *flow, const struct silence_link *link,
                         const struct silence_limits *limits)
{
    if (link->spoke_ms <= flow->newest_ms)
        return;
    if (link->spoke_ms - flow->newest_ms > feed_silence_early_ms(limits->stale_ms))
        flow->resumed_ms = link->spoke_ms;
    flow->newest_ms = link->spoke_ms;
}

bool feed_silence_alone(const struct silence_rule *rule, const struct silence *silence, int64_t stale_ms,
                        const struct silence_link *link, const struct silence_flow *flow)
{
    int64_t due = flow->resumed_ms > silence->received_ms
                      ? flow->resumed_ms + feed_silence_limit(rule, silence)
                      : stale_ms;
    return link->spoke_ms > most(stale_ms, due);
}
