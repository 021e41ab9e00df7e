#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "cli/text.h"
#include "tui/panel/list.h"

/* As tui_list_columns() has them. */
enum { SYMBOL, SIDE, ACCOUNT, QTY, ENTRY, FIFO, MARK, UPNL, STOP, AGE };

/* Has the position more live stops than the nearest, which it names itself? */
static bool has_more_stops(const struct status *s, const struct status_position *p)
{
    const char *closes = strcmp(p->side, "S") == 0 ? "BUY" : "SELL";
    int n = 0;

    for (int i = 0; i < s->n_orders; i++) {
        const struct status_order *o = &s->orders[i];
        n += isfinite(o->stop) && strstr(o->type, "STOP") && strcmp(o->state, "HELD") != 0 &&
             strcmp(o->side, closes) == 0 && strcmp(o->symbol, p->symbol) == 0 &&
             strcmp(o->account, p->account) == 0;
    }
    return n > 1;
}

void panel_positions(const struct area *area, const struct scene *scene)
{
    const struct model *model = scene->model;
    struct column shown[LIST_COLUMNS_MAX];
    struct list_frame frame;
    char text[FORMAT_MAX];

    panel_list_frame(area, scene, PANEL_POSITIONS, "Positions", "", &frame);
    int n = panel_list_columns(scene, LIST_POSITIONS, shown);
    if (model->status.n_accounts > 1 && shown[ACCOUNT].rank > 0)
        shown[ACCOUNT].rank = 7; /* two accounts may hold the same symbol */
    struct table table = panel_frame_table(&frame.area, frame.title_end, shown, n);
    panel_list_empty(&frame, scene, model->holdings == MODEL_NOTHING ? "not known yet" : "flat");
    for (int i = frame.window.first; i < frame.window.end; i++) {
        const struct status_position *p = tui_lists_row(&frame.rows, i);
        int y = i - frame.window.first + 1;
        panel_frame_row(&frame.body, y - 1, &frame.window, i);
        if (!p) {
            panel_list_unread(&frame, &frame.body, y - 1, i);
            continue;
        }
        int decimals = tui_model_price_decimals(model, p->symbol);
        enum freshness freshness = tui_model_position_freshness(model, p, scene->now);
        panel_table_text(&table, SYMBOL, y, STYLE_STRONG, p->symbol);
        panel_table_text(&table, SIDE, y, strcmp(p->side, "S") == 0 ? STYLE_DOWN : STYLE_UP, p->side);
        panel_table_text(&table, ACCOUNT, y, STYLE_DIM, p->account);
        panel_table_text(&table, FIFO, y, STYLE_NORMAL, cli_format_fit(text, p->fifo_entry, decimals, 11));
        panel_table_text(&table, QTY, y, STYLE_NORMAL, cli_format_fit(text, p->qty, p->qty_decimals, 10));
        panel_table_text(&table, ENTRY, y, STYLE_NORMAL, cli_format_fit(text, p->entry, decimals, 11));
        panel_table_text(&table, MARK, y, panel_frame_style(freshness, STYLE_NORMAL),
                         freshness == GONE ? "-" : cli_format_fit(text, p->mark, decimals, 11));
        panel_table_text(&table, UPNL, y, panel_frame_style(freshness, style_signed(p->upnl, 2)),
                         freshness == GONE ? "-" : cli_format_signed(text, p->upnl, 2));
        bool more = has_more_stops(&model->status, p);
        snprintf(text, sizeof(text), "none");
        if (isfinite(p->stop))
            cli_format_fit(text, p->stop, decimals, more ? 10 : 11);
        if (more)
            strcat(text, "+");
        panel_table_text(&table, STOP, y, STYLE_NORMAL, text);
        panel_frame_age(text, sizeof(text), freshness, tui_model_age(model, p->age_ms, scene->now));
        panel_table_text(&table, AGE, y, freshness < STALE ? STYLE_DIM : STYLE_WARN, text);
    }
}

enum { FLATTEN_COLUMNS = 72, FLATTEN_SYMBOL = 10, FLATTEN_REST = 18, FLATTEN_FRAME = 4 };

/* How the positions to be closed are listed: names are never cut. */
struct flatten_shape {
    int symbol, account; /* columns of the names */
    int lines;           /* of a position: 2 where its names leave no room for its quantity */
};

static struct flatten_shape flatten_shape(const struct status *s, int width)
{
    const int room = width - 48;
    struct flatten_shape shape = {FLATTEN_SYMBOL,
                                  room < 8                  ? 8
                                  : room > ACCOUNT_NAME_MAX ? ACCOUNT_NAME_MAX
                                                            : room,
                                  1};

    for (int i = 0; i < s->n_positions; i++) {
        const int symbol = cli_text_width(s->positions[i].symbol),
                  account = cli_text_width(s->positions[i].account);
        shape.symbol = symbol > shape.symbol ? symbol : shape.symbol;
        shape.account = account > shape.account ? account : shape.account;
    }
    if (shape.symbol + shape.account + FLATTEN_REST > width)
        shape.lines = 2;
    return shape;
}

static void flatten_position(const struct area *box, int y, const struct flatten_shape *shape,
                             const struct status_position *p)
{
    char qty[FORMAT_MAX], pnl[FORMAT_MAX], text[FORMAT_MAX + 8];
    int x;

    if (shape->lines == 2) {
        tui_area_text(box, 0, y++, STYLE_NORMAL, p->account);
        x = tui_area_printf(box, 1, y, STYLE_NORMAL, "%s %.2s %s", p->symbol, p->side,
                            cli_format_number(qty, p->qty, p->qty_decimals));
    } else {
        x = tui_area_printf(box, 2, y, STYLE_NORMAL, "%-*s %-*s %-2.2s %11s", shape->symbol, p->symbol,
                            shape->account, p->account, p->side,
                            cli_format_number(qty, p->qty, p->qty_decimals));
    }
    snprintf(text, sizeof(text), "  uPnL %s", cli_format_signed(pnl, p->upnl, 2));
    if (x + cli_text_width(text) <= box->width)
        tui_area_text(box, x, y, STYLE_NORMAL, text);
}

void panel_flatten(const struct area *screen, const struct scene *scene)
{
    const struct status *s = &scene->model->status;
    const int width = (screen->width < FLATTEN_COLUMNS ? screen->width : FLATTEN_COLUMNS) - FLATTEN_FRAME;
    const struct flatten_shape shape = flatten_shape(s, width);
    char ask[80], sentence[PANEL_SENTENCE_MAX];

    snprintf(ask, sizeof(ask), "All accounts: pause, cancel %d order%s, and close:", s->orders_total,
             s->orders_total == 1 ? "" : "s");
    const int asked = panel_frame_wrap_rows(ask, width), most = (screen->height - 6 - asked) / shape.lines;
    const int rows = s->n_positions < most ? s->n_positions : most;
    struct area box =
        panel_frame_box(screen, FLATTEN_COLUMNS, (rows > 0 ? rows * shape.lines : 1) + 5 + asked, "Flatten");
    int y = panel_frame_wrap(&box, 0, asked, STYLE_STRONG, ask);
    for (int i = 0; i < rows; i++, y += shape.lines) {
        if (i < rows - 1 || rows == s->n_positions)
            flatten_position(&box, y, &shape, &s->positions[i]);
        else
            tui_area_printf(&box, 2, y, STYLE_DIM, "and %d more", s->n_positions - i);
    }
    if (rows <= 0)
        tui_area_text(&box, 2, y++, STYLE_DIM,
                      s->n_positions ? panel_frame_sentence(scene, "see tab `5`", sentence)
                                     : "no position is open");
    y++;
    int x = tui_area_text(&box, 0, y, STYLE_WARN, "Type FLATTEN, then Enter: ");
    x = tui_area_text(&box, x, y, STYLE_STRONG, scene->view->typed);
    tui_area_char(&box, x, y, STYLE_KEY, L'_');
    tui_area_text(&box, 0, y + 1, STYLE_DIM, "Esc does nothing.");
}
