/* The frame of a picture, inside this folder: sizes, scales, axes, text, legend. */
#ifndef REPORT_SVG_H
#define REPORT_SVG_H

#include "report/axis.h"
#include "report/chart.h"

struct svg {
    struct text *text;
    double width, height, left, right, top, bottom; /* the frame's edges; y falls downwards */
    struct report_range x, y;
    bool logarithmic;
};

/* Sizes of `size`, with `lines` lines of text above the frame; the element and its title. */
struct svg report_svg_begin(struct text *text, enum report_size size, int lines, const char *title);
/* One as wide as the page, whose frame begins at `left` and `top` and is so high. */
struct svg report_svg_frame(struct text *text, double left, double top, double height, const char *title);
void report_svg_end(struct svg *svg);
void report_svg_empty(struct svg *svg); /* an empty frame that says so, and the end */

double report_svg_x(const struct svg *svg, double x);
double report_svg_y(const struct svg *svg, double y);

void report_svg_line(struct svg *svg, const char *class, double x0, double y0, double x1, double y1);
/* `anchor`: start, middle, end. */
void report_svg_words(struct svg *svg, double x, double y, const char *anchor, const char *words);
/* Of words as many characters as fit into `room`, and "…" where some are left out. Returns their width. */
double report_svg_words_in(struct svg *svg, double x, double y, const char *anchor, double room,
                           const char *words);
/* How wide words are at least in 12 px, about: for what must not overlap. */
double report_svg_width(const char *words);

/* Ticks with their lines; a text that would overlap the one before is left out. */
void report_svg_x_axis(struct svg *svg, const struct report_ticks *ticks, const char *name);
void report_svg_y_axis(struct svg *svg, const struct report_ticks *ticks);
void report_svg_y_ticks(const struct svg *svg, struct report_ticks *ret);

/* The lines of text above the frame: the unit, then the legend, an entry a class. Returns how many lines they
 * need; NULL svg: only that. */
struct svg_entry {
    const char *name, *class;
    char mark; /* '-' a line, '#' an area, '^' 'v' triangles, 'o' a dot */
};
int report_svg_legend(struct svg *svg, enum report_size size, const char *y_name,
                      const struct svg_entry *entries, int n);

#endif
