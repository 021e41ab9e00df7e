/* An account's equity: its curve over the wanted span, each day's profit, the money that came and went. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "cli/text.h"
#include "exchange/decimal.h"
#include "tui/history_reader.h"

static const int64_t day_ns = (int64_t)86400 * 1000000000;

#define COPY(field, text) cli_text_clean(field, sizeof(field), text)

struct reading {
    struct history *history;
    const struct history_want *want;
    int account; /* the number of the one whose equity is read; -1: none */
    int scale;   /* of its currency */
    char name[ACCOUNT_NAME_MAX], currency[ASSET_NAME_MAX];
    bool wanted; /* it is the one that is wanted, not only the first */
};

const char *tui_history_span_name(enum history_span span)
{
#define NAME(name, words, days) words,
    static const char *const names[SPANS] = {HISTORY_SPANS(NAME)};
#undef NAME
    return names[span];
}

int64_t tui_history_span_ns(enum history_span span)
{
#define LENGTH(name, words, days) days *day_ns,
    const int64_t lengths[SPANS] = {HISTORY_SPANS(LENGTH)};
#undef LENGTH
    return lengths[span];
}

static void on_equity(void *ctx, const struct db_equity_point *row)
{
    struct reading *reading = ctx;
    struct history *h = reading->history;

    if (h->n_equity < HISTORY_EQUITY_MAX)
        h->equity[h->n_equity++] = (struct history_equity){
            .ts_ns = row->ts_ns,
            .equity = decimal_to_double(row->equity, reading->scale),
            .peak = row->peak > 0 ? decimal_to_double(row->peak, reading->scale) : NAN,
        };
}

/* Draws one account's curve, in one currency: the wanted one, else the first. */
static void on_account(void *ctx, const struct db_account_row *row)
{
    struct reading *reading = ctx;
    struct history *h = reading->history;
    bool wanted = strcmp(row->account.name, reading->want->account) == 0;

    if (reading->account < 0 || (wanted && !reading->wanted)) {
        reading->account = row->account.number;
        reading->scale = row->account.currency_scale;
        COPY(reading->currency, row->account.currency);
        reading->wanted = wanted;
        memcpy(reading->name, row->account.name, sizeof(reading->name));
    }
    if (h->n_accounts < STATUS_ACCOUNTS_MAX)
        COPY(h->accounts[h->n_accounts++].account, row->account.name);
}

static void on_flow(void *ctx, const struct db_flow *row)
{
    struct history_flows *flows = ctx;

    flows->last_id = row->id;
    if (row->ts_ns <= flows->after_ns)
        return;
    flows->net += row->amount;
}

/* What came and went after the curve's first point; of the whole curve, ever. What was read of another time
 * is read again. */
static int read_flows(struct history_reader *reader, struct reading *reading)
{
    struct history *h = reading->history;
    struct history_flows *flows = &reader->flows;
    int64_t after_ns = h->equity_span == SPAN_ALL || h->n_equity == 0 ? INT64_MIN : h->equity[0].ts_ns;

    if (flows->after_ns != after_ns)
        *flows = (struct history_flows){.after_ns = after_ns};
    int r = db_reader_flows(reader->db, reading->account, reading->currency, flows->last_id, on_flow, flows);
    bool known = !tui_history_unreadable(reader, r);
    h->equity_flows = known ? decimal_to_double(flows->net, reading->scale) : NAN;
    return known ? r : 0;
}

/* The days from that time on, from the newest back: each by its newest point, which the curve may lack. */
static int read_days(struct history_reader *reader, struct reading *reading, int64_t from_ns)
{
    struct db_equity_point point;
    int64_t before_ns = INT64_MAX;
    int r = 0;

    for (int n = 0; n < HISTORY_DAYS_MAX; n++) {
        r = db_reader_equity_before(reader->db, reading->account, before_ns, &point);
        if (r < 0 || point.ts_ns < from_ns)
            break;
        int64_t day = point.ts_ns / day_ns,
                profit = point.day_equity > 0 ? point.equity - point.day_equity : 0;
        reading->history->days[day % HISTORY_DAYS_MAX] =
            (struct history_day){day, decimal_to_double(profit, reading->scale)};
        before_ns = day * day_ns;
    }
    return r == -ENOENT ? 0 : r;
}

double tui_history_day_profit(const struct history *history, int64_t day)
{
    const struct history_day *at = &history->days[day % HISTORY_DAYS_MAX];

    return at->day == day ? at->profit : 0;
}

/* The whole of the span at first, thinned; then what is new, until there is no room. */
static int read_curve(struct history_reader *reader, struct reading *reading, int64_t wall_ns)
{
    struct history *h = reading->history;
    const enum history_span span = reading->want->span;
    struct db_equity_point newest;
    int r;

    h->equity_span = span;
    if (strcmp(reader->curve_account, reading->name) != 0) {
        memcpy(reader->curve_account, reading->name, sizeof(reader->curve_account));
        reader->curve_read = false;
        reader->flows = (struct history_flows){0};
        memset(h->days, 0, sizeof(h->days));
    }
    if (reader->curve_read && reader->curve_span == span && h->n_equity > 0 &&
        h->n_equity < HISTORY_EQUITY_MAX) {
        int64_t newest_ns = h->equity[h->n_equity - 1].ts_ns;
        r = db_reader_equity(reader->db, reading->account, newest_ns + 1, 0, on_equity, reading);
        return r < 0 ? r : read_days(reader, reading, newest_ns);
    }
    h->n_equity = 0;
    r = db_reader_equity_before(reader->db, reading->account, INT64_MAX, &newest);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    int64_t length_ns = tui_history_span_ns(span), to_ns = newest.ts_ns;
    if (wall_ns > to_ns && wall_ns - to_ns < length_ns) /* a replay's clock may be years behind the wall's */
        to_ns = wall_ns;
    int64_t from_ns = length_ns ? to_ns - length_ns : 0;
    r = db_reader_equity_after(reader->db, reading->account, from_ns - 1, 1, on_equity, reading);
    if (r == 0)
        r = db_reader_equity_extremes(reader->db, reading->account, from_ns, HISTORY_EQUITY_MAX / 8,
                                      on_equity, reading);
    if (h->n_equity > 1 && h->equity[0].ts_ns == h->equity[1].ts_ns)
        memmove(h->equity, h->equity + 1, (size_t)--h->n_equity * sizeof(h->equity[0]));
    if (r == 0)
        r = read_days(reader, reading, from_ns);
    reader->curve_read = r == 0;
    reader->curve_span = span;
    return r;
}

int tui_history_read_equity(struct history_reader *reader, struct history *h, const struct history_want *want,
                            int64_t wall_ns)
{
    struct reading reading = {.history = h, .want = want, .account = -1};

    h->n_accounts = 0;
    int r = db_reader_accounts(reader->db, on_account, &reading);
    if (r < 0 || reading.account < 0)
        return r;
    COPY(h->equity_account, reading.name);
    r = read_curve(reader, &reading, wall_ns);
    return r < 0 ? r : read_flows(reader, &reading);
}
