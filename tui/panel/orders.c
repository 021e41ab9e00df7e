#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/format.h"
#include "tui/panel/frame.h"

enum { TIME, ID, SIDE, SYMBOL, TYPE, STATE, QTY, FILLED, PRICE, WHY, COLUMNS };

static const struct column columns[COLUMNS] = {
    {"", 8, false, 8},      {"ord", 5, true, 3},    {"", 4, false, 2},    {"", 9, false, 1},
    {"type", 6, false, 6},  {"state", 8, false, 2}, {"qty", 11, true, 4}, {"filled", 11, true, 9},
    {"price", 11, true, 5}, {"why", 18, false, 7},
};

/* One line, whether the daemon told it (live) or the database holds it. */
struct line {
    int64_t id, ts_ns;
    const char *side, *symbol, *type, *state, *why;
    double qty, filled, price;
    int price_decimals, qty_decimals;
};

static bool is_live(const struct model *model, int64_t id)
{
    for (int i = 0; i < model->status.n_orders; i++)
        if (model->status.orders[i].order == id)
            return true;
    return false;
}

int panel_orders_rows(const struct model *model)
{
    int n = model->status.n_orders;

    for (int i = 0; i < model->history.n_orders; i++)
        n += !is_live(model, model->history.orders[i].id);
    return n;
}

static struct line live_line(const struct model *model, int at)
{
    const struct status_order *o = &model->status.orders[at];
    const struct status_symbol *symbol = model_symbol(model, o->symbol);
    struct line line = {.id = o->order,
                        .side = o->side,
                        .symbol = o->symbol,
                        .type = o->type,
                        .state = o->state,
                        .why = o->tag,
                        .qty = o->qty,
                        .filled = o->filled,
                        .price = isfinite(o->stop) ? o->stop : o->price,
                        .price_decimals = symbol ? symbol->price_decimals : 2,
                        .qty_decimals = 8};

    for (int i = 0; i < model->history.n_orders; i++)
        if (model->history.orders[i].id == o->order) {
            line.ts_ns = model->history.orders[i].updated_ns;
            line.qty_decimals = model->history.orders[i].qty_decimals;
        }
    return line;
}

static struct line past_line(const struct model *model, int at)
{
    const struct history_order *o = &model->history.orders[at];

    return (struct line){.id = o->id,
                         .ts_ns = o->updated_ns,
                         .side = o->side,
                         .symbol = o->symbol,
                         .type = o->type,
                         .state = o->state,
                         .why = o->reason[0] ? o->reason : o->tag,
                         .qty = o->qty,
                         .filled = o->filled,
                         .price = isfinite(o->stop) ? o->stop : o->price,
                         .price_decimals = o->price_decimals,
                         .qty_decimals = o->qty_decimals};
}

static enum style state_style(const char *state)
{
    if (strcmp(state, "REJECTED") == 0)
        return STYLE_BAD;
    if (strcmp(state, "FILLED") == 0)
        return STYLE_GOOD;
    return strcmp(state, "CANCELED") == 0 ? STYLE_DIM : STYLE_NORMAL;
}

static void draw_line(const struct table *table, int y, const struct line *line)
{
    char text[FORMAT_MAX];

    table_text(table, TIME, y, STYLE_DIM, line->ts_ns ? format_clock(text, line->ts_ns) : "");
    snprintf(text, sizeof(text), "%lld", (long long)line->id);
    table_text(table, ID, y, STYLE_DIM, text);
    table_text(table, SIDE, y, line->side[0] == 'B' ? STYLE_UP : STYLE_DOWN, line->side);
    table_text(table, SYMBOL, y, STYLE_STRONG, line->symbol);
    table_text(table, TYPE, y, STYLE_NORMAL, line->type);
    table_text(table, STATE, y, state_style(line->state), line->state);
    table_text(table, QTY, y, STYLE_NORMAL, format_fit(text, line->qty, line->qty_decimals, 11));
    table_text(table, FILLED, y, STYLE_NORMAL, format_fit(text, line->filled, line->qty_decimals, 11));
    table_text(table, PRICE, y, STYLE_NORMAL,
               isfinite(line->price) ? format_fit(text, line->price, line->price_decimals, 11) : "market");
    table_text(table, WHY, y, STYLE_DIM, line->why);
}

void panel_orders(const struct area *area, const struct scene *scene)
{
    const struct model *model = scene->model;
    int live = model->status.n_orders, n = panel_orders_rows(model), title, row = live;
    struct area body = frame_rule(area, scene, PANEL_ORDERS, "Orders", live, &title);
    struct table table = frame_table(area, title, columns, COLUMNS);
    struct window window = frame_window(scene, PANEL_ORDERS, n, body.height);

    if (n == 0)
        frame_empty(&body, frame_no_history(model, "none yet"));
    for (int i = 0; i < live; i++)
        if (i >= window.first && i < window.end) {
            struct line line = live_line(model, i);
            draw_line(&table, i - window.first + 1, &line);
        }
    for (int i = 0; i < model->history.n_orders; i++) {
        if (is_live(model, model->history.orders[i].id))
            continue;
        if (row >= window.first && row < window.end) {
            struct line line = past_line(model, i);
            draw_line(&table, row - window.first + 1, &line);
        }
        row++;
    }
    if (window.cursor >= 0)
        frame_cursor(&body, window.cursor - window.first);
}
