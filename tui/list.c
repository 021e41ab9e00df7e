#include "tui/list.h"

int64_t tui_list_count(const struct list_items *items)
{
    return items->n_heads + items->count;
}

int64_t tui_list_id(const struct list_items *items, int64_t place)
{
    int64_t at = place - items->n_heads - items->first;

    if (place >= 0 && place < items->n_heads)
        return items->heads[place];
    return place >= items->n_heads && at >= 0 && at < items->n ? items->ids[at] : 0;
}

/* The place of a row; -1: it is not known. */
static int64_t place_of(const struct list_items *items, int64_t id)
{
    for (int i = 0; id && i < items->n_heads; i++)
        if (items->heads[i] == id)
            return i;
    for (int i = 0; id && i < items->n; i++)
        if (items->ids[i] == id)
            return items->n_heads + items->first + i;
    return -1;
}

static int64_t nearest(const struct list_items *items, int64_t place)
{
    int64_t count = tui_list_count(items);

    place = place >= count ? count - 1 : place;
    return place < 0 ? 0 : place;
}

int64_t tui_list_cursor(const struct list_choice *list, const struct list_items *items, int64_t at)
{
    int64_t place = place_of(items, list->id);

    return place >= 0 ? place : nearest(items, at);
}

int64_t tui_list_move(struct list_choice *list, const struct list_items *items, enum list_move to,
                      int64_t place)
{
    bool row = to == LIST_TO_ROW || (to == LIST_TO_LAST && !items->partial);

    place = to == LIST_TO_FIRST ? 0 : row ? nearest(items, to == LIST_TO_ROW ? place : LIST_END) : LIST_END;
    list->id = row ? tui_list_id(items, place) : 0;
    return place;
}

int64_t tui_list_read(struct list_choice *list, const struct list_items *items, int64_t at)
{
    int64_t place = tui_list_cursor(list, items, at);

    if (items->partial && at == LIST_END)
        return at;
    if (list->id && place_of(items, list->id) < 0 && list->anchor_id != list->id)
        return place; /* it may be just outside: the next window is around it */
    if (place > 0)
        list->id = tui_list_id(items, place);
    return place;
}

/* Is the place well inside what is known? */
static bool well_inside(const struct list_items *items, int64_t at)
{
    int64_t end = items->first + items->n;

    return (items->first == 0 || at >= items->first + LIST_AHEAD) &&
           (end >= items->count || at < end - LIST_AHEAD) && items->n > 0;
}

void tui_list_anchor(struct list_choice *list, const struct list_items *items, int64_t at, int64_t *ret_id,
                     int64_t *ret_at)
{
    int64_t place = tui_list_cursor(list, items, at), below = place - items->n_heads;

    if (items->partial && !list->id && at == LIST_END) {
        list->anchor_id = 0;
        list->anchor_at = LIST_END;
    } else if (!well_inside(items, below < 0 ? 0 : below) || (list->id && place_of(items, list->id) < 0)) {
        list->anchor_id = below > 0 ? list->id : 0;
        list->anchor_at = below > 0 ? below : 0;
    }
    *ret_id = list->anchor_id;
    *ret_at = list->anchor_at;
}

void tui_list_search(struct list_choice *list)
{
    if (list->waiting == 0 || list->asked != list->answered)
        return;
    list->asked++;
    list->back = list->waiting < 0;
    list->waiting -= list->back ? -1 : 1;
}

int tui_list_first(int before, int cursor, int n, int height)
{
    int least = cursor >= height ? cursor - height + 1 : 0, last = n > height ? n - height : 0;
    int first = before > last ? last : before;

    first = first > cursor ? cursor : first;
    return first < least ? least : first;
}

bool tui_list_bar(int height, int64_t first, int64_t shown, int64_t count, int *ret_top, int *ret_rows)
{
    if (height < 2 || shown >= count)
        return false;
    int64_t rows = shown * height / count, room;

    rows = rows < 1 ? 1 : rows > height - 1 ? height - 1 : rows;
    room = height - rows;
    int64_t hidden = count - shown, top = first * room / hidden;
    if (first > 0 && top == 0 && room > 1) /* rows are above */
        top = 1;
    if (first < hidden && top >= room && room > 1) /* rows are below */
        top = room - 1;
    *ret_top = (int)top;
    *ret_rows = (int)rows;
    return true;
}
