/* A statement as an object. Money is text, so that no reader rounds it. */
#include <string.h>

#include "db/books/statement_put.h"
#include "exchange/bar.h"
#include "record/json.h"

static json_t *decimal_text(int128_t units, int scale)
{
    char text[DECIMAL_TEXT_MAX];
    decimal_format(units, scale, text);
    return json_string(text);
}

static void set(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value);
}

static void set_time(json_t *object, const char *key, const char *ns_key, int64_t ns)
{
    char time[DB_STATEMENT_TIME_MAX];
    set(object, key, ns > 0 ? json_string(db_statement_time(ns, time)) : json_null());
    set(object, ns_key, ns > 0 ? json_integer(ns) : json_null());
}

static json_t *mark_object(const struct db_statement_mark *mark)
{
    const struct symbol *s = &mark->symbol;
    const bool priced = mark->source != DB_STATEMENT_NONE;
    json_t *object = json_object();
    set(object, "moment", json_string(db_statement_moment_word(mark->moment)));
    set_time(object, "time", "ts_ns", mark->ts_ns);
    set(object, "symbol", record_json_text(s->name));
    set(object, "venue", record_json_text(s->venue));
    set(object, "qty", decimal_text(mark->qty, s->qty_scale));
    set(object, "cost", decimal_text(mark->cost, s->quote_scale));
    set(object, "mark", priced ? decimal_text(mark->price, s->price_scale) : json_null());
    set_time(object, "mark_time", "mark_ns", mark->mark_ns);
    set(object, "source", json_string(db_statement_source_word(mark->source)));
    set(object, "interval",
        mark->interval_ns > 0 ? json_string(bar_interval_name(mark->interval_ns)) : json_null());
    set(object, "value", priced ? decimal_text(mark->value, s->quote_scale) : json_null());
    return object;
}

static json_t *flow_object(const struct db_statement_flow *flow, bool known)
{
    const struct ledger_row row = {.kind = flow->kind, .amount = flow->amount < 0 ? -1 : 1};
    json_t *object = json_object();
    set(object, "ledger_id", json_integer((json_int_t)flow->id));
    set_time(object, "time", "ts_ns", flow->ts_ns);
    set(object, "kind", json_string(ledger_row_word(&row)));
    set(object, "of_reset", json_boolean(flow->of_reset));
    set(object, "amount", known ? decimal_text(flow->amount, flow->scale) : json_null());
    return object;
}

static json_t *flows_array(const struct db_statement_account *account, const struct db_statement_money *money)
{
    json_t *array = json_array();
    for (size_t i = 0; i < account->n_flows; i++) {
        const struct db_statement_flow *flow = &account->flows[i];
        if (strcmp(flow->asset, money->asset) == 0)
            json_array_append_new(array, flow_object(flow, flow->kind != LEDGER_RESET || !money->no_reset));
    }
    return array;
}

static json_t *marks_array(const struct db_statement_account *account, const struct db_statement_money *money)
{
    json_t *array = json_array();
    for (size_t i = 0; i < account->n_marks; i++)
        if (strcmp(account->marks[i].symbol.quote, money->asset) == 0)
            json_array_append_new(array, mark_object(&account->marks[i]));
    return array;
}

static json_t *money_object(const struct db_statement_account *account,
                            const struct db_statement_money *money)
{
    json_t *object = json_object();
    set(object, "account", record_json_text(account->account.name));
    set(object, "currency", record_json_text(money->asset));
    set_time(object, "from", "from_ns", account->from_ns);
    set_time(object, "to", "to_ns", account->to_ns);
    for (int i = 0; i < DB_STATEMENT_LINES; i++) {
        const struct db_statement_line *line = &db_statement_lines[i];
        set(object, line->name,
            db_statement_line_known(line, money)
                ? decimal_text(db_statement_line_value(line, money), money->scale)
                : json_null());
        if (i == 0)
            set(object, "flows",
                money->no_reset ? json_null() : decimal_text(db_statement_flows(money), money->scale));
    }
    set(object, "fees_in_kind", decimal_text(money->fees_in_kind, money->scale));
    set(object, "withheld", decimal_text(money->withheld, money->scale));
    set(object, "opening_receivable", decimal_text(money->opening_receivable, money->scale));
    set(object, "closing_receivable", decimal_text(money->receivable, money->scale));
    set(object, "opening_cash", decimal_text(money->opening_cash, money->scale));
    set(object, "closing_cash", decimal_text(money->cash, money->scale));
    return object;
}

json_t *db_statement_json(const struct db_statements *statement)
{
    json_t *object = json_object(), *accounts = json_array();
    set(object, "schema", json_string("papertape.statement/1"));
    set_time(object, "from", "from_ns", statement->from_ns);
    set_time(object, "to", "to_ns", statement->to_ns);
    set(object, "method", json_string(statement->query.fifo ? "fifo" : "average"));
    for (size_t i = 0; i < statement->n_accounts; i++)
        for (size_t k = 0; k < statement->accounts[i].n_moneys; k++) {
            const struct db_statement_account *account = &statement->accounts[i];
            json_t *money = money_object(account, &account->moneys[k]);
            set(money, "flow_rows", flows_array(account, &account->moneys[k]));
            set(money, "marks", marks_array(account, &account->moneys[k]));
            json_array_append_new(accounts, money);
        }
    set(object, "accounts", accounts);
    return object;
}
