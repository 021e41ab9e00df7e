/* A venue's listing of a symbol as JSON, to the digit, so that it can be kept beside the history. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fetch.h"
#include "db/records.h"
#include "db/row.h"
#include "exchange/folder.h"
#include "exchange/history/known.h"
#include "record/json.h"

/* Is the field one of struct symbol's, and not what changes from day to day? */
static bool is_kept(const struct record_field *field)
{
    const size_t begin = offsetof(struct db_symbol_row, symbol);
    return field->offset >= begin && field->offset < begin + sizeof(struct symbol) &&
           field->offset != begin + offsetof(struct symbol, shortable) &&
           field->offset != begin + offsetof(struct symbol, easy_to_borrow);
}

json_t *cli_fetch_listing(const struct symbol *symbol)
{
    const struct record *record = &db_record_symbols;
    const struct db_symbol_row row = {.symbol = *symbol};
    json_t *object = json_object();
    for (int i = 0; i < record->n && object; i++) {
        const struct record_field *field = &record->fields[i];
        if (is_kept(field)) /* amounts in units */
            json_object_set_new(object, field->name,
                                record_is_decimal(field)
                                    ? json_integer((json_int_t)record_field_number(field, &row))
                                    : record_json(field, &row, &(struct record_context){.symbol = symbol}));
    }
    return object;
}

bool cli_fetch_take_listing(const json_t *object, struct symbol *ret)
{
    const struct record *record = &db_record_symbols;
    struct db_symbol_row row = {.id = 0};
    memset(&row, 0, sizeof row);
    for (int i = 0; i < record->n; i++) {
        const struct record_field *field = &record->fields[i];
        const json_t *value = json_object_get(object, field->name);
        if (!is_kept(field))
            continue;
        if (!record_json_set(field, &row, value) ||
            (record_is_decimal(field) && record_field_number(field, &row) < 0))
            return false;
    }
    const struct symbol *symbol = &row.symbol;
    const int scales[] = {symbol->price_scale, symbol->qty_scale, symbol->quote_scale};
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++)
        if (scales[i] < 0 || scales[i] > DECIMAL_SCALE_MAX)
            return false;
    const int unit = symbol->price_scale + symbol->qty_scale - symbol->quote_scale;
    if (!symbol->quote[0] || unit < 0 || unit > DECIMAL_SCALE_MAX)
        return false;
    memcpy(ret, symbol, sizeof *ret); /* padding too: it is hashed */
    return true;
}

/* "BTC-USD_5m.known" of BTC/USD. */
static bool is_of(const char *file, const char *symbol)
{
    const size_t n = strlen(symbol), ends = strlen(HISTORY_KNOWN_ENDING), len = strlen(file);
    if (len <= n + ends || file[n] != '_' || strcmp(file + len - ends, HISTORY_KNOWN_ENDING) != 0)
        return false;
    for (size_t i = 0; i < n; i++)
        if (file[i] != (symbol[i] == '/' ? '-' : symbol[i]))
            return false;
    return true;
}

static bool read_listing(const char *path, struct symbol *ret)
{
    struct history_known known;
    if (history_known_read_file(path, &known) < 0)
        return false;
    bool ok = known.listing && cli_fetch_take_listing(known.listing, ret);
    history_known_finish(&known);
    return ok;
}

bool cli_fetch_find_listing(const struct fetch_asked *asked, const struct venue *venue, const char *symbol,
                            struct symbol *ret)
{
    char folder[PATH_MAX], host[FETCH_HOST_MAX], place[PATH_MAX], path[PATH_MAX];
    bool found = false;
    cli_fetch_host_of(asked->rest_url, venue, host);
    if (!folder_cache("history", asked->cache, folder) ||
        history_venue_path(folder, venue->format->name, host, "", place) < 0)
        return false;
    DIR *list = opendir(place);
    for (struct dirent *entry; list && !found && (entry = readdir(list));)
        if (is_of(entry->d_name, symbol) &&
            snprintf(path, sizeof path, "%s%s", place, entry->d_name) < (int)sizeof path)
            found = read_listing(path, ret);
    if (list)
        closedir(list);
    return found;
}
