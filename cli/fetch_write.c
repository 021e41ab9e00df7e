#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "cli/fetch.h"
#include "cli/output.h"
#include "cli/stored.h"
#include "exchange/early_stop.h"
#include "exchange/exit_status.h"
#include "exchange/fail.h"
#include "exchange/folder.h"

enum { GZIP_BUFFER = 1 << 18 };

/* A file of one symbol's bars or trades, plain or gzip by its name. */
struct writing {
    const char *verb;
    struct fetch_symbol *symbol;
    struct output output;
    gzFile gzip; /* NULL: plain */
    bool sessions;
    const struct fetch *fetch;
    const struct history_job *job;
    struct history_looking looking;           /* of bars */
    const struct fetch_trades_layout *layout; /* of trades, and */
    int64_t last_id, last_ns;                 /* … the last one's; -1 before the first */
    int error;
};

static void put(struct writing *w, const char *line, int n)
{
    if (early_stop_asked())
        w->error = ECANCELED;
    else if (w->gzip ? gzwrite(w->gzip, line, (unsigned)n) != n
                     : fwrite(line, 1, (size_t)n, w->output.file) != (size_t)n)
        w->error = errno ? errno : EIO;
}

enum bar_session cli_fetch_session(const struct fetch *fetch, const struct history_job *job, int64_t open_ns)
{
    return fetch->interval_ns >= BAR_DAY_NS
               ? BAR_SESSION_REGULAR
               : trading_session_of(job->calendar, open_ns,
                                    trading_bar_end(job->calendar, fetch->interval_ns, open_ns));
}

static int put_bar(void *ctx, const struct bar *bar)
{
    struct writing *w = ctx;
    const struct symbol *symbol = &w->symbol->symbol;
    char open[STORED_CELL], high[STORED_CELL], low[STORED_CELL], close[STORED_CELL], volume[STORED_CELL],
        line[6 * STORED_CELL];
    int n = snprintf(line, sizeof line, "%lld,%s,%s,%s,%s,%s", (long long)(bar->open_ns / 1000000),
                     cli_stored_decimal(STORED_CSV, open, bar->open, symbol->price_scale),
                     cli_stored_decimal(STORED_CSV, high, bar->high, symbol->price_scale),
                     cli_stored_decimal(STORED_CSV, low, bar->low, symbol->price_scale),
                     cli_stored_decimal(STORED_CSV, close, bar->close, symbol->price_scale),
                     cli_stored_decimal(STORED_CSV, volume, bar->volume, symbol->qty_scale));
    if (w->sessions)
        n += snprintf(line + n, sizeof line - (size_t)n, ",%s",
                      bar_session_names[cli_fetch_session(w->fetch, w->job, bar->open_ns)]);
    line[n++] = '\n';
    put(w, line, n);
    w->symbol->rows++;
    history_missing_bar(&w->looking, bar->open_ns);
    return w->error ? -w->error : 0;
}

/* ---- what is missing ---- */

static void take_missing(void *ctx, const struct history_missing *run)
{
    struct writing *w = ctx;
    struct fetch_symbol *symbol = w->symbol;
    if (symbol->n_missing == symbol->room_missing) {
        size_t room = symbol->room_missing ? 2 * symbol->room_missing : 64;
        struct history_missing *more = reallocarray(symbol->missing, room, sizeof *more);
        if (!more) {
            w->error = ENOMEM;
            return;
        }
        symbol->missing = more;
        symbol->room_missing = room;
    }
    symbol->missing[symbol->n_missing++] = *run;
}

static int put_trade(void *ctx, const struct market_trade *trade)
{
    struct writing *w = ctx;
    char line[FETCH_TRADE_MAX];
    put(w, line, cli_fetch_trade_line(w->layout, &w->symbol->symbol, trade, line));
    w->symbol->rows++;
    if (w->layout->aggregates && w->last_id >= 0 && trade->id > w->last_id + 1)
        take_missing(
            w, &(struct history_missing){w->last_ns, trade->ts_ns, trade->id - w->last_id - 1, HISTORY_GAP});
    w->last_id = trade->id;
    w->last_ns = trade->ts_ns;
    return w->error ? -w->error : 0;
}

/* ---- the file ---- */

static int open_file(struct writing *w, const char *path)
{
    size_t n = strlen(path);
    int status = cli_output_open(w->verb, path, &w->output);
    if (status != EXIT_OK || n < 3 || strcmp(path + n - 3, ".gz") != 0)
        return status;
    int fd = dup(fileno(w->output.file));
    w->gzip = fd >= 0 ? gzdopen(fd, "wb") : NULL;
    if (w->gzip) {
        gzbuffer(w->gzip, GZIP_BUFFER);
        return EXIT_OK;
    }
    if (fd >= 0)
        close(fd);
    cli_output_drop(&w->output);
    return cli_stored_fail(EXIT_ERROR, w->verb, path, strerror(ENOMEM));
}

static int close_file(struct writing *w, const char *path)
{
    if (w->gzip && gzclose(w->gzip) != Z_OK && !w->error)
        w->error = errno ? errno : EIO;
    if (!w->error)
        return cli_output_commit(w->verb, &w->output);
    cli_output_drop(&w->output);
    return w->error == ECANCELED ? EXIT_ERROR
                                 : cli_stored_fail(EXIT_ERROR, w->verb, path, strerror(w->error));
}

static int see_bar(void *ctx, const struct bar *bar)
{
    *(int64_t *)ctx = bar->open_ns;
    return 1;
}

static int see_trade(void *ctx, const struct market_trade *trade)
{
    *(int64_t *)ctx = trade->ts_ns;
    return 1;
}

/* The time of the first row: the venue's, or one that is kept and that the venue no longer has. */
static int64_t first_row(const struct writing *w)
{
    const struct fetch *fetch = w->fetch;
    const struct history_job *job = w->job;
    int64_t ns = job->first_ns;
    int r = fetch->trades
                ? history_store_each_trade(w->symbol->store, fetch->from_ns, job->end_ns, see_trade, &ns)
                : history_store_each(w->symbol->store, fetch->from_ns, job->end_ns, see_bar, &ns);
    return r > 0 && ns < job->first_ns ? ns : job->first_ns;
}

static int put_bars(struct writing *w)
{
    const struct fetch *fetch = w->fetch;
    const struct history_job *job = w->job;
    const char *head = w->sessions ? "open_time_ms,open,high,low,close,volume,session\n"
                                   : "open_time_ms,open,high,low,close,volume\n";
    const int64_t first_ns = first_row(w);
    w->looking = (struct history_looking){.interval_ns = fetch->interval_ns,
                                          .calendar = job->calendar,
                                          .listed_ns = job->listed_ns < first_ns ? job->listed_ns : first_ns,
                                          .first_ns = first_ns,
                                          .found = take_missing,
                                          .ctx = w,
                                          .next_ns = fetch->from_ns};
    put(w, head, (int)strlen(head));
    int r = history_store_each(w->symbol->store, fetch->from_ns, job->end_ns, put_bar, w);
    history_missing_end(&w->looking, job->end_ns);
    return r;
}

static int put_trades(struct writing *w)
{
    const struct fetch *fetch = w->fetch;
    const struct history_job *job = w->job;
    const int64_t row_ns = first_row(w), first_ns = row_ns < job->end_ns ? row_ns : job->end_ns;
    w->last_id = -1;
    w->layout = cli_fetch_layout(fetch);
    put(w, w->layout->head, (int)strlen(w->layout->head));
    put(w, "\n", 1);
    if (first_ns > fetch->from_ns)
        take_missing(w, &(struct history_missing){fetch->from_ns, first_ns, 0, HISTORY_BEFORE_TRADE});
    return history_store_each_trade(w->symbol->store, fetch->from_ns, job->end_ns, put_trade, w);
}

static int write_symbol(struct fetch *fetch, size_t i)
{
    struct fetch_symbol *symbol = &fetch->symbols[i];
    const struct history_job *job = &fetch->jobs[i];
    struct writing w = {.verb = fetch->asked->verb,
                        .symbol = symbol,
                        .sessions = job->calendar->n > 0,
                        .fetch = fetch,
                        .job = job};
    int status = open_file(&w, symbol->path);
    if (status != EXIT_OK)
        return status;
    errno = 0;
    int r = fetch->trades ? put_trades(&w) : put_bars(&w);
    if (r < 0 && !w.error)
        w.error = -r;
    return close_file(&w, symbol->path);
}

static bool is_folder(const struct fetch *fetch)
{
    const char *out = fetch->asked->out;
    struct stat st;
    size_t n = strlen(out);
    return fetch->n > 1 || (n > 0 && out[n - 1] == '/') || (stat(out, &st) == 0 && S_ISDIR(st.st_mode));
}

/* "BTC-USD_1m.csv.gz" in the folder; or the file that was named. False: it is too long. */
static bool find_path(const struct fetch *fetch, struct fetch_symbol *symbol)
{
    const char *out = fetch->asked->out;
    bool folder = is_folder(fetch);
    int n = folder ? snprintf(symbol->path, sizeof symbol->path, "%s%s%s_%s.csv%s", out,
                              out[strlen(out) - 1] == '/' ? "" : "/", symbol->name, cli_fetch_rows(fetch),
                              fetch->asked->plain ? "" : ".gz")
                   : snprintf(symbol->path, sizeof symbol->path, "%s", out);
    if (n >= (int)sizeof symbol->path)
        return false;
    for (char *c = symbol->path + strlen(out) + 1; folder && *c; c++)
        if (*c == '/')
            *c = '-';
    return true;
}

/* A name that is a file's, where a folder is needed. */
static bool names_file(const char *out)
{
    static const char *const endings[] = {".csv", ".csv.gz"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t n = strlen(out), m = strlen(endings[i]);
        if (n > m && strcmp(out + n - m, endings[i]) == 0)
            return true;
    }
    return strcmp(out, "-") == 0;
}

int cli_fetch_place(struct fetch *fetch)
{
    const char *out = fetch->asked->out;
    char failed[PATH_MAX];
    if (!out[0] || (fetch->n > 1 && names_file(out)))
        return fail_with(EXIT_USAGE, fetch->err, sizeof fetch->err, "--output %s: a folder is needed%s", out,
                         out[0] ? ", of several symbols" : "");
    int r = is_folder(fetch) ? folder_make(out, 0777, failed) : 0;
    if (r < 0)
        return fail_with(EXIT_ERROR, fetch->err, sizeof fetch->err, "%s: %s", failed, strerror(-r));
    for (size_t i = 0; i < fetch->n; i++)
        if (!find_path(fetch, &fetch->symbols[i]))
            return fail_with(EXIT_USAGE, fetch->err, sizeof fetch->err, "--output: %s",
                             strerror(ENAMETOOLONG));
    return EXIT_OK;
}

void cli_fetch_write(struct fetch *fetch, size_t i)
{
    struct fetch_symbol *symbol = &fetch->symbols[i];
    if (symbol->written || fetch->jobs[i].error)
        return;
    symbol->written = true;
    symbol->status = write_symbol(fetch, i);
}
