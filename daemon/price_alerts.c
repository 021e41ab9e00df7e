#include "daemon/price_alerts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/decimal.h"

/* The nearest prices of a symbol that are waited for, at its price_scale. */
struct price_bounds {
    bool known;
    int64_t above, below; /* INT64_MAX, INT64_MIN: none */
};

void daemon_price_alerts_finish(struct price_alerts *alerts)
{
    free(alerts->bounds);
    *alerts = (struct price_alerts){0};
}

/* They are computed again for each symbol with its next trade. */
static void forget_bounds(struct price_alerts *alerts)
{
    memset(alerts->bounds, 0, SYMBOLS_MAX * sizeof *alerts->bounds);
}

static bool make_bounds(struct price_alerts *alerts)
{
    if (!alerts->bounds)
        alerts->bounds = calloc(SYMBOLS_MAX, sizeof *alerts->bounds);
    return alerts->bounds;
}

/* The first price at that scale that reaches it. */
static int64_t price_at(const struct price_alert *alert, int scale)
{
    int64_t price;
    int r = decimal_rescale(alert->price, alert->scale, scale, &price);
    if (r == 0)
        return price;
    return r == -ERANGE ? INT64_MAX : alert->price / decimal_pow10(alert->scale - scale) + alert->above;
}

static bool is_same(const struct price_alert *a, const struct price_alert *b)
{
    return strcmp(a->symbol, b->symbol) == 0 && a->above == b->above && price_at(a, b->scale) == b->price &&
           price_at(b, a->scale) == a->price;
}

int daemon_price_alerts_room(const struct price_alerts *alerts, const struct price_alert *alert,
                             uint64_t *ret_same)
{
    for (int i = 0; i < alerts->n; i++)
        if (is_same(&alerts->list[i], alert)) {
            *ret_same = alerts->list[i].id;
            return -EEXIST;
        }
    return alerts->n < PRICE_ALERTS_MAX ? 0 : -ENOSPC;
}

int daemon_price_alerts_add(struct price_alerts *alerts, const struct price_alert *alert, uint64_t *ret_id)
{
    int r = daemon_price_alerts_room(alerts, alert, ret_id);
    if (r == 0 && !make_bounds(alerts))
        r = -ENOMEM;
    if (r < 0)
        return r;
    struct price_alert *added = &alerts->list[alerts->n++];
    *added = *alert;
    added->id = *ret_id = ++alerts->last_id;
    forget_bounds(alerts);
    return 0;
}

static void take_out(struct price_alerts *alerts, int i, struct price_alert *ret)
{
    *ret = alerts->list[i];
    alerts->n--;
    memmove(&alerts->list[i], &alerts->list[i + 1], (size_t)(alerts->n - i) * sizeof *alerts->list);
    forget_bounds(alerts);
}

const struct price_alert *daemon_price_alerts_find(const struct price_alerts *alerts, uint64_t id)
{
    for (int i = 0; i < alerts->n; i++)
        if (alerts->list[i].id == id)
            return &alerts->list[i];
    return NULL;
}

int daemon_price_alerts_count(const struct price_alerts *alerts, const char *symbol)
{
    int n = 0;
    for (int i = 0; i < alerts->n; i++)
        n += strcmp(alerts->list[i].symbol, symbol) == 0;
    return n;
}

int daemon_price_alerts_remove(struct price_alerts *alerts, uint64_t id, struct price_alert *ret)
{
    const struct price_alert *found = daemon_price_alerts_find(alerts, id);
    if (!found)
        return -ENOENT;
    take_out(alerts, (int)(found - alerts->list), ret);
    return 0;
}

void daemon_price_alerts_undo(struct price_alerts *alerts, const struct price_alerts *before)
{
    struct price_bounds *bounds = alerts->bounds;
    *alerts = *before;
    alerts->bounds = bounds;
    forget_bounds(alerts);
}

static struct price_bounds find_bounds(const struct price_alerts *alerts, const struct symbol *symbol)
{
    struct price_bounds bounds = {true, INT64_MAX, INT64_MIN};
    for (int i = 0; i < alerts->n; i++) {
        const struct price_alert *alert = &alerts->list[i];
        if (strcmp(alert->symbol, symbol->name) != 0)
            continue;
        int64_t price = price_at(alert, symbol->price_scale);
        if (alert->above && price < bounds.above)
            bounds.above = price;
        if (!alert->above && price > bounds.below)
            bounds.below = price;
    }
    return bounds;
}

bool daemon_price_alerts_reached(struct price_alerts *alerts, int index, const struct symbol *symbol,
                                 int64_t low, int64_t high)
{
    if (alerts->n == 0 || index < 0 || index >= SYMBOLS_MAX)
        return false;
    struct price_bounds *bounds = &alerts->bounds[index];
    if (!bounds->known)
        *bounds = find_bounds(alerts, symbol);
    return high >= bounds->above || low <= bounds->below;
}

bool daemon_price_alerts_take(struct price_alerts *alerts, const struct symbol *symbol, int64_t low,
                              int64_t high, int64_t until_ns, struct price_alert *ret)
{
    for (int i = 0; i < alerts->n; i++) {
        const struct price_alert *alert = &alerts->list[i];
        int64_t price = price_at(alert, symbol->price_scale);
        if (alert->created_ns > until_ns || strcmp(alert->symbol, symbol->name) != 0 ||
            (alert->above ? high < price : low > price))
            continue;
        take_out(alerts, i, ret);
        return true;
    }
    return false;
}

bool daemon_price_alerts_rename(struct price_alerts *alerts, const char *from, const char *to)
{
    bool any = false;
    for (int i = 0; i < alerts->n; i++)
        if (strcmp(alerts->list[i].symbol, from) == 0) {
            strncpy(alerts->list[i].symbol, to, SYMBOL_NAME_MAX - 1);
            any = true;
        }
    if (any)
        forget_bounds(alerts);
    return any;
}

bool daemon_price_alerts_split(struct price_alerts *alerts, const char *symbol, int64_t shares, int64_t per)
{
    bool any = false;
    for (int i = 0; i < alerts->n; i++) {
        struct price_alert *alert = &alerts->list[i];
        if (strcmp(alert->symbol, symbol) != 0)
            continue;
        int128_t price = ((int128_t)alert->price * per * 2 + shares) / ((int128_t)shares * 2);
        if (price <= INT64_MAX)
            alert->price = price > 0 ? (int64_t)price : 1;
        any = true;
    }
    if (any)
        forget_bounds(alerts);
    return any;
}

/* ---- as JSON ---- */

const char *daemon_price_alert_side(bool above)
{
    return above ? "above" : "below";
}

json_t *daemon_price_alert_json(const struct price_alert *alert)
{
    char price[DECIMAL_TEXT_MAX];
    decimal_format(alert->price, alert->scale, price);
    return json_pack("{s:I, s:s, s:s, s:s, s:I}", "price_alert", (json_int_t)alert->id, "symbol",
                     alert->symbol, "side", daemon_price_alert_side(alert->above), "price", price,
                     "created_ns", (json_int_t)alert->created_ns);
}

json_t *daemon_price_alerts_json(const struct price_alerts *alerts)
{
    json_t *array = json_array();
    for (int i = 0; i < alerts->n; i++)
        if (json_array_append_new(array, daemon_price_alert_json(&alerts->list[i])) < 0) {
            json_decref(array);
            return NULL;
        }
    return json_pack("{s:I, s:o}", "last", (json_int_t)alerts->last_id, "alerts", array);
}

/* Its scale is that of its digits. */
static bool read_alert(const json_t *object, struct price_alert *ret)
{
    const char *symbol = json_string_value(json_object_get(object, "symbol"));
    const char *side = json_string_value(json_object_get(object, "side"));
    const char *price = json_string_value(json_object_get(object, "price"));
    const char *point = price ? strchr(price, '.') : NULL;
    size_t digits = point ? strlen(point + 1) : 0;
    *ret = (struct price_alert){
        .id = (uint64_t)json_integer_value(json_object_get(object, "price_alert")),
        .created_ns = json_integer_value(json_object_get(object, "created_ns")),
        .above = side && strcmp(side, daemon_price_alert_side(true)) == 0,
        .scale = (int)digits,
    };
    if (!symbol || !*symbol || strlen(symbol) >= sizeof ret->symbol || ret->id == 0 || !price ||
        digits > DECIMAL_SCALE_MAX || !side ||
        (!ret->above && strcmp(side, daemon_price_alert_side(false)) != 0))
        return false;
    memcpy(ret->symbol, symbol, strlen(symbol) + 1);
    return decimal_parse_str(price, ret->scale, &ret->price) == 0 && ret->price > 0;
}

int daemon_price_alerts_read(struct price_alerts *alerts, const char *text)
{
    json_t *stored = json_loads(text, 0, NULL), *array = json_object_get(stored, "alerts");
    size_t n = json_array_size(array);
    uint64_t last = (uint64_t)json_integer_value(json_object_get(stored, "last"));
    int r = !json_is_array(array) || n > PRICE_ALERTS_MAX ? -EBADMSG : make_bounds(alerts) ? 0 : -ENOMEM;
    for (size_t i = 0; i < n && r == 0; i++) {
        struct price_alert *alert = &alerts->list[i];
        if (!read_alert(json_array_get(array, i), alert) || alert->id > last ||
            (i > 0 && alert->id <= alerts->list[i - 1].id))
            r = -EBADMSG;
    }
    json_decref(stored);
    if (r < 0)
        return r;
    alerts->n = (int)n;
    alerts->last_id = last;
    forget_bounds(alerts);
    return 0;
}
