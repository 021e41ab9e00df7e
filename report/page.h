/* One HTML page in one file: it loads nothing and runs nothing, in the reader's own light or dark. It is well
 * formed as XML is, in UTF-8, and has no address in it: pictures are SVG inside the page, which needs no
 * namespace there. A backtest, a training, a study use it; it knows none of them. Words are escaped here,
 * unless a function says otherwise.
 *
 * Appended to a struct text, in this order: report_page_begin(), what the page has, report_page_end(). */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include "exchange/text.h"
#include "report/chart.h"
#include "report/heat.h"

/* Text with & < > " as XML has them; '?' for what is no character of UTF-8 or XML. */
void report_page_escape(struct text *text, const char *words);

void report_page_begin(struct text *text, const char *title); /* also its heading */
void report_page_end(struct text *text);

void report_page_heading(struct text *text, const char *words);
/* A heading above headings: it begins a part of its own, on paper a page. */
void report_page_section(struct text *text, const char *words);
/* A newline in it is white space. */
void report_page_paragraph(struct text *text, const char *words);
/* A sentence in a frame: `good` 1, 0, or -1: it is neither. */
void report_page_sentence(struct text *text, const char *words, int good);

/* A number with `digits` significant digits, as <data> whose value has all of them; n/a where it is not
 * finite. */
void report_page_number(struct text *text, double value, int digits);
/* The same with so many digits behind the point. */
void report_page_fixed(struct text *text, double value, int decimals);

/* A table: `names` [n] of its columns, then rows of as many cells. */
void report_page_table(struct text *text, const char *const *names, int n);
void report_page_row(struct text *text);
void report_page_row_end(struct text *text);
void report_page_cell(struct text *text, const char *words);         /* a cell of words */
void report_page_value(struct text *text, double value, int digits); /* report_page_number() in a cell */
void report_page_value_fixed(struct text *text, double value, int decimals);
/* The same in the colour of a gain, or of a loss. */
void report_page_value_signed(struct text *text, double value, int decimals);
void report_page_table_end(struct text *text);

/* A table of facts: a name, what it is, and a remark (NULL: none). */
void report_page_facts(struct text *text);
void report_page_fact(struct text *text, const char *name, const char *words, const char *remark);
void report_page_fact_number(struct text *text, const char *name, double value, int digits,
                             const char *remark);
void report_page_fact_fixed(struct text *text, const char *name, double value, int decimals,
                            const char *remark);
void report_page_facts_end(struct text *text);

/* A text as it is, line by line, folded until it is opened. */
void report_page_details(struct text *text, const char *summary, const char *words);

/* A chart, and below it its title and a caption, which says what it shows. Those between _pair() and
 * _pair_end() are half as wide, two a row where there is room. */
void report_page_chart(struct text *text, const struct report_chart *chart, const char *caption);
void report_page_bars(struct text *text, const struct report_bars *bars, const char *caption);
void report_page_heat(struct text *text, const struct report_heat *heat, const char *caption);
void report_page_points(struct text *text, const struct report_points *points, const char *caption);
void report_page_pair(struct text *text);
void report_page_pair_end(struct text *text);

/* Can a page be written there? For who works for hours before it is. 0; -errno: -EISDIR too. */
int report_page_try(const char *path);

/* Writes the file whole or not at all; a device or a pipe as it is. 0; -EISDIR; -ENOMEM where the text ran
 * out of memory, -errno. */
int report_page_write(const struct text *text, const char *path);

#endif
