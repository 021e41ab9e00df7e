/* A command in words: its account, kind and amounts. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engine/event_text.h"
#include "exchange/decimal.h"
#include "record/order.h"
#include "strategy/risk_keys.h"
#include "strategy/strategy.h"

/* A line that grows; what does not fit is left out. */
struct line {
    char *buf;
    size_t len;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line->buf + line->len, EVENT_TEXT_MAX - line->len, format, args);
    va_end(args);
    if (n > 0)
        line->len += (size_t)n < EVENT_TEXT_MAX - line->len ? (size_t)n : EVENT_TEXT_MAX - 1 - line->len;
}

/* " WORD 61837.63", nothing for a value of 0. scale < 0: not known, the units are shown as such. */
static void add_number(struct line *line, const char *word, int64_t units, int scale, const char *after)
{
    char text[DECIMAL_TEXT_MAX];
    if (units == 0)
        return;
    decimal_format_short(units, scale < 0 ? 0 : scale, text);
    add(line, " %s %s%s%s", word, text, scale < 0 ? " units" : "", after);
}

static void add_account(struct line *line, const struct engine *engine, int account)
{
    if (engine && account >= 0 && account < engine_accounts(engine))
        add(line, "%s", engine_account(engine, account)->name);
    else
        add(line, "number %d", account);
}

/* In the account's currency. */
static void add_money(struct line *line, const struct engine *engine, int account, int64_t amount)
{
    bool known = engine && account >= 0 && account < engine_accounts(engine);
    char text[DECIMAL_TEXT_MAX];
    decimal_format_short(amount, known ? engine_account(engine, account)->currency_scale : 0, text);
    add(line, " %s %s", text, known ? engine_account(engine, account)->currency : "units");
}

enum { PERCENT_SCALE = 4 }; /* a trail_e6 in percent */

static void add_leg(struct line *line, const struct engine *engine, const struct order *leg)
{
    static const struct symbol unknown = {.price_scale = -1, .qty_scale = -1};
    bool known = engine && leg->symbol >= 0 && leg->symbol < engine_symbols(engine);
    const struct symbol *s = known ? engine_symbol(engine, leg->symbol) : &unknown;
    char qty[DECIMAL_TEXT_MAX];
    decimal_format_short(leg->qty, known ? s->qty_scale : 0, qty);
    add(line, "%s %s ", order_side_name(leg->side), order_type_name(leg->type));
    if (known)
        add(line, "%s %s", s->name, qty);
    else
        add(line, "symbol %d %s units", leg->symbol, qty);
    add_number(line, "at", leg->price, s->price_scale, "");
    add_number(line, "stop", leg->stop_price, s->price_scale, "");
    add_number(line, "trail", leg->trail, s->price_scale, "");
    add_number(line, "trail", leg->trail_e6, PERCENT_SCALE, "%");
    if (leg->tif != ORDER_GTC)
        add(line, " %s", order_tif_name(leg->tif));
    char given[RECORD_GIVEN_TEXT_MAX];
    record_order_given_text(leg, given);
    add(line, "%s", given);
    if (*leg->client_id)
        add(line, " \"%s\"", leg->client_id);
}

static void add_order(struct line *line, const struct event_command *command, const struct engine *engine)
{
    if (command->order.grouping != ORDERS_SINGLE)
        add(line, " %s", engine_order_grouping_name(command->order.grouping));
    for (int i = 0; i < command->order.n_legs || i == 0; i++) {
        add(line, i == 0 ? " " : "; ");
        add_leg(line, engine, &command->order.legs[i]);
    }
    add(line, ", account ");
    add_account(line, engine, command->order.legs[0].account);
}

static void add_amend(struct line *line, const struct order_amend *amend, const struct engine *engine)
{
    const struct order *order = engine ? engine_find_order(engine, amend->order_id) : NULL;
    bool known = order && order->symbol >= 0 && order->symbol < engine_symbols(engine);
    int qty_scale = known ? engine_symbol(engine, order->symbol)->qty_scale : -1,
        price_scale = known ? engine_symbol(engine, order->symbol)->price_scale : -1;
    add(line, " order %" PRIu64 ":", amend->order_id);
    if (amend->set & AMEND_QTY)
        add_number(line, "quantity", amend->qty, qty_scale, "");
    if (amend->set & AMEND_PRICE)
        add_number(line, "at", amend->price, price_scale, "");
    if (amend->set & AMEND_STOP)
        add_number(line, "stop", amend->stop_price, price_scale, "");
    if (amend->set & AMEND_TRAIL)
        add_number(line, "trail", amend->trail, price_scale, "");
    if (amend->set & AMEND_TRAIL_E6)
        add_number(line, "trail", amend->trail_e6, PERCENT_SCALE, "%");
}

static void add_params(struct line *line, const struct account_spec *spec)
{
    char text[STRATEGY_WORD_MAX];
    for (size_t i = 0; spec->strategy && i < spec->strategy->n_params; i++)
        add(line, "%s%s=%s", i == 0 ? ": " : " ", spec->strategy->params[i].name,
            strategy_param_text(&spec->strategy->params[i], spec->params[i], text));
}

static void add_created(struct line *line, const struct account_spec *spec)
{
    char cash[DECIMAL_TEXT_MAX];
    decimal_format_short(spec->cash, spec->currency_scale, cash);
    add(line, " %s, %s %s, strategy %s", spec->name, cash, spec->currency,
        spec->strategy ? spec->strategy->name : "none");
    add_params(line, spec);
}

static void add_policy(struct line *line, const struct event_command *command, const struct engine *engine)
{
    char id[POLICY_ID_TEXT];
    add(line, " ");
    add_account(line, engine, command->policy.account);
    if (command->policy.policy) {
        policy_id_text(command->policy.policy->id, id);
        add(line, ", %s %s", command->policy.policy->kind, id);
    } else {
        add(line, ", none");
    }
    if (command->policy.close)
        add(line, ", closes all");
}

/* An account a clause: what trades, and its limits by their keys. */
static void add_configured(struct line *line, const struct event_command *command)
{
    char value[64];
    for (int i = 0; i < command->configure.n; i++) {
        const struct account_spec *spec = &command->configure.accounts[i];
        const char *trader = account_spec_trader(spec);
        add(line, "%s %s, %s", i == 0 ? "" : ";", spec->name, trader ? trader : "none");
        add_params(line, spec);
        for (size_t k = 0; k < RISK_KEYS_N; k++)
            if (config_key_text(&risk_keys[k], &spec->rules.risk, value, sizeof value))
                add(line, " %s=%s", risk_keys[k].name, value);
    }
}

void engine_command_text(const struct event_command *command, const struct engine *engine,
                         char buf[static EVENT_TEXT_MAX])
{
    struct line line = {buf, 0};
    add(&line, "COMMAND %" PRIu64 " %s", command->command_id, engine_command_kind_name(command->kind));
    switch (command->kind) {
    case COMMAND_ORDER:
        add_order(&line, command, engine);
        break;
    case COMMAND_CANCEL:
        add(&line, " order %" PRIu64, command->order_id);
        break;
    case COMMAND_AMEND:
        add_amend(&line, &command->amend, engine);
        break;
    case COMMAND_ACCOUNT_CREATE:
        add_created(&line, &command->account);
        break;
    case COMMAND_ACCOUNT_DEPOSIT:
    case COMMAND_ACCOUNT_RESET:
    case COMMAND_ACCOUNT_TRANSFER:
        add(&line, " ");
        add_account(&line, engine, command->money.account);
        if (command->kind == COMMAND_ACCOUNT_TRANSFER) {
            add(&line, " to ");
            add_account(&line, engine, command->money.to);
        }
        add(&line, command->kind == COMMAND_ACCOUNT_RESET ? ", begins with" : ",");
        add_money(&line, engine, command->money.account, command->money.amount);
        break;
    case COMMAND_ACCOUNT_RESUME:
    case COMMAND_ACCOUNT_CLOSE:
        add(&line, " ");
        add_account(&line, engine, command->money.account);
        break;
    case COMMAND_ACCOUNT_POLICY:
        add_policy(&line, command, engine);
        break;
    case COMMAND_CONFIGURE:
        add_configured(&line, command);
        break;
    default:
        break;
    }
    if (*command->key)
        add(&line, ", key \"%s\"", command->key);
}
