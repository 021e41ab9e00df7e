#include "report/heat.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/svg.h"

enum {
    LEGEND = 26,      /* height of the legend above the cells, */
    NAME = 18,        /* and of the name between */
    SWATCH = 22,      /* width of a shade in it */
    CELL_HEIGHT = 22, /* of few rows; */
    LOWEST = 7,       /* of many */
    HEIGHT_MOST = 480,
    READABLE = 14, /* the least height of a cell that has a number in it */
    VALUE_MAX = 32,
    MANY = 40,       /* cells from which on the ends of the range are left out */
    NAME_ROOM = 160, /* pixels */
};

int report_heat_shade(double value, double low, double high)
{
    double share;
    if (!isfinite(value))
        return 0;
    value = fmin(fmax(value, low), high);
    if (low < 0 && high > 0)
        share = value / fmax(-low, high);
    else if (high > low)
        share = low >= 0 ? (value - low) / (high - low) : (value - high) / (high - low);
    else
        share = value < 0 ? -1 : value > 0 ? 1 : 0;
    int shade = (int)ceil(fabs(share) * REPORT_HEAT_SHADES);
    if (shade == 0 && !(low < 0 && high > 0) && high > low)
        shade = 1; /* the palest, and not the paper, which is 0's */
    shade = shade > REPORT_HEAT_SHADES ? REPORT_HEAT_SHADES : shade;
    return share < 0 || (low < 0 && high <= 0) ? -shade : shade;
}

static const char *shade_class(int shade, char ret[static 8])
{
    ret[0] = shade < 0 ? 'n' : 'h';
    ret[1] = (char)('0' + (shade < 0 ? -shade : shade) % 10);
    ret[2] = '\0';
    return ret;
}

static const char *value_text(double value, int decimals, char ret[static VALUE_MAX])
{
    if (!isfinite(value))
        snprintf(ret, VALUE_MAX, "n/a");
    else if (fabs(value) < 1e6)
        snprintf(ret, VALUE_MAX, "%.*f", decimals, value);
    else
        snprintf(ret, VALUE_MAX, "%.3g", value);
    return ret;
}

static void rect(struct svg *svg, const char *class, double x, double y, double width, double height)
{
    text_format(svg->text, "<rect class=\"%s\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"/>\n",
                class, x, y, width, height);
}

/* What the colours span: all, or, of many, all but a share at each end. */
struct span {
    struct report_range all, shown;
};

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static struct span span_of(const struct report_heat *heat)
{
    struct span span = {{INFINITY, -INFINITY}, {INFINITY, -INFINITY}};
    double sorted[REPORT_HEAT_SIDE_MAX * REPORT_HEAT_SIDE_MAX];
    int n = 0;
    for (int i = 0; i < heat->columns * heat->rows; i++) {
        report_range_widen(&span.all, heat->values[i]);
        if (isfinite(heat->values[i]))
            sorted[n++] = heat->values[i];
    }
    span.shown = span.all;
    if (n < MANY)
        return span;
    qsort(sorted, (size_t)n, sizeof *sorted, ascending);
    span.shown = (struct report_range){sorted[n / 20], sorted[n - 1 - n / 20]};
    return span;
}

/* What is darkest below 0 and above it, and the shades between. */
static void draw_legend(struct svg *svg, const struct report_heat *heat, const struct span *span)
{
    const struct report_range *range = &span->shown;
    char words[VALUE_MAX + 8], value[VALUE_MAX], class[8];
    double x = svg->left + 12, y = 4;
    x += report_svg_words_in(svg, svg->left, y + 12, "start", NAME_ROOM, heat->value_name);
    snprintf(words, sizeof words, "%s%s", span->all.low < range->low ? "≤ " : "",
             value_text(range->low, heat->decimals, value));
    report_svg_words(svg, x, y + 12, "start", words);
    x += report_svg_width(words) + 6;
    const bool both = range->low < 0 && range->high > 0;
    const int first = range->low < 0 ? -REPORT_HEAT_SHADES : both || range->high > 0 ? 1 : 0;
    const int last = range->high > 0 ? REPORT_HEAT_SHADES : range->low < 0 ? -1 : 0;
    for (int shade = first; shade <= last; shade++, x += SWATCH)
        if (shade != 0 || both)
            rect(svg, shade_class(shade, class), x, y, SWATCH, 14);
        else
            x -= SWATCH;
    snprintf(words, sizeof words, "%s%s", span->all.high > range->high ? "≥ " : "",
             value_text(range->high, heat->decimals, value));
    report_svg_words(svg, x + 6, y + 12, "start", words);
}

/* Labels below the columns and beside the rows, those that would touch the one before left out. */
static void draw_labels(struct svg *svg, const struct report_heat *heat, double width, double height)
{
    double taken = 0, last = INFINITY;
    for (int i = 0; i < heat->columns; i++) {
        double at = svg->left + (i + 0.5) * width, half = report_svg_width(heat->x_labels[i]) / 2;
        at = fmin(at, svg->width - half - 1);
        if (at - half < taken)
            continue;
        report_svg_words(svg, at, svg->bottom + 16, "middle", heat->x_labels[i]);
        taken = at + half + 6;
    }
    for (int i = 0; i < heat->rows; i++) {
        double at = svg->bottom - (i + 0.5) * height + 4;
        if (last - at < 13)
            continue;
        report_svg_words(svg, svg->left - 6, at, "end", heat->y_labels[i]);
        last = at;
    }
    report_svg_words_in(svg, (svg->left + svg->right) / 2, svg->height - 6, "middle",
                        svg->right - svg->left - 16, heat->x_name);
}

static void draw_cells(struct svg *svg, const struct report_heat *heat, const struct report_range *range,
                       double width, double height)
{
    char words[VALUE_MAX], class[8];
    text_lit(svg->text, "<g class=\"cells\">\n");
    for (int row = 0; row < heat->rows; row++)
        for (int column = 0; column < heat->columns; column++) {
            double value = heat->values[row * heat->columns + column];
            double x = svg->left + column * width, y = svg->bottom - (row + 1) * height;
            if (!isfinite(value))
                continue;
            rect(svg, shade_class(report_heat_shade(value, range->low, range->high), class), x, y, width,
                 height);
            if (height >= READABLE && report_svg_width(value_text(value, heat->decimals, words)) + 4 < width)
                report_svg_words(svg, x + width / 2, y + height / 2 + 4, "middle", words);
        }
    text_lit(svg->text, "</g>\n");
}

/* Room for the longest label of a row. */
static double left_of(const struct report_heat *heat)
{
    double left = 0;
    for (int i = 0; i < heat->rows; i++)
        left = fmax(left, report_svg_width(heat->y_labels[i]));
    return fmin(left + 16, 240);
}

void report_heat_draw(struct text *text, const struct report_heat *heat)
{
    const struct span span = span_of(heat);
    if (span.all.low > span.all.high) {
        struct svg none = report_svg_begin(text, REPORT_WIDE, 0, heat->title);
        report_svg_empty(&none);
        return;
    }
    double height = fmax(LOWEST, fmin(CELL_HEIGHT, (double)HEIGHT_MOST / heat->rows));
    struct svg svg = report_svg_frame(text, left_of(heat), LEGEND + NAME, height * heat->rows, heat->title);
    double width = fmin((svg.right - svg.left) / heat->columns, 120);
    draw_legend(&svg, heat, &span);
    report_svg_words_in(&svg, 4, LEGEND + 10, "start", svg.width - 16, heat->y_name);
    draw_cells(&svg, heat, &span.shown, width, height);
    draw_labels(&svg, heat, width, height);
    report_svg_end(&svg);
}
