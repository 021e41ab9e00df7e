#include "tui/theme.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

enum { BLACK, RED, GREEN, YELLOW, BLUE, MAGENTA, CYAN, WHITE, OWN = PAINT_OWN };

static const char *const names[SCHEMES] = {"default", "light", "colour-blind", "mono"};

/* Gains and losses, of which a frame has most, in components below 100: a digit less of each change. */
static const struct paint dark[STYLES] = {
    [STYLE_NORMAL] = {OWN, OWN},
    [STYLE_DIM] = {0x9097a0, OWN, .dim = true},
    [STYLE_STRONG] = {OWN, OWN, .bold = true},
    [STYLE_TITLE] = {0x8ab4dc, CYAN},
    [STYLE_RULE] = {0x4f555d, OWN, .dim = true},
    [STYLE_FOCUS] = {0xb0d9ff, CYAN, .bold = true},
    [STYLE_SELECTED] = {0xb0d9ff, CYAN, .bold = true},
    [STYLE_TAB] = {0xb0d9ff, CYAN, .bold = true},
    [STYLE_BRAND] = {0xffb020, YELLOW, .bold = true, .reverse = true},
    [STYLE_GOOD] = {0x54d663, GREEN},
    [STYLE_WARN] = {0xffb020, YELLOW},
    [STYLE_BAD] = {0xff6363, RED, .bold = true},
    [STYLE_UP] = {0x54d663, GREEN},
    [STYLE_DOWN] = {0xff6363, RED},
    [STYLE_CHART] = {0x8ab4dc, CYAN},
    [STYLE_LINE] = {0xd9b060, YELLOW, .dim = true},
    [STYLE_LINE_2] = {0xb48ce0, MAGENTA},
    [STYLE_LINE_3] = {0x56b6b2, CYAN, .dim = true},
    [STYLE_LINE_4] = {0xd8d4a8, WHITE},
    [STYLE_KEY] = {0xb0d9ff, CYAN},
    [STYLE_PAST] = {0xff6363, RED, .bold = true, .reverse = true},
    [STYLE_PRICE_ALERT] = {0xffb0b8, MAGENTA, .bold = true},
};

static const struct paint light[STYLES] = {
    [STYLE_NORMAL] = {OWN, OWN},
    [STYLE_DIM] = {0x666b73, OWN, .dim = true},
    [STYLE_STRONG] = {OWN, OWN, .bold = true},
    [STYLE_TITLE] = {0x0b5cad, BLUE},
    [STYLE_RULE] = {0xbcc0c6, OWN, .dim = true},
    [STYLE_FOCUS] = {0x1c3fb0, BLUE, .bold = true},
    [STYLE_SELECTED] = {0x1c3fb0, BLUE, .bold = true},
    [STYLE_TAB] = {0x1c3fb0, BLUE, .bold = true},
    [STYLE_BRAND] = {0x985000, MAGENTA, .bold = true, .reverse = true},
    [STYLE_GOOD] = {0x116b2c, GREEN},
    [STYLE_WARN] = {0x985000, MAGENTA},
    [STYLE_BAD] = {0xb3161b, RED, .bold = true},
    [STYLE_UP] = {0x116b2c, GREEN},
    [STYLE_DOWN] = {0xb3161b, RED},
    [STYLE_CHART] = {0x0b5cad, BLUE},
    [STYLE_LINE] = {0x7d5a00, MAGENTA, .dim = true},
    [STYLE_LINE_2] = {0x7b2fa8, MAGENTA},
    [STYLE_LINE_3] = {0x00696e, CYAN},
    [STYLE_LINE_4] = {0x5a5a48, BLACK},
    [STYLE_KEY] = {0x1c3fb0, BLUE},
    [STYLE_PAST] = {0xb3161b, RED, .bold = true, .reverse = true},
    [STYLE_PRICE_ALERT] = {0x8f1060, MAGENTA, .bold = true},
};

/* Blue and orange instead of green and red; only what differs from `dark`. The blue and the yellow are of
 * Okabe and Ito, "Color Universal Design", 2008. */
static const struct paint colour_blind[STYLES] = {
    [STYLE_GOOD] = {0x56b4e9, BLUE, .bold = true},
    [STYLE_UP] = {0x56b4e9, BLUE, .bold = true},
    [STYLE_WARN] = {0xf0e442, YELLOW},
    [STYLE_BAD] = {0xff8c1a, YELLOW, .bold = true, .reverse = true},
    [STYLE_DOWN] = {0xff8c1a, YELLOW},
    [STYLE_PAST] = {0xff8c1a, YELLOW, .bold = true, .reverse = true},
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

    if (scheme == SCHEME_COLOUR_BLIND && colour_blind[style].rgb)
        paint = colour_blind[style];
    if (scheme == SCHEME_MONO) {
        paint.rgb = paint.colour_8 = OWN;
        if (style == STYLE_WARN || style == STYLE_KEY)
            paint.bold = true;
    }
    return paint;
}

static int squared(int a, int b)
{
    return (a - b) * (a - b);
}

/* The step of the cube that is nearest to a component, and the component at that step: 0, 95, 135 to 255. */
static int cube_step(int component, int *ret_at)
{
    int step = component < 48 ? 0 : component < 115 ? 1 : (component - 35) / 40;

    *ret_at = step ? 55 + 40 * step : 0;
    return step;
}

short tui_theme_nearest_256(int rgb)
{
    enum { CUBE = 16, GREYS = 232, GREY_STEPS = 24, GREY_FIRST = 8, GREY_STEP = 10 };
    int component[3], at[3], cube = 0, of_cube = 0, of_grey = 0;

    if (rgb < 0)
        return PAINT_OWN;
    for (int i = 0; i < 3; i++) {
        component[i] = rgb >> (16 - 8 * i) & 0xff;
        cube = 6 * cube + cube_step(component[i], &at[i]);
        of_cube += squared(component[i], at[i]);
    }
    int mean = (component[0] + component[1] + component[2]) / 3;
    int grey = mean < GREY_FIRST ? 0 : (mean - GREY_FIRST + GREY_STEP / 2) / GREY_STEP;
    grey = grey < GREY_STEPS ? grey : GREY_STEPS - 1;
    for (int i = 0; i < 3; i++)
        of_grey += squared(component[i], GREY_FIRST + GREY_STEP * grey);
    return (short)(of_grey < of_cube ? GREYS + grey : CUBE + cube);
}
