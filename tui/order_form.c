#include "tui/order_form.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/verbs.h"
#include "exchange/decimal.h"
#include "exchange/filter.h"
#include "exchange/order_rules.h"
#include "tui/line_edit.h"
#include "tui/press.h"
#include "tui/verbs.h"

enum { NUMBER_DECIMALS = 8 };

/* What a form has no use for: it asks for a dry run itself, and an amend names its order by number. */
static const char not_of_new[] = "dry-run", not_of_amend[] = "client-id account key";

/* The fields that most orders have, first; the others follow in the order of the verb's rows. */
static const char *const first[] = {"account", "symbol", "side",        "type",  "qty", "notional",
                                    "limit",   "stop",   "take-profit", "trail", "tif"};

static enum order_field_kind kind_of(const char *argument)
{
    if (!argument)
        return ORDER_FIELD_FLAG;
    if (islower((unsigned char)*argument))
        return ORDER_FIELD_CHOICE;
    if (strcmp(argument, "P") == 0)
        return ORDER_FIELD_PRICE;
    if (strcmp(argument, "Q") == 0 || strcmp(argument, "QTY") == 0)
        return ORDER_FIELD_QTY;
    if (strcmp(argument, "AMOUNT") == 0 || strcmp(argument, "D|X%") == 0)
        return ORDER_FIELD_AMOUNT;
    return strcmp(argument, "SYMBOL") == 0 || strcmp(argument, "ACCOUNT") == 0 ? ORDER_FIELD_NAME
                                                                               : ORDER_FIELD_TEXT;
}

static struct order_field *add(struct order_form *form, const char *name, const char *argument,
                               const char *words)
{
    if (form->n == ORDER_FIELDS_MAX)
        return NULL;
    struct order_field *field = &form->fields[form->n++];
    *field = (struct order_field){.argument = argument, .words = words, .kind = kind_of(argument)};
    snprintf(field->name, sizeof(field->name), "%s", name);
    return field;
}

/* The words of `order buy SYMBOL [QTY]`: which of two it is called by, and its arguments. */
static void add_words(struct order_form *form, const struct option_action *action)
{
    static const char *const arguments[] = {"SYMBOL", "QTY"};
    struct order_field *field = add(form, "side", action->name, action->words);

    if (field)
        field->word = true;
    for (size_t i = 0; i < sizeof(arguments) / sizeof(arguments[0]); i++) {
        char name[16] = "";
        for (size_t at = 0; arguments[i][at]; at++)
            name[at] = (char)tolower((unsigned char)arguments[i][at]);
        if (strstr(action->arguments, arguments[i]) && (field = add(form, name, arguments[i], NULL)))
            field->word = true;
    }
}

/* The place of a name in the form. */
static int place(const char *name)
{
    int n = sizeof(first) / sizeof(first[0]), at = 0;

    while (at < n && strcmp(first[at], name) != 0)
        at++;
    return at;
}

/* A stable sort of a few. */
static void sort(struct order_form *form)
{
    for (int i = 1; i < form->n; i++) {
        struct order_field field = form->fields[i];
        int at = i;
        for (; at > 0 && place(form->fields[at - 1].name) > place(field.name); at--)
            form->fields[at] = form->fields[at - 1];
        form->fields[at] = field;
    }
}

struct order_form *tui_order_form_create(int64_t amends)
{
    const struct option_verb *verb = option_find_verb(&tui_papertape, "order");
    const struct option_action *action = option_find_action(verb, amends > 0 ? "amend" : "buy");
    struct order_form *form = calloc(1, sizeof(*form));

    if (!form)
        return NULL;
    form->amends = amends;
    if (amends <= 0)
        add_words(form, action);
    for (size_t i = 0; i < verb->n_options; i++) {
        const struct option_row *row = &verb->options[i];
        if (row->name && option_row_is_of(row, action) &&
            !option_is_one_of(amends > 0 ? not_of_amend : not_of_new, ' ', row->name))
            add(form, row->name, row->argument, row->words);
    }
    sort(form);
    for (int i = 0; i < form->n; i++) /* the first that a user would change */
        if (strcmp(form->fields[i].name, "qty") == 0)
            form->row = i;
    form->fresh = true;
    return form;
}

void tui_order_form_destroy(struct order_form *form)
{
    free(form);
}

struct order_field *tui_order_form_field(struct order_form *form, const char *name)
{
    for (int i = 0; i < form->n; i++)
        if (strcmp(form->fields[i].name, name) == 0)
            return &form->fields[i];
    return NULL;
}

const char *tui_order_form_value(const struct order_form *form, const char *name)
{
    for (int i = 0; i < form->n; i++)
        if (strcmp(form->fields[i].name, name) == 0)
            return form->fields[i].value;
    return "";
}

void tui_order_form_put(struct order_form *form, const char *name, const char *value)
{
    struct order_field *field = tui_order_form_field(form, name);

    if (!field)
        return;
    snprintf(field->value, sizeof(field->value), "%s", value);
    if (form->amends > 0)
        memcpy(field->was, field->value, sizeof(field->was));
}

void tui_order_form_put_number(struct order_form *form, const char *name, double value, int decimals)
{
    char text[DECIMAL_TEXT_MAX];
    int128_t units;

    if (!(value > 0) || decimal128_from_double(value, decimals < 0 ? NUMBER_DECIMALS : decimals, &units) < 0)
        return;
    if (decimals < 0)
        decimal_format_short(units, NUMBER_DECIMALS, text);
    else
        decimal_format(units, decimals, text);
    tui_order_form_put(form, name, text);
}

void tui_order_form_clear_numbers(struct order_form *form)
{
    for (int i = 0; i < form->n; i++) {
        struct order_field *field = &form->fields[i];
        const char *percent = strchr(field->value, '%');
        if (field->kind == ORDER_FIELD_PRICE || field->kind == ORDER_FIELD_QTY ||
            (field->kind == ORDER_FIELD_AMOUNT && !percent))
            field->value[0] = '\0';
    }
}

void tui_order_form_keep_put(struct order_form *form)
{
    int n = 0;

    for (int i = 0; i < form->n; i++)
        if (form->fields[i].was[0])
            form->fields[n++] = form->fields[i];
    if (n > 0)
        form->n = n;
    form->row = 0;
}

/* Appends; what has no room for all of it is left empty from then on, so that no line is another one's
 * beginning. */
__attribute__((format(printf, 2, 3))) static void append(char text[static COMMAND_LINE_MAX],
                                                         const char *format, ...)
{
    size_t at = strlen(text);
    va_list args;

    va_start(args, format);
    int n = vsnprintf(text + at, COMMAND_LINE_MAX - at, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= COMMAND_LINE_MAX - at)
        text[0] = '\0';
}

bool tui_order_form_line(const struct order_form *form, char text[static COMMAND_LINE_MAX])
{
    bool amends = form->amends > 0, changes = !amends;

    snprintf(text, COMMAND_LINE_MAX, "order ");
    if (amends)
        append(text, "amend %lld", (long long)form->amends);
    else
        append(text, "%s %s", tui_order_form_value(form, "side"), tui_order_form_value(form, "symbol"));
    if (!amends && tui_order_form_value(form, "qty")[0])
        append(text, " %s", tui_order_form_value(form, "qty"));
    for (int i = 0; i < form->n && text[0]; i++) {
        const struct order_field *field = &form->fields[i];
        if (field->word || !field->value[0] || (amends && strcmp(field->value, field->was) == 0))
            continue;
        changes = true;
        if (field->kind == ORDER_FIELD_FLAG)
            append(text, " --%s", field->name);
        else
            append(text, " --%s%s%s", field->name, field->value[0] == '-' ? "=" : " ", field->value);
    }
    return changes && text[0];
}

const char *tui_order_form_symbol(const struct order_form *form)
{
    return form->amends > 0 ? form->symbol : tui_order_form_value(form, "symbol");
}

bool tui_order_form_sells(const struct order_form *form)
{
    return strcasecmp(form->amends > 0 ? form->side : tui_order_form_value(form, "side"), "sell") == 0;
}

int64_t tui_order_form_market(const struct model *model, const struct symbol *rules)
{
    const struct status_symbol *symbol = tui_model_symbol(model, rules->name);
    double price = symbol ? isnan(symbol->last) ? symbol->mark : symbol->last : NAN;

    return price > 0 && price < 1e12 ? llround(price * (double)decimal_pow10(rules->price_scale)) : 0;
}

/* The least quantity on the lot that the venue takes at that price. */
static int64_t least_qty(const struct symbol *rules, int64_t price)
{
    const struct symbol_filters *f = &rules->filters;
    int64_t step = f->step > 0 ? f->step : 1, qty = f->qty_min > 0 ? f->qty_min : step;

    if (price > 0 && f->notional_min > 0) {
        int128_t needed = (int128_t)f->notional_min * filter_notional_unit(rules);
        int128_t least = (needed + price - 1) / price;
        if (least > qty && least < INT64_MAX - step)
            qty += ((int64_t)least - qty + step - 1) / step * step;
    }
    return qty;
}

void tui_order_form_take_rules(struct order_form *form, const struct symbol *rules, int64_t market)
{
    struct order_field *qty = tui_order_form_field(form, "qty");
    char text[DECIMAL_TEXT_MAX];
    int64_t price;

    form->rules = *rules;
    if (form->amends > 0 || !qty || qty->value[0])
        return;
    if (decimal_parse_str(tui_order_form_value(form, "limit"), rules->price_scale, &price) < 0)
        price = market;
    decimal_format_short(least_qty(rules, price), rules->qty_scale, text);
    snprintf(qty->value, sizeof(qty->value), "%.47s", text);
}

/* ---- keys ---- */

/* The i-th name that the model has; NULL past the last. */
static const char *known_name(const struct model *model, const char *kind, int i)
{
    const struct status *s = &model->status;

    if (strcmp(kind, "SYMBOL") == 0)
        return i < s->n_symbols ? s->symbols[i].symbol : NULL;
    return i < s->n_accounts ? s->accounts[i].account : NULL;
}

/* The i-th word of "market|limit"; false past the last. */
static bool choice(const char *argument, int i, char ret[static ORDER_VALUE_MAX])
{
    while (i-- > 0 && argument)
        argument = strchr(argument, '|') ? strchr(argument, '|') + 1 : NULL;
    if (argument)
        snprintf(ret, ORDER_VALUE_MAX, "%.*s", (int)strcspn(argument, "|"), argument);
    return argument != NULL;
}

static bool value_at(const struct order_field *field, const struct model *model, int i,
                     char ret[static ORDER_VALUE_MAX])
{
    const char *name = NULL;

    if (field->kind == ORDER_FIELD_CHOICE)
        return choice(field->argument, i, ret);
    if (field->kind == ORDER_FIELD_FLAG)
        return choice("yes", i, ret);
    if (field->kind == ORDER_FIELD_NAME)
        name = known_name(model, field->argument, i);
    if (name)
        snprintf(ret, ORDER_VALUE_MAX, "%s", name);
    return name != NULL;
}

/* The next of the field's values, or the one before; an option's values are followed by none. */
static void step_value(struct order_field *field, const struct model *model, int by)
{
    char value[ORDER_VALUE_MAX];
    int n = 0, at = -1;

    for (; value_at(field, model, n, value); n++)
        if (strcmp(value, field->value) == 0)
            at = n;
    int places = field->word ? n : n + 1;
    if (places == 0)
        return;
    if (at < 0)
        at = field->word ? (by > 0 ? -1 : 0) : n;
    at = (at + by + places) % places;
    if (at == n)
        field->value[0] = '\0';
    else if (value_at(field, model, at, value))
        memcpy(field->value, value, sizeof(field->value));
}

/* The nearest above `units`, or below, of those that are whole steps from `least` on; 0: there is none. */
static int64_t stepped(int64_t units, int64_t least, int64_t step, int by)
{
    step = step > 0 ? step : 1;
    least = least > 0 ? least : 0;
    if (units < least || units > INT64_MAX / 2)
        return by > 0 && units < least ? least : 0;
    int64_t whole = least + (units - least) / step * step;
    if (by > 0)
        return whole + step;
    return whole < units ? whole : whole - least >= step ? whole - step : 0;
}

/* By a tick, or by a lot; an empty price begins with the limit. */
static void step_number(struct order_form *form, struct order_field *field, int by)
{
    const struct symbol *rules = &form->rules;
    const struct symbol_filters *f = &rules->filters;
    bool price = field->kind == ORDER_FIELD_PRICE;
    int scale = price ? rules->price_scale : rules->qty_scale;
    const char *from = field->value[0] || !price ? field->value : tui_order_form_value(form, "limit");
    char text[DECIMAL_TEXT_MAX];
    int64_t units = 0;

    if (!rules->name[0] || (from[0] && decimal_parse_str(from, scale, &units) < 0))
        return;
    if (from == field->value)
        units = price ? stepped(units, f->price_min, order_rules_tick(rules, units), by)
                      : stepped(units, f->qty_min, f->step, by);
    if (units <= 0)
        return;
    decimal_format_short(units, scale, text);
    snprintf(field->value, sizeof(field->value), "%.47s", text);
}

static void step(struct order_form *form, const struct model *model, int by)
{
    struct order_field *field = &form->fields[form->row];

    if (field->kind == ORDER_FIELD_PRICE || field->kind == ORDER_FIELD_QTY)
        step_number(form, field, by);
    else
        step_value(field, model, by);
}

/* The next choice that begins with the letter. */
static void choose(struct order_field *field, const struct model *model, int key)
{
    char before[ORDER_VALUE_MAX];

    memcpy(before, field->value, sizeof(before));
    do
        step_value(field, model, 1);
    while (field->value[0] != (char)key && strcmp(field->value, before) != 0);
}

bool tui_order_form_takes(const struct order_form *form, int key)
{
    const struct order_field *field = &form->fields[form->row];

    if (key <= ' ' || key > '~' || key == '"' || key == '\'' || field->kind == ORDER_FIELD_FLAG)
        return false;
    if (field->kind == ORDER_FIELD_CHOICE)
        return islower(key);
    if (field->kind == ORDER_FIELD_PRICE || field->kind == ORDER_FIELD_QTY)
        return isdigit(key) || key == '.' || key == '-';
    /* a time and a client id have colons; elsewhere it continues as a line */
    return key != '?' &&
           (key != ':' || strcmp(field->argument, "T") == 0 || strcmp(field->argument, "ID") == 0);
}

/* False: the field does not take the key. */
static bool type(struct order_form *form, const struct model *model, int key)
{
    struct order_field *field = &form->fields[form->row];
    bool letters = field->kind != ORDER_FIELD_CHOICE && field->kind != ORDER_FIELD_FLAG;

    if (key == PRESS_DELETE || key == PRESS_CONTROL_U || (key == PRESS_BACKSPACE && !letters)) {
        if (!field->word || letters)
            field->value[0] = '\0';
    } else if (key == PRESS_BACKSPACE) {
        tui_line_edit_word(field->value, sizeof(field->value), '!', key);
    } else if (key == ' ' && !letters) {
        step_value(field, model, 1);
    } else if (!tui_order_form_takes(form, key)) {
        return false;
    } else if (!letters) {
        choose(field, model, key);
    } else {
        if (form->fresh) /* the first character replaces what there was */
            field->value[0] = '\0';
        key = field->kind == ORDER_FIELD_NAME && strcmp(field->argument, "SYMBOL") == 0 ? toupper(key) : key;
        tui_line_edit_word(field->value, sizeof(field->value), '!', key);
    }
    return true;
}

/* Is it ready to be confirmed? The daemon says what an order may be. */
static enum form_action send(struct order_form *form)
{
    char line[COMMAND_LINE_MAX];

    if (tui_order_form_line(form, line))
        return FORM_ACTION_SEND;
    snprintf(form->words, sizeof(form->words), "%s",
             line[0] ? "nothing is changed: another price or quantity is needed"
                     : "the line is too long: an option less is needed");
    return FORM_ACTION_NONE;
}

enum form_action tui_order_form_press(struct order_form *form, const struct model *model, int key)
{
    form->words[0] = '\0';
    form->sent_id = 0;
    switch (key) {
    case PRESS_ESCAPE:
        return FORM_ACTION_LEAVE;
    case PRESS_F5:
        return FORM_ACTION_CHECK;
    case PRESS_ENTER:
    case PRESS_F12:
        return send(form);
    case PRESS_HELP:
    case '?':
        return FORM_ACTION_HELP;
    case PRESS_UP:
        form->row = (form->row + form->n - 1) % form->n;
        break;
    case PRESS_DOWN:
    case PRESS_TAB:
        form->row = (form->row + 1) % form->n;
        break;
    case PRESS_HOME:
    case PRESS_PAGE_UP:
        form->row = 0;
        break;
    case PRESS_END:
    case PRESS_PAGE_DOWN:
        form->row = form->n - 1;
        break;
    case PRESS_LEFT:
        step(form, model, -1);
        break;
    case PRESS_RIGHT:
        step(form, model, 1);
        break;
    default:
        if (type(form, model, key))
            form->fresh = false;
        return FORM_ACTION_NONE;
    }
    form->fresh = true;
    return FORM_ACTION_NONE;
}

void tui_order_form_paste(struct order_form *form, const int *keys, size_t n)
{
    struct order_field *field = &form->fields[form->row];
    bool taken = field->kind != ORDER_FIELD_CHOICE && n < sizeof(field->value) &&
                 (form->fresh ? 0 : strlen(field->value)) + n < sizeof(field->value);

    for (size_t i = 0; i < n && taken; i++)
        taken = tui_order_form_takes(form, keys[i]);
    for (size_t i = 0; i < n && taken; i++, form->fresh = false)
        type(form, NULL, keys[i]);
    if (!taken)
        snprintf(form->words, sizeof(form->words), "what was pasted is no value of %s: nothing was taken",
                 field->name);
}
