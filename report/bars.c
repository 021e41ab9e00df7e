#include <math.h>

#include "report/svg.h"

/* A text below each bar, unless it would overlap the one before. */
static void label_axis(struct svg *svg, const struct report_bars *bars)
{
    double width = (svg->x.high - svg->x.low) / bars->n, taken = 0;
    for (int i = 0; i < bars->n; i++) {
        double at = report_svg_x(svg, svg->x.low + (i + 0.5) * width);
        double half = report_svg_width(bars->labels[i]) / 2;
        if (at - half < taken)
            continue;
        report_svg_words(svg, at, svg->bottom + 16, "middle", bars->labels[i]);
        taken = at + half + 6;
    }
    if (bars->x_name)
        report_svg_words(svg, (svg->left + svg->right) / 2, svg->height - 6, "middle", bars->x_name);
}

static void axes(struct svg *svg, const struct report_bars *bars)
{
    struct report_ticks ticks;
    report_ticks_count(svg->y.low, svg->y.high, &ticks);
    report_svg_y_axis(svg, &ticks);
    if (bars->labels) {
        label_axis(svg, bars);
        return;
    }
    report_ticks_linear(svg->x.low, svg->x.high, &ticks);
    report_svg_x_axis(svg, &ticks, bars->x_name);
}

void report_bars_draw(struct text *text, const struct report_bars *bars)
{
    struct report_range y = {0, 0};
    double width = (bars->high - bars->low) / bars->n;
    for (int i = 0; i < bars->n; i++)
        report_range_widen(&y, bars->bars[i]);
    y.high = y.high > 0 ? 1.04 * y.high : 1;
    struct svg svg = report_svg_begin(
        text, bars->size, report_svg_legend(NULL, bars->size, bars->y_name, NULL, 0), bars->title);
    report_svg_legend(&svg, bars->size, bars->y_name, NULL, 0);
    svg.x = (struct report_range){bars->low, bars->high};
    svg.y = y;
    axes(&svg, bars);
    double space = fmin(1, 0.1 * (svg.right - svg.left) / bars->n);
    for (int i = 0; i < bars->n; i++) {
        double from = report_svg_x(&svg, bars->low + i * width),
               to = report_svg_x(&svg, bars->low + (i + 1) * width), top = report_svg_y(&svg, bars->bars[i]);
        text_format(text, "<rect class=\"c%d\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"/>\n",
                    bars->low + (i + 0.5) * width <= bars->until, from + space, top, to - from - 2 * space,
                    svg.bottom - top);
    }
    if (isfinite(bars->until))
        report_svg_line(&svg, "axis", report_svg_x(&svg, bars->until), svg.top,
                        report_svg_x(&svg, bars->until), svg.bottom);
    report_svg_end(&svg);
}
