#include "tui/panel/frame.h"

/* Which tab a line is for: the market's has keys of its own, which take the place of the study's. */
enum where { ANYWHERE, ELSEWHERE, MARKET };

struct help {
    const char *keys, *words;
    enum where where;
};

static const struct help lines[] = {
    {"1-8", "overview, study, GPU, market, positions, orders, alerts, log"},
    {"Tab", "next panel; the arrows move in the one whose name is bright"},
    {"arrows hjkl", "move; gg G first and last; PgUp PgDn a page"},
    {"z", "zoom the panel, and back; Esc backs out of anything"},
    {"Enter", "a study's or training's page (tab 2); i: another figure", ELSEWHERE},
    {"o I / v", "trials: order, invert, filter (! not); v: overfitting check", ELSEWHERE},
    {"f", "freeze the screen, and continue"},
    {"+ -", "slower or faster: the interval at the top right"},
    {"E", "equity of a day, week, month, all; zoomed with drawdown, days", ELSEWHERE},
    {"[ ] i", "the chart's timeframe, the indicator below it; more: ? on tab 4", ELSEWHERE},
    {"[ ] i", "the chart's timeframe; the indicator below it, or none", MARKET},
    {"c L", "candles or a line; logarithmic prices or linear ones", MARKET},
    {", . w W", "older bars, newer ones; more of them, fewer", MARKET},
    {"m", "a crosshair with its bar's figures; then , . move it by one", MARKET},
    {"Home End", "the chart (Tab to it): oldest and newest bars; PgUp PgDn", MARKET},
    {"p", "pause trading, or resume it, at once"},
    {"F", "flatten: pause, cancel all, close all; typed to confirm"},
    {"a", "acknowledge the chosen alert"},
    {"b", "backtest the chosen account's strategy (tab 5), or stop that"},
    {"x", "cancel the chosen order (tab 6); y confirms"},
    {"F2", "set-up: colours, characters, time zone, interval; kept"},
    {"s S r x e", "tab 2: start a training, a study; restart, stop, resume one", ELSEWHERE},
    {"P R", "tab 2: promote a policy, retire it; y confirms each of these", ELSEWHERE},
    {"Ctrl-L q", "redraw; quit, and the daemon continues"},
};

static const struct help form_lines[] = {
    {"arrows jk", "move; Home End first and last; PgUp PgDn a page"},
    {"Enter", "edit the chosen value; Enter takes it, Esc does not"},
    {"a", "add a key that the text has not; letters filter"},
    {"d", "leave the chosen line out: the default holds"},
    {"u", "undo what was done to the chosen line"},
    {"c F5", "check: the co-process names what is wrong, at its lines"},
    {"n", "the next line with an error"},
    {"s F12", "start, or restart, with this; y confirms"},
    {"Esc q", "leave; asks where something was changed"},
};

enum {
    LINES = sizeof(lines) / sizeof(lines[0]),
    FORM_LINES = sizeof(form_lines) / sizeof(form_lines[0]),
};

static bool left_out(const struct help *help, bool market)
{
    return help->where != ANYWHERE && (help->where == MARKET) != market;
}

static int draw_lines(const struct area *box, const struct help *help, int n, bool market)
{
    int y = 0;

    for (int i = 0; i < n; i++) {
        if (left_out(&help[i], market))
            continue;
        tui_area_text(box, 0, y, STYLE_KEY, help[i].keys);
        tui_area_text_cut(box, 12, y, box->width - 12, STYLE_NORMAL, help[i].words);
        y++;
    }
    return y;
}

static void help_form(const struct area *screen)
{
    struct area box = panel_frame_box(screen, 78, FORM_LINES + 6, "Help: the form");
    int y = draw_lines(&box, form_lines, FORM_LINES, false) + 1;

    tui_area_text_cut(&box, 0, y++, box.width, STYLE_DIM,
                      "Lines: * changed, + added, - left out, ! the last check's error.");
    tui_area_text_cut(&box, 0, y++, box.width, STYLE_DIM,
                      "Typing: arrows Home End Backspace Delete; Ctrl-U Ctrl-K to the ends.");
    tui_area_text_cut(&box, 0, y, box.width, STYLE_DIM, "Any key closes this.");
}

void panel_help(const struct area *screen, const struct scene *scene)
{
    if (scene->view->page) {
        help_form(screen);
        return;
    }
    bool market = scene->view->tab == TAB_MARKET;
    int shown = 0;
    for (int i = 0; i < LINES; i++)
        shown += !left_out(&lines[i], market);
    struct area box = panel_frame_box(screen, 78, shown + 7, market ? "Help: the market" : "Help");
    int y = draw_lines(&box, lines, LINES, market) + 1;

    tui_area_text_cut(&box, 0, y++, box.width, STYLE_DIM,
                      "Fills: M maker, T taker. OCO: the orders of one OCO or bracket.");
    tui_area_text_cut(&box, 0, y++, box.width, STYLE_DIM,
                      "Ages count from the data's receipt. STALE: three intervals late; -: ten.");
    tui_area_text_cut(&box, 0, y++, box.width, STYLE_DIM,
                      "Everything here is paper: no order leaves this machine.");
    tui_area_text_cut(&box, 0, y, box.width, STYLE_DIM, "Any key closes this.");
}
