/* The lists whose rows the model holds, checked by SQLite: random rows, put into a table here, sorted and
 * filtered by SQL as the lists of the database are; and their keys. */
#include "tui/list_held.h"

#include <locale.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixtures/dashboard.h"
#include "tests/check.h"
#include "tests/random.h"
#include "tests/tui/picture.h"
#include "tui/keys.h"
#include "tui/lists.h"
#include "tui/mouse.h"

enum { MANY = 300 }; /* of each: more than one window of the database's lists has */

static const char *golden;
static struct model *model;
static struct view view;
static const struct moment now = {1723161255342000000, 1000000};
static sqlite3 *db;
static struct random dice;

static bool one_of(int n)
{
    return random_between(&dice, 1, n) == 1;
}

static void word(char *buf, size_t size)
{
    static const char *const words[] = {"",      "update",  "queued", "done", "failed",
                                        "Worse", "ppo_50%", "a=b",    "cuda"};

    snprintf(buf, size, "%s", words[random_between(&dice, 0, 8)]);
}

static double real(void)
{
    return one_of(4) ? NAN : (double)random_between(&dice, -8, 8) / 4;
}

static int64_t count(void)
{
    return one_of(4) ? -1 : random_between(&dice, 0, 5);
}

static int64_t when(void)
{
    return one_of(3) ? 0 : random_between(&dice, 1, 4) * 1000000007;
}

static void fill_training(struct status_training *t, int i)
{
    snprintf(t->training, sizeof(t->training), "t_%d", i * 7 % 311);
    char *const texts[] = {t->state, t->device, t->backend, t->verdict, t->cause, t->reason, t->study};
    for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++)
        word(texts[k], 10);
    t->steps = random_between(&dice, 0, 4);
    t->total_steps = count();
    t->steps_s = real(), t->episode_return = real(), t->memory_mib = real();
    t->age_ms = count(), t->iteration = count(), t->attempts = count(),
    t->priority = random_between(&dice, 0, 9);
    t->created_ns = when(), t->started_ns = when(), t->ended_ns = when();
}

static void fill_policy(struct status_policy *p, int i)
{
    snprintf(p->policy, sizeof(p->policy), "p_%d", i * 7 % 311);
    char *const texts[] = {p->role,     p->account, p->state,  p->verdict, p->training,
                           p->interval, p->backend, p->reason, p->detail,  p->limits};
    for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++)
        word(texts[k], 8);
    p->trades = count();
    p->sharpe = real(), p->return_pct = real(), p->equity = real();
    p->decided_ns = when(), p->since_ns = when(), p->expires_ns = when();
}

static void fill_position(struct status_position *p, int i)
{
    snprintf(p->symbol, sizeof(p->symbol), "S%d", i / 3);
    snprintf(p->account, sizeof(p->account), "a%d", i % 3);
    snprintf(p->side, sizeof(p->side), "%s", one_of(2) ? "L" : "S");
    p->qty = real(), p->entry = real(), p->fifo_entry = real(), p->mark = real();
    p->upnl = real(), p->stop = real(), p->age_ms = count();
}

static void fill_symbol(struct status_symbol *s, int i)
{
    snprintf(s->symbol, sizeof(s->symbol), "s_%d", i * 7 % 311);
    char *const texts[] = {s->book, s->trading, s->market, s->venue, s->interval};
    for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++)
        word(texts[k], 8);
    s->last = real(), s->bid = real(), s->ask = real(), s->mark = real(), s->change_24h_pct = real();
    s->bars = count(), s->age_ms = count();
}

static void fill(int n)
{
    struct status *s = &model->status;

    tui_status_finish(s);
    s->trainings_total = s->policies_total = n;
    for (int i = 0; i < n; i++) {
        fill_position(tui_status_add(s, STATUS_POSITIONS), i);
        fill_symbol(tui_status_add(s, STATUS_SYMBOLS), i);
        fill_training(tui_status_add(s, STATUS_TRAININGS), i);
        fill_policy(tui_status_add(s, STATUS_POLICIES), i);
    }
}

/* ---- the oracle ---- */

static sqlite3_stmt *insert;
static int column;

static void bind_text(const char *text)
{
    sqlite3_bind_text(insert, ++column, text[0] ? text : NULL, -1, SQLITE_STATIC);
}

static void bind_real(double value)
{
    if (isnan(value))
        sqlite3_bind_null(insert, ++column);
    else
        sqlite3_bind_double(insert, ++column, value);
}

static void bind_count(int64_t value, bool none)
{
    if (none)
        sqlite3_bind_null(insert, ++column);
    else
        sqlite3_bind_int64(insert, ++column, value);
}

static void put_training(const struct status_training *t)
{
    bind_text(t->training), bind_text(t->state);
    bind_real(t->total_steps > 0 ? 100 * (double)t->steps / (double)t->total_steps : NAN);
    bind_count(t->steps, false), bind_real(t->steps_s), bind_real(t->episode_return);
    bind_count(t->age_ms, t->age_ms < 0), bind_count(t->created_ns, !t->created_ns);
    bind_count(t->started_ns, !t->started_ns), bind_count(t->ended_ns, !t->ended_ns);
    bind_text(t->device), bind_text(t->backend), bind_count(t->iteration, t->iteration < 0);
    bind_real(t->memory_mib), bind_count(t->attempts, t->attempts < 0), bind_count(t->priority, false);
    bind_text(t->verdict), bind_text(t->cause), bind_text(t->reason), bind_text(t->study);
}

static void put_policy(const struct status_policy *p)
{
    bind_text(p->policy), bind_text(p->role), bind_text(p->account), bind_text(p->state);
    bind_count(p->trades, p->trades < 0), bind_real(p->sharpe), bind_real(p->return_pct),
        bind_real(p->equity);
    bind_count(p->decided_ns, !p->decided_ns), bind_count(p->since_ns, !p->since_ns);
    bind_count(p->expires_ns, !p->expires_ns), bind_text(p->verdict), bind_text(p->training);
    bind_text(p->interval), bind_text(p->backend), bind_text(p->reason), bind_text(p->detail);
    bind_text(p->limits);
}

static void put_position(const struct status_position *p)
{
    bind_text(p->symbol), bind_text(p->side[0] == 'L' ? "L long" : "S short"), bind_text(p->account),
        bind_real(p->qty), bind_real(p->entry);
    bind_real(p->fifo_entry), bind_real(p->mark), bind_real(p->upnl), bind_real(p->stop);
    bind_count(p->age_ms, p->age_ms < 0);
}

static void put_symbol(const struct status_symbol *s)
{
    bind_real(s->change_24h_pct), bind_text(s->symbol), bind_real(s->last), bind_real(s->bid),
        bind_real(s->ask);
    bind_real(s->mark), bind_count(s->bars, s->bars < 0), bind_count(s->age_ms, s->age_ms < 0);
    bind_text(s->book), bind_text(s->trading), bind_text(s->market), bind_text(s->venue),
        bind_text(s->interval);
}

static const struct held {
    int list, columns;
    const char *texts; /* the columns that a text without a name is looked for in */
    const char *down;  /* those whose least is first; of the others the greatest */
    void (*put)(const void *row);
} helds[] = {
    {LIST_TRAININGS, 21, "[1][2][11][12][17][18][19][20]", "[1][2][11][12][17][18][19][20]",
     (void (*)(const void *))put_training},
    {LIST_POLICIES, 19, "[1][2][3][4][12][13][14][15][16][17][18]",
     "[1][2][3][4][12][13][14][15][16][17][18]", (void (*)(const void *))put_policy},
    {LIST_POSITIONS, 11, "[1][2][3]", "[1][2][3]", (void (*)(const void *))put_position},
    {LIST_PRICES, 14, "[2][9][10][11][12][13]", "[2][9][10][11][12][13]", (void (*)(const void *))put_symbol},
};

static bool in(const char *set, int number)
{
    char text[16];

    snprintf(text, sizeof(text), "[%d]", number);
    return strstr(set, text) != NULL;
}

static void load(const struct held *held)
{
    char sql[1024];
    size_t n = (size_t)snprintf(sql, sizeof(sql), "DROP TABLE IF EXISTS t; CREATE TABLE t (c0");

    for (int i = 1; i < held->columns; i++)
        n += (size_t)snprintf(sql + n, sizeof(sql) - n, ", c%d", i);
    snprintf(sql + n, sizeof(sql) - n, ")");
    CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    n = (size_t)snprintf(sql, sizeof(sql), "INSERT INTO t VALUES (?");
    for (int i = 1; i < held->columns; i++)
        n += (size_t)snprintf(sql + n, sizeof(sql) - n, ", ?");
    snprintf(sql + n, sizeof(sql) - n, ")");
    for (int i = 0; i < tui_list_held_total(model, held->list); i++) {
        CHECK_INT(sqlite3_prepare_v2(db, sql, -1, &insert, NULL), SQLITE_OK);
        sqlite3_bind_int(insert, 1, i);
        column = 1;
        held->put(tui_list_held_row(model, held->list, i));
        CHECK_INT(column, held->columns);
        CHECK_INT(sqlite3_step(insert), SQLITE_DONE);
        sqlite3_finalize(insert);
    }
}

/* The condition of a filter, which has no wildcard but in the words that are escaped. A name that no column
 * has leaves none. */
static char *condition(const struct held *held, const char *filter)
{
    bool not = filter[0] == '!';
    const char *words = filter + not, *op = strpbrk(words, "=<>"),
               *value = op ? op + 1 + (op[1] == '=') : NULL;
    char names[1024] = "0", pattern[64];
    size_t n = 1, p = 0, named_len = op ? (size_t)(op - words) : 0;
    int named = 0;

    if (!words[0])
        return sqlite3_mprintf("1");
    if (op && op[0] == '=' && named_len > 1 && op[-1] == '!') { /* "name!=value" is "!name=value" */
        not = !not ;
        named_len--;
    }
    for (int i = 1; op && i < held->columns; i++)
        if (strncmp(words, tui_list_held_column(held->list, i), named_len) == 0 &&
            strlen(tui_list_held_column(held->list, i)) == named_len)
            named = i;
    if (op && !named)
        return sqlite3_mprintf("0");
    if (op && value[0] && strchr("tsedc", words[0]) && strchr(value, ':')) /* of times, the first day's */
        return sqlite3_mprintf("(ifnull(c%d, -1) > 0 AND c%d / 1000000000 %.*s %d) IS %s TRUE", named, named,
                               (int)(value - op), op, atoi(strrchr(value, ':') + 1), not ? "NOT" : "");
    if (op && op[0] == '=' && strcmp(value, "-") == 0) /* no number */
        return sqlite3_mprintf("0 IS %s TRUE", not ? "NOT" : "");
    if (op && (op[0] != '=' || !in(held->texts, named))) /* "50%", "0.003s" */
        return sqlite3_mprintf("(typeof(c%d) <> 'text' AND c%d / %s %.*s %.*s) IS %s TRUE", named, named,
                               strncmp(words, "age", 3) == 0 ? "1000.0" : "1.0", (int)(value - op), op,
                               (int)strspn(value, "0123456789.-"), value, not ? "NOT" : "");
    for (const char *c = named ? op + 1 : words; *c; c++) {
        if (strchr("%_\\", *c))
            pattern[p++] = '\\';
        pattern[p++] = *c;
    }
    pattern[p] = '\0';
    for (int i = 1; i < held->columns; i++)
        if (named ? i == named : in(held->texts, i))
            n += (size_t)snprintf(names + n, sizeof(names) - n,
                                  " OR CAST(c%d AS TEXT) LIKE '%%%s%%' ESCAPE '\\'", i, pattern);
    return sqlite3_mprintf("(%s) IS %s TRUE", names, not ? "NOT" : "");
}

static void check_order(const struct held *held, const struct list_choice *choice)
{
    int n = 0, at = 0;
    const void **rows = tui_list_held_rows(model, held->list, choice, &n);
    char *where = condition(held, choice->filter);
    bool down = choice->sort > 0 && !in(held->down, choice->sort);
    char *sql = sqlite3_mprintf("SELECT c0 FROM t WHERE %s ORDER BY %s%d %s NULLS LAST, c0 %s", where,
                                choice->sort ? "c" : "c0 * ", choice->sort,
                                down != choice->invert ? "DESC" : "ASC", choice->invert ? "DESC" : "ASC");
    sqlite3_stmt *stmt;
    bool same = true;

    CHECK_INT(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    for (; sqlite3_step(stmt) == SQLITE_ROW; at++)
        same &= at < n && rows[at] == tui_list_held_row(model, held->list, sqlite3_column_int(stmt, 0));
    if (!same || at != n)
        fprintf(stderr, "%d rows by %s%s, /%s: %s\n", n, tui_list_held_column(held->list, choice->sort),
                choice->invert ? ", inverted" : "", choice->filter, sql);
    CHECK(same && at == n);
    sqlite3_finalize(stmt);
    sqlite3_free(where);
    sqlite3_free(sql);
    free(rows);
}

static void check_orders(void)
{
    static const char *const filters[] = {"",
                                          "done",
                                          "!done",
                                          "state=ueu",
                                          "!state=d",
                                          "state!=d",
                                          "!state!=d",
                                          "backend!=cuda",
                                          "return!=1.5",
                                          "ended!=00:00:03",
                                          "nosuch!=1",
                                          "%",
                                          "_5",
                                          "reason=a=b",
                                          "nothing",
                                          "WORSE",
                                          "verdict=",
                                          "backend=cuda",
                                          "a=b",
                                          "!",
                                          "return=1.5",
                                          "return=-",
                                          "return=1.0",
                                          "return>0.5",
                                          "!return<=1",
                                          "steps>2",
                                          "trades<3",
                                          "age>0.003",
                                          "age<=0.003s",
                                          "age=0.002s",
                                          "age>=0h",
                                          "side=long",
                                          "!side=SHORT",
                                          "long",
                                          "24h<-1%",
                                          "24h=-0.5%",
                                          "!return=1.50",
                                          "progress>=50%",
                                          "state>1",
                                          "started>=00:00:02",
                                          "ended=00:00:03",
                                          "!since<00:00:03"};
    static const int sizes[] = {0, 1, 2, 31, MANY};

    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        fill(sizes[k]);
        for (size_t h = 0; h < sizeof(helds) / sizeof(helds[0]); h++) {
            const struct held *held = &helds[h];
            CHECK_INT(tui_list_held_columns(held->list), held->columns);
            load(held);
            for (int sort = 0; sort < held->columns; sort++)
                for (size_t f = 0; f < 2 * sizeof(filters) / sizeof(filters[0]); f++) {
                    struct list_choice choice = {.sort = sort, .invert = f % 2};
                    snprintf(choice.filter, sizeof(choice.filter), "%s", filters[f / 2]);
                    check_order(held, &choice);
                }
            for (int i = 0; i < sizes[k]; i++)
                for (int j = 0; j < i; j++)
                    CHECK(tui_list_held_id(model, held->list, tui_list_held_row(model, held->list, i)) !=
                          tui_list_held_id(model, held->list, tui_list_held_row(model, held->list, j)));
        }
    }
}

/* What no row can have is said, in the words that the lists of the database have. */
static void check_wrong(void)
{
    static const struct {
        const char *filter, *words;
    } wrong[] = {{"nosuch=1", "no column \"nosuch\": one of training, state, progress, "},
                 {"nosuch!=1", "no column \"nosuch\": one of training, state, "},
                 {"state!=failed", NULL},
                 {"!nosuch>1", "no column \"nosuch\": one of training, state, "},
                 {"started>soon", "started: \"soon\" is no time: as 2026-11-20, "},
                 {"steps<many", "steps: \"many\" is no number"},
                 {"steps=many", "steps: \"many\" is no number"},
                 {"steps=5%", "steps: \"5%\" is no number"},
                 {"steps<5h", "steps: \"5h\" is no number"},
                 {"age>5y", "age: \"5y\" is no number of seconds, and not as 94s, 12m, 10h or 3d"},
                 {"age>", NULL},
                 {"progress=5%", NULL},
                 {"age>5h", NULL},
                 {"state=failed", NULL},
                 {"steps<", NULL},
                 {"started>09:30", NULL},
                 {"0.5%=", NULL}};
    char words[LIST_HELD_WORDS_MAX];

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        words[0] = '\0';
        CHECK(tui_list_held_check(model, LIST_TRAININGS, wrong[i].filter, words) == !wrong[i].words);
        CHECK(strstr(words, wrong[i].words ? wrong[i].words : "") != NULL);
    }
}

static bool matches(const char *text, enum db_list_value value, double number)
{
    char words[64];

    snprintf(words, sizeof(words), "a=%s", text);
    const struct db_list_filter filter = db_list_filter_parse(words);
    CHECK(!db_list_filter_wrong(&filter, value));
    return db_list_filter_compares(&filter, value, number);
}

/* What is shown of a span or a percentage finds it, and none that is shown otherwise in that unit. */
static void check_shown(void)
{
    char text[FORMAT_MAX], other[FORMAT_MAX];

    for (int i = 0; i < 20000; i++) {
        const int64_t most = (int64_t)pow(10, (double)random_between(&dice, 1, 9));
        const int64_t a = random_between(&dice, 0, most), b = random_between(&dice, 0, most);
        cli_format_age(text, a);
        cli_format_age(other, b);
        CHECK(matches(text, DB_LIST_SPAN, (double)a / 1000));
        if (text[strlen(text) - 1] == other[strlen(other) - 1] && !strchr(text, '.') && !strchr(other, '.'))
            CHECK(matches(text, DB_LIST_SPAN, (double)b / 1000) == (strcmp(text, other) == 0));
        const double p = (double)random_between(&dice, -most, most) / 7001,
                     q = p + (double)random_between(&dice, -100, 100) / 7001;
        const int decimals = fabs(p) < 10 ? 2 : fabs(p) < 100 ? 1 : 0;
        cli_format_percent(text, p, decimals);
        cli_format_percent(other, q, decimals);
        CHECK(matches(text, DB_LIST_CHANGE, p));
        CHECK(matches(text, DB_LIST_CHANGE, q) == (strcmp(text, other) == 0));
    }
    CHECK(matches("36000", DB_LIST_SPAN, 36000) && matches("0.1%", DB_LIST_PERCENT, 0.1) &&
          !matches("0.1%", DB_LIST_PERCENT, 0.104));
}

/* ---- keys ---- */

static void type(const char *keys)
{
    for (; *keys; keys++)
        tui_keys_press(&view, model, 80, 24, now, *keys == '\n' ? PRESS_ENTER : *keys);
}

static const char *training(void)
{
    const struct status_training *t = tui_view_training(&view, model);

    return t ? t->training : "";
}

static void sort_by(int list, const char *name)
{
    do
        type("o");
    while (strcmp(tui_lists_sort(list, view.lists[list].sort), name) != 0);
}

/* The cursor stays on its training by name, whatever the order; a filter leaves some, and Esc shows all. */
static void check_keys(void)
{
    char before[STATUS_TRAINING_NAME_MAX];

    CHECK_INT(fixture_take(model, fixture_trainings, now), 0);
    tui_view_init(&view, false, 1000);
    type("2");
    view.focus = PANEL_TRAININGS;
    type("jj");
    snprintf(before, sizeof(before), "%s", training());
    CHECK_STR(before, tui_model_training(model, 2)->training);
    sort_by(LIST_TRAININGS, "return");
    CHECK_STR(training(), before);
    type("I");
    CHECK_STR(training(), before);
    type("I");
    CHECK(picture_matches(golden, "trainings-return-80x24", model, &view, now, 80, 24, GLYPHS_BRAILLE));
    tui_keys_press(&view, model, 80, 24, now, PRESS_HOME);
    const struct status_training *best = tui_view_training(&view, model);
    for (int i = 0; i < model->status.n_trainings; i++)
        CHECK(!(model->status.trainings[i].episode_return > best->episode_return));
    type("/done\n");
    CHECK_STR(tui_view_training(&view, model)->state, "done");
    for (int i = 0; i < tui_view_rows(&view, model, PANEL_TRAININGS); i++)
        CHECK(tui_view_rows(&view, model, PANEL_TRAININGS) < model->status.n_trainings);
    CHECK(picture_matches(golden, "trainings-filter-80x24", model, &view, now, 80, 24, GLYPHS_BRAILLE));
    type("\n"); /* its page stays, whatever the list shows */
    CHECK(view.detail);
    snprintf(before, sizeof(before), "%s", training());
    strcpy(view.lists[LIST_TRAININGS].filter, "no such training");
    CHECK_STR(training(), before);
    tui_keys_press(&view, model, 80, 24, now, PRESS_ESCAPE);
    CHECK(!view.detail);
    CHECK_STR(training(), "");
    tui_keys_press(&view, model, 80, 24, now, PRESS_ESCAPE); /* all rows again */
    CHECK_INT(tui_view_rows(&view, model, PANEL_TRAININGS), model->status.n_trainings);
    view.lists[LIST_TRAININGS].find[0] = '\0';
    type("n5m_3\n"); /* nothing was searched: it is asked for */
    CHECK(strstr(training(), "5m_3") != NULL);
    snprintf(before, sizeof(before), "%s", training());
    type("nN");
    CHECK_STR(training(), before);
    strcpy(view.lists[LIST_TRAININGS].find, "no such training");
    type("n");
    CHECK_STR(training(), before);
    CHECK(strstr(view.words, "no row has") != NULL);
    type("C");
    CHECK_INT(view.choosing, CHOOSING_COLUMNS);
    tui_keys_press(&view, model, 80, 24, now, PRESS_ESCAPE);
}

/* Is every row between the first and the last reached, each once, and is it the one of its place? */
static void walk(int list, int key, int n)
{
    int all = 0, seen = 0, end = key == 'j' || key == PRESS_PAGE_DOWN ? n - 1 : 0;
    const void **rows = tui_list_held_rows(model, list, &view.lists[list], &all);
    bool same = all == n;

    while (same && seen <= n) {
        int at = tui_lists_cursor(&view, model, list);
        struct lists_rows known;
        tui_lists_rows(&view, model, list, &known);
        same &= rows[at] == tui_lists_held_chosen(&view, model, list) && tui_list_count(&known.items) == n;
        for (int i = at > 110 ? at - 110 : 0; i <= at; i++) /* as a screen of 120 rows shows them */
            same &= tui_lists_row(&known, i) == rows[i];
        if (at == end)
            break;
        tui_keys_press(&view, model, 80, 24, now, key);
        same &= abs(tui_lists_cursor(&view, model, list) - at) >= 1;
        seen++;
    }
    CHECK(same && seen > 0 && seen < n);
    free(rows);
}

/* More rows than are known at a time, in any order: the keys reach each, and a search each that it names. */
static void check_many(void)
{
    static const struct {
        int list;
        const char *keys;
    } tabs[] = {{LIST_TRAININGS, "2"}, {LIST_POLICIES, "2"}, {LIST_POSITIONS, "5"}, {LIST_PRICES, "4"}};
    enum { MORE = 311 };

    fill(MORE);
    for (size_t i = 0; i < sizeof(tabs) / sizeof(tabs[0]); i++)
        for (int sort = 0; sort < tui_list_held_columns(tabs[i].list); sort += 3) {
            const int list = tabs[i].list;
            char find[40];
            tui_view_init(&view, false, 1000);
            type(tabs[i].keys);
            view.focus = tui_lists_panel(list);
            for (int k = 0; k < sort; k++)
                type("o");
            type(sort % 2 ? "I" : "");
            tui_keys_press(&view, model, 80, 24, now, PRESS_HOME);
            walk(list, 'j', MORE);
            type("G");
            CHECK_INT(tui_lists_cursor(&view, model, list), MORE - 1);
            walk(list, PRESS_PAGE_UP, MORE);
            walk(list, PRESS_PAGE_DOWN, MORE);
            type("gg");
            CHECK_INT(tui_lists_cursor(&view, model, list), 0);
            const void *row = tui_list_held_row(model, list, MORE / 2);
            snprintf(find, sizeof(find), "%s=%s\n",
                     list == LIST_TRAININGS  ? "training"
                     : list == LIST_POLICIES ? "policy"
                                             : "symbol",
                     tui_list_held_name(model, list, row));
            type("n");
            type(find);
            CHECK(strstr(tui_list_held_name(model, list, tui_lists_held_chosen(&view, model, list)),
                         tui_list_held_name(model, list, row)) != NULL);
        }
}

/* Likewise of policies, whose page is of the chosen row. */
static void check_policies(void)
{
    tui_view_init(&view, false, 1000);
    type("2");
    view.focus = PANEL_POLICIES;
    sort_by(LIST_POLICIES, "return");
    tui_keys_press(&view, model, 80, 24, now, PRESS_HOME);
    const struct status_policy *best = tui_view_policy(&view, model);
    for (int i = 0; i < model->status.n_policies; i++)
        CHECK(!(model->status.policies[i].return_pct > best->return_pct));
    type("\n");
    CHECK_INT(view.item.kind, ITEM_POLICY);
    CHECK_STR(view.item.name, best->policy);
    tui_keys_press(&view, model, 80, 24, now, PRESS_ESCAPE);
    type("/role=champion\n");
    CHECK_INT(tui_view_rows(&view, model, PANEL_POLICIES), 1);
    CHECK_STR(tui_view_policy(&view, model)->role, "champion");
    CHECK(picture_matches(golden, "policies-filter-80x24", model, &view, now, 80, 24, GLYPHS_BRAILLE));
    type("/nothing\n");
    CHECK(tui_view_policy(&view, model) == NULL);
    type("\nPR"); /* no policy is meant */
    CHECK_INT(view.item.kind, ITEM_NONE);
}

/* A position's row is its symbol's and its account's; its page and its order are of the chosen row. */
static void check_positions(void)
{
    const struct status_position *position;

    CHECK_INT(fixture_take(model, "{}", now), 0);
    tui_view_init(&view, false, 1000);
    type("5");
    view.focus = PANEL_POSITIONS;
    sort_by(LIST_POSITIONS, "uPnL");
    type("I");
    tui_keys_press(&view, model, 80, 24, now, PRESS_HOME);
    position = tui_lists_held_chosen(&view, model, LIST_POSITIONS);
    CHECK_STR(position->symbol, "ETHUSDT"); /* the one with the loss */
    CHECK(picture_matches(golden, "positions-loss-80x24", model, &view, now, 80, 24, GLYPHS_BRAILLE));
    type("\n");
    CHECK_INT(view.item.kind, ITEM_POSITION);
    CHECK_STR(view.item.name, "ETHUSDT");
    tui_keys_press(&view, model, 80, 24, now, PRESS_ESCAPE);
    type("I"); /* it stays on it */
    position = tui_lists_held_chosen(&view, model, LIST_POSITIONS);
    CHECK_STR(position->symbol, "ETHUSDT");
    CHECK_INT(tui_view_cursor(&view, model, PANEL_POSITIONS), 1);
    type("/btc\n");
    CHECK_INT(tui_view_rows(&view, model, PANEL_POSITIONS), 1);
    position = tui_lists_held_chosen(&view, model, LIST_POSITIONS);
    CHECK_STR(position->symbol, "BTCUSDT");
    tui_keys_press(&view, model, 80, 24, now, PRESS_ESCAPE);
    type("C");
    CHECK_INT(view.choosing, CHOOSING_COLUMNS);
    tui_keys_press(&view, model, 80, 24, now, PRESS_ESCAPE);
}

/* The prices: the chart is the chosen symbol's; a filter that leaves none takes no chart away. */
static void check_prices(void)
{
    tui_view_init(&view, false, 1000);
    type("4/eth\n");
    CHECK_INT(tui_view_rows(&view, model, PANEL_PRICES), 1);
    CHECK_STR(tui_view_symbol(&view, model)->symbol, "ETHUSDT");
    CHECK(picture_matches(golden, "prices-filter-80x24", model, &view, now, 80, 24, GLYPHS_BRAILLE));
    tui_keys_press(&view, model, 80, 24, now, PRESS_ESCAPE);
    CHECK_INT(tui_view_rows(&view, model, PANEL_PRICES), 2);
    type("/nothing\n");
    CHECK_INT(tui_view_rows(&view, model, PANEL_PRICES), 0);
    CHECK_STR(tui_view_symbol(&view, model)->symbol, "BTCUSDT");
    tui_keys_press(&view, model, 80, 24, now, PRESS_ESCAPE);
    strcpy(view.lists[LIST_PRICES].find, "ETH");
    type("n");
    CHECK_STR(tui_view_symbol(&view, model)->symbol, "ETHUSDT");
    CHECK_INT(fixture_take(model, "{}", now), 0);
    type("zC"); /* beside the chart C is of its indicators */
    CHECK_INT(view.choosing, CHOOSING_COLUMNS);
    CHECK_INT(view.listed, LIST_PRICES);
    tui_keys_press(&view, model, 80, 24, now, PRESS_ESCAPE);
}

int main(int argc, char **argv)
{
    if (argc != 2 || !setlocale(LC_CTYPE, "C.UTF-8"))
        return argc != 2 ? EXIT_FAILURE : CHECK_SKIP;
    golden = argv[1];
    dice = random_seeded("tui/list_held", 1);
    model = tui_model_create(1000);
    if (!model || sqlite3_open(":memory:", &db) != SQLITE_OK)
        return EXIT_FAILURE;
    check_orders();
    check_shown();
    check_wrong();
    check_keys();
    check_policies();
    check_positions();
    check_prices();
    check_many();
    sqlite3_close(db);
    tui_model_destroy(model);
    return check_done("tui/list_held");
}
