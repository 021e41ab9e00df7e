/* Fees by an account's volume of 30 days: a schedule, as it is written, and the volume that it is looked up
 * by. Pure. docs/risk.md, "Fees", has the rule. */
#ifndef EXCHANGE_FEE_TIERS_H
#define EXCHANGE_FEE_TIERS_H

#include <stddef.h>
#include <stdint.h>

#include "exchange/fees.h"

enum {
    FEE_TIERS_MAX = 16,
    FEE_TIERS_TEXT_MAX = 512,
    FEE_TIERS_WHY_MAX = 200,
    FEE_VOLUME_DAYS = 30, /* whose sum counts: those before the day that the rates are for */
};

struct fee_step {
    int64_t volume; /* from so much on: whole units of the account's currency */
    struct fee_rates rates;
};

/* The first step is from 0 on; volumes rise. */
struct fee_tiers {
    int n; /* 0: none */
    struct fee_step steps[FEE_TIERS_MAX];
};

/* Of "VOLUME MAKER TAKER, VOLUME MAKER TAKER …", rates as shares or with %: "0 0.1% 0.1%, 1000000 0.0009
 * 0.001"; "" is none. 0; -EINVAL with what would be right. */
int fee_tiers_parse(const char *text, struct fee_tiers *ret, char why[static FEE_TIERS_WHY_MAX]);

/* Of a volume in units of `scale`; there is at least one step. */
struct fee_rates fee_tiers_rates(const struct fee_tiers *tiers, int64_t volume, int scale);

/* Notionals of an account's fills, by UTC day: the newest day first. */
struct fee_volume {
    int64_t day; /* since 1970, of days[0]; 0: nothing yet */
    int64_t days[FEE_VOLUME_DAYS + 1];
};

/* The UTC day of a time. */
int64_t fee_volume_day(int64_t ns);

/* Counts a fill of a day, which may be one before the newest. Each day's sum ends at the most that money can
 * be (exchange/fill_rules.h). */
void fee_volume_add(struct fee_volume *volume, int64_t day, int64_t notional);

/* The sum of the FEE_VOLUME_DAYS days before `day`, at most as much as money can be. */
int64_t fee_volume_before(const struct fee_volume *volume, int64_t day);

/* The rates of an account changed by its volume, or its schedule did: a row of what is stored. */
struct fee_rate_change {
    uint64_t id; /* 1, 2, 3 … */
    int64_t ts_ns;
    int account;
    int64_t day;        /* the UTC day from whose beginning on they hold; ts_ns is within it */
    int64_t volume;     /* of the days before it, in units of the account's currency */
    uint64_t last_fill; /* fills up to that one are in it */
    const char *tiers;  /* the schedule; "": none any more, and the rates are the account's own */
    struct fee_rates rates;
    uint64_t input_seq;
};

#endif
