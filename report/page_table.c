#include <math.h>

#include "report/page.h"

/* ---- numbers, tables ---- */

static void number(struct text *text, double value, int digits, char format)
{
    if (!isfinite(value))
        text_lit(text, "n/a");
    else if (format == 'f') /* what rounds to 0 has no sign */
        text_format(text, "<data value=\"%.17g\">%.*f</data>", value, digits,
                    fabs(value) * pow(10, digits) < 0.5 ? 0 : value);
    else
        text_format(text, "<data value=\"%.17g\">%.*g</data>", value, digits, value);
}

void report_page_number(struct text *text, double value, int digits)
{
    number(text, value, digits, 'g');
}

void report_page_fixed(struct text *text, double value, int decimals)
{
    number(text, value, decimals, 'f');
}

void report_page_table(struct text *text, const char *const *names, int n)
{
    text_lit(text, "<div class=\"wide\"><table>\n<tr>");
    for (int i = 0; i < n; i++) {
        text_lit(text, "<th>");
        report_page_escape(text, names[i]);
        text_lit(text, "</th>");
    }
    text_lit(text, "</tr>\n");
}

void report_page_row(struct text *text)
{
    text_lit(text, "<tr>");
}

void report_page_row_end(struct text *text)
{
    text_lit(text, "</tr>\n");
}

void report_page_cell(struct text *text, const char *words)
{
    text_lit(text, "<td>");
    report_page_escape(text, words);
    text_lit(text, "</td>");
}

void report_page_value(struct text *text, double value, int digits)
{
    text_lit(text, "<td>");
    report_page_number(text, value, digits);
    text_lit(text, "</td>");
}

void report_page_value_fixed(struct text *text, double value, int decimals)
{
    text_lit(text, "<td>");
    report_page_fixed(text, value, decimals);
    text_lit(text, "</td>");
}

void report_page_value_signed(struct text *text, double value, int decimals)
{
    text_format(text, "<td%s>", value > 0 ? " class=\"up\"" : value < 0 ? " class=\"down\"" : "");
    report_page_fixed(text, value, decimals);
    text_lit(text, "</td>");
}

void report_page_table_end(struct text *text)
{
    text_lit(text, "</table></div>\n");
}

/* ---- facts ---- */

void report_page_facts(struct text *text)
{
    text_lit(text, "<table class=\"facts\">\n");
}

static void remark_of(struct text *text, const char *remark)
{
    text_lit(text, "<td class=\"soft\">");
    report_page_escape(text, remark ? remark : "");
    text_lit(text, "</td></tr>\n");
}

void report_page_fact(struct text *text, const char *name, const char *words, const char *remark)
{
    report_page_row(text);
    report_page_cell(text, name);
    report_page_cell(text, words);
    remark_of(text, remark);
}

void report_page_fact_number(struct text *text, const char *name, double value, int digits,
                             const char *remark)
{
    report_page_row(text);
    report_page_cell(text, name);
    report_page_value(text, value, digits);
    remark_of(text, remark);
}

void report_page_fact_fixed(struct text *text, const char *name, double value, int decimals,
                            const char *remark)
{
    report_page_row(text);
    report_page_cell(text, name);
    report_page_value_fixed(text, value, decimals);
    remark_of(text, remark);
}

void report_page_facts_end(struct text *text)
{
    text_lit(text, "</table>\n");
}
