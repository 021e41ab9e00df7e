#include "exchange/fee_tiers.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "exchange/decimal.h"
#include "exchange/fill_rules.h"

#define DAY_NS INT64_C(86400000000000)

enum {
    RATE_SCALE = 6,
    RATE_MOST_E6 = 100000, /* 10 %, as of the other rates that a user gives */
    WORD_MAX = 32,
};

static int bad(char *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int bad(char *why, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, FEE_TIERS_WHY_MAX, format, args);
    va_end(args);
    return -EINVAL;
}

/* The next word up to a blank, or the end of its step. */
static const char *take_word(const char *at, char word[static WORD_MAX])
{
    at += strspn(at, " \t");
    size_t len = strcspn(at, " \t,");
    snprintf(word, WORD_MAX, "%.*s", len < WORD_MAX ? (int)len : WORD_MAX - 1, at);
    return at + len;
}

/* "0.001" or "0.1%". */
static bool take_rate(const char *word, int32_t *ret_e6)
{
    size_t len = strlen(word);
    bool percent = len > 0 && word[len - 1] == '%';
    int64_t value;
    if (decimal_parse(word, percent ? len - 1 : len, percent ? RATE_SCALE - 2 : RATE_SCALE, &value) < 0 ||
        value < 0 || value > RATE_MOST_E6)
        return false;
    *ret_e6 = (int32_t)value;
    return true;
}

static int take_step(const char **at, struct fee_step *ret, char *why)
{
    char volume[WORD_MAX], maker[WORD_MAX], taker[WORD_MAX];
    *at = take_word(take_word(take_word(*at, volume), maker), taker);
    *at += strspn(*at, " \t");
    if (decimal_parse(volume, strlen(volume), 0, &ret->volume) < 0 || ret->volume < 0 ||
        ret->volume > FILL_MONEY_MAX)
        return bad(why,
                   "\"%s\" is no volume: a whole number of the account's currency is right, as in \"0 0.001 "
                   "0.001, 1000000 0.0008 0.001\"",
                   volume);
    if (!take_rate(maker, &ret->rates.maker_e6) || !take_rate(taker, &ret->rates.taker_e6))
        return bad(why,
                   "after the volume %s a maker's and a taker's rate are right, 0 to 0.1 with at most 6 "
                   "digits, or in percent: not \"%s %s\"",
                   volume, maker, taker);
    if (**at != ',' && **at != '\0')
        return bad(why, "after volume, maker and taker a comma is right, not \"%.20s\"", *at);
    return 0;
}

int fee_tiers_parse(const char *text, struct fee_tiers *ret, char why[static FEE_TIERS_WHY_MAX])
{
    struct fee_tiers tiers = {0};
    const char *at = text + strspn(text, " \t");
    while (*at) {
        struct fee_step step;
        int r = tiers.n < FEE_TIERS_MAX ? take_step(&at, &step, why)
                                        : bad(why, "there are at most %d steps", FEE_TIERS_MAX);
        if (r < 0)
            return r;
        if (tiers.n == 0 && step.volume != 0)
            return bad(why, "the first step is of the volume 0");
        if (tiers.n > 0 && step.volume <= tiers.steps[tiers.n - 1].volume)
            return bad(why, "volumes rise from step to step");
        tiers.steps[tiers.n++] = step;
        if (*at == ',' && at[1 + strspn(at + 1, " \t")] == '\0')
            return bad(why, "after a comma another step is right");
        at += *at == ',';
    }
    *ret = tiers;
    return 0;
}

struct fee_rates fee_tiers_rates(const struct fee_tiers *tiers, int64_t volume, int scale)
{
    int i = tiers->n - 1;
    while (i > 0 && (int128_t)tiers->steps[i].volume * decimal_pow10(scale) > volume)
        i--;
    return tiers->steps[i].rates;
}

int64_t fee_volume_day(int64_t ns)
{
    return ns / DAY_NS - (ns % DAY_NS < 0);
}

static int64_t sum(int64_t a, int64_t b)
{
    return a > FILL_MONEY_MAX - b ? FILL_MONEY_MAX : a + b;
}

void fee_volume_add(struct fee_volume *volume, int64_t day, int64_t notional)
{
    if (day > volume->day) {
        int64_t by = day - volume->day;
        size_t n = by > FEE_VOLUME_DAYS ? FEE_VOLUME_DAYS + 1 : (size_t)by;
        memmove(volume->days + n, volume->days, (FEE_VOLUME_DAYS + 1 - n) * sizeof *volume->days);
        memset(volume->days, 0, n * sizeof *volume->days);
        volume->day = day;
    }
    int64_t before = volume->day - day;
    if (before <= FEE_VOLUME_DAYS)
        volume->days[before] = sum(volume->days[before], notional);
}

int64_t fee_volume_before(const struct fee_volume *volume, int64_t day)
{
    int64_t total = 0;
    for (int i = 0; i <= FEE_VOLUME_DAYS; i++) {
        int64_t before = day - (volume->day - i);
        if (before >= 1 && before <= FEE_VOLUME_DAYS)
            total = sum(total, volume->days[i]);
    }
    return total;
}
