/* What a part of the screen means. A scheme turns it into colours; without colours a sign, an arrow or a
 * word says the same. */
#ifndef TUI_STYLE_H
#define TUI_STYLE_H

enum style {
    STYLE_NORMAL,
    STYLE_DIM,      /* labels, units, what is old */
    STYLE_STRONG,   /* the figure that a line is about */
    STYLE_TITLE,    /* a panel's name */
    STYLE_RULE,     /* the line behind it */
    STYLE_FOCUS,    /* the name of the panel that the arrows move in */
    STYLE_SELECTED, /* the selected row */
    STYLE_TAB,      /* the open tab */
    STYLE_BRAND,    /* PAPER: this is not real money */
    STYLE_GOOD,     /* ok, on, synced */
    STYLE_WARN,     /* retry, paused, stale */
    STYLE_BAD,      /* failed, halted, an alert */
    STYLE_UP,       /* a gain */
    STYLE_DOWN,     /* a loss */
    STYLE_CHART,
    STYLE_LINE, /* a second line on a chart */
    STYLE_KEY,  /* a key that can be pressed */
    STYLES,
};

/* The style of a signed figure; NaN and 0 are normal. */
static inline enum style style_signed(double value)
{
    return value > 0 ? STYLE_UP : value < 0 ? STYLE_DOWN : STYLE_NORMAL;
}

#endif
