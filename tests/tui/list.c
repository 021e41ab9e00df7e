/* A long list on the screen against a plain array: random rows, moves, insertions, removals and windows; the
 * cursor stays on its row, the window follows it; the first row that is shown; the bar. */
#include "tui/list.h"

#include <stdlib.h>

#include "tests/check.h"
#include "tests/random.h"

enum { ALL_MAX = 6000, STEPS = 20000, ROUNDS = 12 };

/* All rows, the heads first: what the database and the status would have. */
static int64_t all[ALL_MAX];
static int n_all, n_heads;
static int64_t last_id;
static struct random random_state;

static int draw(int below)
{
    return (int)random_between(&random_state, 0, below - 1);
}

/* The window around a row, or a place of the database's rows, as db_list_read() has it. */
static void read_window(struct list_items *items, int64_t id, int64_t at)
{
    int n = n_all - n_heads;

    for (int i = 0; i < n; i++)
        at = id && all[n_heads + i] == id ? i : at;
    at = at >= n ? n - 1 : at;
    int64_t last = n > LIST_ROWS_MAX ? n - LIST_ROWS_MAX : 0, first = at - LIST_ROWS_MAX / 2;
    items->first = first < 0 ? 0 : first > last ? last : first;
    items->count = items->total = n;
    items->n = (int)(n - items->first < LIST_ROWS_MAX ? n - items->first : LIST_ROWS_MAX);
    for (int i = 0; i < items->n; i++)
        items->ids[i] = all[n_heads + items->first + i];
    items->n_heads = n_heads;
    for (int i = 0; i < n_heads; i++)
        items->heads[i] = all[i];
}

static void insert(int at)
{
    if (n_all == ALL_MAX)
        return;
    for (int i = n_all++; i > at; i--)
        all[i] = all[i - 1];
    all[at] = ++last_id;
}

static int place_in_all(int64_t id)
{
    for (int i = 0; i < n_all; i++)
        if (all[i] == id)
            return i;
    return -1;
}

/* Reads what the list wants; and again, where the row was outside of that. */
static int64_t settle(struct list_choice *list, struct list_items *items, int64_t at)
{
    int64_t id, place;

    tui_list_anchor(list, items, at, &id, &place);
    read_window(items, id, place);
    at = tui_list_read(list, items, at);
    tui_list_anchor(list, items, at, &id, &place);
    read_window(items, id, place);
    return tui_list_read(list, items, at);
}

static void check_walk(int rows, int heads)
{
    struct list_choice list = {0};
    struct list_items items = {0};
    int64_t at = 0;

    n_all = 0;
    n_heads = heads;
    for (int i = 0; i < rows; i++)
        insert(n_all);
    read_window(&items, 0, 0);
    for (int step = 0; step < STEPS / ROUNDS; step++) {
        int what = draw(8), expected;
        if (what < 2 && n_all > 0) { /* new rows, above and below */
            int64_t before = list.id;
            for (int i = draw(3); i >= 0; i--)
                insert(n_heads + (draw(3) ? 0 : draw(n_all - n_heads + 1)));
            at = settle(&list, &items, at);
            if (before)
                CHECK_INT(list.id, before);
            expected = before ? place_in_all(before) : 0;
        } else {
            int steps[] = {-1, 1, -30, 30, -n_all, n_all, draw(2 * n_all + 1) - n_all, 0};
            int64_t to = at + steps[draw(8)];
            bool top = draw(20) == 0;
            expected = top ? 0 : (int)(to >= n_all ? n_all - 1 : to);
            expected = expected < 0 ? 0 : expected;
            at = tui_list_move(&list, &items, top ? LIST_TO_FIRST : LIST_TO_ROW, to);
            CHECK_INT(at, expected);
            at = settle(&list, &items, at);
            CHECK(!top || list.id == 0);
        }
        CHECK_INT(at, expected);
        CHECK_INT(tui_list_cursor(&list, &items, at), expected);
        CHECK_INT(tui_list_count(&items), n_all);
        if (n_all == 0)
            continue;
        CHECK_INT(tui_list_id(&items, expected), all[expected]);
        for (int near = -LIST_AHEAD / 2; near < LIST_AHEAD / 2;
             near++) { /* what the screen shows around it */
            int place = expected + near;
            if (place >= n_heads && place < n_all)
                CHECK(expected < n_heads || tui_list_id(&items, place) == all[place]);
        }
    }
}

/* A row that is gone leaves the cursor at its place, on the row that is there now. */
static void check_gone(void)
{
    struct list_choice list = {0};
    struct list_items items = {0};

    n_all = n_heads = 0;
    for (int i = 0; i < 40; i++)
        insert(i);
    read_window(&items, 0, 0);
    int64_t at = tui_list_move(&list, &items, LIST_TO_ROW, 17);
    CHECK_INT(list.id, all[17]);
    for (int i = 17; i < --n_all;)
        for (; i < n_all; i++)
            all[i] = all[i + 1];
    at = settle(&list, &items, at);
    CHECK_INT(at, 17);
    CHECK_INT(list.id, all[17]);
    n_all = 0;
    CHECK_INT(settle(&list, &items, at), 0);
    CHECK_INT(tui_list_id(&items, 0), 0);
}

/* While the cursor walks, a window is wanted once in a while alone. */
static void check_windows_are_few(void)
{
    struct list_choice list = {0};
    struct list_items items = {0};
    int64_t at = 0, id, place, last = 0;
    int reads = 0;

    n_all = n_heads = 0;
    for (int i = 0; i < 5000; i++)
        insert(i);
    read_window(&items, 0, 0);
    for (int i = 0; i < 4999; i++) {
        at = tui_list_move(&list, &items, LIST_TO_ROW, at + 1);
        CHECK_INT(list.id, all[at]);
        tui_list_anchor(&list, &items, at, &id, &place);
        reads += place != last;
        last = place;
        read_window(&items, id, place);
    }
    CHECK(reads > 5000 / LIST_ROWS_MAX && reads <= 5000 / (LIST_ROWS_MAX / 2 - LIST_AHEAD));
}

/* While the rows are not counted yet, the last known row is not the last: only End and G go there. */
static void check_partial(void)
{
    struct list_choice list = {0};
    struct list_items items = {0};

    n_all = n_heads = 0;
    for (int i = 0; i < LIST_ROWS_MAX; i++)
        insert(i);
    read_window(&items, 0, 0);
    items.partial = true;
    for (int to = LIST_ROWS_MAX - 2; to < LIST_ROWS_MAX + 30; to += 15) { /* what j, PgDn lead to */
        int last = to < LIST_ROWS_MAX ? to : LIST_ROWS_MAX - 1;
        CHECK_INT(tui_list_move(&list, &items, LIST_TO_ROW, to), last);
        CHECK_INT(list.id, all[last]);
    }
    CHECK_INT(tui_list_move(&list, &items, LIST_TO_LAST, 0), LIST_END);
    CHECK_INT(list.id, 0);
    items.partial = false;
    CHECK_INT(tui_list_move(&list, &items, LIST_TO_LAST, 0), LIST_ROWS_MAX - 1);
    CHECK_INT(list.id, all[LIST_ROWS_MAX - 1]);
}

/* Of the windows that lie within the rows and have the cursor: the one nearest to where the panel was. */
static void check_first(void)
{
    enum { MOST = 12 };

    for (int n = 1; n <= MOST; n++)
        for (int height = 1; height <= MOST + 1; height++)
            for (int cursor = 0; cursor < n; cursor++)
                for (int before = 0; before <= 2 * MOST; before++) {
                    const int first = tui_list_first(before, cursor, n, height);
                    int nearest = -1;
                    for (int i = 0; i == 0 || i + height <= n; i++)
                        if (cursor >= i && cursor < i + height &&
                            (nearest < 0 || abs(i - before) < abs(nearest - before)))
                            nearest = i;
                    CHECK_INT(first, nearest);
                }
    CHECK_INT(tui_list_first(7, 0, 0, 5), 0);
}

static void check_bar(void)
{
    int top, rows, last_top, ends;

    CHECK(!tui_list_bar(10, 0, 10, 10, &top, &rows));
    CHECK(!tui_list_bar(1, 0, 1, 10, &top, &rows));
    for (int height = 2; height < 60; height += 7)
        for (int count = height + 1; count < 200000; count = count * 3 + 1) {
            last_top = ends = 0;
            for (int i = 0; i <= 50; i++) {
                int64_t first = (int64_t)(count - height) * i / 50;
                CHECK(tui_list_bar(height, first, height, count, &top, &rows));
                CHECK(rows >= 1 && top >= last_top && top + rows <= height);
                CHECK(first != 0 || top == 0);
                CHECK(first != count - height || top + rows == height);
                CHECK(height - rows < 2 || first == 0 || top > 0);
                last_top = top;
                ends += top + rows == height;
            }
            CHECK(ends >= 1);
        }
}

int main(void)
{
    random_state = random_seeded("tui/list", 1);
    for (int round = 0; round < ROUNDS; round++) {
        check_walk(round % 3 == 0 ? draw(20) + 1 : 300 + draw(3000), 0);
        check_walk(400 + draw(1000), round * 3);
    }
    check_gone();
    check_windows_are_few();
    check_partial();
    check_first();
    check_bar();
    return check_done("tui/list");
}
