#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "exchange/order_reason.h"
#include "tui/panel/list.h"

/* As tui_list_columns() has them. */
enum {
    TIME,
    DATE,
    CREATED,
    ID,
    SIDE,
    SYMBOL,
    ACCOUNT,
    TYPE,
    TIF,
    STATE,
    QTY,
    FILLED,
    AVERAGE,
    PRICE,
    TRIGGER,
    TRAIL,
    GROUP,
    PARENT,
    CLIENT,
    WHY,
};
enum { TRAIL_WIDTH = 8, GROUP_WORDS_MAX = 240, FOOT_LEAST = 4 /* rows of a list that has a foot line */ };

/* The type's name in the few columns that there are. */
static const char *short_type(const char *type)
{
    static const char *const names[][2] = {
        {"STOP_LIMIT", "STOP-L"},
        {"TAKE_PROFIT", "TP"},
        {"TAKE_PROFIT_LIMIT", "TP-L"},
        {"TRAILING_STOP", "TRAIL"},
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(type, names[i][0]) == 0)
            return names[i][1];
    return type;
}

/* An order from elsewhere: without a number here, its client id in place of the reason. */
static struct status_order external_order(struct canvas *canvas, const struct model *model,
                                          const struct status_external *external)
{
    struct status_order order = {.id = -1,
                                 .group = -1,
                                 .parent = -1,
                                 .qty = external->qty,
                                 .filled = external->filled,
                                 .price = external->price};

    memcpy(order.account, external->account, sizeof(order.account));
    memcpy(order.symbol, external->symbol, sizeof(order.symbol));
    memcpy(order.side, external->side, sizeof(order.side));
    memcpy(order.type, external->type, sizeof(order.type));
    memcpy(order.state, external->state, sizeof(order.state));
    snprintf(order.reason, sizeof(order.reason), "%.*s", (int)sizeof(order.reason) - 1, external->client_id);
    if (snprintf(order.client_id, sizeof(order.client_id), "%s", external->client_id) >=
        (int)sizeof(order.client_id))
        tui_canvas_keep(canvas, external->client_id);
    order.stop = order.trail = order.trail_pct = order.average = NAN;
    if (!(order.price > 0))
        order.price = NAN;
    order.price_decimals = tui_model_price_decimals(model, external->symbol);
    order.qty_decimals = 8;
    return order;
}

static enum style state_style(const char *state)
{
    if (strcmp(state, "REJECTED") == 0)
        return STYLE_BAD;
    if (strcmp(state, "FILLED") == 0)
        return STYLE_GOOD;
    if (strcmp(state, "UNKNOWN") == 0) /* whether its venue has it */
        return STYLE_WARN;
    return strcmp(state, "CANCELED") == 0 || strcmp(state, "EXPIRED") == 0 || strcmp(state, "HELD") == 0
               ? STYLE_DIM
               : STYLE_NORMAL;
}

/* A trailing stop's distance: "1.5%" or in price; "" for none. */
static const char *trail_text(char buf[static FORMAT_MAX], const struct status_order *order)
{
    buf[0] = '\0';
    if (isfinite(order->trail_pct))
        snprintf(buf, FORMAT_MAX, "%.4g%%", order->trail_pct);
    else if (isfinite(order->trail))
        cli_format_fit(buf, order->trail, order->price_decimals, TRAIL_WIDTH);
    return buf;
}

/* The prices. Without room for a column of its own the trigger is in the price's, as "at 61200": it has to
 * happen first. */
static void draw_prices(const struct table *table, int y, const struct status_order *order)
{
    bool apart = table->x[TRIGGER] >= 0;
    char text[FORMAT_MAX], stop[FORMAT_MAX];

    if (!apart && isfinite(order->stop))
        snprintf(text, sizeof(text), "at %.*s", FORMAT_MAX - 4,
                 cli_format_fit(stop, order->stop, order->price_decimals, table->columns[PRICE].width - 3));
    else if (isfinite(order->price))
        cli_format_fit(text, order->price, order->price_decimals, table->columns[PRICE].width);
    else if (apart || !trail_text(text, order)[0])
        snprintf(text, sizeof(text), "market");
    panel_table_text(table, PRICE, y, STYLE_NORMAL, text);
    panel_table_text(table, TRIGGER, y, STYLE_NORMAL,
                     isfinite(order->stop) ? cli_format_fit(text, order->stop, order->price_decimals,
                                                            table->columns[TRIGGER].width)
                                           : "");
    panel_table_text(table, TRAIL, y, STYLE_NORMAL, trail_text(text, order));
}

static void draw_line(const struct table *table, int y, const struct status_order *order)
{
    char text[FORMAT_MAX];

    for (int column = TIME; column <= CREATED; column++) {
        const int64_t ts_ns = column == CREATED ? order->created_ns : order->updated_ns;
        panel_table_text(table, column, y, STYLE_DIM,
                         ts_ns ? panel_list_time(text, ts_ns, table->columns[column].width) : "");
    }
    if (order->id < 0)
        snprintf(text, sizeof(text), "ext");
    else
        snprintf(text, sizeof(text), "%lld", (long long)order->id);
    panel_table_text(table, ID, y, STYLE_DIM, text);
    panel_table_text(table, SIDE, y, order->side[0] == 'B' ? STYLE_UP : STYLE_DOWN, order->side);
    panel_table_text(table, SYMBOL, y, STYLE_STRONG, order->symbol);
    panel_table_text(table, ACCOUNT, y, STYLE_DIM, order->account);
    panel_table_text(table, TYPE, y, STYLE_NORMAL, short_type(order->type));
    panel_table_text(table, TIF, y, STYLE_DIM, order->tif);
    panel_table_text(table, STATE, y, state_style(order->state), order->state);
    panel_table_text(table, QTY, y, STYLE_NORMAL,
                     cli_format_fit(text, order->qty, order->qty_decimals, table->columns[QTY].width));
    panel_table_text(table, FILLED, y, STYLE_NORMAL,
                     cli_format_fit(text, order->filled, order->qty_decimals, table->columns[FILLED].width));
    panel_table_text(table, AVERAGE, y, STYLE_NORMAL,
                     isfinite(order->average) ? cli_format_fit(text, order->average, order->price_decimals,
                                                               table->columns[AVERAGE].width)
                                              : "");
    draw_prices(table, y, order);
    snprintf(text, sizeof(text), "%lld", (long long)order->parent);
    panel_table_text(table, PARENT, y, STYLE_DIM, order->parent >= 0 ? text : "");
    panel_table_text(table, CLIENT, y, STYLE_DIM, order->client_id);
    snprintf(text, sizeof(text), "%lld", (long long)order->group);
    panel_table_text(table, GROUP, y, STYLE_DIM, order->group >= 0 ? text : "");
    panel_table_text(table, WHY, y, STYLE_DIM, order->reason[0] ? order->reason : order->tag);
}

/* The order at a place; false: it is not read yet. */
static bool order_at(struct canvas *canvas, const struct model *model, const struct lists_rows *rows,
                     int place, struct status_order *ret)
{
    const struct status_order *order = tui_lists_row(rows, place);

    if (place < rows->live)
        return tui_model_order(model, rows->items.heads[place], ret);
    if (place < rows->live + rows->externals)
        *ret = external_order(canvas, model, &model->status.externals[place - rows->live]);
    else if (order)
        *ret = *order;
    return order || place < rows->live + rows->externals;
}

/* Why the chosen order was refused, in the foot line, where the reasons have no column. */
static void put_foot(const struct scene *scene, struct list_frame *frame)
{
    const struct model *model = scene->model;
    struct status_order order;
    const int rows = frame->body.height, at = frame->window.cursor;

    if (rows < FOOT_LEAST || at < 0 || !order_at(frame->body.canvas, model, &frame->rows, at, &order) ||
        strcmp(order.state, "REJECTED") != 0 || !order.reason[0])
        return;
    frame->window = panel_list_window(scene, frame, PANEL_ORDERS, 1);
    int x =
        tui_area_printf(&frame->body, 1, rows - 1, STYLE_BAD, "%lld %s:", (long long)order.id, order.reason);
    int reason = order_reason_parse(order.reason);
    if (reason >= 0)
        tui_area_text_cut(&frame->body, x + 1, rows - 1, frame->body.width - x - 1, STYLE_DIM,
                          order_reason_words((enum order_reason)reason));
}

/* Is one of the rows that are known not of today? */
static bool older(const struct scene *scene, const struct lists_rows *rows)
{
    struct status_order live;
    bool any = false;

    for (int i = 0; i < rows->live && !any; i++)
        any = tui_model_order(scene->model, rows->items.heads[i], &live) &&
              panel_list_other_day(scene, live.updated_ns);
    for (int i = 0; i < rows->items.n && !any; i++) {
        const struct status_order *order = rows->rows[i];
        any = order && panel_list_other_day(scene, order->updated_ns);
    }
    return any;
}

void panel_orders(const struct area *area, const struct scene *scene)
{
    const struct model *model = scene->model;
    struct list_frame frame;
    struct status_order order;
    char live[32] = "";

    if (scene->focus != PANEL_ORDERS && model->status.n_orders > 0) /* else the labels have the room */
        snprintf(live, sizeof(live), "%d open", model->status.orders_total);
    panel_list_frame(area, scene, PANEL_ORDERS, "Orders", live, &frame);
    struct column shown[LIST_COLUMNS_MAX];
    int n = panel_list_columns(scene, DB_LIST_ORDERS, shown);
    if (model->status.n_accounts > 1 && shown[ACCOUNT].rank > 0)
        shown[ACCOUNT].rank = 7; /* the account matters more than the reason */
    shown[ID].width = panel_list_number_width(&frame, shown[ID].width);
    if (older(scene, &frame.rows))
        panel_list_date(&frame.area, shown, n, (const int[]){TIME, CREATED}, 2);
    struct table table = panel_frame_table(&frame.area, frame.title_end, shown, n);

    panel_list_empty(&frame, scene, "none yet");
    if (table.x[WHY] < 0)
        put_foot(scene, &frame);
    for (int i = frame.window.first; i < frame.window.end; i++) {
        int y = i - frame.window.first;
        if (order_at(area->canvas, model, &frame.rows, i, &order))
            draw_line(&table, y + 1, &order);
        else
            panel_list_unread(&frame, &frame.body, y, i);
        panel_frame_row(&frame.body, y, &frame.window, i);
    }
}

static bool is_stop(const struct status_order *order)
{
    const int type = order_type_parse(order->type);

    return type >= 0 && order_is_stop((enum order_type)type) && !order_is_profit((enum order_type)type);
}

/* Which orders end with a cancelled one, and what stays without them, as docs/orders.md has it of an OCO and
 * a bracket: an exit takes the other, an entry that nothing was filled of its exits. "": it is alone. */
static void put_group(const struct model *model, const struct status_order *order,
                      char buf[static GROUP_WORDS_MAX])
{
    enum { OTHERS_MAX = 2 }; /* a bracket's entry has two exits */
    const struct status_order *entry = NULL;
    bool stop = is_stop(order), start = false;
    char ids[64] = "", qty[FORMAT_MAX], part[FORMAT_MAX];
    int n = 0, len = 0;

    buf[0] = '\0';
    for (int k = 0; order->group >= 0 && k < model->status.n_orders; k++) {
        const struct status_order *other = &model->status.orders[k];
        if (other->group != order->group || other->id == order->id)
            continue;
        if (other->id == order->parent) {
            entry = other;
            continue;
        }
        start |= other->parent == order->id && order->filled > 0;
        stop |= is_stop(other);
        if (n < OTHERS_MAX)
            len += snprintf(ids + len, sizeof(ids) - (size_t)len, "%s%lld", n > 0 ? " and " : "",
                            (long long)other->id);
        n++;
    }
    len = 0;
    if (n > 0 && start)
        len = snprintf(buf, GROUP_WORDS_MAX, "Order%s %s then start%s, for the %s that it filled.",
                       n > 1 ? "s" : "", ids, n > 1 ? "" : "s",
                       cli_format_number(part, order->filled, order->qty_decimals));
    else if (n > 0)
        len = snprintf(buf, GROUP_WORDS_MAX, "Order%s %s end%s with it.", n > 1 ? "s" : "", ids,
                       n > 1 ? "" : "s");
    const char *without = stop ? "without a stop" : "without its exit";
    if (entry)
        snprintf(buf + len, GROUP_WORDS_MAX - (size_t)len, "%sOrder %lld, %s %s, stays %s %s.",
                 len > 0 ? " " : "", (long long)entry->id, entry->side,
                 cli_format_number(qty, entry->qty, order->qty_decimals), entry->state, without);
    else if (order->parent >= 0)
        snprintf(buf + len, GROUP_WORDS_MAX - (size_t)len, "%sWhat order %lld filled stays %s.",
                 len > 0 ? " " : "", (long long)order->parent, without);
}

/* What is cancelled: its names are whole, in two rows each where they need it. */
void panel_cancel(const struct area *screen, const struct scene *scene)
{
    enum { COLUMNS = 60, FRAME = 4, ROWS = 5 };
    const struct model *model = scene->model;
    const int width = (screen->width < COLUMNS ? screen->width : COLUMNS) - FRAME;
    char qty[FORMAT_MAX], price[FORMAT_MAX], what[160], where[160] = "";
    struct status_order order;
    char group[GROUP_WORDS_MAX] = "";

    if (tui_model_order(model, scene->view->order, &order)) {
        double shown = isfinite(order.stop) ? order.stop : order.price;
        snprintf(what, sizeof(what), "order %lld: %s %s %s %s", (long long)order.id, order.side,
                 cli_format_number(qty, order.qty, order.qty_decimals), order.symbol, order.type);
        snprintf(where, sizeof(where), "%s%s, %s, of %s", isfinite(shown) ? "at " : "",
                 isfinite(shown)                ? cli_format_number(price, shown, order.price_decimals)
                 : trail_text(price, &order)[0] ? price
                                                : "at market",
                 order.state, order.account);
        put_group(model, &order, group);
    } else {
        snprintf(what, sizeof(what), "order %lld has ended", (long long)scene->view->order);
    }
    int rows = panel_frame_wrap_rows(what, width) + panel_frame_wrap_rows(where, width - 2) +
               (group[0] ? panel_frame_wrap_rows(group, width) : 0) + 1;
    struct area box = panel_frame_box(screen, COLUMNS, (rows > ROWS ? rows : ROWS) + 2, "Cancel");
    int y = panel_frame_wrap(&box, 0, box.height - 1, STYLE_STRONG, what);
    struct area inner = tui_area_part(&box, 2, 0, box.width - 2, box.height);
    y = panel_frame_wrap(&inner, y, box.height - 1 - y, STYLE_NORMAL, where);
    if (group[0])
        panel_frame_wrap(&box, y, box.height - 1 - y, STYLE_WARN, group);
    panel_frame_yes(&box, false, "cancels it");
}
