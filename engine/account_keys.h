/* Cash and rates of an account, latency and slippage of an engine as keys: of papertaped.ini, account
 * create and the options of backtest, all from these rows. */
#ifndef ENGINE_ACCOUNT_KEYS_H
#define ENGINE_ACCOUNT_KEYS_H

#include "record/config_key.h"

/* ROW(member, name, default, sentence), of a struct fee_rates */
#define ACCOUNT_FEE_KEYS(ROW) \
    ROW(maker_e6, "fee_maker", "0.001", "of the notional of a fill that waited in the book: 0.001 is 0.1 %") \
    ROW(taker_e6, "fee_taker", "0.001", "of the notional of a fill that took from the book")
/* The same of symbols whose venue says what they are, of struct account_rules and struct account_config. */
#define ACCOUNT_CLASS_FEE_KEYS(ROW) \
    ROW(crypto_fees.maker_e6, "crypto_fee_maker", "0.0015", \
        "of crypto, where its venue trades stocks too: the venue's highest tier") \
    ROW(crypto_fees.taker_e6, "crypto_fee_taker", "0.0025", "of such crypto, that took from the book") \
    ROW(us_equity_fees.maker_e6, "us_equity_fee_maker", "0", "of stocks of the US, whose venue takes none") \
    ROW(us_equity_fees.taker_e6, "us_equity_fee_taker", "0", "of such stocks, that took from the book")
#define ACCOUNT_FEE .min = 0, .max = 0.1, .scale = 6, .share = true

/* ROW(member, name, kind, default, sentence, more) */
#define ACCOUNT_SHORT_KEYS(ROW) \
    ROW(collateral_e4, "collateral", KEY_RATE(1, 100, 4), "1.5", \
        "a short needs this much of its value to be opened: 1.5 is 150 %", NULL) \
    ROW(maintenance_e4, "maintenance", KEY_RATE(1, 100, 4), "1.25", \
        "below this much of its value a short is bought back", NULL) \
    ROW(borrow_rate_e6, "borrow_rate", KEY_RATE(0, 10, 6), "0.05", \
        "a year's interest on what is borrowed: 0.05 is 5 %", "Booked every hour.")

/* Of an account for US stocks: exchange/margin.h. ROW(member, name, words, default, sentence, more) */
#define ACCOUNT_STOCK_KEYS(ROW) \
    ROW(margin, "margin", "off regt intraday", "off", \
        "what stocks are bought with: off (cash), regt (a loan by Regulation T), or intraday", \
        "With regt 50 % of what is held is needed to open, and 25 % (FINRA 4210) to keep; of shorts more of " \
        "these rules, instead of collateral and maintenance. With intraday, from 2026-06-04 on, the 25 % " \
        "suffice until the day ends. [risk]'s exposure_account, or the account's own, must allow for it.") \
    ROW(day_trader, "pattern_day_trader", "auto on off", "auto", \
        "whether that rule holds, with a margin: auto (until 2026-06-03), on (of one, at any date), or off", \
        "Four day trades in five business days make one; below $25,000 one opens no stocks, above it four " \
        "times the excess of equity over maintenance can be bought within a day.") \
    ROW(settlement, "settlement", "off by-date strict", "off", \
        "when a stock's sale is paid: off (at once), by-date (shown so), or strict (buys nothing until then)", \
        "Three business days later, from 2017-09-05 on two, from 2024-05-28 on one. strict is of an account " \
        "without a margin.")

/* Of struct account_rules and struct account_config. ROW(member, name, kind, default, sentence, more) */
#define ACCOUNT_CHARGE_KEYS(ROW) \
    ROW(fee_tiers, "fee_tiers", KEY_OWN(engine_fee_tiers_read, NULL), "", \
        "rates by the account's volume of 30 days: VOLUME MAKER TAKER, VOLUME MAKER TAKER …; empty: they stay", \
        "Volumes in whole units of its currency, the first 0: 0 0.1% 0.1%, 1000000 0.09% 0.1%. At each day's " \
        "beginning (UTC) the rates are those of the fills of the 30 days before. In place of fees, fee_maker " \
        "and fee_taker.") \
    ROW(regulatory_fees, "regulatory_fees", KEY_SWITCH("off on"), "off", \
        "what the SEC and FINRA take of sales of stocks of the US, by date: on, or off", \
        "Beside the rates, each rounded up to the cent. docs/risk.md has the rates and the dates.") \
    ROW(withholding_e6, "withholding", KEY_RATE(0, 1, 6), "0", \
        "the tax that is kept of dividends of what is held: 0.15 is 15 %", "Not of what a short pays.")
/* Of a struct's char[FEE_TIERS_TEXT_MAX]. */
int engine_fee_tiers_read(const struct config_key *key, const char *text, void *base,
                          char why[static CONFIG_WHY_MAX]);

/* Parts of rows. The words are those of account_execution_name(), and session_choice_names. */
#define ACCOUNT_EXECUTIONS "model venue-paper"
#define ACCOUNT_SESSIONS   "all regular extended"
#define ACCOUNT_SESSION_WORDS \
    "session", \
        "the bars that its strategy or policy sees: of the regular session, of the extended hours " \
        "too, or all", \
        "regular"
#define ACCOUNT_SESSION_MORE \
    "Of markets with a calendar; one without has no sessions. Indicators are of these bars only, and what is " \
    "decided on a session's last bar is ordered at the next opening. docs/strategies.md has the rules."
#define ACCOUNT_CASH_WORDS "cash", "deposited once, when the account is new", "10000"
#define ACCOUNT_CASH       .min = 0, .max = 10000000000, .scale = 8
#define ENGINE_LATENCY_KEY \
    "latency_ms", "between a decision and its effect at the venue", "50", KEY_SCALED(0, 60000, 6)
#define ENGINE_SLIPPAGE_KEY \
    "slippage", "takers trade at prices this share worse than shown: 0.0005 is 0.05 %", "0", \
        KEY_RATE(0, 0.1, 6)

#endif
