/* A refusal of an account's balance or margin in words: what is needed, and what there is. */
#include <stdio.h>

#include "daemon/command/internal.h"
#include "exchange/decimal.h"
#include "exchange/order_reason.h"

static void of_day_trades(const struct engine *engine, int account, const struct engine_lack *lack,
                          const char *meaning, char words[static ORDER_WORDS_MAX])
{
    struct margin_figures figures;
    char equity[DECIMAL_TEXT_MAX];
    engine_margin_figures(engine, account, &figures);
    decimal_format_short(lack->available, lack->scale, equity);
    snprintf(
        words, ORDER_WORDS_MAX,
        "%s: equity is %s %s, after %lld day trades in %d business days, of which fewer than %d make none",
        meaning, equity, lack->asset, (long long)figures.day_trades, MARGIN_DAY_TRADE_DAYS,
        MARGIN_DAY_TRADES);
}

const char *daemon_command_lack_words(const struct engine *engine, int account, enum order_reason reason,
                                      const struct engine_lack *lack, char words[static ORDER_WORDS_MAX])
{
    const char *meaning = order_reason_words(reason);
    char needed[DECIMAL_TEXT_MAX], available[DECIMAL_TEXT_MAX], unsettled[DECIMAL_TEXT_MAX];
    if (reason == ORDER_DAY_TRADER_EQUITY) {
        of_day_trades(engine, account, lack, meaning, words);
        return words;
    }
    decimal_format_short(lack->needed, lack->scale, needed);
    decimal_format_short(lack->available > 0 ? lack->available : 0, lack->scale, available);
    int n = snprintf(words, ORDER_WORDS_MAX, "%s: %s %s needed, %s available", meaning, needed, lack->asset,
                     available);
    if (lack->unsettled > 0) {
        decimal_format_short(lack->unsettled, lack->scale, unsettled);
        snprintf(words + n, (size_t)(ORDER_WORDS_MAX - n), ", %s not settled", unsettled);
    }
    return words;
}
