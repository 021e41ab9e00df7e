/* Specifications as text, and column names. */
#include <ctype.h>
#include <errno.h>
#include <locale.h>

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

/* The nearest is named first, and up to two more that are nearly as near. */
static void unknown(const char *text, const char *nearest)
{
    struct indicator_spec spec = {0};
    char err[200] = "", start[200];
    CHECK_INT(indicator_spec_parse(text, &spec, err, sizeof(err)), -EINVAL);
    CHECK(!spec.row);
    const char *names = strstr(err, ": the nearest ");
    CHECK(strncmp(err, "there is no indicator \"", 23) == 0 && names && !strchr(err, '\033'));
    if (!names)
        return;
    size_t n = 0;
    for (const char *p = names; (p = strchr(p, '"')); n++) {
        char name[32] = "";
        CHECK_INT(sscanf(p, "\"%31[a-z0-9_]\"", name), 1);
        CHECK(indicator_find(name));
        p += strlen(name) + 2;
    }
    CHECK(n >= 1 && n <= 3);
    snprintf(start, sizeof(start), ": the nearest %s \"%s\"", n == 1 ? "is" : "are", nearest);
    CHECK(!nearest || strncmp(names, start, strlen(start)) == 0);
}

/* A locale that writes a comma does not change a specification or a column's name. */
static void test_locale(void)
{
    static const char *const comma[] = {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "ps_AF.UTF-8", "fa_IR.UTF-8"};
    for (size_t i = 0; i < sizeof(comma) / sizeof(comma[0]); i++) {
        if (!setlocale(LC_NUMERIC, comma[i]))
            continue;
        good("rsi:14.0", "rsi_14", 0, 14);
        bad("sma:2,5", "sma: takes 1 option (period), \"5\" is too many");
    }
    setlocale(LC_NUMERIC, "C");
}

/* What is written is read again as the same, for each row. */
static void test_text(void)
{
    size_t n;
    const struct indicator *const *rows = indicator_rows(&n);
    for (size_t r = 0; r < n; r++) {
        struct indicator_spec spec, again;
        char err[200], text[160], shouted[160];
        CHECK_INT(indicator_spec_parse(rows[r]->name, &spec, err, sizeof(err)), 0);
        CHECK(indicator_spec_valid(&spec));
        CHECK(indicator_spec_text(&spec, text, sizeof(text)) < sizeof(text));
        for (size_t i = 0; i <= strlen(text); i++)
            shouted[i] = (char)toupper((unsigned char)text[i]);
        CHECK_INT(indicator_spec_parse(shouted, &again, err, sizeof(err)), 0);
        CHECK(again.row == rows[r]);
        for (size_t i = 0; i < rows[r]->n_options; i++) {
            const struct indicator_option *option = &rows[r]->options[i];
            CHECK(again.options[i] == option->value);
            spec.options[i] = option->max + 1;
            CHECK(!indicator_spec_valid(&spec));
            CHECK(indicator_spec_text(&spec, text, sizeof(text)) < sizeof(text));
            CHECK_INT(indicator_spec_parse(text, &again, err, sizeof(err)), -EINVAL);
            CHECK(strstr(err, rows[r]->name) == err && strstr(err, option->name) && strstr(err, " to "));
            spec.options[i] = option->value;
        }
        snprintf(text, sizeof(text), "%s:%s7", rows[r]->name, &"9,9,9,9,"[8 - 2 * rows[r]->n_options]);
        CHECK_INT(indicator_spec_parse(text, &again, err, sizeof(err)), -EINVAL);
    }
}

/* Written and read again, the option is what it was: no exponent, whatever its size. */
static void test_written(const char *name, size_t option, double value, const char *expected)
{
    struct indicator_spec spec, again;
    char err[200] = "", text[160];
    CHECK_INT(indicator_spec_parse(name, &spec, err, sizeof(err)), 0);
    spec.options[option] = value;
    CHECK(indicator_spec_valid(&spec));
    CHECK_INT(indicator_spec_text(&spec, text, sizeof(text)), strlen(expected));
    CHECK_STR(text, expected);
    CHECK_INT(indicator_spec_parse(text, &again, err, sizeof(err)), 0);
    CHECK_STR(err, "");
    CHECK_NEAR(again.options[option], value, 5e-15 * value + 1e-22);
}

static void test_digits(void)
{
    test_written("sar", 0, 0.00001, "sar:0.00001,0.2");
    test_written("sar", 0, 9e-5, "sar:0.00009,0.2");
    test_written("sar", 1, 1.0 / 3.0, "sar:0.02,0.333333333333333");
    test_written("sar", 1, 1.0 / 30000.0, "sar:0.02,0.0000333333333333333");
    test_written("sar", 0, 1e-22, "sar:0.0000000000000000000001,0.2");
    test_written("sar", 0, 1e-30, "sar:0,0.2");
    test_written("sar", 0, 0.0, "sar:0,0.2");
    test_written("quantile", 1, 0.1 + 0.2, "quantile:20,0.3");
    test_written("quantile", 1, 0.99999999999999989, "quantile:20,1");
    test_written("bbands", 1, 99.9999999999999, "bbands:20,99.9999999999999");
    test_written("bbands", 1, 100, "bbands:20,100");
    test_written("bbands", 1, 0.5, "bbands:20,0.5");
    test_written("vwap", 0, 23.99, "vwap:23.99");
    test_written("supertrend", 1, 1000, "supertrend:10,1000");
    test_written("sma", 0, 100000, "sma:100000");
    good("sar:0.020000000000000,00.3", "sar_0.02_0.3", 0, 1);
    bad("sar:0.00000000000000000000001",
        "sar: acceleration \"0.00000000000000000000001\": a number from 0 to 1 is needed");
    bad("sar:0.1234567890123456", "sar: acceleration \"0.1234567890123456\": a number from 0 to 1 is needed");
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

    unknown("smaa:20", "sma");
    unknown("RSII", "rsi");
    unknown("madc:1,2,3", "macd");
    unknown("tre", "atr");
    unknown("convergence", "macd");
    unknown("nosuch", NULL);
    unknown("a\033[31m", NULL);
    unknown("a_name_of_thirty_one_characters", NULL);
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
    bad("sma:5,6", "sma: takes 1 option (period), \"6\" is too many");
    bad("macd:12,,9", "macd: slow \"\": a whole number from 1 to 100000 is needed");
    bad("sma:5,", "sma: takes 1 option (period), \"\" is too many");
    bad("macd:12,", "macd: slow \"\": a whole number from 1 to 100000 is needed");
    bad("sma:\t7\377", "sma: period \"?7?\": a whole number from 1 to 100000 is needed");
    bad("macd:1,2,3,4", "macd: takes 3 options (fast,slow,signal), \"4\" is too many");
    bad("an_indicator_with_a_name_far_too_long_for_any",
        "\"an_indicator_with_a_name_far_too\" names no indicator: NAME:options is needed, as sma:20");

    test_text();
    test_digits();
    test_locale();

    struct indicator_spec spec;
    char err[8], name[8];
    CHECK_INT(indicator_spec_parse("nosuch", &spec, err, sizeof(err)), -EINVAL);
    CHECK_INT(strlen(err), sizeof(err) - 1);
    CHECK_INT(indicator_spec_parse("macd", &spec, err, sizeof(err)), 0);
    CHECK_INT(indicator_spec_name(&spec, 0, name, sizeof(name)), strlen("macd_12_26_9.macd"));
    CHECK_STR(name, "macd_12");
    return check_done("indicators_gpu/spec");
}
