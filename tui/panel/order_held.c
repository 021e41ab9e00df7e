/* Below the form of an order, where there is room: what is held of its symbol, and the orders in it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/panel/frame.h"
#include "tui/panel/panel.h"

static void draw_position(const struct area *area, int y, const struct status_position *p, int decimals,
                          enum freshness freshness)
{
    char qty[FORMAT_MAX], entry[FORMAT_MAX], pnl[FORMAT_MAX];
    int x = tui_area_printf(area, 1, y, panel_frame_style(freshness, STYLE_NORMAL), "%s  %s %s at %s  uPnL ",
                            p->account, p->side, cli_format_number(qty, fabs(p->qty), p->qty_decimals),
                            cli_format_number(entry, p->entry, decimals));

    tui_area_text_cut(area, x, y, area->width - x, panel_frame_style(freshness, style_signed(p->upnl, 2)),
                      cli_format_signed(pnl, p->upnl, 2));
}

static void draw_order(const struct area *area, int y, const struct status_order *order, int decimals,
                       enum freshness freshness)
{
    char text[256], limit[FORMAT_MAX], stop[FORMAT_MAX];

    snprintf(text, sizeof(text), "%s  order %lld %s %s %.10g%s%s%s%s  %s", order->account,
             (long long)order->id, order->side, order->type,
             order->qty - (order->filled > 0 ? order->filled : 0), order->price > 0 ? " limit " : "",
             order->price > 0 ? cli_format_number(limit, order->price, decimals) : "",
             order->stop > 0 ? " stop " : "",
             order->stop > 0 ? cli_format_number(stop, order->stop, decimals) : "", order->state);
    tui_area_text_cut(area, 1, y, area->width - 1, panel_frame_style(freshness, STYLE_NORMAL), text);
}

void panel_order_held(const struct area *area, const struct scene *scene)
{
    const struct status *s = &scene->model->status;
    const char *name = tui_order_form_symbol(scene->view->order_form);
    const struct status_symbol *symbol = tui_model_symbol(scene->model, name);
    int decimals = symbol ? symbol->price_decimals : 2, y = 0, more = 0;
    enum freshness freshness = tui_model_freshness(scene->model, scene->real_now);
    char title[ORDER_VALUE_MAX + 40];

    snprintf(title, sizeof(title), "Held and ordered in %s", name);
    struct area body = panel_frame_rule(area, scene, PANEL_NONE, title, -1, NULL);
    if (freshness == GONE) {
        panel_frame_empty(&body, "not known: the daemon does not answer");
        return;
    }
    for (int i = 0; i < s->n_positions; i++)
        if (strcmp(s->positions[i].symbol, name) == 0 && s->positions[i].qty != 0 && y++ < body.height - 1)
            draw_position(&body, y - 1, &s->positions[i], decimals, freshness);
    for (int i = 0; i < s->n_orders; i++)
        if (strcmp(s->orders[i].symbol, name) == 0 && y++ < body.height - 1)
            draw_order(&body, y - 1, &s->orders[i], decimals, freshness);
    more = y - (body.height - 1);
    if (y == 0)
        panel_frame_empty(&body, "nothing");
    else if (more > 0)
        tui_area_printf(&body, 1, body.height - 1, STYLE_DIM, "and %d more", more);
}
