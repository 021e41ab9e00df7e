#include <math.h>

#include "report/svg.h"

struct fit {
    double slope, intercept, from, to;
};

static void draw(struct svg *svg, const struct report_points *points, const struct fit *fit)
{
    report_svg_line(svg, "axis", svg->left, report_svg_y(svg, 0), svg->right, report_svg_y(svg, 0));
    text_lit(svg->text, "<g class=\"points\">\n");
    for (size_t i = 0; i < points->n; i++)
        if (isfinite(points->xy[2 * i]) && isfinite(points->xy[2 * i + 1]))
            text_format(svg->text, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2\"/>\n",
                        report_svg_x(svg, points->xy[2 * i]), report_svg_y(svg, points->xy[2 * i + 1]));
    text_lit(svg->text, "</g>\n");
    if (fit)
        report_svg_line(svg, "fit", report_svg_x(svg, fit->from),
                        report_svg_y(svg, fit->slope * fit->from + fit->intercept),
                        report_svg_x(svg, fit->to), report_svg_y(svg, fit->slope * fit->to + fit->intercept));
}

void report_points_draw(struct text *text, const struct report_points *points)
{
    struct report_range x = {INFINITY, -INFINITY}, y = {0, 0};
    struct report_ticks ticks;
    for (size_t i = 0; i < points->n; i++) {
        report_range_widen(&x, points->xy[2 * i]);
        report_range_widen(&y, points->xy[2 * i + 1]);
    }
    struct fit fit = {points->slope, points->intercept, x.low, x.high};
    bool fits = isfinite(fit.slope) && isfinite(fit.intercept) && x.low < x.high;
    if (fits) {
        report_range_widen(&y, fit.slope * x.low + fit.intercept);
        report_range_widen(&y, fit.slope * x.high + fit.intercept);
    }
    struct svg svg = report_svg_begin(
        text, points->size, report_svg_legend(NULL, points->size, points->y_name, NULL, 0), points->title);
    report_svg_legend(&svg, points->size, points->y_name, NULL, 0);
    svg.x = report_range_settle(x);
    svg.y = report_range_settle(y);
    report_svg_y_ticks(&svg, &ticks);
    report_svg_y_axis(&svg, &ticks);
    report_ticks_linear(svg.x.low, svg.x.high, &ticks);
    report_svg_x_axis(&svg, &ticks, points->x_name);
    draw(&svg, points, fits ? &fit : NULL);
    report_svg_end(&svg);
}
