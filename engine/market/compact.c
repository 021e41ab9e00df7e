#include "engine/market/compact.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "engine/market/image.h"
#include "exchange/clock.h"
#include "exchange/fail.h"

#define DAY_NS           (86400 * INT64_C(1000000000))

#define refuse(err, ...) fail_with(-EINVAL, err, MARKET_ERROR_MAX, __VA_ARGS__)

/* The rows that are kept. */
struct kept_rows {
    const struct market *from;
    const struct trading_calendar *calendar;
    enum session_choice choice;
    size_t *rows, n;
};

static int check(const struct kept_rows *kept, char err[static MARKET_ERROR_MAX])
{
    const struct market *market = kept->from;
    const struct trading_calendar *calendar = kept->calendar;
    int64_t end_ns = market_open_ns(market, market->rows);
    char first[CLOCK_TEXT_MAX], last[CLOCK_TEXT_MAX];
    if (calendar->n == 0 || kept->choice == SESSION_ALL)
        return refuse(err, "session: %s: one of a calendar with days is right",
                      session_choice_names[kept->choice]);
    if (market->interval_ns >= DAY_NS)
        return refuse(err, "session: %s: bars of a day or more have none: session all, or shorter bars",
                      session_choice_names[kept->choice]);
    if (!trading_calendar_covers(calendar, market->start_ns, end_ns))
        return refuse(err, "calendar: %s: its days are of %s to %s, and bars are beyond them", calendar->name,
                      clock_utc_text(calendar->from_ns, first), clock_utc_text(calendar->to_ns, last));
    return 0;
}

/* Does each session of a day begin on a row? */
static bool on_grid(const struct kept_rows *kept, const struct trading_day *day)
{
    const int64_t begins[] = {day->open_ns, day->early_ns, day->close_ns};
    int n = kept->choice == SESSION_EXTENDED ? 3 : 1;
    for (int i = 0; i < n; i++)
        if ((begins[i] - kept->from->start_ns) % kept->from->interval_ns != 0)
            return false;
    return true;
}

static int check_grid(const struct kept_rows *kept, char err[static MARKET_ERROR_MAX])
{
    const struct trading_calendar *calendar = kept->calendar;
    int64_t start_ns = kept->from->start_ns, end_ns = market_open_ns(kept->from, kept->from->rows);
    for (size_t i = 0; i < calendar->n; i++) {
        const struct trading_day *day = &calendar->days[i];
        char opens[CLOCK_TEXT_MAX];
        if (day->late_ns <= start_ns || day->early_ns >= end_ns || on_grid(kept, day))
            continue;
        return refuse(
            err,
            "session: %s: bars of %s do not begin where the sessions of the day that opens at %s do: "
            "bars of %s or shorter are right",
            session_choice_names[kept->choice], bar_interval_name(kept->from->interval_ns),
            clock_utc_text(day->open_ns, opens),
            trading_grid_interval(calendar, kept->choice, start_ns, end_ns, kept->from->interval_ns)->name);
    }
    return 0;
}

static bool is_kept(const struct kept_rows *kept, int64_t ns)
{
    int64_t open_ns, end_ns;
    trading_bar_span(kept->calendar, kept->from->interval_ns, ns, &open_ns, &end_ns);
    return open_ns == ns && session_takes(kept->choice, trading_session_of(kept->calendar, open_ns, end_ns));
}

static int find_rows(struct kept_rows *kept, char err[static MARKET_ERROR_MAX])
{
    const struct market *market = kept->from;
    kept->rows = malloc(market->rows * sizeof *kept->rows);
    if (!kept->rows)
        return fail_with(-ENOMEM, err, MARKET_ERROR_MAX, "out of memory: %zu rows", market->rows);
    for (size_t row = 0; row < market->rows; row++)
        if (is_kept(kept, market_open_ns(market, row)))
            kept->rows[kept->n++] = row;
    return kept->n > 0 ? 0 : refuse(err, "session: %s: no bar is in it", session_choice_names[kept->choice]);
}

/* The prices of a missing bar: the last close, before the first bar the first open. */
static void repeat(const struct market_image *image, int symbol, size_t row, size_t of, int column)
{
    double price = market_store_image_column(image, symbol, column)[of];
    for (int c = 0; c < 4; c++)
        market_store_image_column(image, symbol, c)[row] = price;
}

/* When the bar of a row ends: a session's last one with it. */
static int64_t end_of(const struct kept_rows *kept, const struct market_image *image, size_t row)
{
    int64_t open_ns, end_ns;
    trading_bar_span(kept->calendar, kept->from->interval_ns, image->open_ns[row], &open_ns, &end_ns);
    return end_ns;
}

/* Copies one symbol's rows. False: it has no bar there. */
static bool copy_series(const struct kept_rows *kept, int symbol, struct market_image *image)
{
    const struct market_series *from = &kept->from->series[symbol];
    const double *const columns[IMAGE_COLUMNS] = {from->open, from->high, from->low, from->close,
                                                  from->volume};
    struct image_symbol *out = market_store_image_symbol(image, symbol);
    uint64_t *present = market_store_image_present(image, symbol);
    size_t bars = 0;
    for (size_t row = 0; row < kept->n; row++) {
        if (!market_present(from, kept->rows[row]))
            continue;
        for (int c = 0; c < IMAGE_COLUMNS; c++)
            market_store_image_column(image, symbol, c)[row] = columns[c][kept->rows[row]];
        present[row / 64] |= UINT64_C(1) << row % 64;
        market_store_image_session(image, symbol)[row] =
            (uint8_t)trading_session_of(kept->calendar, image->open_ns[row], end_of(kept, image, row));
        out->first = bars++ == 0 ? row : out->first;
        out->last = row;
    }
    for (size_t row = 0; row < kept->n && bars > 0; row++)
        if (!(present[row / 64] >> row % 64 & 1))
            repeat(image, symbol, row, row > out->first ? row - 1 : out->first, row > out->first ? 3 : 0);
    out->symbol = from->symbol;
    out->missing = bars > 0 ? out->last - out->first + 1 - bars : 0;
    out->left_out = from->left_out;
    out->repaired = from->repaired < kept->n ? from->repaired : kept->n;
    out->price_digits = (uint32_t)from->price_digits;
    out->rounded_digits = (uint32_t)from->rounded_digits;
    memcpy(out->fits, from->fits, sizeof(out->fits));
    return bars > 0;
}

static uint8_t marks_of(const struct kept_rows *kept, int64_t open_ns)
{
    const struct trading_calendar *calendar = kept->calendar;
    int64_t interval_ns = kept->from->interval_ns, next_ns;
    struct session_span span;
    uint8_t marks = 0;
    if (trading_is_last(calendar, kept->choice, open_ns, interval_ns))
        marks |= MARKET_ROW_ENDS;
    if (trading_next_bar(calendar, kept->choice, interval_ns, open_ns, &next_ns) &&
        trading_is_last(calendar, kept->choice, next_ns, interval_ns))
        marks |= MARKET_ROW_LEAVES;
    if (trading_span_at(calendar, kept->choice, open_ns, &span) && span.open_ns == open_ns)
        marks |= MARKET_ROW_BEGINS;
    return marks;
}

static int place_rows(const struct kept_rows *kept, struct market_image *image)
{
    size_t n = kept->n;
    int64_t start_ns;
    image->open_ns = malloc((n + 1) * sizeof *image->open_ns);
    image->marks = malloc(n);
    if (!image->open_ns || !image->marks)
        return -ENOMEM;
    for (size_t row = 0; row < n; row++) {
        int64_t open_ns = market_open_ns(kept->from, kept->rows[row]), end_ns;
        trading_bar_span(kept->calendar, kept->from->interval_ns, open_ns, &start_ns, &end_ns);
        image->open_ns[row] = open_ns;
        image->open_ns[row + 1] = end_ns;
        image->marks[row] = marks_of(kept, open_ns);
    }
    return 0;
}

/* Of the symbols' columns, and of the whole: the one that it is of, and which rows of that. */
static int seal(const struct kept_rows *kept, struct market_image *image)
{
    bool ok = true;
    for (int i = 0; i < kept->from->n_symbols; i++) {
        size_t size;
        const unsigned char *data = market_store_image_data(image, i, &size);
        ok = ok && EVP_Digest(data, size, market_store_image_symbol(image, i)->digest, NULL, EVP_sha256(),
                              NULL) == 1;
    }
    EVP_MD_CTX *hash = EVP_MD_CTX_new();
    ok = ok && hash && EVP_DigestInit_ex(hash, EVP_sha256(), NULL) == 1 &&
         EVP_DigestUpdate(hash, kept->from->content, MARKET_HASH_SIZE) == 1 &&
         EVP_DigestUpdate(hash, image->open_ns, (kept->n + 1) * sizeof *image->open_ns) == 1 &&
         EVP_DigestUpdate(hash, image->marks, kept->n) == 1 &&
         EVP_DigestFinal_ex(hash, image_head(image)->content, NULL) == 1;
    EVP_MD_CTX_free(hash);
    return ok ? 0 : -ENOMEM;
}

static int copy(const struct kept_rows *kept, struct market **ret, char err[static MARKET_ERROR_MAX])
{
    const struct market *from = kept->from;
    struct market_image *image = market_store_image_create(
        from->n_symbols, kept->n, market_open_ns(from, kept->rows[0]), from->interval_ns, true);
    uint8_t hash[CALENDAR_HASH_SIZE];
    int r = image ? place_rows(kept, image) : -ENOMEM;
    r = r < 0 ? r : trading_calendar_hash(kept->calendar, hash);
    for (int i = 0; i < from->n_symbols && r == 0; i++)
        if (!copy_series(kept, i, image))
            r = refuse(err, "session: %s: no bar of %s is in it", session_choice_names[kept->choice],
                       from->series[i].symbol.name);
    r = r < 0 ? r : seal(kept, image);
    if (r < 0) {
        market_store_close(image ? &image->market : NULL);
        return r == -ENOMEM ? fail_with(r, err, MARKET_ERROR_MAX, "out of memory: %zu rows", kept->n) : r;
    }
    image_head(image)->choice = kept->choice;
    memcpy(image_head(image)->calendar, hash, sizeof(hash));
    market_store_image_show(image);
    *ret = &image->market;
    return 0;
}

int market_store_compact(const struct market *market, const struct trading_calendar *calendar,
                         enum session_choice choice, struct market **ret, char err[static MARKET_ERROR_MAX])
{
    struct kept_rows kept = {.from = market, .calendar = calendar, .choice = choice};
    int r = check(&kept, err);
    r = r < 0 ? r : check_grid(&kept, err);
    r = r < 0 ? r : find_rows(&kept, err);
    r = r < 0 ? r : copy(&kept, ret, err);
    free(kept.rows);
    return r;
}
