#include "tui/model.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/control_client.h"
#include "exchange/clock.h"

enum {
    PRICE_EXPECTED_MS = 5000,   /* where the daemon names no limit of its own */
    EQUITY_EXPECTED_MS = 20000, /* between two stored points of equity */
    DECIMALS_UNKNOWN = 8,       /* as of a symbol of which nothing is stored: no figure loses a digit */
};

struct moment tui_model_now(void)
{
    return (struct moment){.wall_ns = clock_wall_ns(), .mono_ms = clock_now_ms()};
}

struct moment tui_model_moment(const struct model *model, struct moment now)
{
    return model->at_ns ? (struct moment){model->at_ns, model->status_mono_ms} : now;
}

struct model *tui_model_create(int64_t interval_ms)
{
    struct model *model = calloc(1, sizeof(*model));

    if (model) {
        tui_status_init(&model->status);
        model->interval_ms = interval_ms;
    }
    return model;
}

void tui_model_destroy(struct model *model)
{
    if (model) {
        tui_status_finish(&model->status);
        if (model->known.stored)
            tui_status_finish(model->known.stored);
        free(model->known.stored);
        tui_live_bars_finish(&model->live);
        tui_item_page_finish(&model->item);
        tui_studies_destroy(model->studies);
        tui_study_page_destroy(model->study_page);
        for (int list = 0; list < DB_LISTS; list++)
            tui_list_rows_finish(&model->lists[list]);
    }
    free(model);
}

int tui_model_take_status(struct model *model, const json_t *object, struct moment now)
{
    struct status *status = malloc(sizeof(*status));

    if (!status)
        return -ENOMEM;
    int r = tui_status_parse(object, status);
    if (r == 0) {
        tui_status_finish(&model->status);
        model->status = *status;
        model->source = MODEL_DAEMON;
        model->holdings = status->started ? MODEL_DAEMON : MODEL_NOTHING;
        model->status_mono_ms = now.mono_ms;
        model->accounts_age_ms = status->started ? 0 : -1;
        model->daemon_words[0] = '\0';
        tui_model_add_known(model, now);
    }
    free(status);
    return r;
}

/* Has this run not received it yet? A price that the daemon has from before has no age of its own, and the
 * stored one has. */
static bool has_no_age(const struct status_symbol *symbol)
{
    return symbol->age_ms < 0;
}

bool tui_model_wants_stored(const struct model *model)
{
    for (int i = 0; i < model->status.n_symbols; i++)
        if (has_no_age(&model->status.symbols[i]))
            return true;
    return !model->status.started;
}

static void take_prices(struct status *s, const struct status *stored)
{
    for (int i = 0; i < stored->n_symbols; i++) {
        const struct status_symbol *known = &stored->symbols[i];
        for (int k = 0; k < s->n_symbols; k++) {
            struct status_symbol *symbol = &s->symbols[k];
            if (!has_no_age(symbol) || strcmp(symbol->symbol, known->symbol) != 0)
                continue;
            symbol->last = known->last;
            symbol->bid = known->bid;
            symbol->ask = known->ask;
            symbol->mark = known->mark;
            symbol->age_ms = known->age_ms;
        }
    }
    for (int i = 0; i < stored->n_positions; i++) {
        const struct status_position *known = &stored->positions[i];
        for (int k = 0; k < s->n_positions; k++) {
            struct status_position *position = &s->positions[k];
            if (position->age_ms >= 0 || strcmp(position->symbol, known->symbol) != 0 ||
                strcmp(position->account, known->account) != 0)
                continue;
            position->mark = known->mark;
            position->upnl = known->upnl;
            position->age_ms = known->age_ms;
        }
    }
}

void tui_model_take_stored(struct model *model, struct status *stored, int64_t accounts_age_ms,
                           struct moment now)
{
    struct status *s = &model->status;

    if (model->source == MODEL_DAEMON && s->started) {
        take_prices(s, stored);
        return;
    }
    if (model->source == MODEL_DAEMON) {
        tui_status_move(stored, s, STATUS_SYMBOLS);
        tui_status_move(stored, s, STATUS_POSITIONS);
        tui_status_move(stored, s, STATUS_ACCOUNTS);
        tui_status_move(stored, s, STATUS_TOTALS);
        tui_status_move(stored, s, STATUS_ORDERS);
        s->accounts_total = stored->accounts_total;
        s->orders_total = stored->orders_total;
        if (!s->parity.state[0])
            s->parity = stored->parity;
    } else {
        tui_status_finish(s);
        *s = *stored;
        tui_status_init(stored);
        model->source = MODEL_DATABASE;
    }
    model->holdings = MODEL_DATABASE;
    model->status_mono_ms = now.mono_ms;
    model->accounts_age_ms = accounts_age_ms;
}

int64_t tui_model_age(const struct model *model, int64_t age_ms, struct moment now)
{
    if (age_ms < 0)
        return -1;
    int64_t since = now.mono_ms - model->status_mono_ms;
    return age_ms + (since > 0 ? since : 0);
}

enum freshness tui_model_freshness(const struct model *model, struct moment now)
{
    if (model->source == MODEL_NOTHING)
        return GONE;
    return freshness_of(tui_model_age(model, 0, now), model->interval_ms > 1000 ? model->interval_ms : 1000);
}

/* Is its market closed, by its calendar? */
static bool tui_model_symbol_closed(const struct status_symbol *symbol)
{
    return strcmp(symbol->market, "closed") == 0;
}

/* The freshness of a value of a symbol with that age; NULL: of an unknown symbol. */
static enum freshness of_symbol(const struct model *model, const struct status_symbol *symbol, int64_t age_ms,
                                struct moment now)
{
    if (model_is_still(model))
        return tui_model_freshness(model, now);
    int64_t expected = symbol && symbol->limit_ms > 0 ? symbol->limit_ms / 3 : PRICE_EXPECTED_MS;
    enum freshness own = freshness_of(tui_model_age(model, age_ms, now), expected);

    own = freshness_worse(own, symbol && symbol->stale ? STALE : FRESH);
    if (symbol && tui_model_symbol_closed(symbol))
        own = CLOSED;
    return freshness_worse(own, tui_model_freshness(model, now));
}

enum freshness tui_model_symbol_freshness(const struct model *model, const struct status_symbol *symbol,
                                          struct moment now)
{
    return of_symbol(model, symbol, symbol->age_ms, now);
}

enum freshness tui_model_position_freshness(const struct model *model, const struct status_position *position,
                                            struct moment now)
{
    return of_symbol(model, tui_model_symbol(model, position->symbol), position->age_ms, now);
}

enum freshness tui_model_accounts_freshness(const struct model *model, struct moment now)
{
    if (model_is_still(model))
        return tui_model_freshness(model, now);
    enum freshness own = freshness_of(tui_model_age(model, model->accounts_age_ms, now), EQUITY_EXPECTED_MS);

    return freshness_worse(own, tui_model_freshness(model, now));
}

const struct status_symbol *tui_model_symbol(const struct model *model, const char *name)
{
    for (int i = 0; i < model->status.n_symbols; i++)
        if (strcmp(model->status.symbols[i].symbol, name) == 0)
            return &model->status.symbols[i];
    return NULL;
}

int tui_model_price_decimals(const struct model *model, const char *symbol)
{
    const struct status_symbol *known = tui_model_symbol(model, symbol);

    return known ? known->price_decimals : 2;
}

bool tui_model_order(const struct model *model, int64_t id, struct status_order *ret)
{
    const struct status *s = &model->status;
    const struct history *h = &model->history;
    const struct status_symbol *symbol;
    int at = 0;

    while (at < s->n_orders && s->orders[at].id != id)
        at++;
    if (at == s->n_orders)
        return false;
    *ret = s->orders[at];
    symbol = tui_model_symbol(model, ret->symbol);
    ret->updated_ns = ret->created_ns = 0;
    ret->average = NAN;
    ret->client_id[0] = '\0';
    ret->reason[0] = '\0';
    ret->price_decimals = symbol ? symbol->price_decimals : DECIMALS_UNKNOWN;
    ret->qty_decimals = DECIMALS_UNKNOWN;
    for (int i = 0; i < h->n_orders; i++) {
        const struct status_order *known = &h->orders[i];
        if (known->id == id || strcmp(known->symbol, ret->symbol) == 0)
            ret->qty_decimals = known->qty_decimals;
        if (known->id != id)
            continue;
        ret->updated_ns = known->updated_ns;
        ret->created_ns = known->created_ns;
        ret->average = known->average;
        memcpy(ret->client_id, known->client_id, sizeof(ret->client_id));
    }
    return true;
}

int64_t tui_model_clock_ns(const struct model *model, struct moment now)
{
    const struct status *s = &model->status;

    if (model->source != MODEL_DAEMON || s->now_ns <= 0)
        return 0;
    if (strcmp(s->clock, "wall") != 0)
        return s->now_ns;
    return s->now_ns + tui_model_age(model, 0, now) * 1000000;
}

int64_t tui_model_until_ms(const struct model *model, int64_t at_ns, struct moment now)
{
    int64_t clock_ns = tui_model_clock_ns(model, now);

    if (clock_ns <= 0)
        clock_ns = now.wall_ns;
    return at_ns > clock_ns ? (at_ns - clock_ns) / 1000000 : 0;
}

double tui_model_drawdown(const struct model *model, const struct status_account *account)
{
    return model->status.saved ? account->max_drawdown_pct : account->drawdown_pct;
}

const char *tui_model_drawdown_name(const struct model *model)
{
    return model->status.saved ? "max dd" : "dd";
}

struct model_total tui_model_total(const struct model *model)
{
    const struct status *s = &model->status;
    struct model_total total = {.equity = NAN, .return_pct = NAN, .drawdown_pct = NAN};

    if (s->n_accounts == 0)
        return total;
    memcpy(total.currency, s->accounts[0].currency, sizeof(total.currency));
    if (s->n_accounts == 1) {
        total.equity = s->accounts[0].equity;
        total.return_pct = s->accounts[0].return_pct;
        total.drawdown_pct = tui_model_drawdown(model, &s->accounts[0]);
        memcpy(total.worst, s->accounts[0].account, sizeof(total.worst));
        return total;
    }
    if (s->n_totals == 0)
        return total;
    double converted = 0;
    for (int i = 0; i < s->n_totals; i++)
        converted += s->totals[i].converted;
    total.some = s->n_totals > 1 && !isfinite(converted);
    total.converted = s->n_totals > 1 && !total.some;
    for (int i = 0; i < s->n_accounts; i++) {
        if (!total.converted && strcmp(s->accounts[i].currency, total.currency) != 0)
            continue;
        double drawdown_pct = tui_model_drawdown(model, &s->accounts[i]);
        if (!(total.drawdown_pct <= drawdown_pct)) {
            total.drawdown_pct = drawdown_pct; /* the worst account's */
            memcpy(total.worst, s->accounts[i].account, sizeof(total.worst));
        }
    }
    total.equity = total.converted ? converted : s->totals[0].equity;
    total.return_pct = total.converted ? NAN : s->totals[0].return_pct;
    return total;
}

void tui_model_equity(const struct model *model, int decimals, char buf[static MODEL_EQUITY_MAX])
{
    const struct status *s = &model->status;
    const struct model_total total = tui_model_total(model);
    char text[FORMAT_MAX], next[MODEL_EQUITY_MAX];
    enum { MORE = 10 /* " + 31 more" */ };

    snprintf(buf, MODEL_EQUITY_MAX, "%s%s%.32s", total.some ? total.currency : "", total.some ? " " : "",
             cli_format_number(text, total.equity, decimals));
    if (total.converted)
        snprintf(buf + strlen(buf), MODEL_EQUITY_MAX - strlen(buf), " %s of %d", total.currency, s->n_totals);
    for (int i = 1; total.some && i < s->n_totals; i++) {
        int n = snprintf(next, sizeof(next), " + %s %.32s", s->totals[i].currency,
                         cli_format_number(text, s->totals[i].equity, decimals));
        size_t left = MODEL_EQUITY_MAX - 1 - strlen(buf);
        if ((size_t)n + (i + 1 < s->n_totals ? MORE : 0) > left) {
            snprintf(buf + strlen(buf), left + 1, " + %d more", s->n_totals - i);
            return;
        }
        strcat(buf, next);
    }
}

enum freshness tui_model_parity(const struct model *model, struct moment now,
                                char buf[static MODEL_PARITY_MAX])
{
    enum { DAY_MS = 24 * 3600 * 1000 };
    const struct status_parity *parity = &model->status.parity;
    bool ok = strcmp(parity->state, "ok") == 0;
    int64_t age_ms = parity->checked_ns > 0 ? (now.wall_ns - parity->checked_ns) / 1000000 : -1;
    enum freshness freshness = freshness_of(age_ms < 0 ? 0 : age_ms, DAY_MS);

    if (strcmp(parity->state, "failed") == 0) {
        snprintf(buf, MODEL_PARITY_MAX, "parity FAILED");
        return FRESH; /* it stays so until a comparison is equal again */
    }
    if (strcmp(parity->state, "running") == 0) {
        snprintf(buf, MODEL_PARITY_MAX, "parity runs");
        return FRESH;
    }
    bool part = parity->database_rows > 0; /* the log agrees in what it has, which is not all */
    int days = (int)(parity->days > 0 ? parity->days : 0);
    size_t at;
    if (!ok || freshness == GONE)
        at = (size_t)snprintf(buf, MODEL_PARITY_MAX, "parity -");
    else if (freshness == STALE)
        at = (size_t)snprintf(buf, MODEL_PARITY_MAX, "parity STALE %dd", (int)(age_ms / DAY_MS));
    else if (parity->days >= 0)
        at = (size_t)snprintf(buf, MODEL_PARITY_MAX, "parity %s %dd", part ? "part" : "ok", days);
    else
        at = (size_t)snprintf(buf, MODEL_PARITY_MAX, "parity %s", part ? "part" : "ok");
    if (part)
        snprintf(buf + at, MODEL_PARITY_MAX - at, ", %lld rows on DB alone",
                 (long long)parity->database_rows);
    return ok ? freshness : GONE;
}

bool tui_model_trading_paused(const struct model *model)
{
    return strcmp(model->status.trading, "paused") == 0;
}

const char *tui_model_trading_reason(const struct model *model)
{
    const char *reason = model->status.trading_reason;
    size_t len = strlen(model->status.trading);

    if (len > 0 && strncmp(reason, model->status.trading, len) == 0 && strchr(" :,", reason[len]))
        reason += len + strspn(reason + len, " :,");
    return reason;
}

const char *tui_model_unrecorded(const struct model *model)
{
    return model->at_ns > 0 ? "- of the past nothing is kept here" : NULL;
}

const char *tui_model_no_daemon(const struct model *model)
{
    bool asked = model->source == MODEL_NOTHING && model->daemon_words[0] == '\0';
    return asked ? "the daemon has not answered yet" : CLI_NO_DAEMON;
}

int64_t tui_model_alerts_open(const struct model *model)
{
    if (model->source == MODEL_DAEMON)
        return model->status.alerts_open;
    if (!model->have_history)
        return -1;
    int64_t open = model->history.alerts_open;
    for (int i = 0; i < model->history.n_alerts; i++)
        open += model->history.alerts[i].unstored && model->history.alerts[i].open;
    return open;
}
