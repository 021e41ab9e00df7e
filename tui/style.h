/* What a part of the screen means. A scheme turns it into colours; without colours a sign, an arrow or a
 * word says the same. */
#ifndef TUI_STYLE_H
#define TUI_STYLE_H

#include "cli/format.h"

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
    STYLE_LINE,   /* a second line on a chart */
    STYLE_LINE_2, /* and further ones */
    STYLE_LINE_3,
    STYLE_LINE_4,
    STYLE_KEY,         /* a key that can be pressed */
    STYLE_PAST,        /* PAST: what is shown is not now */
    STYLE_PRICE_ALERT, /* where a price alert waits */
    STYLES,
};

/* The style of a gain or a loss that is shown with so many decimals: what is shown as 0.00 is neither. */
static inline enum style style_signed(double value, int decimals)
{
    const int sign = cli_format_sign(value, decimals);

    return sign > 0 ? STYLE_UP : sign < 0 ? STYLE_DOWN : STYLE_NORMAL;
}

#endif
