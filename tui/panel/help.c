#include "tui/panel/frame.h"

static const struct {
    const char *keys, *words;
} lines[] = {
    {"1-8", "overview, study, GPU, market, positions, orders, alerts, log"},
    {"Tab", "next panel; the arrows move in the one whose name is bright"},
    {"arrows hjkl", "move; gg G first and last; PgUp PgDn a page"},
    {"z", "zoom the panel, and back; Esc backs out of anything"},
    {"Enter", "the chosen training's page (tab 2); i there: another figure"},
    {"f", "freeze the picture, and go on"},
    {"+ -", "slower or faster: the interval at the top right"},
    {"[ ]", "the chart's timeframe; i: the indicator below it, or none"},
    {"p", "pause trading, or resume it, at once"},
    {"F", "flatten: pause, cancel all, close all; wants the word typed"},
    {"a", "acknowledge the chosen alert"},
    {"b", "backtest the chosen account's strategy (tab 5), or stop that"},
    {"x", "cancel the chosen order (tab 6); wants a y"},
    {"Ctrl-L", "draw anew"},
    {"q", "quit; the daemon goes on"},
};

enum { LINES_SHOWN = sizeof(lines) / sizeof(lines[0]) };

void panel_help(const struct area *screen, const struct scene *scene)
{
    struct area box = frame_box(screen, 78, LINES_SHOWN + 7, "Help");
    int y = 0;

    (void)scene;
    for (int i = 0; i < LINES_SHOWN; i++, y++) {
        area_text(&box, 0, y, STYLE_KEY, lines[i].keys);
        area_text_cut(&box, 12, y, box.width - 12, STYLE_NORMAL, lines[i].words);
    }
    y++;
    area_text_cut(&box, 0, y++, box.width, STYLE_DIM,
                  "Fills: M maker, T taker. grp: the orders of one OCO or bracket.");
    area_text_cut(&box, 0, y++, box.width, STYLE_DIM,
                  "Ages count from when the data came. STALE: three intervals late; -: ten.");
    area_text_cut(&box, 0, y++, box.width, STYLE_DIM,
                  "Everything here is paper: no order leaves this machine.");
    area_text_cut(&box, 0, y, box.width, STYLE_DIM, "Any key closes this.");
}
