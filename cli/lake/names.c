#include "cli/lake/names.h"

#include <string.h>

#include "exchange/bar.h"

/* As Spark, pyarrow, DuckDB and people name files that have all symbols, or a part of one's bars. */
static const char *const of_no_symbol[] = {"PART",    "DATA", "CHUNK", "FILE",   "BATCH",  "OUTPUT", "BARS",
                                           "CANDLES", "OHLC", "OHLCV", "KLINES", "PRICES", "HISTORY"};

/* 0, 2024, 5M, 1MO. */
static bool is_number(const char *text)
{
    size_t digits = strspn(text, "0123456789"), letters = strlen(text) - digits;
    return digits > 0 && (letters == 0 || (letters == 1 && strchr("SMHDW", text[digits])) ||
                          strcmp(text + digits, "MO") == 0);
}

/* The first 8 digits of a UUID, some of them decimal ones; 32 together are no symbol. */
static bool is_uuid(const char *text)
{
    size_t n = strspn(text, "0123456789ABCDEF");
    return n == 8 && text[n] == '\0' && strpbrk(text, "0123456789");
}

bool cli_lake_names_specific(const struct bars_name *name)
{
    bool specific = name->symbol[0] && !is_number(name->symbol) && !is_uuid(name->symbol);
    for (size_t i = 0; i < sizeof of_no_symbol / sizeof *of_no_symbol; i++)
        specific = specific && strcmp(name->symbol, of_no_symbol[i]) != 0;
    return specific;
}

static json_t *words_of(const char *path)
{
    struct bars_name name;
    if (bars_name_parse(path, &name) < 0)
        return json_object();
    return json_pack("{s:s, s:s?, s:b, s:b}", "symbol", name.symbol, "interval",
                     name.interval_ns > 0 ? bar_interval_name(name.interval_ns) : NULL, "specific",
                     cli_lake_names_specific(&name), "trades", name.trades);
}

json_t *cli_lake_names(const json_t *paths)
{
    json_t *found = json_array();
    for (size_t i = 0; found && i < json_array_size(paths); i++) {
        const char *path = json_string_value(json_array_get(paths, i));
        json_array_append_new(found, words_of(path ? path : ""));
    }
    return found;
}
