#include "tui/panel/frame.h"

struct help {
    const char *keys, *words;
};

static const struct help lines[] = {
    {"1-8", "overview, study, GPU, market, positions, orders, alerts, log"},
    {"Tab", "next panel; the arrows move in the one whose name is bright"},
    {"arrows hjkl", "move; gg G first and last; PgUp PgDn a page"},
    {"z", "zoom the panel, and back; Esc backs out of anything"},
    {"Enter", "a study's or training's page (tab 2); i: another figure"},
    {"o I / v", "trials: order, invert, filter (! not); v: overfitting check"},
    {"f", "freeze the screen, and continue"},
    {"+ -", "slower or faster: the interval at the top right"},
    {"[ ]", "the chart's timeframe; i: the indicator below it, or none"},
    {"w", "equity of a day, week, month, all; zoomed with drawdown, days"},
    {"p", "pause trading, or resume it, at once"},
    {"F", "flatten: pause, cancel all, close all; typed to confirm"},
    {"a", "acknowledge the chosen alert"},
    {"b", "backtest the chosen account's strategy (tab 5), or stop that"},
    {"x", "cancel the chosen order (tab 6); y confirms"},
    {"s S r x e", "tab 2: start a training, a study; restart, stop, resume one"},
    {"P R", "tab 2: promote a policy, retire it; y confirms each of these"},
    {"F2", "set-up: colours, characters, time zone, interval; kept"},
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
    LINES_SHOWN = sizeof(lines) / sizeof(lines[0]),
    FORM_LINES = sizeof(form_lines) / sizeof(form_lines[0]),
};

static int draw_lines(const struct area *box, const struct help *help, int n)
{
    for (int y = 0; y < n; y++) {
        tui_area_text(box, 0, y, STYLE_KEY, help[y].keys);
        tui_area_text_cut(box, 12, y, box->width - 12, STYLE_NORMAL, help[y].words);
    }
    return n;
}

static void help_form(const struct area *screen)
{
    struct area box = panel_frame_box(screen, 78, FORM_LINES + 6, "Help: the form");
    int y = draw_lines(&box, form_lines, FORM_LINES) + 1;

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
    struct area box = panel_frame_box(screen, 78, LINES_SHOWN + 7, "Help");
    int y = draw_lines(&box, lines, LINES_SHOWN) + 1;

    tui_area_text_cut(&box, 0, y++, box.width, STYLE_DIM,
                      "Fills: M maker, T taker. OCO: the orders of one OCO or bracket.");
    tui_area_text_cut(&box, 0, y++, box.width, STYLE_DIM,
                      "Ages count from the data's receipt. STALE: three intervals late; -: ten.");
    tui_area_text_cut(&box, 0, y++, box.width, STYLE_DIM,
                      "Everything here is paper: no order leaves this machine.");
    tui_area_text_cut(&box, 0, y, box.width, STYLE_DIM, "Any key closes this.");
}
