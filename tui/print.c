#include "tui/print.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/format.h"
#include "cli/stored.h"

/* A count to the last digit. */
static char *exact(char buf[static FORMAT_MAX], int64_t count)
{
    if (count < 0)
        snprintf(buf, FORMAT_MAX, "n/a");
    else
        snprintf(buf, FORMAT_MAX, "%lld", (long long)count);
    return buf;
}

static const char *word(const char *text)
{
    return text[0] ? text : "n/a";
}

static void venues(FILE *out, const struct status *s)
{
    char a[FORMAT_MAX], b[FORMAT_MAX], c[FORMAT_MAX], d[FORMAT_MAX], e[FORMAT_MAX], f[FORMAT_MAX];

    for (int i = 0; i < s->n_venues; i++) {
        const struct status_venue *v = &s->venues[i];
        fprintf(out, "venue     %s %s, market %s", v->venue, word(v->state), word(v->market));
        if (v->market_next_ns > 0)
            fprintf(out, " until %sZ", cli_format_time(a, v->market_next_ns));
        fprintf(out, ", %s messages/s, latency p50 %s ms p99 %s ms, clock %s ms, connections %s of %s",
                cli_format_number(a, v->per_second, 1), cli_format_number(b, v->latency_p50_ms, 1),
                cli_format_number(c, v->latency_p99_ms, 1), cli_format_signed(d, v->clock_offset_ms, 1),
                exact(e, v->up), exact(f, v->connections));
        fprintf(out, ", reconnects %s (%s of %s in the budget), renewals %s", exact(a, v->reconnects),
                exact(b, v->budget_used), exact(c, v->budget), exact(d, v->renewals));
        if (v->weight_limit > 0)
            fprintf(out, ", rate limit %s of %s", exact(a, v->weight_used), exact(b, v->weight_limit));
        if (v->banned_until_ns > 0)
            fprintf(out, ", banned until %sZ", cli_format_time(a, v->banned_until_ns));
        fprintf(out, ", malformed %s%s%s\n", exact(a, v->bad_frames), v->detail[0] ? ": " : "", v->detail);
    }
}

/* Venues whose older bars are not all there. */
static void histories(FILE *out, const struct status *s)
{
    char a[FORMAT_MAX], b[FORMAT_MAX];
    for (int i = 0; i < s->n_venues; i++) {
        const struct status_venue *v = &s->venues[i];
        if (strcmp(v->history, "fetches") == 0 || strcmp(v->history, "waits") == 0)
            fprintf(out, "history   %s %s: %s bars fetched, up to %s are not yet%s%s\n", v->venue, v->history,
                    exact(a, v->history_bars), exact(b, v->history_left), v->history_detail[0] ? ": " : "",
                    v->history_detail);
    }
}

enum { STALE_NAMED_MAX = 3 };

/* What the prices of markets with several feeds are, once each. */
static void sources(FILE *out, const struct status *s)
{
    bool said[FILL_BASES] = {false};
    for (int i = 0; i < s->n_symbols; i++) {
        int basis = fill_basis_parse(s->symbols[i].prices);
        if (basis <= FILL_BASIS_NONE || said[basis])
            continue;
        said[basis] = true;
        fprintf(out, "prices    %s: %s\n", s->symbols[i].prices, fill_basis_words((enum fill_basis)basis));
    }
}

/* Streams that are silent beside others, by name and age. */
static void stale_streams(FILE *out, const struct model *model, struct moment now)
{
    const struct status *s = &model->status;
    char age[FORMAT_MAX];
    int n = 0;
    bool up = strcmp(s->feed.state, "ok") == 0 || strcmp(s->feed.state, "stale") == 0;
    for (int i = 0; up && i < s->n_streams; i++) {
        const struct status_stream *stream = &s->streams[i];
        if (!stream->stale || ++n > STALE_NAMED_MAX)
            continue;
        fprintf(out, "%s%s %s, age %s", n == 1 ? "stale     " : "; ", stream->symbol, stream->stream,
                cli_format_age(age, tui_model_age(model, stream->age_ms, now)));
    }
    if (n > STALE_NAMED_MAX)
        fprintf(out, "; and %d more", n - STALE_NAMED_MAX);
    if (n > 0)
        fputc('\n', out);
}

static void feed(FILE *out, const struct model *model, struct moment now)
{
    const struct status *s = &model->status;
    const char *reason = tui_model_trading_reason(model);
    char a[FORMAT_MAX], b[FORMAT_MAX], c[FORMAT_MAX], d[FORMAT_MAX], up[FORMAT_MAX];

    if (model->at_ns > 0) {
        fprintf(out, "PAST      %sZ: as the database has it\n", cli_format_time(a, model->at_ns));
        return;
    }
    if (model->source != MODEL_DAEMON) {
        fprintf(out, "daemon    none: %s\n",
                model->status.saved ? "a saved backtest has none" : model->daemon_words);
        return;
    }
    int64_t clock_ns = tui_model_clock_ns(model, now);
    double uptime_ms = s->uptime_s * 1000;
    cli_format_age(up, uptime_ms >= 0 && uptime_ms < 9e18 ? (int64_t)uptime_ms : -1);
    fprintf(out, "daemon    %s pid %s, up %s, clock %s, %s%s\n", word(s->version), exact(a, s->pid), up,
            word(s->clock), cli_format_time(b, clock_ns), clock_ns > 0 ? "Z" : "");
    fprintf(out, "trading   %s%s%s\n", word(s->trading), reason[0] ? ": " : "", reason);
    fprintf(out, "feed      %s %s", word(s->feed.venue), word(s->feed.state));
    if (s->feed.retry_in_ms >= 0)
        fprintf(out, ", retry in %s", cli_format_age(a, s->feed.retry_in_ms));
    fprintf(out, ", age %s, frames %s, malformed %s, reconnects %s%s%s\n",
            cli_format_age(a, tui_model_age(model, s->feed.age_ms, now)), exact(b, s->feed.frames),
            exact(c, s->feed.bad_frames), exact(d, s->feed.reconnects), s->feed.detail[0] ? ": " : "",
            s->feed.detail);
    venues(out, s);
    histories(out, s);
    sources(out, s);
    stale_streams(out, model, now);
}

/* "12s", or with the word STALE. */
static void age_words(char *buf, enum freshness freshness, int64_t age_ms)
{
    char age[FORMAT_MAX];

    const char *word = freshness == FRESH ? "" : freshness == CLOSED ? "closed " : "STALE ";

    snprintf(buf, FORMAT_MAX, "%s%.20s", word, cli_format_age(age, age_ms));
}

static void accounts(FILE *out, const struct model *model, struct moment now)
{
    char a[FORMAT_MAX], b[FORMAT_MAX], c[FORMAT_MAX], d[FORMAT_MAX];
    enum freshness freshness = tui_model_accounts_freshness(model, now);
    bool gone = freshness == GONE;
    char age[FORMAT_MAX], there[STATUS_AT_VENUE_MAX];

    age_words(age, freshness, tui_model_age(model, model->accounts_age_ms, now));
    for (int i = 0; i < model->status.n_accounts; i++) {
        const struct status_account *account = &model->status.accounts[i];
        fprintf(out, "account   %s equity %s %s return %s %s %s%s cash %s%s%s\n", account->account,
                gone ? "-" : cli_format_number(a, account->equity, 2), account->currency,
                gone ? "-" : cli_format_percent(b, account->return_pct, 2),
                model->status.saved ? "max drawdown" : "drawdown",
                gone ? "-" : cli_format_percent(c, tui_model_drawdown(model, account), 2),
                account->killed ? " killed" : "", cli_format_number(d, account->cash, 2),
                freshness == FRESH ? "" : " age ", freshness == FRESH ? "" : age);
        tui_status_at_venue(account, tui_model_clock_ns(model, now), there);
        if (there[0])
            fprintf(out, "          at %s\n", there);
        if (account->halted[0])
            fprintf(out, "          strategy halted: %s\n", account->halted);
    }
}

/* Each currency for itself; and all of them in the first one's, where their rates are streamed. */
static void totals(FILE *out, const struct model *model, struct moment now)
{
    const struct status *s = &model->status;
    const struct model_total total = tui_model_total(model);
    const bool gone = tui_model_accounts_freshness(model, now) == GONE;
    char a[FORMAT_MAX], b[FORMAT_MAX];

    if (s->n_accounts < 2 || gone)
        return;
    for (int i = 0; i < s->n_totals; i++) {
        const struct status_total *of = &s->totals[i];
        fprintf(out, "total     %s equity %s return %s of %lld account%s\n", of->currency,
                cli_format_number(a, of->equity, 2), cli_format_percent(b, of->return_pct, 2),
                (long long)of->accounts, of->accounts == 1 ? "" : "s");
    }
    if (total.some)
        fprintf(out, "total     not one sum: no rate of these currencies is streamed\n");
    if (!total.converted)
        return;
    fprintf(out, "total     all in %s equity %s, at", total.currency, cli_format_number(a, total.equity, 2));
    for (int i = 1; i < s->n_totals; i++)
        fprintf(out, "%s %s %s %s", i > 1 ? "," : "", s->totals[i].currency,
                cli_format_number(a, s->totals[i].rate, 6), s->totals[i].rate_symbol);
    fputc('\n', out);
}

static void universe_part(FILE *out, const struct status *status, const char *word)
{
    const char *before = "";
    fprintf(out, "; %s: ", word);
    for (int i = 0; i < status->n_symbols; i++)
        if (strcmp(status->symbols[i].universe, word) == 0) {
            fprintf(out, "%s%s", before, status->symbols[i].symbol);
            before = ", ";
        }
    if (!*before)
        fputs("none", out);
}

/* The rule, its time that was looked at last, and what is in and out. */
static void universe(FILE *out, const struct model *model)
{
    const struct status *status = &model->status;
    char at[FORMAT_MAX];
    if (!status->universe[0] || model->source != MODEL_DAEMON)
        return;
    fprintf(out, "universe  %s; at %s%s", status->universe,
            status->universe_ns > 0 ? cli_format_time(at, status->universe_ns) : "no time yet",
            status->universe_ns > 0 ? "Z" : "");
    universe_part(out, status, "in");
    universe_part(out, status, "out");
    fputc('\n', out);
}

static void prices(FILE *out, const struct model *model, struct moment now)
{
    char a[FORMAT_MAX], b[FORMAT_MAX], c[FORMAT_MAX], bars[FORMAT_MAX], age[FORMAT_MAX];

    universe(out, model);
    for (int i = 0; i < model->status.n_symbols; i++) {
        const struct status_symbol *s = &model->status.symbols[i];
        enum freshness freshness = tui_model_symbol_freshness(model, s, now);
        bool gone = freshness == GONE;
        age_words(age, freshness, tui_model_age(model, s->age_ms, now));
        fprintf(out, "price     %s last %s bid %s ask %s bars %s book %s age %s\n", s->symbol,
                gone ? "-" : cli_format_number(a, s->last, s->price_decimals),
                gone ? "-" : cli_format_number(b, s->bid, s->price_decimals),
                gone ? "-" : cli_format_number(c, s->ask, s->price_decimals), exact(bars, s->bars),
                word(s->book), age);
    }
}

static void positions(FILE *out, const struct model *model, struct moment now)
{
    char a[FORMAT_MAX], b[FORMAT_MAX], c[FORMAT_MAX], d[FORMAT_MAX], age[FORMAT_MAX];

    for (int i = 0; i < model->status.n_positions; i++) {
        const struct status_position *p = &model->status.positions[i];
        enum freshness freshness = tui_model_position_freshness(model, p, now);
        int decimals = tui_model_price_decimals(model, p->symbol);
        bool gone = freshness == GONE;
        age_words(age, freshness, tui_model_age(model, p->age_ms, now));
        fprintf(out, "position  %s %s %s qty %s entry %s mark %s upnl %s age %s\n", p->account, p->symbol,
                p->side, cli_format_number(a, p->qty, p->qty_decimals),
                cli_format_number(b, p->entry, decimals),
                gone ? "-" : cli_format_number(c, p->mark, decimals),
                gone ? "-" : cli_format_signed(d, p->upnl, 2), age);
    }
    if (model->status.n_positions == 0 && model->holdings != MODEL_NOTHING)
        fprintf(out, "position  flat\n");
}

static void parity(FILE *out, const struct model *model, struct moment now)
{
    const struct status_parity *p = &model->status.parity;
    char words[MODEL_PARITY_MAX], time[FORMAT_MAX];

    tui_model_parity(model, now, words);
    fprintf(out, "parity    %s", words + strlen("parity "));
    if (p->checked_ns > 0)
        fprintf(out, ", compared %sZ", cli_format_time(time, p->checked_ns));
    fprintf(out, "%s%s\n", p->detail[0] ? ": " : "", p->detail);
}

/* How the run started, and the state of its log. */
static void record(FILE *out, const struct status *s)
{
    char a[FORMAT_MAX], b[FORMAT_MAX], c[FORMAT_MAX];

    if (s->recovery.from[0]) {
        fprintf(out, "began     from %s%s", strcmp(s->recovery.from, "nothing") == 0 ? "" : "the ",
                s->recovery.from);
        if (s->recovery.played > 0)
            fprintf(out, ", %s events played in %s ms", exact(a, s->recovery.played),
                    cli_format_number(b, s->recovery.elapsed_ms, 1));
        if (s->recovery.crossed > 0)
            fprintf(out, ", %s orders crossed meanwhile", exact(c, s->recovery.crossed));
        fprintf(out, "\n");
    }
    if (s->log.state[0])
        fprintf(out, "log       %s, event %s, %s bytes, %s an event%s%s\n", s->log.state,
                exact(a, s->log.seq), cli_format_count(b, s->log.bytes < 0 ? NAN : (double)s->log.bytes),
                cli_format_number(c, s->log.bytes_per_event, 1), s->log.detail[0] ? ": " : "", s->log.detail);
}

static char *milliseconds(char buf[static FORMAT_MAX], double ms)
{
    if (isfinite(ms))
        snprintf(buf, FORMAT_MAX, "%.1f ms", ms);
    else
        snprintf(buf, FORMAT_MAX, "n/a");
    return buf;
}

static void rebuilt(FILE *out, const struct status *s)
{
    const struct status_rebuilt *r = &s->rebuilt;
    char time[FORMAT_MAX];

    if (r->ts_ns <= 0)
        return;
    fprintf(out, "rebuilt   %sZ from the event log: %s; whole from event %lld on%s%s%s\n",
            cli_format_time(time, r->ts_ns), r->why, (long long)r->whole_from,
            r->aside[0] ? "; the former file is " : "", r->aside, r->lost ? "; rows are lost" : "");
    for (int i = 0; i < s->n_sources; i++)
        fprintf(out, "          %s: %s\n", s->sources[i].table, s->sources[i].source);
}

static void machine(FILE *out, const struct status *s)
{
    char a[FORMAT_MAX], b[FORMAT_MAX], c[FORMAT_MAX], d[FORMAT_MAX];

    fprintf(out, "orders    %s, fills %s, rejected %s\n", exact(a, s->counters.orders),
            exact(b, s->counters.fills), exact(c, s->counters.rejected));
    fprintf(out, "database  %s, commits %s, queue %s, commit p50 %s, p99 %s%s%s\n", word(s->db.state),
            exact(a, s->db.commits), exact(b, s->db.queue), milliseconds(c, s->db.commit_p50_ms),
            milliseconds(d, s->db.commit_p99_ms), s->db.detail[0] ? ": " : "", s->db.detail);
    rebuilt(out, s);
    fprintf(out, "compute   %s%s%s%s%s\n", word(s->compute.backend), s->compute.device[0] ? " " : "",
            s->compute.device, s->compute.reason[0] ? ": " : "", s->compute.reason);
    if (s->compute.updates >= 0)
        fprintf(out, "charts    %s bars taken, %s wait\n", exact(a, s->compute.updates),
                exact(b, s->compute.waiting));
    fprintf(out, "gpu       %s%s%s\n", word(s->gpu.state), s->gpu.reason[0] ? ": " : "", s->gpu.reason);
    for (int i = 0; i < s->n_devices; i++)
        tui_print_device(out, &s->devices[i], "");
}

static void devices(FILE *out, const struct model *model, struct moment now)
{
    if (model->source == MODEL_DAEMON)
        machine(out, &model->status);
    else
        tui_print_devices(out, &model->history.devices, now);
}

static void recorded(FILE *out, const struct model *model, struct moment now)
{
    if (model->source == MODEL_DAEMON)
        record(out, &model->status);
    parity(out, model, now);
}

static void orders(FILE *out, const struct model *model, struct moment now)
{
    char a[FORMAT_MAX], b[FORMAT_MAX], c[FORMAT_MAX];

    (void)now;
    for (int i = 0; i < model->status.n_orders; i++) {
        struct status_order o;
        tui_model_order(model, model->status.orders[i].id, &o);
        fprintf(out, "order     %lld %s %s %s %s qty %s price %s stop %s %s %s\n", (long long)o.id, o.account,
                o.side, o.type, o.symbol, cli_format_number(a, o.qty, o.qty_decimals),
                isfinite(o.price) ? cli_format_number(b, o.price, o.price_decimals) : "market",
                isfinite(o.stop) ? cli_format_number(c, o.stop, o.price_decimals) : "none", o.state, o.tag);
    }
}

static void unread(FILE *out, const struct model *model)
{
    if (!model->have_history)
        fprintf(out, "history   none: %s\n", model->database_words);
    for (int i = 0; i < model->history.unread.n; i++)
        fprintf(out, "unread    %s\n", model->history.unread.words[i]);
}

enum { NEWEST = 10 };

static void fills(FILE *out, const struct model *model, struct moment now)
{
    const struct history *h = &model->history;
    char a[FORMAT_MAX], b[FORMAT_MAX], c[FORMAT_MAX], d[FORMAT_MAX];

    (void)now;
    for (int i = 0; i < h->n_fills && i < NEWEST; i++) {
        const struct history_fill *f = &h->fills[i];
        fprintf(out, "fill      %sZ %s %s %s @%s fee %s order %lld %s\n", cli_format_time(a, f->ts_ns),
                f->side, f->symbol, cli_format_number(b, f->qty, f->qty_decimals),
                cli_format_number(c, f->price, f->price_decimals), cli_format_number(d, f->fee, 4),
                (long long)f->order, f->tag);
    }
}

static void open_alerts(FILE *out, const struct model *model, struct moment now)
{
    const struct history *h = &model->history;
    char a[FORMAT_MAX];

    (void)now;
    for (int i = 0; i < h->n_alerts && i < NEWEST; i++)
        if (h->alerts[i].open)
            fprintf(out, "alert     %lld %sZ %s x%lld %s\n", (long long)h->alerts[i].id,
                    cli_format_time(a, h->alerts[i].last_ns), h->alerts[i].severity,
                    (long long)h->alerts[i].count, h->alerts[i].text);
}

void tui_print_log(FILE *out, const struct history_log *entry)
{
    char a[FORMAT_MAX];

    fprintf(out, "%sZ %s %s\n", cli_format_time(a, entry->ts_ns), entry->kind, entry->text);
}

static void log_lines(FILE *out, const struct model *model, struct moment now)
{
    (void)now;
    for (int i = 0; i < model->history.n_log && i < NEWEST; i++)
        tui_print_log(out, &model->history.log[i]);
}

static const struct {
    const char *name, *words;
    void (*put)(FILE *out, const struct model *model, struct moment now);
} parts[] = {
    {"overview", "all of it", tui_print_overview},
    {"feed", "daemon, trading, feed and venues", feed},
    {"accounts", "equity, return, drawdown and cash", accounts},
    {"prices", "last, bid and ask of each symbol", prices},
    {"positions", "what is held", positions},
    {"orders", "those that live", orders},
    {"fills", "the newest ten", fills},
    {"alerts", "those that are open", open_alerts},
    {"log", "the newest ten lines: orders, alerts and commands", log_lines},
    {"machine", "counters, database, devices", devices},
    {"trainings", "trainings and policies", tui_print_trainings},
    {"studies", "how far each is, and its best", tui_print_studies},
};

bool tui_print_part(FILE *out, const char *name, const struct model *model, struct moment now)
{
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (strcmp(parts[i].name, name) != 0)
            continue;
        char *text = NULL;
        size_t size;
        FILE *to = open_memstream(&text, &size);
        if (to)
            parts[i].put(to, model, now);
        if (to && fclose(to) == 0)
            fprintf(out, "%s%s", text, size ? "" : "none\n");
        free(text);
        return true;
    }
    return false;
}

const char *tui_print_part_name(size_t i, const char **ret_words)
{
    if (i >= sizeof(parts) / sizeof(parts[0]))
        return NULL;
    *ret_words = parts[i].words;
    return parts[i].name;
}

void tui_print_status(FILE *out, const struct model *model, struct moment now)
{
    int64_t alerts = tui_model_alerts_open(model);

    feed(out, model, now);
    if (model->source == MODEL_DAEMON && model->holdings == MODEL_NOTHING)
        fprintf(out, "account   n/a\nprice     n/a\nposition  n/a\n");
    accounts(out, model, now);
    totals(out, model, now);
    prices(out, model, now);
    positions(out, model, now);
    devices(out, model, now);
    tui_print_trainings(out, model, now);
    tui_print_studies(out, model, now);
    recorded(out, model, now);
    if (alerts >= 0)
        fprintf(out, "alerts    %lld open\n", (long long)alerts);
}

void tui_print_overview(FILE *out, const struct model *model, struct moment now)
{
    tui_print_status(out, model, now);
    fills(out, model, now);
    open_alerts(out, model, now);
    unread(out, model);
}

bool tui_print_is_stale(const struct model *model, struct moment now)
{
    if (tui_model_freshness(model, now) != FRESH)
        return true;
    const char *feed = model->status.feed.state;
    if (model->source == MODEL_DAEMON && strcmp(feed, "ok") != 0 && strcmp(feed, "closed") != 0)
        return true;
    for (int i = 0; i < model->status.n_symbols; i++)
        if (tui_model_symbol_freshness(model, &model->status.symbols[i], now) >= STALE)
            return true;
    return false;
}

/* ---- as JSON ---- */

#define ROW struct status_position
static const struct record position_record =
    PRINT_RECORD(PRINT_TEXT(account), PRINT_TEXT(symbol), PRINT_TEXT(side), PRINT_REAL(qty),
                 PRINT_REAL(entry), PRINT_REAL(mark), PRINT_REAL(upnl), PRINT_REAL(stop), PRINT_COUNT(age_ms),
                 PRINT_REAL(fifo_entry), PRINT_AS(TIME, UNKNOWN, mark_ts_ns, "mark_ts_ns"));
#undef ROW
#define ROW struct status_account
static const struct record account_record =
    PRINT_RECORD(PRINT_TEXT(account), PRINT_TEXT(currency), PRINT_REAL(equity), PRINT_REAL(cash),
                 PRINT_REAL(return_pct), PRINT_REAL(drawdown_pct));
#undef ROW
#define ROW struct history_equity
static const struct record equity_record = PRINT_RECORD(PRINT_WHOLE(ts_ns), PRINT_REAL(equity));
#undef ROW
#define ROW struct history_fill
static const struct record fill_record =
    PRINT_RECORD(PRINT_AS(SIGNED, REQUIRED, id, "fill"), PRINT_WHOLE(order), PRINT_WHOLE(ts_ns),
                 PRINT_TEXT(account), PRINT_TEXT(symbol), PRINT_TEXT(side), PRINT_REAL(price),
                 PRINT_REAL(qty), PRINT_REAL(fee), PRINT_TEXT(tag), PRINT_AS(BOOL, REQUIRED, maker, "maker"));
#undef ROW
#define ROW struct status_order
static const struct record order_record = PRINT_RECORD(
    PRINT_AS(SIGNED, REQUIRED, id, "order"), PRINT_WHOLE(updated_ns), PRINT_TEXT(account), PRINT_TEXT(symbol),
    PRINT_TEXT(side), PRINT_TEXT(type), PRINT_TEXT(state), PRINT_REAL(qty), PRINT_REAL(filled),
    PRINT_REAL(price), PRINT_REAL(stop), PRINT_TEXT(reason), PRINT_TEXT(tag), PRINT_TEXT(tif),
    PRINT_REAL(trail), PRINT_REAL(trail_pct), PRINT_COUNT(group), PRINT_COUNT(parent));
#undef ROW
#define ROW struct print_alert
const struct record tui_print_alert_record = PRINT_RECORD(
    PRINT_AS(SIGNED, REQUIRED, alert.id, "alert"), PRINT_AS(TIME, REQUIRED, alert.ts_ns, "ts_ns"),
    PRINT_AS(TIME, REQUIRED, alert.last_ns, "last_ns"), PRINT_AS(SIGNED, REQUIRED, alert.count, "count"),
    PRINT_AS(TEXT, REQUIRED, alert.severity, "severity"), PRINT_AS(TEXT, REQUIRED, alert.code, "code"),
    PRINT_AS(TEXT, REQUIRED, alert.text, "text"), PRINT_TEXT(state), PRINT_AS(BOOL, REQUIRED, acked, "acked"),
    PRINT_AS(TIME, OPTIONAL, alert.acked_ns, "acked_ns"),
    PRINT_AS(TIME, OPTIONAL, alert.closed_ns, "closed_ns"));
#undef ROW
#define ROW struct history_log
static const struct record log_record = PRINT_RECORD(PRINT_WHOLE(ts_ns), PRINT_TEXT(kind), PRINT_TEXT(text));
#undef ROW

static json_t *rows_json(const struct record *record, const void *rows, int n)
{
    json_t *list = json_array();

    for (int i = 0; i < n; i++)
        json_array_append_new(list,
                              record_print(record, (const char *)rows + (size_t)i * record->size, NULL));
    return list;
}

/* Trades of an account, closed ones; what the dashboard's strategies have. */
static json_t *trades_json(const struct history *h, const char *account)
{
    const struct history_account *known = tui_history_account(h, account);

    return known ? json_integer((json_int_t)known->trades.trades) : json_null();
}

static json_t *accounts_json(const struct model *model)
{
    const struct status *s = &model->status;
    json_t *list = rows_json(&account_record, s->accounts, s->n_accounts);

    for (int i = 0; i < s->n_accounts; i++) {
        json_t *account = json_array_get(list, (size_t)i);
        json_object_set_new(account, "max_drawdown_pct",
                            s->saved ? record_json_real(s->accounts[i].max_drawdown_pct) : json_null());
        json_object_set_new(account, "trades", trades_json(&model->history, s->accounts[i].account));
    }
    return list;
}

struct print_alert tui_print_alert(const struct history_alert *alert)
{
    struct print_alert shown = {.alert = *alert, .acked = alert->acked_ns != 0};

    snprintf(shown.state, sizeof shown.state, "%s", tui_history_alert_state(alert));
    return shown;
}

json_t *tui_print_alerts_json(const struct history *h)
{
    json_t *list = json_array();

    for (int i = 0; i < h->n_alerts; i++) {
        struct print_alert shown = tui_print_alert(&h->alerts[i]);
        json_array_append_new(list, record_print(&tui_print_alert_record, &shown, NULL));
    }
    return list;
}

int tui_print_json(FILE *out, const struct model *model, const json_t *status)
{
    bool live = model->source == MODEL_DAEMON && status;
    bool known = model->holdings != MODEL_NOTHING;
    const struct status *s = &model->status;
    const struct history *h = &model->history;
    json_t *shown = live ? json_deep_copy(status) : json_null();
    json_t *object =
        json_pack("{s:s, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "schema", "papertape.dashboard/1",
                  "daemon", live, "status", shown, "positions",
                  known ? rows_json(&position_record, s->positions, s->n_positions) : json_null(), "equity",
                  rows_json(&equity_record, h->equity, h->n_equity), "fills",
                  rows_json(&fill_record, h->fills, h->n_fills), "orders",
                  rows_json(&order_record, h->orders, h->n_orders), "alerts", tui_print_alerts_json(h), "log",
                  rows_json(&log_record, h->log, h->n_log));
    json_object_set_new(object, "accounts", known ? accounts_json(model) : json_null());
    if (model->at_ns > 0)
        json_object_set_new(object, "at_ns", json_integer(model->at_ns));
    json_object_set_new(object, "saved_backtest", json_boolean(model_is_saved(model)));
    json_object_set_new(object, "devices", tui_print_devices_json(&h->devices));
    json_object_set_new(object, "trainings", tui_print_trainings_json(model, tui_model_now()));
    json_object_set_new(object, "policies", tui_print_policies_json(model));
    json_object_set_new(object, "studies", tui_print_studies_json(model, tui_model_now()));
    char *text = decimal_json_text(object, 15);

    json_decref(object);
    if (!text)
        return -ENOMEM;
    fprintf(out, "%s\n", text);
    free(text);
    return 0;
}
