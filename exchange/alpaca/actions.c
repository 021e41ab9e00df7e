#include "exchange/alpaca/rest_call.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "exchange/alpaca/calendar.h"
#include "exchange/alpaca/number.h"
#include "exchange/alpaca/reader.h"

enum { RATE_SCALE = 9, WORDS_MAX = 48 };

/* One row's fields; which of the rates there are depends on its kind. */
struct row {
    struct json_text id, symbol, other, renamed, ex_date, record_date, payable_date, effective, processed;
    int64_t new_rate, old_rate, rate;
    bool odd; /* one of them does not read */
};

struct page {
    struct reader reader;
    int64_t from_ns, to_ns;
    struct venue_action *list;
    size_t cap, n, rows;
    struct venue_skipped *skipped;
};

static bool copy(struct json_text text, char *ret, size_t size)
{
    return text.len > 0 && !memchr(text.data, '\\', text.len) && json_text_copy(text, ret, size);
}

static int shown(struct json_text text)
{
    return text.len < WORDS_MAX ? (int)text.len : WORDS_MAX;
}

/* False: it is not a row. */
static bool read_row(struct reader *reader, struct row *row)
{
    struct json_text key;
    *row = (struct row){.new_rate = -1, .old_rate = -1, .rate = -1};
    if (!alpaca_reader_enter_map(reader))
        return false;
    while (alpaca_reader_member(reader, &key)) {
        const struct reader before = *reader;
        bool ok =
            json_is(key, "id")       ? alpaca_reader_maybe_text(reader, &row->id)
            : json_is(key, "symbol") ? alpaca_reader_maybe_text(reader, &row->symbol)
            : json_is(key, "old_symbol") || json_is(key, "source_symbol") || json_is(key, "acquiree_symbol")
                ? alpaca_reader_maybe_text(reader, &row->other)
            : json_is(key, "new_symbol")     ? alpaca_reader_maybe_text(reader, &row->renamed)
            : json_is(key, "ex_date")        ? alpaca_reader_maybe_text(reader, &row->ex_date)
            : json_is(key, "record_date")    ? alpaca_reader_maybe_text(reader, &row->record_date)
            : json_is(key, "payable_date")   ? alpaca_reader_maybe_text(reader, &row->payable_date)
            : json_is(key, "effective_date") ? alpaca_reader_maybe_text(reader, &row->effective)
            : json_is(key, "process_date")   ? alpaca_reader_maybe_text(reader, &row->processed)
            : json_is(key, "new_rate")       ? alpaca_reader_maybe_amount(reader, RATE_SCALE, &row->new_rate)
            : json_is(key, "old_rate")       ? alpaca_reader_maybe_amount(reader, RATE_SCALE, &row->old_rate)
            : json_is(key, "rate")           ? alpaca_reader_maybe_amount(reader, RATE_SCALE, &row->rate)
                                             : alpaca_reader_skip(reader);
        if (!ok) {
            row->odd = true;
            *reader = before;
            if (!alpaca_reader_skip(reader))
                return false;
        }
    }
    return !reader_failed(reader);
}

static int64_t divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The beginning of a day that may not be said, or not read: 0. */
static int64_t day_ns(struct json_text date)
{
    int32_t day;
    return date.data && alpaca_date(date.data, date.len, &day) ? alpaca_eastern_ns(day, ALPACA_EARLY_MINUTE)
                                                               : 0;
}

/* A change of name has no ex-date: it is of the day on which it is processed. */
static const char *to_rename(const struct row *row, struct venue_action *ret)
{
    struct venue_action action = {0};
    int32_t day;
    if (!copy(row->other, action.symbol, sizeof(action.symbol)) ||
        !copy(row->renamed, action.renamed, sizeof(action.renamed)) || !row->processed.data ||
        !alpaca_date(row->processed.data, row->processed.len, &day))
        return "a field is missing, malformed or too long";
    if (strcmp(action.symbol, action.renamed) == 0)
        return "its symbol stays";
    action.action.ex_ns = alpaca_eastern_ns(day, ALPACA_EARLY_MINUTE);
    if (!copy(row->id, action.action.id, sizeof(action.action.id)))
        snprintf(action.action.id, sizeof(action.action.id), "%s name %.10s", action.symbol,
                 row->processed.data);
    *ret = action;
    return NULL;
}

/* NULL, or why it cannot be booked. */
static const char *to_action(const struct row *row, struct json_text kind, struct venue_action *ret)
{
    struct venue_action action = {0};
    int32_t day;
    const int64_t one = decimal_pow10(RATE_SCALE);
    if (json_is(kind, "name_changes"))
        return to_rename(row, ret);
    if (!copy(row->symbol, action.symbol, sizeof(action.symbol)) || !row->ex_date.data ||
        !alpaca_date(row->ex_date.data, row->ex_date.len, &day) || row->odd)
        return "a field is missing, malformed or of too many digits";
    action.action.ex_ns = alpaca_eastern_ns(day, ALPACA_EARLY_MINUTE);
    if (json_is(kind, "cash_dividends")) {
        if (row->rate <= 0)
            return "it says no rate";
        action.action.kind = ACTION_DIVIDEND;
        action.action.cash = row->rate;
        action.action.record_ns = day_ns(row->record_date);
        action.action.pay_ns = day_ns(row->payable_date);
    } else {
        bool shares = json_is(kind, "stock_dividends");
        if (shares && (row->rate < 0 || row->rate > INT64_MAX - one))
            return "it says no rate";
        int64_t to = shares ? one + row->rate : row->new_rate, from = shares ? one : row->old_rate;
        if (to <= 0 || from <= 0)
            return "it says no rate";
        int64_t common = divisor(to, from);
        action.action.kind = ACTION_SPLIT;
        action.action.shares = to / common;
        action.action.per = from / common;
        if (action.action.shares > ACTION_RATIO_MAX || action.action.per > ACTION_RATIO_MAX)
            return "the ratio is too fine for exact computation";
    }
    if (!copy(row->id, action.action.id, sizeof(action.action.id)))
        snprintf(action.action.id, sizeof(action.action.id), "%s %s %.10s", action.symbol,
                 corporate_action_name(action.action.kind), row->ex_date.data);
    *ret = action;
    return NULL;
}

/* A row that is not used: reported, if it is of the requested time, or says no time. */
static void leave_out(struct page *page, const struct row *row, struct json_text kind, const char *why)
{
    const struct json_text unnamed = {"a symbol that is not said", 25};
    struct json_text date = row->ex_date.data     ? row->ex_date
                            : row->effective.data ? row->effective
                                                  : row->processed;
    struct json_text symbol = row->symbol.data ? row->symbol : row->other,
                     whose = symbol.data ? symbol : unnamed;
    int32_t day;
    if (date.data && alpaca_date(date.data, date.len, &day)) {
        int64_t ns = alpaca_eastern_ns(day, ALPACA_EARLY_MINUTE);
        if (ns < page->from_ns || ns > page->to_ns)
            return;
    }
    alpaca_skipped_add(page->skipped, symbol, "%.*s: %.*s of %.*s is left out: %s", shown(whose), whose.data,
                       shown(kind), kind.data, date.data ? shown(date) : 6, date.data ? date.data : "no day",
                       why);
}

static bool is_booked(struct json_text kind)
{
    return json_is(kind, "forward_splits") || json_is(kind, "reverse_splits") ||
           json_is(kind, "cash_dividends") || json_is(kind, "stock_dividends") ||
           json_is(kind, "name_changes");
}

static int read_kind(struct page *page, struct json_text kind)
{
    struct reader *reader = &page->reader;
    if (alpaca_reader_peek(reader) != '[' && (!is_booked(kind) || alpaca_reader_peek(reader) == 'n'))
        return alpaca_reader_skip(reader) ? 0 : -EBADMSG;
    if (!alpaca_reader_enter_array(reader))
        return -EBADMSG;
    while (alpaca_reader_element(reader)) {
        const struct reader before = *reader;
        struct row row;
        const char *why = "nothing is booked for it";
        page->rows++;
        if (!read_row(reader, &row)) {
            *reader = before;
            if (!alpaca_reader_skip(reader))
                return -EBADMSG;
            row = (struct row){.odd = true};
        }
        if (is_booked(kind)) {
            if (page->n == page->cap)
                return -E2BIG;
            why = to_action(&row, kind, &page->list[page->n]);
            page->n += !why;
        }
        if (why)
            leave_out(page, &row, kind, why);
    }
    return reader_failed(reader) ? -EBADMSG : 0;
}

static int read_kinds(struct page *page)
{
    struct json_text kind;
    if (alpaca_reader_peek(&page->reader) == 'n')
        return alpaca_reader_skip(&page->reader) ? 0 : -EBADMSG;
    if (!alpaca_reader_enter_map(&page->reader))
        return -EBADMSG;
    while (alpaca_reader_member(&page->reader, &kind)) {
        int r = read_kind(page, kind);
        if (r < 0)
            return r;
    }
    return reader_failed(&page->reader) ? -EBADMSG : 0;
}

int alpaca_parse_actions(const char *text, size_t len, int64_t from_ns, int64_t to_ns,
                         struct venue_action *ret, size_t cap, size_t *ret_n, size_t *ret_rows,
                         struct json_text *ret_next, struct venue_skipped *skipped)
{
    struct page page = {.from_ns = from_ns, .to_ns = to_ns, .list = ret, .cap = cap, .skipped = skipped};
    struct json_text key, next = {"", 0};
    bool have = false;
    alpaca_reader_init(&page.reader, false, text, len);
    alpaca_reader_enter_map(&page.reader);
    while (alpaca_reader_member(&page.reader, &key)) {
        int r = 0;
        if (json_is(key, "corporate_actions")) {
            have = true;
            r = read_kinds(&page);
        } else if (json_is(key, "next_page_token")) {
            r = alpaca_reader_maybe_text(&page.reader, &next) ? 0 : -EBADMSG;
        } else if (!alpaca_reader_skip(&page.reader)) {
            r = -EBADMSG;
        }
        if (r < 0)
            return r;
    }
    if (!json_done(&page.reader.json) || !have)
        return -EBADMSG;
    *ret_n = page.n;
    *ret_rows = page.rows;
    *ret_next = next;
    return 0;
}
