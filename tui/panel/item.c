/* The page of one item: its lines, wrapped, from the row that was scrolled to. */
#include <stdio.h>
#include <string.h>

#include "cli/text.h"
#include "tui/panel/frame.h"

enum {
    LEFT = 1,          /* blank columns */
    TEXT_COLUMNS = 12, /* beside a label, at least */
};

/* Where a line's text starts and how wide it is: a label that leaves no room stands in a row of its own. */
struct shape {
    int first, rest; /* columns from the left, of its first row and of the others */
    bool apart;      /* the label has its own row */
};

static struct shape shape_of(const struct item_line *line, int width)
{
    bool labelled = line->label[0] != '\0', narrow = width < line->hang + TEXT_COLUMNS;
    int hang = narrow ? width > 8 ? 2 : 0 : line->hang;

    return (struct shape){labelled ? hang : 0, hang,
                          labelled && (narrow || cli_text_width(line->label) >= line->hang)};
}

/* Draws the line's rows from row y on, which may be above the area; only counts them where area is NULL.
 * Returns the row after the last. */
static int draw_line(const struct area *area, int y, const struct item_line *line, int width)
{
    struct shape shape = shape_of(line, width);

    if (area && line->label[0] && y >= 0 && y < area->height)
        tui_area_text(area, LEFT, y, STYLE_DIM, line->label);
    return panel_frame_wrap_all(area, y + shape.apart, LEFT + shape.first, LEFT + shape.rest, LEFT + width,
                                line->style, line->text);
}

int panel_item_rows(const struct item_page *page, int width)
{
    int rows = 0;

    for (size_t i = 0; i < page->n; i++)
        rows = draw_line(NULL, rows, &page->lines[i], width - LEFT);
    return rows;
}

void panel_item(const struct area *area, const struct scene *scene)
{
    const struct model *model = scene->model;
    const struct item_page *page = &model->item;
    char name[ITEM_NAME_MAX + 80], title[ITEM_NAME_MAX + 120], where[48] = "", sentence[PANEL_SENTENCE_MAX];

    tui_item_title(&scene->view->item, name, sizeof(name));
    snprintf(title, sizeof(title), "%s > %s", panel_tab_name(scene->view->tab, area->width), name);
    int end;
    struct area body = panel_frame_rule(area, scene, PANEL_ITEM, title, -1, &end);
    if (!tui_item_equal(&page->item, &scene->view->item)) {
        panel_frame_empty(&body, panel_frame_no_history(model, "not read yet"));
        return;
    }
    if (page->gone)
        snprintf(where, sizeof(where), " %.44s ", panel_frame_sentence(scene, "`Esc` goes back", sentence));
    int rows = panel_item_rows(page, body.width), from = scene->view->cursor[PANEL_ITEM];
    int most = rows > body.height ? rows - body.height : 0, y = -(from > most ? most : from);
    if (!page->gone && rows > body.height)
        snprintf(where, sizeof(where), " rows %d to %d of %d ", 1 - y, body.height - y, rows);
    if (where[0])
        panel_frame_rule_right(area, area->width - 1, title, end, STYLE_DIM, where);
    for (size_t i = 0; i < page->n && y < body.height; i++)
        y = draw_line(&body, y, &page->lines[i], body.width - LEFT);
}
