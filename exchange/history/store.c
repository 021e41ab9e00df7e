#include "exchange/history/store.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "exchange/fail.h"
#include "exchange/folder.h"
#include "exchange/history/row.h"
#include "exchange/lock_file.h"
#include "exchange/whole_file.h"

#define SCHEMA "papertape.history/1"

enum { FOLDER_MODE = 0755, SERIES_MAX = 512, PAGE_ROWS_MAX = 1 << 20 };

/* Without padding: written as it is. */
struct page {
    int64_t asked_ns, from_ns, end_ns;
    uint64_t n;
};
/* Where the newest page of a range is. They are ascending, and none overlaps another. */
struct covered {
    int64_t from_ns, end_ns, settled_ns; /* up to settled_ns nothing will change */
    off_t at;                            /* of its header */
};

struct history_store {
    char path[PATH_MAX];
    int fd;
    bool reads;        /* alone: the file stays as it is, and may grow meanwhile */
    size_t words, key; /* of a row: row.h */
    int64_t interval_ns;
    off_t end;
    struct covered *pieces;
    size_t n, room;
};

/* ---- pages ---- */

static size_t page_bytes(const struct history_store *store, uint64_t n)
{
    return sizeof(struct page) + n * store->words * sizeof(int64_t) + sizeof(uint64_t);
}

/* The whole page at `at`, to be freed, whose sum is right. 0; -ENODATA: there is none; -errno. */
static int read_page(const struct history_store *store, off_t at, struct page **ret)
{
    struct page head;
    uint64_t sum;
    ssize_t n = pread(store->fd, &head, sizeof head, at);
    if (n < 0)
        return -errno;
    if (n < (ssize_t)sizeof head || head.n > PAGE_ROWS_MAX || head.from_ns >= head.end_ns ||
        head.asked_ns < 0)
        return -ENODATA;
    size_t size = page_bytes(store, head.n), summed = size - sizeof sum;
    struct page *page = malloc(size);
    if (!page)
        return -ENOMEM;
    n = pread(store->fd, page, size, at);
    if (n == (ssize_t)size)
        memcpy(&sum, (char *)page + summed, sizeof sum);
    if (n != (ssize_t)size || sum != XXH3_64bits(page, summed)) {
        int r = n < 0 ? -errno : -ENODATA;
        free(page);
        return r;
    }
    *ret = page;
    return 0;
}

static const int64_t *rows_of(const struct page *page)
{
    return (const int64_t *)(page + 1);
}

/* ---- which page holds ---- */

/* Up to when an answer of then is final: a bar so long after its end. */
static int64_t settled_at(const struct history_store *store, int64_t asked_ns)
{
    const int64_t ns = asked_ns - HISTORY_SETTLED_NS;
    return store->interval_ns > 0 ? bar_open_time(ns, store->interval_ns) : ns;
}

/* The first piece that ends behind `ns`. */
static size_t find(const struct history_store *store, int64_t ns)
{
    size_t low = 0, high = store->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (store->pieces[middle].end_ns <= ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* That range is the page's from now on: pieces that it covers go, those that it cuts keep the rest. */
static int put_piece(struct history_store *store, struct covered piece)
{
    if (store->n + 2 > store->room) {
        size_t room = store->room ? 2 * store->room : 64;
        struct covered *more = reallocarray(store->pieces, room, sizeof *more);
        if (!more)
            return -ENOMEM;
        store->pieces = more;
        store->room = room;
    }
    size_t first = find(store, piece.from_ns), end = first;
    while (end < store->n && store->pieces[end].from_ns < piece.end_ns)
        end++;
    struct covered put[3];
    size_t n = 0;
    if (first < end && store->pieces[first].from_ns < piece.from_ns) {
        put[n] = store->pieces[first];
        put[n++].end_ns = piece.from_ns;
    }
    put[n++] = piece;
    if (first < end && store->pieces[end - 1].end_ns > piece.end_ns) {
        put[n] = store->pieces[end - 1];
        put[n++].from_ns = piece.end_ns;
    }
    memmove(&store->pieces[first + n], &store->pieces[end], (store->n - end) * sizeof *store->pieces);
    memcpy(&store->pieces[first], put, n * sizeof *put);
    store->n += n - (end - first);
    return 0;
}

/* The end of what is settled of it. */
static int64_t settled_end(const struct covered *covered)
{
    return covered->settled_ns < covered->end_ns ? covered->settled_ns : covered->end_ns;
}

bool history_store_lacks(const struct history_store *store, int64_t from_ns, int64_t end_ns,
                         int64_t *ret_from_ns, int64_t *ret_end_ns)
{
    size_t i = find(store, from_ns);
    while (i < store->n && store->pieces[i].from_ns <= from_ns && settled_end(&store->pieces[i]) > from_ns)
        from_ns = settled_end(&store->pieces[i++]);
    while (i < store->n && (store->pieces[i].from_ns <= from_ns ||
                            settled_end(&store->pieces[i]) <= store->pieces[i].from_ns))
        i++;
    *ret_from_ns = from_ns;
    *ret_end_ns = i < store->n && store->pieces[i].from_ns < end_ns ? store->pieces[i].from_ns : end_ns;
    return from_ns < end_ns;
}

static int each_row(const struct history_store *store, int64_t from_ns, int64_t end_ns,
                    int (*each)(void *ctx, const int64_t *row), void *ctx)
{
    int r = 0;
    for (size_t i = find(store, from_ns); i < store->n && store->pieces[i].from_ns < end_ns && r == 0; i++) {
        const struct covered *piece = &store->pieces[i];
        struct page *page;
        r = read_page(store, piece->at, &page);
        if (r < 0)
            return r == -ENODATA ? -EBADMSG : r;
        int64_t low = piece->from_ns > from_ns ? piece->from_ns : from_ns,
                high = piece->end_ns < end_ns ? piece->end_ns : end_ns;
        for (uint64_t k = 0; k < page->n && r == 0; k++) {
            const int64_t *row = rows_of(page) + k * store->words;
            if (row[0] >= low && row[0] < high)
                r = each(ctx, row);
        }
        free(page);
    }
    return r;
}

struct giving {
    int (*bar)(void *ctx, const struct bar *bar);
    int (*trade)(void *ctx, const struct market_trade *trade);
    void *ctx;
};

static int give_bar(void *ctx, const int64_t *row)
{
    const struct giving *giving = ctx;
    const struct bar bar = history_row_bar(row);
    return giving->bar(giving->ctx, &bar);
}

static int give_trade(void *ctx, const int64_t *row)
{
    const struct giving *giving = ctx;
    const struct market_trade trade = history_row_trade(row);
    return giving->trade(giving->ctx, &trade);
}

int history_store_each(const struct history_store *store, int64_t from_ns, int64_t end_ns,
                       int (*each)(void *ctx, const struct bar *bar), void *ctx)
{
    struct giving giving = {.bar = each, .ctx = ctx};
    return each_row(store, from_ns, end_ns, give_bar, &giving);
}

int history_store_each_trade(const struct history_store *store, int64_t from_ns, int64_t end_ns,
                             int (*each)(void *ctx, const struct market_trade *trade), void *ctx)
{
    struct giving giving = {.trade = each, .ctx = ctx};
    return each_row(store, from_ns, end_ns, give_trade, &giving);
}

/* ---- adding ---- */

struct comparing {
    const struct history_store *store;
    const int64_t *rows;
    size_t n, at, known, same;
};

/* By its time, then by its key, which several may share. */
static bool is_before(const int64_t *a, const int64_t *b, size_t key)
{
    return a[0] != b[0] ? a[0] < b[0] : a[key] < b[key];
}

/* A row that was known: is it there again, and the same? */
static int compare(void *ctx, const int64_t *known)
{
    struct comparing *c = ctx;
    const size_t words = c->store->words, key = c->store->key;
    while (c->at < c->n && is_before(&c->rows[c->at * words], known, key))
        c->at++;
    c->known++;
    if (c->at == c->n || is_before(known, &c->rows[c->at * words], key))
        return 0;
    c->same += memcmp(&c->rows[c->at++ * words], known, words * sizeof *known) == 0;
    return 0;
}

static int write_page(struct history_store *store, const struct page *head, const int64_t *rows)
{
    size_t size = page_bytes(store, head->n), summed = size - sizeof(uint64_t);
    char *bytes = malloc(size);
    if (!bytes)
        return -ENOMEM;
    memcpy(bytes, head, sizeof *head);
    if (head->n > 0)
        memcpy(bytes + sizeof *head, rows, summed - sizeof *head);
    const uint64_t sum = XXH3_64bits(bytes, summed);
    memcpy(bytes + summed, &sum, sizeof sum);
    int r = whole_file_write(store->fd, bytes, size);
    free(bytes);
    if (r < 0 && (ftruncate(store->fd, store->end) < 0 || lseek(store->fd, store->end, SEEK_SET) < 0))
        return r; /* what is half written is no page, and ends the file when it is opened again */
    return r;
}

static int add_rows(struct history_store *store, int64_t asked_ns, int64_t from_ns, int64_t end_ns,
                    const int64_t *rows, size_t n, size_t *ret_changed)
{
    struct comparing comparing = {.store = store, .rows = rows, .n = n};
    int64_t lacks_from_ns, lacks_end_ns;
    int r = each_row(store, from_ns, end_ns, compare, &comparing);
    if (r < 0)
        return r;
    bool lacked = history_store_lacks(store, from_ns, end_ns, &lacks_from_ns, &lacks_end_ns);
    size_t more = n > comparing.known && !lacked ? n - comparing.known : 0;
    if (ret_changed)
        *ret_changed = comparing.known - comparing.same + more;
    if (!lacked && comparing.same == n && comparing.known == n)
        return 0;
    const struct page head = {asked_ns, from_ns, end_ns, n};
    r = write_page(store, &head, rows);
    if (r == 0)
        r = put_piece(store, (struct covered){from_ns, end_ns, settled_at(store, asked_ns), store->end});
    if (r == 0)
        store->end += (off_t)page_bytes(store, n);
    return r;
}

/* Known rows that come before the first of an answer, or all; then the answer's. */
struct merging {
    const struct history_store *store;
    const int64_t *first; /* NULL: the answer has none */
    int64_t *rows;
    size_t n, room;
};

static int merge(void *ctx, const int64_t *known)
{
    struct merging *m = ctx;
    const size_t words = m->store->words;
    if (m->first && !is_before(known, m->first, m->store->key))
        return 0;
    if (m->n == m->room) {
        size_t room = m->room ? 2 * m->room : 1024;
        int64_t *more = reallocarray(m->rows, room, words * sizeof *more);
        if (!more)
            return -ENOMEM;
        m->rows = more;
        m->room = room;
    }
    memcpy(&m->rows[m->n++ * words], known, words * sizeof *known);
    return 0;
}

/* As add_rows(), of a venue that may have forgotten what came before its first row. */
static int add_later_rows(struct history_store *store, int64_t asked_ns, int64_t from_ns, int64_t end_ns,
                          const int64_t *rows, size_t n, size_t *ret_changed)
{
    struct merging merging = {.store = store, .first = n > 0 ? rows : NULL};
    int r = each_row(store, from_ns, end_ns, merge, &merging);
    const size_t all = merging.n + n;
    int64_t *more = NULL;
    if (r == 0 && n > 0 && merging.n > 0) {
        more = reallocarray(merging.rows, all, store->words * sizeof *more);
        if (more)
            memcpy(&more[merging.n * store->words], rows, n * store->words * sizeof *rows);
        merging.rows = more ? more : merging.rows;
        r = more ? 0 : -ENOMEM;
    }
    if (r == 0 && all > PAGE_ROWS_MAX)
        r = -EMSGSIZE;
    if (r == 0)
        r = add_rows(store, asked_ns, from_ns, end_ns, merging.n > 0 ? merging.rows : rows, all, ret_changed);
    free(merging.rows);
    return r;
}

int history_store_add_nothing(struct history_store *store, int64_t asked_ns, int64_t from_ns, int64_t end_ns)
{
    int r = 0;
    while (r == 0 && from_ns < end_ns) { /* page by page: all of it may be more than one holds */
        size_t i = find(store, from_ns);
        int64_t next_ns = i == store->n                         ? end_ns
                          : store->pieces[i].from_ns <= from_ns ? store->pieces[i].end_ns
                                                                : store->pieces[i].from_ns;
        next_ns = next_ns < end_ns ? next_ns : end_ns;
        r = add_later_rows(store, asked_ns, from_ns, next_ns, NULL, 0, NULL);
        from_ns = next_ns;
    }
    return r;
}

/* Room for so many rows; a byte where there is none. */
static int64_t *new_rows(const struct history_store *store, size_t n)
{
    return malloc(n * store->words * sizeof(int64_t) + 1);
}

int history_store_add(struct history_store *store, int64_t asked_ns, int64_t from_ns, int64_t end_ns,
                      const struct bar *bars, size_t n, size_t *ret_changed)
{
    if (n > PAGE_ROWS_MAX)
        return -EMSGSIZE;
    int64_t *rows = new_rows(store, n);
    for (size_t i = 0; i < n && rows; i++)
        history_row_of_bar(&bars[i], &rows[i * HISTORY_BAR_WORDS]);
    int r = rows ? add_rows(store, asked_ns, from_ns, end_ns, rows, n, ret_changed) : -ENOMEM;
    free(rows);
    return r;
}

static int add_trades(struct history_store *store, int64_t asked_ns, int64_t from_ns, int64_t end_ns,
                      const struct market_trade *trades, size_t n, bool later, size_t *ret_changed)
{
    if (n > PAGE_ROWS_MAX)
        return -EMSGSIZE;
    int64_t *rows = new_rows(store, n);
    for (size_t i = 0; i < n && rows; i++)
        history_row_of_trade(&trades[i], &rows[i * HISTORY_TRADE_WORDS]);
    int r = !rows   ? -ENOMEM
            : later ? add_later_rows(store, asked_ns, from_ns, end_ns, rows, n, ret_changed)
                    : add_rows(store, asked_ns, from_ns, end_ns, rows, n, ret_changed);
    free(rows);
    return r;
}

int history_store_add_trades(struct history_store *store, int64_t asked_ns, int64_t from_ns, int64_t end_ns,
                             const struct market_trade *trades, size_t n, size_t *ret_changed)
{
    return add_trades(store, asked_ns, from_ns, end_ns, trades, n, false, ret_changed);
}

int history_store_add_later_trades(struct history_store *store, int64_t asked_ns, int64_t from_ns,
                                   int64_t end_ns, const struct market_trade *trades, size_t n,
                                   size_t *ret_changed)
{
    return add_trades(store, asked_ns, from_ns, end_ns, trades, n, true, ret_changed);
}

/* ---- open ---- */

static const char *rows_name(const struct history_series *series)
{
    return series->interval_ns > 0 ? bar_interval_name(series->interval_ns) : "trades";
}

/* The first line of the file. */
static char *series_line(const struct history_series *series, size_t words)
{
    json_t *object = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:i}", "schema", SCHEMA,
                               "venue", series->venue, "host", series->host, "symbol", series->symbol,
                               "interval", rows_name(series), "feed", series->feed, "adjustment",
                               series->adjustment, "price_scale", series->price_scale, "qty_scale",
                               series->qty_scale, "row_bytes", (int)(words * sizeof(int64_t)));
    char *line = object ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    return line;
}

/* The folder with its slash; returns its length, PATH_MAX or more where it does not fit. */
static int put_place(const char *folder, const char *venue, const char *host, char ret[static PATH_MAX])
{
    return snprintf(ret, PATH_MAX, "%s/%s%s%s/", folder, venue, host[0] ? "@" : "", host);
}

int history_venue_path(const char *folder, const char *venue, const char *host, const char *name,
                       char ret[static PATH_MAX])
{
    int n = put_place(folder, venue, host, ret);
    if (n < PATH_MAX)
        n += snprintf(ret + n, PATH_MAX - (size_t)n, "%s", name);
    return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* "BTC-USD_1m.history", "AAPL_5m-sip-split.history", "BTCUSDT_trades.history". */
int history_series_path(const char *folder, const struct history_series *series, const char *ending,
                        char ret[static PATH_MAX])
{
    bool raw = strcmp(series->adjustment, "raw") == 0;
    int place = put_place(folder, series->venue, series->host, ret);
    int n = place >= PATH_MAX ? PATH_MAX
                              : snprintf(ret + place, PATH_MAX - (size_t)place, "%s_%s%s%s%s%s%s",
                                         series->symbol, rows_name(series), series->feed[0] ? "-" : "",
                                         series->feed, raw ? "" : "-", raw ? "" : series->adjustment, ending);
    if (n >= PATH_MAX - place)
        return -ENAMETOOLONG;
    for (char *c = ret + place; *c; c++)
        if (*c == '/')
            *c = '-';
    return 0;
}

/* The series must be the file's; a new one gets it, unless the file is only read. The pages begin behind it.
 */
static int read_series(struct history_store *store, const char *line, char *err, size_t err_size)
{
    char have[SERIES_MAX];
    size_t len = strlen(line);
    struct stat st;
    if (len + 1 > sizeof have)
        return fail_with(-ENAMETOOLONG, err, err_size, "%s: %s", store->path, strerror(ENAMETOOLONG));
    if (fstat(store->fd, &st) < 0)
        return fail_with(-errno, err, err_size, "%s: %s", store->path, strerror(errno));
    ssize_t n = pread(store->fd, have, len + 1, 0);
    if (n < 0)
        return fail_with(-errno, err, err_size, "%s: %s", store->path, strerror(errno));
    if (n == (ssize_t)len + 1 && memcmp(have, line, len) == 0 && have[len] == '\n') {
        store->end = (off_t)len + 1;
        return 0;
    }
    if (store->reads || memchr(have, '\n', (size_t)n) ||
        st.st_size > (off_t)sizeof have) /* not the beginning of one */
        return fail_with(-EBADMSG, err, err_size,
                         "%s is of another series or version: remove it, and it is fetched again",
                         store->path);
    snprintf(have, sizeof have, "%s\n", line);
    int r = ftruncate(store->fd, 0) < 0 ? -errno : whole_file_write(store->fd, have, len + 1);
    store->end = (off_t)len + 1;
    return r < 0 ? fail_with(r, err, err_size, "%s: %s", store->path, strerror(-r)) : 0;
}

/* Up to the first that is none, which goes with what is behind it. */
static int read_pages(struct history_store *store)
{
    struct page *page;
    int r = 0;
    while (r == 0 && (r = read_page(store, store->end, &page)) == 0) {
        r = put_piece(store, (struct covered){page->from_ns, page->end_ns, settled_at(store, page->asked_ns),
                                              store->end});
        store->end += (off_t)page_bytes(store, page->n);
        free(page);
    }
    if (r != -ENODATA)
        return r;
    if (store->reads)
        return 0;
    return ftruncate(store->fd, store->end) < 0 || lseek(store->fd, store->end, SEEK_SET) < 0 ? -errno : 0;
}

/* The lock lets one process write at a time. */
static int open_to_write(struct history_store *store, char *err, size_t err_size)
{
    char place[PATH_MAX], failed[PATH_MAX];
    snprintf(place, sizeof place, "%.*s", (int)(strrchr(store->path, '/') - store->path), store->path);
    int r = folder_make(place, FOLDER_MODE, failed);
    if (r < 0)
        return fail_with(r, err, err_size, "%s: %s", failed, strerror(-r));
    store->fd = lock_file_take(AT_FDCWD, store->path);
    if (store->fd < 0)
        return fail_with(store->fd, err, err_size, "%s: %s", store->path,
                         store->fd == -EBUSY ? "another process fetches it" : strerror(-store->fd));
    return 0;
}

static int open_to_read(struct history_store *store, char *err, size_t err_size)
{
    store->fd = open(store->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    return store->fd < 0 ? fail_with(-errno, err, err_size, "%s: %s", store->path, strerror(errno)) : 0;
}

static int open_file(struct history_store *store, const char *folder, const struct history_series *series,
                     char *err, size_t err_size)
{
    int r = history_series_path(folder, series, ".history", store->path);
    if (r < 0)
        return fail_with(r, err, err_size, "%.200s…: %s", folder, strerror(-r));
    r = store->reads ? open_to_read(store, err, err_size) : open_to_write(store, err, err_size);
    if (r < 0)
        return r;
    char *line = series_line(series, store->words);
    r = line ? read_series(store, line, err, err_size) : fail_with(-ENOMEM, err, err_size, "out of memory");
    free(line);
    if (r == 0 && (r = read_pages(store)) < 0)
        snprintf(err, err_size, "%s: %s", store->path, strerror(-r));
    return r;
}

static int open_store(const char *folder, const struct history_series *series, bool reads,
                      struct history_store **ret, char *err, size_t err_size)
{
    struct history_store *store = calloc(1, sizeof *store);
    if (!store)
        return fail_with(-ENOMEM, err, err_size, "out of memory");
    store->fd = -1;
    store->reads = reads;
    store->interval_ns = series->interval_ns;
    store->words = series->interval_ns > 0 ? HISTORY_BAR_WORDS : HISTORY_TRADE_WORDS;
    store->key = series->interval_ns > 0 ? HISTORY_BAR_KEY : HISTORY_TRADE_KEY;
    int r = open_file(store, folder, series, err, err_size);
    if (r < 0)
        history_store_close(store);
    else
        *ret = store;
    return r;
}

int history_store_open(const char *folder, const struct history_series *series, struct history_store **ret,
                       char *err, size_t err_size)
{
    return open_store(folder, series, false, ret, err, err_size);
}

int history_store_open_kept(const char *folder, const struct history_series *series,
                            struct history_store **ret, char *err, size_t err_size)
{
    return open_store(folder, series, true, ret, err, err_size);
}

void history_store_close(struct history_store *store)
{
    if (!store)
        return;
    if (store->fd >= 0)
        close(store->fd);
    free(store->pieces);
    free(store);
}

const char *history_store_path(const struct history_store *store)
{
    return store->path;
}
