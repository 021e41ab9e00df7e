/* Specifications as text, and column names. */
#include <errno.h>

#include "indicators_gpu/indicators.h"
#include "tests/check.h"

static void good(const char *text, const char *column, size_t output, size_t lookback)
{
    struct indicator_spec spec;
    char err[200] = "", name[200];
    CHECK_INT(indicator_spec_parse(text, &spec, err, sizeof(err)), 0);
    CHECK_STR(err, "");
    CHECK_INT(indicator_spec_name(&spec, output, name, sizeof(name)), strlen(column));
    CHECK_STR(name, column);
    CHECK_INT(indicator_lookback(&spec), lookback);
}

static void bad(const char *text, const char *why)
{
    struct indicator_spec spec = {0};
    char err[200] = "";
    CHECK_INT(indicator_spec_parse(text, &spec, err, sizeof(err)), -EINVAL);
    CHECK_STR(err, why);
    CHECK(!spec.row);
}

int main(void)
{
    good("sma:20", "sma_20", 0, 19);
    good("sma", "sma_30", 0, 29);
    good("SMA:20", "sma_20", 0, 19);
    good("ema:014", "ema_14", 0, 13);
    good("ema:100000", "ema_100000", 0, 99999);
    good("rsi:14.0", "rsi_14", 0, 14);
    good("atr", "atr_14", 0, 14);
    good("macd", "macd_12_26_9.macd", 0, 33);
    good("macd:5", "macd_5_26_9.signal", 1, 33);
    good("macd:5,35,5", "macd_5_35_5.hist", 2, 38);
    good("macd:35,5,5", "macd_35_5_5.hist", 2, 38);

    bad("smaa:20", "there is no indicator \"smaa\": the nearest is \"sma\"");
    bad("RSII", "there is no indicator \"RSII\": the nearest is \"rsi\"");
    bad("madc:1,2,3", "there is no indicator \"madc\": the nearest is \"macd\"");
    bad("", "\"\" names no indicator: NAME:options is needed, as sma:20");
    bad(":20", "\":20\" names no indicator: NAME:options is needed, as sma:20");
    bad("sma:0", "sma: period \"0\": a whole number from 1 to 100000 is needed");
    bad("sma:100001", "sma: period \"100001\": a whole number from 1 to 100000 is needed");
    bad("sma:2.5", "sma: period \"2.5\": a whole number from 1 to 100000 is needed");
    bad("sma:-3", "sma: period \"-3\": a whole number from 1 to 100000 is needed");
    bad("sma:", "sma: period \"\": a whole number from 1 to 100000 is needed");
    bad("sma:x", "sma: period \"x\": a whole number from 1 to 100000 is needed");
    bad("sma:1e3", "sma: period \"1e3\": a whole number from 1 to 100000 is needed");
    bad("sma:nan", "sma: period \"nan\": a whole number from 1 to 100000 is needed");
    bad("sma: 5", "sma: period \" 5\": a whole number from 1 to 100000 is needed");
    bad("sma:99999999999999999999",
        "sma: period \"99999999999999999999\": a whole number from 1 to 100000 is needed");
    bad("sma:5,6", "sma takes 1 option, no \"6\"");
    bad("macd:12,,9", "macd: slow \"\": a whole number from 1 to 100000 is needed");
    bad("macd:1,2,3,4", "macd takes 3 options, no \"4\"");
    bad("an_indicator_with_a_name_far_too_long_for_any",
        "\"an_indicator_with_a_name_far_too_long_fo\" names no indicator: NAME:options is needed, as sma:20");

    struct indicator_spec spec;
    char err[8], name[8];
    CHECK_INT(indicator_spec_parse("nosuch", &spec, err, sizeof(err)), -EINVAL);
    CHECK_INT(strlen(err), sizeof(err) - 1);
    CHECK_INT(indicator_spec_parse("macd", &spec, err, sizeof(err)), 0);
    CHECK_INT(indicator_spec_name(&spec, 0, name, sizeof(name)), strlen("macd_12_26_9.macd"));
    CHECK_STR(name, "macd_12");
    return check_done("indicators_gpu/spec");
}
