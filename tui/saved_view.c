#include "tui/saved_view.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tui/item_keys.h"
#include "tui/lists.h"

#define SECTION                  "view"
#define PANEL_WORD(number, name) " " #name
#define AT(field)                KEY_AT(struct saved_view, field)
#define LIST_AT(list, field)     AT(lists[list].field)
#define YES                      KEY_SWITCH("no yes")

static int read_filter(const struct config_key *key, const char *text, void *base,
                       char why[static CONFIG_WHY_MAX]);
static void print_filter(const struct config_key *key, const void *base, FILE *to);

static int read_row(const struct config_key *key, const char *text, void *base,
                    char why[static CONFIG_WHY_MAX]);

/* How a list is sorted and filtered, and its columns. */
#define SORTED(list, word) \
    {SECTION, word "_sort", "column that " word " are sorted by; empty: as usual", \
     "",      KEY_TEXT,     LIST_AT(list, sort)}, \
        {SECTION, word "_invert", "the other way round", "no", YES, LIST_AT(list, invert)}, \
    { \
        SECTION, word "_filter", "only those of " word " that have it", "", \
            KEY_OWN(read_filter, print_filter), LIST_AT(list, filter) \
    }
#define COLUMNED(list, word, name) \
    SORTED(list, #word), {SECTION,           #word "_columns", "columns of " #word, \
                          LIST_COLUMNS_AUTO, KEY_TEXT,         LIST_AT(list, columns)},

static const struct config_key rows[] = {
    {SECTION, "tab", "the tab", "overview",
     KEY_WORDS("overview study gpu market positions orders alerts log"), AT(tab)},
    {SECTION, "zoomed", "the panel that is zoomed", "none", KEY_WORDS("none" PANEL_LIST(PANEL_WORD)),
     AT(zoomed)},
    {SECTION, "focus", "the panel that the arrows move in", "prices",
     KEY_WORDS("none" PANEL_LIST(PANEL_WORD)), AT(focus)},
    {SECTION, "symbol", "the chosen symbol; empty: the first", "", KEY_TEXT, AT(symbol)},
    {SECTION, "timeframe", "of the chart; empty: the market's", "", KEY_TEXT, AT(timeframe)},
    {SECTION, "chart", "candles or a line of closes", "candles", KEY_SWITCH("candles line"), AT(line)},
    {SECTION, "scale", "of the chart's prices", "linear", KEY_SWITCH("linear log"), AT(log)},
    {SECTION, "bars", "how many the chart shows; 0: as many as fit", "0", KEY_WHOLE(0, CHART_BARS_MAX),
     AT(bars)},
    {SECTION, "chart_hides", "indicators that it does not show", OVERLAY_HIDES_NONE, KEY_TEXT, AT(hides)},
    {SECTION, "below", "which indicator is below it, from 0 on", "0", KEY_WHOLE(0, HISTORY_OUTPUTS_MAX),
     AT(below)},
    {SECTION, "depth", "order book and trades instead of the chart", "no", YES, AT(depth)},
    {SECTION, "bars_list", "its bars as a list instead of the chart", "no", YES, AT(bars_list)},
    {SECTION, "equity_span", "how much of the equity", "24h", KEY_WORDS("24h 7d 30d all"), AT(span)},
    {SECTION, "benchmark", "holding the symbol beside it", "no", YES, AT(benchmark)},
    {SECTION, "foot", "what is at the foot of the positions", "equity",
     KEY_WORDS("equity trips symbols strategies"), AT(foot)},
    {SECTION, "trips_of_one", "round trips of the chosen account alone", "no", YES, AT(trips_one)},
    {SECTION, "ledger", "the ledger instead of the log", "no", YES, AT(ledger)},
    {SECTION, "page", "of the studies' tab: whose page is shown", "none",
     KEY_WORDS("none training study validation"), AT(page)},
    {SECTION, "training", "the chosen training; empty: the first", "", KEY_OWN(read_filter, print_filter),
     AT(training)},
    {SECTION, "study", "the chosen study; empty: the first", "", KEY_OWN(read_filter, print_filter),
     AT(study)},
    {SECTION, "row", "the row whose page is shown, as order:883; empty: none", "",
     KEY_OWN(read_row, print_filter), AT(row)},
    LIST_TABLES(COLUMNED)
#undef COLUMNED
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static const char *const list_names[LIST_ALL] = {
#define WORD(list, word, name) [list] = #word,
    LIST_TABLES(WORD)
#undef WORD
};

const struct config_key *tui_saved_view_rows(size_t *ret_n)
{
    *ret_n = ROWS;
    return rows;
}

void tui_saved_view_defaults(struct saved_view *saved)
{
    *saved = (struct saved_view){0};
    config_key_defaults(rows, ROWS, SECTION, saved);
}

/* ---- texts: a line of a file has no ; after a blank, and no blanks at its ends ---- */

static int read_filter(const struct config_key *key, const char *text, void *base,
                       char why[static CONFIG_WHY_MAX])
{
    char value[STUDY_LABEL_MAX]; /* the longest */
    size_t n = 0;

    for (; *text; text++) {
        if (n + 1 == key->size)
            return config_key_refuse(why, CONFIG_WHY_MAX, "too long: %zu bytes at most", key->size - 1);
        if (*text == '\\' && text[1])
            value[n++] = *++text == 's' ? ' ' : *text;
        else
            value[n++] = *text;
    }
    value[n] = '\0';
    memcpy((char *)base + key->offset, value, n + 1);
    return 0;
}

static int read_row(const struct config_key *key, const char *text, void *base,
                    char why[static CONFIG_WHY_MAX])
{
    struct item item;
    int r = read_filter(key, text, base, why);

    if (r == 0 && text[0] && !tui_item_parse((char *)base + key->offset, &item)) {
        ((char *)base)[key->offset] = '\0';
        return config_key_refuse(why, CONFIG_WHY_MAX, ITEM_FORMS " is needed");
    }
    return r;
}

static void print_filter(const struct config_key *key, const void *base, FILE *to)
{
    const char *text = (const char *)base + key->offset;

    for (const char *at = text; *at; at++) {
        if (*at == ' ' && (at == text || !at[1]))
            fputs("\\s", to);
        else if (strchr("\\;", *at))
            fprintf(to, "\\%c", *at);
        else
            fputc(*at, to);
    }
}

/* ---- from a screen, and back ---- */

/* Of a name that another program gave: a line of a file has no control characters. */
static void take_name(char *to, size_t size, const char *name)
{
    const char *c = name;

    while (*c && ((unsigned char)*c >= ' ' && *c != 0x7f))
        c++;
    snprintf(to, size, "%s", *c ? "" : name);
}

static void take_page(const struct view *view, struct saved_view *ret)
{
    tui_item_form(&view->item, ret->row, sizeof(ret->row));
    if (view->tab != TAB_STUDY)
        return;
    take_name(ret->training, sizeof(ret->training), view->training);
    take_name(ret->study, sizeof(ret->study), view->study);
    ret->page = view->study_view == STUDY_PAGE         ? SAVED_PAGE_STUDY
                : view->study_view == STUDY_VALIDATION ? SAVED_PAGE_VALIDATION
                : view->detail                         ? SAVED_PAGE_TRAINING
                                                       : SAVED_PAGE_NONE;
}

void tui_saved_view_take(const struct view *view, struct saved_view *ret)
{
    tui_saved_view_defaults(ret);
    ret->tab = (int)view->tab;
    ret->zoomed = (int)view->zoomed;
    ret->focus = (int)(view->item.kind == ITEM_NONE ? view->focus : view->item_from);
    memcpy(ret->symbol, view->symbol, sizeof(ret->symbol));
    memcpy(ret->timeframe, view->timeframe, sizeof(ret->timeframe));
    ret->line = view->chart.line;
    ret->log = view->chart.log;
    ret->bars = view->chart.bars;
    memcpy(ret->hides, view->settings.hides, sizeof(ret->hides));
    ret->below = view->below;
    ret->depth = view->depth;
    ret->bars_list = view->bars;
    ret->span = (int)view->equity_span;
    ret->benchmark = view->benchmark;
    ret->foot = (int)view->foot;
    ret->trips_one = view->trips_one;
    ret->ledger = view->ledger;
    take_page(view, ret);
    for (int i = 0; i < LIST_ALL; i++) {
        const struct list_choice *list = &view->lists[i];
        struct saved_list *saved = &ret->lists[i];
        const char *column = list->sort > 0 ? tui_lists_sort(i, list->sort) : NULL;
        snprintf(saved->sort, sizeof(saved->sort), "%s", column ? column : "");
        saved->invert = list->invert;
        memcpy(saved->filter, list->filter, sizeof(saved->filter));
        memcpy(saved->columns, view->settings.columns[i], sizeof(saved->columns));
    }
}

static void add(char gone[static SAVED_VIEW_GONE_MAX], const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void add(char gone[static SAVED_VIEW_GONE_MAX], const char *format, ...)
{
    size_t n = strlen(gone);
    va_list args;

    if (n > 0 && n + 2 < SAVED_VIEW_GONE_MAX)
        n += (size_t)snprintf(gone + n, SAVED_VIEW_GONE_MAX - n, ", ");
    va_start(args, format);
    vsnprintf(gone + n, SAVED_VIEW_GONE_MAX - n, format, args);
    va_end(args);
}

static void show_list(const struct saved_list *saved, int list, struct view *view, char *gone)
{
    struct list_choice *choice = &view->lists[list];
    int columns = 0;
    size_t len;

    *choice =
        (struct list_choice){.invert = saved->invert, .asked = choice->asked, .answered = choice->asked};
    memcpy(choice->filter, saved->filter, sizeof(choice->filter));
    memcpy(choice->find, saved->filter, sizeof(choice->find));
    for (int i = 1; saved->sort[0] && i < tui_lists_sorts(list); i++)
        if (strcmp(tui_lists_sort(list, i), saved->sort) == 0)
            choice->sort = i;
    if (saved->sort[0] && choice->sort == 0)
        add(gone, "column %s of %s", saved->sort, list_names[list]);
    if (!tui_list_columns(list, &columns))
        return;
    const char *wrong = tui_list_columns_wrong(list, saved->columns, &len);
    if (wrong)
        add(gone, "column %.*s of %s", (int)len, wrong, list_names[list]);
    if (strcmp(view->settings.columns[list], wrong ? LIST_COLUMNS_AUTO : saved->columns) == 0)
        return;
    snprintf(view->settings.columns[list], LIST_COLUMNS_TEXT_MAX, "%s",
             wrong ? LIST_COLUMNS_AUTO : saved->columns);
}

static void show_chart(const struct saved_view *saved, struct view *view, const struct model *model,
                       char *gone)
{
    const struct history *h = &model->history;
    bool known = model->status.n_symbols == 0 || !saved->symbol[0], kept = true;

    for (int i = 0; i < model->status.n_symbols; i++)
        known |= strcmp(model->status.symbols[i].symbol, saved->symbol) == 0;
    if (!known)
        add(gone, "symbol %s", saved->symbol);
    snprintf(view->symbol, sizeof(view->symbol), "%s", known ? saved->symbol : "");
    if (saved->timeframe[0] && saved->symbol[0] && strcmp(h->bars_symbol, saved->symbol) == 0) {
        kept = h->n_timeframes == 0;
        for (int i = 0; i < h->n_timeframes; i++)
            kept |= strcmp(h->timeframes[i], saved->timeframe) == 0;
    }
    if (!kept)
        add(gone, "timeframe %s", saved->timeframe);
    snprintf(view->timeframe, sizeof(view->timeframe), "%s", kept ? saved->timeframe : "");
    view->chart = (struct chart_window){.line = saved->line, .log = saved->log, .bars = saved->bars};
    memcpy(view->settings.hides, saved->hides, sizeof(view->settings.hides));
    view->below = saved->below;
    view->depth = saved->depth;
}

/* Of the studies' tab: what is chosen, and the page. */
static void show_study(const struct saved_view *saved, struct view *view, const struct model *model,
                       char *gone)
{
    const bool known = model->status.n_symbols > 0 || model->status.n_trainings > 0;

    if (saved->tab != TAB_STUDY)
        return;
    memcpy(view->training, saved->training, sizeof(view->training));
    memcpy(view->study, saved->study, sizeof(view->study));
    view->detail =
        saved->training[0] != '\0'; /* the chosen one alone is looked for, whatever the filter is */
    if (view->detail && known && !tui_view_training(view, model)) {
        add(gone, "training %s", saved->training);
        view->detail = false;
        view->training[0] = '\0';
    }
    view->detail &= saved->page == SAVED_PAGE_TRAINING;
    if (saved->study[0] && model->studies && !tui_studies_find(model->studies, saved->study)) {
        add(gone, "study %.80s", saved->study);
        view->study[0] = '\0';
    }
    if (view->study[0] && saved->page >= SAVED_PAGE_STUDY)
        view->study_view = saved->page == SAVED_PAGE_STUDY ? STUDY_PAGE : STUDY_VALIDATION;
}

/* Is the item among what the status has? One that is stored is looked for by its page. */
static bool is_there(const struct item *item, const struct model *model)
{
    const struct status *s = &model->status;
    bool found = s->n_symbols == 0 || item->kind < ITEM_ACCOUNT || item->kind == ITEM_POLICY;

    for (int i = 0; item->kind == ITEM_ACCOUNT && i < s->n_accounts; i++)
        found |= strcmp(s->accounts[i].account, item->name) == 0;
    for (int i = 0; item->kind == ITEM_POSITION && i < s->n_positions; i++)
        found |= strcmp(s->positions[i].symbol, item->name) == 0 &&
                 strcmp(s->positions[i].account, item->account) == 0;
    return found || (item->kind == ITEM_SYMBOL && tui_model_symbol(model, item->name));
}

/* The page of a row, over the tab that it was opened on. */
static void show_row(const struct saved_view *saved, struct view *view, const struct model *model, char *gone)
{
    struct item item;
    char title[ITEM_NAME_MAX + ACCOUNT_NAME_MAX + 40];

    if (!tui_item_parse(saved->row, &item))
        return;
    if (!is_there(&item, model)) {
        tui_item_title(&item, title, sizeof(title));
        add(gone, "%.80s", title);
        return;
    }
    tui_item_keys_open(view, &item);
    view->tab = (enum tab)saved->tab;
    view->item_from = (enum panel)saved->focus;
    view->ledger = saved->ledger;
}

/* A panel is on a tab where the smallest complete screen or a large one has it. */
static bool is_placed(const struct view *view, const struct model *model, enum panel panel)
{
    struct layout small, large;
    struct view whole = *view;

    whole.zoomed = PANEL_NONE;
    tui_view_layout(&whole, model, 80, 24, &small);
    tui_view_layout(&whole, model, 200, 60, &large);
    return tui_layout_find(&small, panel) || tui_layout_find(&large, panel);
}

void tui_saved_view_show(const struct saved_view *saved, struct view *view, const struct model *model,
                         char gone[static SAVED_VIEW_GONE_MAX])
{
    gone[0] = '\0';
    tui_item_keys_back(view);
    view->detail = view->help = view->whole = view->setup = false;
    view->choosing = CHOOSING_NOTHING;
    view->study_view = STUDY_LISTED;
    view->tab = (enum tab)saved->tab;
    view->zoomed = (enum panel)saved->zoomed;
    view->focus = (enum panel)saved->focus;
    memset(view->cursor, 0, sizeof(view->cursor));
    show_chart(saved, view, model, gone);
    view->bars = saved->bars_list;
    view->equity_span = (enum history_span)saved->span;
    view->span_chosen = view->equity_span != SPAN_DAY; /* the default of a view, too */
    view->benchmark = saved->benchmark;
    view->foot = (enum layout_foot)saved->foot;
    view->trips_one = saved->trips_one;
    view->ledger = saved->ledger;
    show_study(saved, view, model, gone);
    for (int i = 0; i < LIST_ALL; i++)
        show_list(&saved->lists[i], i, view, gone);
    if (view->zoomed != PANEL_NONE && !is_placed(view, model, view->zoomed)) {
        char name[40];
        config_key_text(config_key_find(rows, ROWS, SECTION, "zoomed"), saved, name, sizeof(name));
        add(gone, "panel %s", name);
        view->zoomed = PANEL_NONE;
    }
    show_row(saved, view, model, gone);
}

const char *tui_saved_view_wrong(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    size_t len = strlen(name);

    if (len == 0 || len >= SAVED_VIEW_NAME_MAX)
        return "a name of 1 to 31 characters is needed";
    if (!strchr(letters, name[0]))
        return "a name begins with a letter or a digit";
    while (*name && (strchr(letters, *name) || strchr("-_.", *name)))
        name++;
    return *name ? "a name has letters, digits, - _ and . alone" : NULL;
}
