/* The built-in sets; docs/indicators/features.md describes them. */
#include <string.h>

#include "indicators_gpu/features/group.h"

/* A symbol's overview: return, range, trend, momentum, volatility and volume, over two horizons. */
static const char market14[] = "set market14\n"
                               "log_return:1 zscore\n"
                               "log_return:12 zscore\n"
                               "ema:20 /close-1 zscore\n"
                               "ema:100 /close-1 zscore\n"
                               "macd:12,26,9.hist /close zscore\n"
                               "rsi:14 /100\n"
                               "stoch:14,3,3.slowk /100\n"
                               "adx:14 /100\n"
                               "cci:20 /100 zscore\n"
                               "natr:14 normal\n"
                               "zscore:20\n"
                               "realvol:48 normal\n"
                               "mfi:14 /100\n"
                               "volume log1p normal\n";

#define RETURNS(frame) \
    "log_return:1" frame " normal\n" \
    "log_return:3" frame " normal\n" \
    "log_return:6" frame " normal\n" \
    "log_return:12" frame " normal\n"

/* The price relative to its averages. */
#define AVERAGES(frame) \
    "ema:9" frame " /close-1 zscore\n" \
    "ema:26" frame " /close-1 zscore\n" \
    "ema:50" frame " /close-1 zscore\n" \
    "sma:200" frame " /close-1 zscore\n" \
    "kama:30" frame " /close-1 zscore\n" \
    "hma:16" frame " /close-1 zscore\n"

#define OSCILLATORS(frame) \
    "rsi:14" frame " /100\n" \
    "stoch:14,3,3.slowk" frame " /100\n" \
    "stoch:14,3,3.slowd" frame " /100\n" \
    "willr:14" frame " /100\n" \
    "cci:20" frame " /100 zscore\n" \
    "mfi:14" frame " /100\n" \
    "macd:12,26,9.macd" frame " /close zscore\n" \
    "macd:12,26,9.hist" frame " /close zscore\n"

#define TREND(frame) \
    "adx:14" frame " /100\n" \
    "plus_di:14" frame " /100\n" \
    "minus_di:14" frame " /100\n" \
    "aroon:25.up" frame " /100\n" \
    "aroon:25.down" frame " /100\n" \
    "linreg_slope:14" frame " /close zscore\n"

#define VOLATILITY(frame) \
    "natr:14" frame " normal\n" \
    "realvol:20" frame " normal\n" \
    "bbands:20,2.upper" frame " /close-1 zscore\n" \
    "bbands:20,2.lower" frame " /close-1 zscore\n" \
    "zscore:20" frame "\n"

/* More horizons, and indicators of the bars' own interval only. */
#define FURTHER \
    "log_return:24 normal\n" \
    "log_return:48 normal\n" \
    "log_return:144 normal\n" \
    "log_return:288 normal\n" \
    "wma:20 /close-1 zscore\n" \
    "tema:20 /close-1 zscore\n" \
    "vwap:0 /close-1 zscore\n" \
    "sar:0.02,0.2 /close-1 zscore\n" \
    "supertrend:10,3.value /close-1 zscore\n" \
    "supertrend:10,3.direction\n" \
    "ichimoku:9,26,52,26.tenkan /close-1 zscore\n" \
    "ichimoku:9,26,52,26.kijun /close-1 zscore\n" \
    "ichimoku:9,26,52,26.senkou_a /close-1 zscore\n" \
    "ichimoku:9,26,52,26.senkou_b /close-1 zscore\n" \
    "donchian:20.upper /close-1 zscore\n" \
    "donchian:20.lower /close-1 zscore\n" \
    "keltner:20,10,2.upper /close-1 zscore\n" \
    "keltner:20,10,2.lower /close-1 zscore\n" \
    "heikin_ashi.open /close-1 zscore\n" \
    "heikin_ashi.close /close-1 zscore\n" \
    "rsi:7 /100\n" \
    "stochrsi:14,5,3.fastk /100\n" \
    "stochrsi:14,5,3.fastd /100\n" \
    "ultosc:7,14,28 /100\n" \
    "ppo:12,26,1 zscore\n" \
    "trix:30 zscore\n" \
    "roc:10 normal\n" \
    "adosc:3,10 normal\n" \
    "dx:14 /100\n" \
    "adxr:14 /100\n" \
    "linreg_angle:14 zscore\n" \
    "parkinson:20 normal\n" \
    "garman_klass:20 normal\n" \
    "realvol:288 normal\n" \
    "trange /close normal\n" \
    "atr:96 /close normal\n" \
    "rank:20\n" \
    "rank:96\n" \
    "quantile:96,0.1 /close-1 zscore\n" \
    "quantile:96,0.9 /close-1 zscore\n" \
    "volume log1p normal\n"

#define FOUR_HOURS \
    "log_return:1@4h normal\n" \
    "log_return:6@4h normal\n" \
    "ema:9@4h /close-1 zscore\n" \
    "ema:26@4h /close-1 zscore\n" \
    "ema:50@4h /close-1 zscore\n" \
    "rsi:14@4h /100\n" \
    "stoch:14,3,3.slowk@4h /100\n" \
    "macd:12,26,9.hist@4h /close zscore\n" \
    "adx:14@4h /100\n" \
    "natr:14@4h normal\n" \
    "zscore:20@4h\n"

/* All of the bars' own interval, then common indicators of 1h and 4h charts. */
static const char wide110[] =
    "set wide110\n" RETURNS("") AVERAGES("") OSCILLATORS("") TREND("") VOLATILITY("") FURTHER RETURNS("@1h")
        AVERAGES("@1h") OSCILLATORS("@1h") TREND("@1h") VOLATILITY("@1h") FOUR_HOURS;

const char *feature_builtin_text(const char *name)
{
    if (strcmp(name, "market14") == 0)
        return market14;
    return strcmp(name, "wide110") == 0 ? wide110 : NULL;
}
