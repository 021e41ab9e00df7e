/* Symbols of two venues that count one asset with different decimals: those that are quoted in it get one
 * number, that all of them can have. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/session_internal.h"
#include "tests/check.h"

static struct symbol made(const char *name, const char *quote, int price, int qty, int money)
{
    struct symbol symbol = {.price_scale = price, .qty_scale = qty, .quote_scale = money};
    snprintf(symbol.name, sizeof symbol.name, "%s", name);
    snprintf(symbol.venue, sizeof symbol.venue, "%s", "binance");
    snprintf(symbol.quote, sizeof symbol.quote, "%s", quote);
    return symbol;
}

int main(void)
{
    static struct daemon_config config;
    static struct state_dir state = {.database = "/nowhere/papertape.db"};
    static struct session session = {.config = &config, .state = &state};
    char err[256] = "";

    /* The most that one of them says. */
    struct symbol pair[] = {made("BTCUSDT", "USDT", 2, 5, 6), made("ETHUSDT", "USDT", 2, 7, 8),
                            made("BTCUSD", "USD", 2, 5, 2)};
    daemon_session_choose_units(&session, pair, 3);
    CHECK_INT(pair[0].quote_scale, 6); /* its price and quantity have 7 together, and no notional has 8 */
    CHECK_INT(pair[1].quote_scale, 6);
    CHECK_INT(pair[2].quote_scale, 2);

    struct symbol fits[] = {made("BTCUSDT", "USDT", 8, 8, 6), made("ETHUSDT", "USDT", 8, 8, 8)};
    daemon_session_choose_units(&session, fits, 2);
    CHECK_INT(fits[0].quote_scale, 8);
    CHECK_INT(fits[1].quote_scale, 8);

    /* Alone, as its venue says. */
    struct symbol alone = made("BTCUSDT", "USDT", 2, 5, 4);
    daemon_session_choose_units(&session, &alone, 1);
    CHECK_INT(alone.quote_scale, 4);

    /* What no choice can bring together is refused in words. */
    struct symbol stored[] = {made("BTCUSDT", "USDT", 8, 8, 6), made("ETHUSDT", "USDT", 8, 8, 8)};
    session.symbols = stored;
    session.n_symbols = 2;
    CHECK_INT(daemon_session_check_units(&session, "main", "USDT", 8, err, sizeof err), -EINVAL);
    CHECK(strstr(err, "BTCUSDT of binance counts USDT with 6 decimals") && strstr(err, "has 8"));
    CHECK_INT(daemon_session_check_units(&session, "main", "USD", 8, err, sizeof err), 0);
    return check_done("daemon/session_units");
}
