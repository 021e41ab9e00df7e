#include "strategy/risk_words.h"

#include <inttypes.h>
#include <stdio.h>

#include "exchange/decimal.h"
#include "exchange/order_reason.h"

struct amount {
    char text[DECIMAL_TEXT_MAX];
};

static struct amount amount(int128_t units, int scale)
{
    struct amount ret;
    decimal_format_short(units, scale, ret.text);
    return ret;
}

static void exposure(const struct risk_limits *limits, const struct risk_facts *f,
                     const struct risk_units *units, char words[static ORDER_WORDS_MAX])
{
    bool symbol = risk_exposure_symbol(limits, f);
    double share = symbol ? limits->exposure_symbol : limits->exposure_account;
    int64_t before = symbol ? f->symbol_notional : f->account_notional;
    snprintf(words, ORDER_WORDS_MAX,
             "%s %s ordered, with %s of %s held and on order, are above %s, %.9g of equity %s (%s)",
             amount(f->order_notional, units->scale).text, units->currency, amount(before, units->scale).text,
             symbol ? units->symbol->name : "all symbols",
             amount(risk_share_of(f->equity, share), units->scale).text, share,
             amount(f->equity, units->scale).text, symbol ? "exposure_symbol" : "exposure_account");
}

static void price_band(const struct risk_limits *limits, const struct risk_facts *f,
                       const struct risk_units *units, char words[static ORDER_WORDS_MAX])
{
    int scale = units->symbol->price_scale;
    int128_t away = risk_share_of(f->last, limits->price_band);
    int64_t price = risk_price_band(limits, f->limit_price, f->last) ? f->limit_price : f->stop_price;
    snprintf(words, ORDER_WORDS_MAX, "%s is not within %s to %s, %.9g of the last price %s (price_band)",
             amount(price, scale).text, amount(f->last - away, scale).text,
             amount(f->last + away, scale).text, limits->price_band, amount(f->last, scale).text);
}

static void fallen(double share, const char *key, int64_t from, const char *when, const struct risk_facts *f,
                   const struct risk_units *units, char words[static ORDER_WORDS_MAX])
{
    int128_t least = from - risk_share_of(from, share);
    snprintf(words, ORDER_WORDS_MAX, "equity is %s %s and was %s %s; %.9g below it is %s (%s)",
             amount(f->equity, units->scale).text, units->currency, amount(from, units->scale).text, when,
             share, amount(least, units->scale).text, key);
}

const char *risk_words(enum order_reason reason, const struct risk_limits *limits,
                       const struct risk_facts *facts, const struct risk_units *units,
                       char words[static ORDER_WORDS_MAX])
{
    char numbers[ORDER_WORDS_MAX];
    switch (reason) {
    case ORDER_RISK_EXPOSURE:
        exposure(limits, facts, units, numbers);
        break;
    case ORDER_RISK_PRICE_BAND:
        price_band(limits, facts, units, numbers);
        break;
    case ORDER_RISK_DAILY_LOSS:
        fallen(limits->daily_loss, "daily_loss", facts->day_equity, "at the day's start", facts, units,
               numbers);
        break;
    case ORDER_RISK_DRAWDOWN:
        if (!risk_drawdown(limits, facts->equity, facts->peak)) /* its equity, or the limit, rose since */
            return NULL;
        fallen(limits->drawdown, "drawdown", facts->peak, "at its highest", facts, units, numbers);
        break;
    case ORDER_RISK_COOLDOWN:
        snprintf(numbers, sizeof numbers, "%s s ago, less than %s s (cooldown_s)",
                 amount((facts->now_ns - facts->closed_ns) / 1000000, 3).text,
                 amount(limits->cooldown_ns / 1000000, 3).text);
        break;
    case ORDER_RISK_POSITIONS:
        snprintf(numbers, sizeof numbers, "%" PRId32 " others, and at most %" PRId32 " in all (positions)",
                 facts->positions, limits->positions);
        break;
    case ORDER_RISK_ORDER_RATE:
        snprintf(numbers, sizeof numbers, "at most %" PRId32 " (orders_per_second)",
                 limits->orders_per_second);
        break;
    default:
        return NULL;
    }
    snprintf(words, ORDER_WORDS_MAX, "%.100s: %.*s", order_reason_words(reason), ORDER_WORDS_MAX - 104,
             numbers);
    return words;
}
