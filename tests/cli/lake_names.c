/* Which names of files of Parquet say their symbol, and which are a program's for parts of a table. */
#include "cli/lake/names.h"
#include "tests/check.h"

static const struct {
    const char *path, *symbol;
    bool specific;
} cases[] = {
    {"lake/BTCUSDT_5m.parquet", "BTCUSDT", true},
    {"BTCUSDT-5m-2025-04.snappy.parquet", "BTCUSDT", true},
    {"BTC-USD.parquet", "BTC-USD", true},
    {"1INCHUSDT.parquet", "1INCHUSDT", true},
    {"0700.HK_1d.parquet", "0700.HK", true},
    {"PARTUSDT.parquet", "PARTUSDT", true},
    {"DATADOG/5mUSDT.parquet", "5MUSDT", true},
    {"part-0.parquet", "PART", false},
    {"part-00000-9f2c-c000.snappy.parquet", "PART", false},
    {"part.0.parquet", "PART", false},
    {"data_0.parquet", "DATA", false},
    {"MSFT/00000000.parquet", "00000000", false},
    {"2024-08-07.parquet", "2024", false},
    {"5m.parquet", "5M", false},
    {"1mo.parquet", "1MO", false},
    {"bars.parquet", "BARS", false},
    {"9f2c1a7e-1b2c-4d5e-8f90-123456789abc.parquet", "9F2C1A7E", false},
    {"10000000AIDOGEUSDT.parquet", "10000000AIDOGEUSDT", true},
};

static void test_names(void)
{
    json_t *paths = json_array();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        json_array_append_new(paths, json_string(cases[i].path));
    json_t *found = cli_lake_names(paths);
    CHECK_INT(json_array_size(found), sizeof cases / sizeof *cases);
    for (size_t i = 0; i < json_array_size(found); i++) {
        const json_t *row = json_array_get(found, i);
        CHECK_STR(json_string_value(json_object_get(row, "symbol")), cases[i].symbol);
        CHECK_INT(json_is_true(json_object_get(row, "specific")), cases[i].specific);
        CHECK(!json_is_true(json_object_get(row, "trades")));
    }
    CHECK_STR(json_string_value(json_object_get(json_array_get(found, 0), "interval")), "5m");
    CHECK(json_is_null(json_object_get(json_array_get(found, 2), "interval")));
    json_decref(found);
    json_decref(paths);
}

static void test_none(void)
{
    json_t *paths =
        json_pack("[s, s]", "0123456789abcdef0123456789abcdef-0.parquet", "BTCUSDT-trades-2025.parquet");
    json_t *found = cli_lake_names(paths);
    CHECK_INT(json_object_size(json_array_get(found, 0)), 0);
    CHECK(json_is_true(json_object_get(json_array_get(found, 1), "trades")));
    json_decref(found);
    json_decref(paths);
}

int main(void)
{
    test_names();
    test_none();
    return check_done("cli/lake_names");
}
