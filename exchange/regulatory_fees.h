/* What a sale of stocks of the US costs beside its broker's fee: the transaction fee of the SEC and the
 * trading activity fee of FINRA, by the date of the trade. The rates and their sources are in the .c file.
 * Pure. docs/risk.md, "Regulatory fees". */
#ifndef EXCHANGE_REGULATORY_FEES_H
#define EXCHANGE_REGULATORY_FEES_H

#include <stdbool.h>
#include <stdint.h>

#include "exchange/symbol.h"

struct regulatory_fees {
    int64_t sec, taf; /* units of the quote, each whole cents */
};

/* Is it a stock of the US, as its venue says, or, where no class is known, by a calendar and quoted in USD?
 */
bool fee_regulatory_concerns(const struct symbol *symbol);

/* The exchange's date of a trade, in days since 1970: New York's, without its summer time, which differs from
 * it in an hour in which nothing trades. */
int64_t fee_regulatory_day(int64_t ts_ns);

/* Of a sale of `qty` for `notional` on a day; together at most `left`, what the broker's fee leaves of the
 * notional. Each is rounded up to the cent; the fee of FINRA has a most a trade. A day before the first known
 * rate has none; one after the last known has that. */
struct regulatory_fees fee_regulatory_of_sale(const struct symbol *symbol, int64_t day, int64_t qty,
                                              int64_t notional, int64_t left);

/* The first day that has rates. */
int64_t fee_regulatory_first_day(void);

#endif
