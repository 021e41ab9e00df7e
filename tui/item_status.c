/* What the status knows of an item: the account, the position, the symbol, the policy itself. */
#include <math.h>
#include <string.h>

#include "cli/format.h"
#include "tui/item.h"
#include "tui/model.h"
#include "tui/status_reader.h"

RECORD_SHOWN_RECORD(account_record, status_account, RECORD_SHOWN_ACCOUNT);
RECORD_SHOWN_RECORD(venue_record, status_venue_account, RECORD_SHOWN_VENUE_ACCOUNT);
RECORD_SHOWN_RECORD(reconciled_record, status_reconciled, RECORD_SHOWN_RECONCILED);
RECORD_SHOWN_RECORD(position_record, status_position, RECORD_SHOWN_POSITION);
RECORD_SHOWN_RECORD(symbol_record, status_symbol, RECORD_SHOWN_SYMBOL);
RECORD_SHOWN_RECORD(bar_record, status_symbol, RECORD_SHOWN_BAR);
RECORD_SHOWN_RECORD(order_record, status_order, RECORD_SHOWN_ORDER);
RECORD_SHOWN_RECORD(external_record, status_external, RECORD_SHOWN_EXTERNAL);
RECORD_SHOWN_RECORD(alert_record, history_alert, RECORD_SHOWN_ALERT);
RECORD_SHOWN_RECORD(policy_now_record, status_policy, RECORD_SHOWN_POLICY_NOW);
RECORD_SHOWN_RECORD(evidence_record, status_evidence, RECORD_SHOWN_EVIDENCE);

static void number(struct item_page *page, const char *label, double value, int decimals)
{
    char text[FORMAT_MAX];

    if (isfinite(value))
        tui_item_field(page, label, STYLE_NORMAL, cli_format_number(text, value, decimals));
}

/* Its positions and live orders: of an account, of one symbol of it, or of a symbol in all accounts. */
static void held(struct item_page *page, const struct model *model, const char *account, const char *symbol)
{
    const struct status *s = &model->status;
    char a[FORMAT_MAX], b[FORMAT_MAX], c[FORMAT_MAX];
    int n = 0;

    tui_item_heading(page, "Positions");
    for (int i = 0; i < s->n_positions; i++) {
        const struct status_position *p = &s->positions[i];
        if ((account && strcmp(p->account, account) != 0) || (symbol && strcmp(p->symbol, symbol) != 0))
            continue;
        tui_item_line(page, STYLE_NORMAL, "%s of %s: %s at %s, unrealized %s", p->symbol, p->account,
                      cli_format_number(a, p->qty, p->qty_decimals),
                      cli_format_number(b, p->entry, tui_model_price_decimals(model, p->symbol)),
                      cli_format_signed(c, p->upnl, 2));
        n++;
    }
    if (n == 0)
        tui_item_line(page, STYLE_DIM, "none");
    n = 0;
    tui_item_heading(page, "Live orders");
    for (int i = 0; i < s->n_orders; i++) {
        struct status_order o;
        tui_model_order(model, s->orders[i].id, &o);
        if ((account && strcmp(o.account, account) != 0) || (symbol && strcmp(o.symbol, symbol) != 0))
            continue;
        tui_item_line(page, STYLE_NORMAL, "order %lld: %s %s %s %s of %s, price %s, stop %s, %s",
                      (long long)o.id, o.side, o.type, cli_format_number(c, o.qty, o.qty_decimals), o.symbol,
                      o.account, isfinite(o.price) ? cli_format_number(a, o.price, o.price_decimals) : "none",
                      isfinite(o.stop) ? cli_format_number(b, o.stop, o.price_decimals) : "none", o.state);
        n++;
    }
    if (n == 0)
        tui_item_line(page, STYLE_DIM, "none");
}

static void account(struct item_page *page, const struct model *model)
{
    const struct status *s = &model->status;
    const char *name = page->item.name;
    const struct history_account *past = tui_history_account(&model->history, name);

    for (int i = 0; i < s->n_accounts; i++) {
        const struct status_account *a = &s->accounts[i];
        if (strcmp(a->account, name) != 0)
            continue;
        tui_item_record(page, account_record(), a, NULL, NULL);
        if (a->there.venue[0]) {
            tui_item_heading(page, "At its venue");
            tui_item_record(page, venue_record(), &a->there, NULL, NULL);
            if (a->reconciled.at_ns > 0)
                tui_item_record(page, reconciled_record(), &a->reconciled, NULL, NULL);
        }
    }
    if (past) {
        const struct trade_statistics *t = &past->trades;
        tui_item_heading(page, "Trades");
        number(page, "fills", (double)t->fills, 0);
        number(page, "closed trades", (double)t->trades, 0);
        number(page, "of these won", (double)t->wins, 0);
        number(page, "sum won", t->won, 2);
        number(page, "sum lost", t->lost, 2);
        number(page, "best", t->best, 2);
        number(page, "worst", t->worst, 2);
        number(page, "longest losing run", (double)t->longest, 0);
        number(page, "fees", t->fees, 2);
    }
}

/* The prices that are waited for. */
static void price_alerts(struct item_page *page, const struct status *status, const struct status_symbol *s)
{
    double above, below;
    char price[FORMAT_MAX];

    if (tui_status_price_alerts(status, s->symbol, &above, &below) > 0)
        tui_item_heading(page, "Price alerts");
    for (int i = 0; i < status->n_price_alerts; i++) {
        const struct status_price_alert *alert = &status->price_alerts[i];
        if (strcmp(alert->symbol, s->symbol) == 0)
            tui_item_line(page, STYLE_NORMAL, "%lld: at %s or %s", (long long)alert->id,
                          cli_format_number(price, alert->price, s->price_decimals), alert->side);
    }
}

static void symbol(struct item_page *page, const struct model *model)
{
    const struct status_symbol *s = tui_model_symbol(model, page->item.name);

    if (!s)
        return;
    tui_item_record(page, symbol_record(), s, NULL, NULL);
    if (isfinite(s->bar_close)) {
        tui_item_heading(page, "The last closed bar");
        tui_item_record(page, bar_record(), s, NULL, NULL);
    }
    price_alerts(page, &model->status, s);
    if (s->n_indicators > 0)
        tui_item_heading(page, "Indicators");
    for (int i = 0; i < s->n_indicators; i++)
        number(page, s->indicators[i].name, s->indicators[i].value, 4);
}

static void policy(struct item_page *page, const struct model *model)
{
    for (int i = 0; i < model->status.n_policies; i++) {
        const struct status_policy *p = &model->status.policies[i];
        if (strcmp(p->policy, page->item.name) != 0)
            continue;
        tui_item_record(page, tui_status_policy_record(), p, NULL, NULL);
        tui_item_heading(page, "Now");
        tui_item_record(page, policy_now_record(), p, NULL, NULL);
        if (p->evidence.against[0]) {
            tui_item_heading(page, "Evidence for becoming champion");
            tui_item_record(page, evidence_record(), &p->evidence, NULL, NULL);
        }
        if (p->n_actions > 0)
            tui_item_heading(page, "Its last decision");
        for (int k = 0; k < p->n_actions; k++)
            number(page, p->actions[k].symbol, p->actions[k].action, 4);
    }
}

/* The round trip of that number, where the list's window has it; NULL: not read yet. */
static const struct history_trip *trip_of(const struct model *model, int64_t id)
{
    const struct list_rows *read = &model->lists[DB_LIST_TRIPS];
    const struct history_trip *trips = read->rows;

    for (int i = 0; i < read->window.n; i++)
        if (trips[i].id == id)
            return &trips[i];
    return NULL;
}

static void field(struct item_page *page, const char *label, const char *text)
{
    if (text[0])
        tui_item_field(page, label, STYLE_NORMAL, text);
}

/* With every digit. */
static void money(struct item_page *page, const char *label, double value, const struct history_trip *t,
                  bool is_signed)
{
    char text[FORMAT_MAX], words[FORMAT_MAX + ASSET_NAME_MAX];

    if (is_signed)
        cli_format_signed(text, value, t->quote_decimals);
    else
        cli_format_number(text, value, t->quote_decimals);
    snprintf(words, sizeof(words), "%s %s", text, t->quote);
    tui_item_field(page, label, is_signed ? style_signed(value, t->quote_decimals) : STYLE_NORMAL,
                   isfinite(value) ? words : "-");
}

static void trip_times(struct item_page *page, const struct history_trip *t)
{
    char text[FORMAT_MAX];

    field(page, "opened", t->opened_ns > 0 ? cli_format_time(text, t->opened_ns) : "-");
    field(page, "closed", cli_format_time(text, t->closed_ns));
    field(page, "lasted",
          t->opened_ns > 0 ? cli_format_age(text, (t->closed_ns - t->opened_ns) / 1000000) : "-");
}

static void trip(struct item_page *page, const struct model *model)
{
    const struct history_trip *t = trip_of(model, page->item.id);
    char text[FORMAT_MAX];

    if (!t) { /* the window is read around it: else no trip ended with that fill, or the list leaves it out */
        const struct list_rows *read = &model->lists[DB_LIST_TRIPS];
        if (!read->have || read->at_ns != model->at_ns)
            tui_item_line(page, STYLE_DIM, "not read yet");
        else if (read->query.filter[0] || read->query.account[0])
            tui_item_line(page, STYLE_DIM, "the list of round trips does not have it, as it is filtered");
        return;
    }
    page->item.first = t->first_fill;
    page->item.order = t->order;
    field(page, "symbol", t->symbol);
    field(page, "account", t->account);
    field(page, "strategy", t->strategy);
    field(page, "side", t->is_short ? "short" : "long");
    trip_times(page, t);
    field(page, "quantity", cli_format_number(text, t->qty, t->qty_decimals));
    field(page, "entry price",
          isfinite(t->entry) ? cli_format_number(text, t->entry, t->price_decimals) : "-");
    field(page, "exit price", isfinite(t->exit) ? cli_format_number(text, t->exit, t->price_decimals) : "-");
    money(page, "P&L after fees", t->profit, t, true);
    tui_item_field(page, "return", style_signed(t->return_pct, 2),
                   isfinite(t->return_pct) ? cli_format_percent(text, t->return_pct, 2) : "-");
    money(page, "fees", t->fees, t, false);
    field(page, "reason of the exit", t->reason[0] ? t->reason : "-");
    snprintf(text, sizeof(text), "%lld", (long long)t->order);
    field(page, "order of the exit", text);
}

void tui_item_status(struct item_page *page, const struct model *model)
{
    const struct status *s = &model->status;
    const struct item *item = &page->item;

    switch (item->kind) {
    case ITEM_ACCOUNT:
        account(page, model);
        break;
    case ITEM_POSITION:
        for (int i = 0; i < s->n_positions; i++)
            if (strcmp(s->positions[i].symbol, item->name) == 0 &&
                strcmp(s->positions[i].account, item->account) == 0)
                tui_item_record(page, position_record(), &s->positions[i], NULL, NULL);
        break;
    case ITEM_SYMBOL:
        symbol(page, model);
        break;
    case ITEM_TRIP:
        trip(page, model);
        break;
    case ITEM_POLICY:
        policy(page, model);
        break;
    case ITEM_EXTERNAL:
        for (int i = 0; i < s->n_externals; i++)
            if (strcmp(s->externals[i].client_id, item->name) == 0)
                tui_item_record(page, external_record(), &s->externals[i], NULL, NULL);
        break;
    default:
        break;
    }
    page->unknown = page->n == 0 &&
                    (item->kind >= ITEM_ACCOUNT || item->kind == ITEM_EXTERNAL || item->kind == ITEM_TRIP);
    if (page->unknown)
        tui_item_line(page, STYLE_DIM, "it is not known any more");
    if (item->kind == ITEM_ACCOUNT)
        held(page, model, item->name, NULL);
    else if (item->kind == ITEM_POSITION || item->kind == ITEM_SYMBOL)
        held(page, model, item->kind == ITEM_POSITION ? item->account : NULL, item->name);
}

/* What the status has of an item that is not stored yet. */
static void unstored(struct item_page *page, const struct model *model)
{
    const struct status *s = &model->status;
    const struct history *h = &model->history;
    const size_t lines = page->n;

    for (int i = 0; page->item.kind == ITEM_ORDER && i < s->n_orders; i++)
        if (s->orders[i].id == page->item.id)
            tui_item_record(page, order_record(), &s->orders[i], NULL, NULL);
    for (int i = 0; page->item.kind == ITEM_ALERT && i < h->n_alerts; i++)
        if (h->alerts[i].id == page->item.id) {
            tui_item_text(page, STYLE_STRONG, h->alerts[i].text);
            tui_item_record(page, alert_record(), &h->alerts[i], NULL, "text");
        }
    if (page->item.kind < ITEM_ACCOUNT)
        page->unknown = page->n == lines;
    tui_item_line(page, STYLE_DIM, "it is not stored yet");
}

/* Is what the status has of such items all that there is, and is there a status? */
static bool of_status(enum item_kind kind, const struct model *model)
{
    return kind == ITEM_EXTERNAL ? model->source == MODEL_DAEMON
                                 : kind == ITEM_TRIP || ((kind == ITEM_SYMBOL || kind == ITEM_POLICY) &&
                                                         model->source != MODEL_NOTHING);
}

/* That there is none, and below it what was read of it last. */
static void say_gone(struct item_page *page, struct item_page *before)
{
    char title[ITEM_NAME_MAX + 80], time[FORMAT_MAX], zone[FORMAT_MAX];
    struct item_page gone = {.item = page->item, .no_memory = page->no_memory, .unknown = true, .gone = true};

    tui_item_page_finish(page);
    if (before->gone && tui_item_equal(&before->item, &gone.item)) {
        *page = *before;
        *before = (struct item_page){0};
        return;
    }
    *page = gone;
    tui_item_title(&page->item, title, sizeof(title));
    if (before->read_ns == 0 || !tui_item_equal(&before->item, &page->item)) {
        tui_item_line(page, STYLE_BAD, "no such %s: neither the daemon nor the database has it", title);
        return;
    }
    page->read_ns = before->read_ns;
    tui_item_line(page, STYLE_BAD, "no such %s any more (it was here until %s%s, as below)", title,
                  cli_format_clock(time, before->read_ns), cli_format_zone(zone, before->read_ns));
    tui_item_line(page, STYLE_NORMAL, "%s", "");
    for (size_t i = 0; i < before->n; i++)
        tui_item_again(page, &before->lines[i]);
}

void tui_item_settle(struct item_page *page, int stored, struct item_page *before, const struct model *model,
                     int64_t now_ns)
{
    if (stored == 0 && model->at_ns > 0) {
        tui_item_line(page, STYLE_DIM, "it was not there yet");
        return;
    }
    if (stored == 0)
        unstored(page, model);
    if (page->unknown && (stored == 0 || of_status(page->item.kind, model)))
        say_gone(page, before);
    else
        page->read_ns = now_ns;
}
