#include "tui/key_table.h"

#include "tui/lists.h"
#include "tui/study_keys.h"
#include "tui/train_keys.h"
#include "tui/view.h"

static const struct key_row rows[] = {
    {"1-8", "overview study gpu market positions orders alerts log", KEYS_EVERYWHERE,
     "overview, study, GPU, market, positions, orders, alerts, log", NULL},
    {"h l", "tab-before tab-next", KEYS_EVERYWHERE, "the tab before, the next one; so do left and right",
     NULL},
    {"Tab", "panel-next", KEYS_EVERYWHERE, "next panel; the arrows move in the one whose name is bright",
     NULL},
    {"j k", "down up", KEYS_EVERYWHERE, "down, up; so do the arrows; PgDn PgUp a page", NULL},
    {"gg G", "first last", KEYS_EVERYWHERE, "first, last; so do Home and End", NULL},
    {"Enter", "open", KEYS_EVERYWHERE, "the chosen row's page: an order's, a fill's, a training's",
     "An order's page has its fields and times, its fills, their entries in the ledger, and what *papertape "
     "explain* prints of it. Of a fill, an alert, a line of the log, an entry of the ledger, a position, an account, a symbol and a "
     "policy likewise; a training and a study have pages of their own."},
    {"Esc", "back", KEYS_EVERYWHERE, "back: from a page to its row, from a zoomed panel", NULL},
    {"q", "quit", KEYS_EVERYWHERE, "quit, and the daemon continues", NULL},
    {"? F1", "help -", KEYS_EVERYWHERE, "this help; arrows scroll it, any other key closes it", NULL},
    {"J", "ledger", KEYS_EVERYWHERE, "the ledger, which is on `8` with the log; there, the log again",
     "Every entry: its amount, and the balance after it. An entry's page has the fill and the order, or the command, "
     "that caused it. A screen of 33 rows or more shows both."},
    {"w", "whole", KEYS_EVERYWHERE, "every text that is cut on this screen, whole",
     "_F3_ does in a form, in a box that _F2_, _C_ or _V_ opens, and in the command line, of what Tab offers there, too."},
    {"z", "zoom", KEYS_EVERYWHERE, "zoom the panel, and back", NULL},
    {"f", "freeze", KEYS_EVERYWHERE, "freeze the screen, and continue", NULL},
    {"F2", "set-up", KEYS_EVERYWHERE, "set-up: colours, glyphs, times, interval, columns, keys, views",
     "It opens the boxes of *C* and *V*, and of each action's key, which can be another. Changed at once, kept with *s* in _$XDG_CONFIG_HOME/papertape/dashboard.ini_ (else in _~/.config_); options of the "
     "command line go before it, and what is printed (*--once*, *--json*, *--dump-screen*) is always in UTC."},
    {"V", "views", KEYS_EVERYWHERE, "the saved views: opens one, by its number; s saves this one",
     "A view is what the screen shows and how: tab, panel, page, symbol, training, study, the chart's timeframe, form, scale and indicators, the span of the "
     "equity, and of each list its order, filter and columns. Also _:view NAME_, _:view save NAME_, _:view remove NAME_."},
    {"u", "equity-span", KEYS_EVERYWHERE, "the equity of a day, a week, a month, all",
     "With the drawdown where there is room, and each UTC day's profit or loss: zoom it with *z*."},
    {"H", "benchmark", KEYS_EVERYWHERE, "beside the equity: holding the chosen symbol, or not",
     "The symbol of tab 4, bought with all of the money at the curve's first point, or at the first stored bar after it, at the account's taker fee, as a report's benchmark."},
    {"+ -", "slower faster", KEYS_EVERYWHERE, "slower or faster: the interval at the top right", NULL},
    {"p", "pause", KEYS_EVERYWHERE, "pause trading, or resume it, at once",
     "It asks nothing, since a pause that waits for an answer is late; the header has it, and p again undoes it. Paused, "
     "only closing orders pass."},
    {"F", "flatten", KEYS_EVERYWHERE, "flatten: pause, cancel all, close all; typed to confirm",
     "It lists the positions, and asks to type FLATTEN."},
    {"a", "acknowledge", KEYS_EVERYWHERE, "acknowledge the chosen alert, elsewhere the newest open one",
     NULL},
    {":", "command", KEYS_EVERYWHERE, "the command line: what papertape VERB changes",
     "Without _papertape_, as _order buy BTCUSDT 0.01 --limit 59000_, _order cancel 7_, _account deposit main 500_; what the "
     "verb would print is shown in the last line, in a box where it is longer. papertape(1) says more of it."},
    {"< >", "past-before past-next", KEYS_EVERYWHERE, "the past: the moment before, the one after; Esc: now",
     "Where something changed: a fill, an order, an alert; on tab 4 the end of a bar of the chart. Everything is "
     "as the database has it of that moment, the header says PAST, and nothing can be acted on. _:at "
     "2026-08-08T12:00_, _:at -1h_ and _:at now_ lead to a moment, in the zone that is shown."},
    {"B", "order-line", KEYS_EVERYWHERE, "an order in the chosen symbol, in the command line",
     "_order buy_ and the symbol are typed already; F5 there asks the daemon what the order would cost, and orders nothing."},
    {"O", "order", KEYS_EVERYWHERE, "an order in what is chosen, by a form",
     "With the account and the symbol of the chosen row, the last price and the least quantity, on tab 5 what closes the "
     "chosen position; below it the venue's rules and what it would cost, as the daemon answers its dry run."},
    {"@", "price-alert", KEYS_EVERYWHERE, "an alert at a price of the chosen symbol, in the command line",
     "_alerts price_, the symbol and _--above_ are typed already; _--below_ is the other side. An @ at a symbol's name "
     "says that there are some, and the chart has a line at the nearest above and below. _alerts remove-price 3_ removes "
     "one; *papertape alerts prices* lists them."},
    {"U", "sweeps", KEYS_EVERYWHERE, "sweeps: start one, watch it, its heat map and best run",
     "A sweep runs by itself, also when the dashboard is closed, and is found again here: its files are in "
     "_$XDG_CACHE_HOME/papertape/dashboard-sweeps_ (else _~/.cache_). It changes nothing and needs no daemon."},
    {"y", "copy", KEYS_EVERYWHERE, "copy the chosen row, or the page, to the terminal's clipboard",
     "By OSC 52: the terminal has to allow it (tmux: _set-clipboard on_)."},
    {"M", "mouse", KEYS_EVERYWHERE, "the mouse chooses, or is left to the terminal",
     "It chooses tabs and rows, a second click is Enter, and the wheel moves in the panel that it is over; on "
     "the chart a click sets the crosshair, and the wheel zooms. Left "
     "to the terminal it selects text."},
    {"Ctrl-L", "redraw", KEYS_EVERYWHERE, "redraw", NULL},
    {"paste", "-", KEYS_EVERYWHERE, "text where a name or a value is typed, else nothing",
     "Line ends become blanks. It needs a terminal that marks what is pasted."},
    {"j k", "down up", KEYS_ITEM, "scroll the page; so do the arrows; PgDn PgUp gg G", NULL},
    {"Enter", "open", KEYS_ITEM, "a fill's, a round trip's, an entry's page: that of its order", NULL},
    {"E", "amend", KEYS_ITEM, "amend the order, by a form", NULL},
    {"x", "cancel", KEYS_ITEM, "cancel the order; y confirms", NULL},
    {"a", "acknowledge", KEYS_ITEM, "acknowledge the alert", NULL},
    {"Esc", "back", KEYS_ITEM, "back to the list", NULL},
    {"o", "sort", KEYS_LISTS, "the rows by the next column that is stored",
     "Each press takes another one; the last line says which."},
    {"I", "invert", KEYS_LISTS, "the other way round", NULL},
    {"C", "columns", KEYS_LISTS, "the columns: which are shown, of all that are stored",
     "Of each list, from the orders to the trials of a study, whose parameters are columns too. Space shows or hides one, _a_ leaves the choice to the room there is, _s_ keeps it in "
     "the file of F2."},
    {"/", "filter", KEYS_LISTS, "only rows that have a text; ! before it: have not",
     "_stop_, _#883_ (where rows have numbers), _2026-11-20_ and _09:30_ (as the list shows times), _symbol=BTC_, "
     "_qty>0.5_, _time<09:30_, _return<-1%_, _duration>10h_, _learning_rate<1e-3_, by the columns' names as _o_ says "
     "them. Esc removes the filter."},
    {"n N", "find-next find-before", KEYS_LISTS, "the next row that has a text, the one before",
     "The text is the last filter's, else it is asked for. Past the last row it continues at the first, and back."},
    {"E", "amend", KEYS_LISTS, "amend the chosen order, by a form",
     "On an order's page too. It has the order's numbers; those that are changed are sent."},
    {"W", "what-if", KEYS_LISTS, "what-if from the chosen order, in the command line",
     "On an order's page too. The moment and the account are typed already: the past one that is shown, else when the order was given. What "
     "*papertape what-if* prints is a page."},
    {"x", "cancel", KEYS_LISTS, "cancel the chosen order; y confirms", NULL},
    {"[ ]", "timeframe-before timeframe-next", KEYS_MARKET, "the chart's timeframe: the one before, the next",
     "Of those that the daemon keeps, else of those that bars are stored of."},
    {"d", "depth", KEYS_MARKET, "order book and newest trades instead of the chart, and back",
     "They are beside the chart from 116 columns on. A star marks prices at which orders of ours rest, with what is left "
     "of them."},
    {"D", "bars", KEYS_MARKET, "the chart's bars as a list, and back",
     "All that are stored of the symbol and the timeframe, with the keys of the other lists; Enter shows one in the chart. By volume, by change, "
     "only those of a day (_/2026-08-08_). Where no bar of the timeframe is stored, those that the chart keeps."},
    {"o I", "sort invert", KEYS_MARKET, "the prices by their change of 24 hours; the other way round",
     "Where Tab has chosen the prices, on any tab that has them. Again *o*: by the next column, as the other lists."},
    {"c", "line", KEYS_MARKET, "candles, or a line of closes", NULL},
    {"L", "scale", KEYS_MARKET, "logarithmic prices, or linear ones", NULL},
    {", .", "older newer", KEYS_MARKET, "older bars, newer ones, by a quarter of what is shown",
     "Where Tab has chosen the chart, PgUp and PgDn go by all that is shown, Home to the oldest that were read, "
     "End to the newest."},
    {"{ }", "more-bars fewer-bars", KEYS_MARKET, "twice as many bars, half as many", "From 8 to 300."},
    {"m", "crosshair", KEYS_MARKET, "a crosshair with its bar's figures",
     "Comma and full stop move it by one bar, where several share a column by these."},
    {"C", "indicators", KEYS_MARKET, "the indicators: which the chart shows, of all that are kept",
     "Space shows or hides one, _a_ shows all, _s_ keeps it in the file of F2."},
    {"i", "indicator-below", KEYS_MARKET, "the indicator below the chart: the next one, then none", NULL},
    {"b", "backtest", KEYS_POSITIONS, "backtest the chosen account's strategy, or stop that",
     "Over the stored bars, as *papertape backtest --account* does; its equity is drawn beside the live one. "
     "It changes nothing and needs no daemon."},
    {"t", "foot", KEYS_POSITIONS, "the foot: equity, round trips, P&L by symbol, by strategy",
     "A screen of 100 columns and 36 rows has all four; there it chooses one. Round trips are from flat to flat, "
     "their P&L is after fees: the trades of *papertape report*."},
    {"A", "all-accounts", KEYS_POSITIONS, "round trips and their sums of the chosen account, or of all",
     NULL},
    {"s", "start", KEYS_STUDY, "start a training, by the form; on a study, a study",
     "Asks for its name, then opens the form with the daemon's default configuration; of a study with that of "
     "the chosen one, else the default with a section [study]."},
    {"S", "start-study", KEYS_STUDY, "start a study, by the form", NULL},
    {"r", "restart", KEYS_STUDY, "restart it from its last checkpoint, by the form",
     "The form has its configuration, and asks before it sends that; sent unchanged it continues as it was."},
    {"x", "stop", KEYS_STUDY, "stop it, with a checkpoint; y confirms", NULL},
    {"e", "resume", KEYS_STUDY, "resume one that was stopped, paused or has failed; y confirms", NULL},
    {"P", "promote", KEYS_STUDY, "promote a training's policy; y confirms; two marked: baseline",
     "One step. Where two trainings or more are marked it takes the chosen one for the baseline, as *K*, and asks nothing; "
     "a policy is then promoted in the list of policies."},
    {"R", "retire", KEYS_STUDY, "retire it; y confirms", NULL},
    {"Space", "mark", KEYS_STUDY, "mark a training: its curve is drawn beside the chosen one's",
     "Up to six. Each has a line in the legend, with its newest value and the difference to the baseline where both have come; "
     "the baseline is the first that was marked, or that of *P* or *K*."},
    {"K", "baseline", KEYS_STUDY, "the baseline, which marked trainings are measured by",
     "The chosen training is it. So does _P_ where two or more are marked; with fewer _P_ promotes."},
    {"~", "smooth", KEYS_STUDY, "smoothed learning curves: by 0.6, 0.9, 0.99, not",
     "An exponential moving average of the stored points, by the weight of what was before."},
    {"i", "figure", KEYS_STUDY, "the figure beside a training's return: the next, then none",
     "Losses, KL, explained variance, gradient norm, learning rate, steps a second."},
    {"v", "validation", KEYS_STUDY_PAGE, "the overfitting check of its best, and back", NULL},
    {"i", "plot", KEYS_STUDY_PAGE, "the plot: importance, slice, histogram, contour, parallel",
     "In place of the parameters' importance. A slice has every trial's value by a parameter, a contour the best "
     "value by two of them, parallel coordinates a line a trial."},
    {"[ ]", "parameter-before parameter-next", KEYS_STUDY_PAGE,
     "the plot's parameter: the one before, the next",
     "By importance. In its panel (Tab) the arrows choose it too."},
    {"{ }", "other-before other-next", KEYS_STUDY_PAGE, "a contour's other parameter", NULL},
    {"o", "sort", KEYS_STUDY_PAGE, "its trials by the next column",
     "Newest, value, state, duration, each parameter."},
    {"I", "invert", KEYS_STUDY_PAGE, "the other way round", NULL},
    {"/", "filter", KEYS_STUDY_PAGE, "only trials that have a text; ! before it: have not",
     "_fail_, _#29_, a worker, _rate=0.001_. Esc removes the filter."},
    {"n N", "find-next find-before", KEYS_STUDY_PAGE, "the next trial that has a text, the one before",
     "The text is the last filter's, else it is asked for."},
    {"C", "columns", KEYS_STUDY_PAGE, "its trials' columns: which are shown",
     "Also when a trial was started and ended, how often it was tried before, and why it failed."},
    {"Enter", "open", KEYS_STUDY_PAGE, "on a trial: that trial alone", NULL},
    {"Up Down", "- -", KEYS_ORDER, "the field above, below; so does Tab; PgUp PgDn Home End", NULL},
    {"Left", "-", KEYS_ORDER, "the choice before; a price by a tick, a quantity by a lot",
     "Right, and of choices Space, the other way. A letter goes to the choice that begins with it."},
    {"0-9", "-", KEYS_ORDER, "type the chosen field's value; the first one replaces it",
     "So do letters where the field takes them. Backspace takes the last one away."},
    {"Ctrl-U", "-", KEYS_ORDER, "clear the field: the order has no such option; so does Del", NULL},
    {"F5", "-", KEYS_ORDER, "ask the daemon again what it would be",
     "It is asked at each change, and each second: its answer is that of papertape order --dry-run."},
    {"F3", "-", KEYS_ORDER, "every text that is cut in the form, whole", NULL},
    {"Enter F12", "- -", KEYS_ORDER, "order, or amend, with this; y confirms",
     "It is the same as the line below the fields with _papertape_ before it."},
    {":", "-", KEYS_ORDER, "continue in the command line, with that line", NULL},
    {"Esc", "-", KEYS_ORDER, "leave; nothing is sent", NULL},
    {"j k", "down up", KEYS_FORM, "down, up; so do the arrows; PgDn PgUp Home End", NULL},
    {"Enter", "-", KEYS_FORM, "edit the chosen value; Enter takes it, Esc does not", NULL},
    {"a", "form-add", KEYS_FORM, "add a key that the text has not; letters filter", NULL},
    {"d", "form-omit", KEYS_FORM, "leave the chosen line out: the default holds", NULL},
    {"u", "form-undo", KEYS_FORM, "undo what was done to the chosen line", NULL},
    {"c F5", "form-check -", KEYS_FORM, "check: the co-process names what is wrong, at its lines", NULL},
    {"n", "form-error", KEYS_FORM, "the next line with an error", NULL},
    {"w F3", "whole -", KEYS_FORM, "every text that is cut in the form, whole; F3 while typing", NULL},
    {"s F12", "form-send -", KEYS_FORM, "start, or restart, with this; y confirms", NULL},
    {"Esc q", "- -", KEYS_FORM, "leave; asks where something was changed", NULL},
    {"j k", "- -", KEYS_SWEEPS, "down, up; so do the arrows; PgDn PgUp gg G; on the map a cell", NULL},
    {"Enter", "-", KEYS_SWEEPS, "open the sweep; on a set or a cell: backtest that, or its best",
     "The run's figures stand beside those that the sweep had, with the command line that does the same. In the form it "
     "starts the sweep, once it is known how long it takes."},
    {"s", "-", KEYS_SWEEPS, "start a sweep, by the form",
     "Ranges of two parameters are filled in from what the strategy says of itself; Space turns a parameter's range on and "
     "off, F5 says how many sets there are and how long they take. What takes more than 60 s is asked about."},
    {"r", "-", KEYS_SWEEPS, "start another one, by the form with its values", NULL},
    {"x", "-", KEYS_SWEEPS, "stop it; what it has done is kept, and shown", NULL},
    {"e", "-", KEYS_SWEEPS, "continue one that was stopped or has failed", NULL},
    {"d", "-", KEYS_SWEEPS, "remove it, with its files; y confirms", NULL},
    {"m", "-", KEYS_SWEEPS, "its heat map, and back", NULL},
    {"[ ]", "- -", KEYS_SWEEPS, "the map's parameter across: the one before, the next", NULL},
    {"{ }", "- -", KEYS_SWEEPS, "the map's parameter that goes up", NULL},
    {"i", "-", KEYS_SWEEPS, "the map's figure: dsr, Sharpe, return and so on", NULL},
    {"o I", "- -", KEYS_SWEEPS, "sort by the next column; the other way round", NULL},
    {"/", "-", KEYS_SWEEPS, "only rows that have a text; ! before it: have not",
     "_fast=5_, _sharpe>1_, _state=done_, by the columns' names as _o_ says them. Esc removes the filter."},
    {"Esc q", "- -", KEYS_SWEEPS, "back: from a set, a map, a table, the list", NULL},
};

const struct key_row *tui_key_table(int i)
{
    return i >= 0 && i < (int)(sizeof(rows) / sizeof(rows[0])) ? &rows[i] : NULL;
}

const char *tui_key_place_words(enum key_place place)
{
    static const char *const words[KEYS_PLACES] = {
        [KEYS_EVERYWHERE] = "everywhere",
        [KEYS_ITEM] = "the page of a row",
        [KEYS_LISTS] = "lists",
        [KEYS_MARKET] = "the market, tab `4`",
        [KEYS_POSITIONS] = "positions, tab `5`",
        [KEYS_STUDY] = "trainings and studies, tab `2`",
        [KEYS_STUDY_PAGE] = "a study's page",
        [KEYS_ORDER] = "the form of an order",
        [KEYS_FORM] = "the form",
        [KEYS_SWEEPS] = "sweeps",
    };

    return words[place];
}

enum key_place tui_key_place(const struct view *view, enum panel focus)
{
    if (view->sweeps)
        return KEYS_SWEEPS;
    if (view->order_form)
        return KEYS_ORDER;
    if (view->page)
        return KEYS_FORM;
    if (view->item.kind != ITEM_NONE)
        return KEYS_ITEM;
    if (view->tab == TAB_STUDY && view->study_view != STUDY_LISTED)
        return KEYS_STUDY_PAGE;
    if (tui_study_keys_here(view, focus) || tui_train_keys_here(view, focus))
        return KEYS_STUDY;
    if (tui_lists_of(focus) < LIST_POSITIONS) /* beside these are more of the tab's */
        return KEYS_LISTS;
    return view->tab == TAB_MARKET      ? KEYS_MARKET
           : view->tab == TAB_POSITIONS ? KEYS_POSITIONS
                                        : KEYS_EVERYWHERE;
}
