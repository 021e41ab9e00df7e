#include "tui/theme.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

enum { BLACK, RED, GREEN, YELLOW, BLUE, MAGENTA, CYAN, WHITE, OWN = -1 };

static const char *const names[SCHEMES] = {"default", "light", "colour-blind", "mono"};

static const struct paint dark[STYLES] = {
    [STYLE_NORMAL] = {OWN, OWN},
    [STYLE_DIM] = {245, OWN, .dim = true},
    [STYLE_STRONG] = {OWN, OWN, .bold = true},
    [STYLE_TITLE] = {110, CYAN},
    [STYLE_RULE] = {239, OWN, .dim = true},
    [STYLE_FOCUS] = {153, CYAN, .bold = true},
    [STYLE_SELECTED] = {153, CYAN, .bold = true},
    [STYLE_TAB] = {153, CYAN, .bold = true},
    [STYLE_BRAND] = {214, YELLOW, .bold = true, .reverse = true},
    [STYLE_GOOD] = {114, GREEN},
    [STYLE_WARN] = {214, YELLOW},
    [STYLE_BAD] = {203, RED, .bold = true},
    [STYLE_UP] = {114, GREEN},
    [STYLE_DOWN] = {203, RED},
    [STYLE_CHART] = {110, CYAN},
    [STYLE_LINE] = {179, YELLOW, .dim = true},
    [STYLE_LINE_2] = {140, MAGENTA},
    [STYLE_LINE_3] = {73, CYAN, .dim = true},
    [STYLE_LINE_4] = {187, WHITE},
    [STYLE_KEY] = {153, CYAN},
    [STYLE_PAST] = {203, RED, .bold = true, .reverse = true},
    [STYLE_PRICE_ALERT] = {217, MAGENTA, .bold = true},
};

static const struct paint light[STYLES] = {
    [STYLE_NORMAL] = {OWN, OWN},
    [STYLE_DIM] = {242, OWN, .dim = true},
    [STYLE_STRONG] = {OWN, OWN, .bold = true},
    [STYLE_TITLE] = {25, BLUE},
    [STYLE_RULE] = {250, OWN, .dim = true},
    [STYLE_FOCUS] = {19, BLUE, .bold = true},
    [STYLE_SELECTED] = {19, BLUE, .bold = true},
    [STYLE_TAB] = {19, BLUE, .bold = true},
    [STYLE_BRAND] = {130, MAGENTA, .bold = true, .reverse = true},
    [STYLE_GOOD] = {22, GREEN},
    [STYLE_WARN] = {130, MAGENTA},
    [STYLE_BAD] = {124, RED, .bold = true},
    [STYLE_UP] = {22, GREEN},
    [STYLE_DOWN] = {124, RED},
    [STYLE_CHART] = {25, BLUE},
    [STYLE_LINE] = {94, MAGENTA, .dim = true},
    [STYLE_LINE_2] = {91, MAGENTA},
    [STYLE_LINE_3] = {30, CYAN},
    [STYLE_LINE_4] = {59, BLACK},
    [STYLE_KEY] = {19, BLUE},
    [STYLE_PAST] = {124, RED, .bold = true, .reverse = true},
    [STYLE_PRICE_ALERT] = {89, MAGENTA, .bold = true},
};

/* Blue and orange instead of green and red; only what differs from `dark`. */
static const struct paint colour_blind[STYLES] = {
    [STYLE_GOOD] = {75, BLUE, .bold = true},
    [STYLE_UP] = {75, BLUE, .bold = true},
    [STYLE_WARN] = {220, YELLOW},
    [STYLE_BAD] = {208, YELLOW, .bold = true, .reverse = true},
    [STYLE_DOWN] = {208, YELLOW},
    [STYLE_PAST] = {208, YELLOW, .bold = true, .reverse = true},
};

int tui_scheme_parse(const char *name)
{
    for (int i = 0; i < SCHEMES; i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    return -EINVAL;
}

struct paint tui_theme_paint(enum scheme scheme, enum style style)
{
    struct paint paint = scheme == SCHEME_LIGHT ? light[style] : dark[style];

    if (scheme == SCHEME_COLOUR_BLIND && colour_blind[style].colour_256)
        paint = colour_blind[style];
    if (scheme == SCHEME_MONO) {
        paint.colour_256 = paint.colour_8 = OWN;
        if (style == STYLE_WARN || style == STYLE_KEY)
            paint.bold = true;
    }
    return paint;
}
