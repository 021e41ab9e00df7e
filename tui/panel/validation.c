/* The overfitting check of a study: the proposal's figures and gates, the distribution of lambda, equity. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/chart.h"
#include "tui/panel/study_words.h"

enum { AXIS = 9 };

static const struct tui_study_validation *validation_of(const struct tui_study_page *page)
{
    return page && page->have_validation ? &page->validation : NULL;
}

static void put(struct tui_study_flow *flow, const char *label, double value)
{
    char text[FORMAT_MAX];

    panel_study_put(flow, label, isnan(value) ? STYLE_DIM : STYLE_NORMAL, cli_format_number(text, value, 2));
}

static void figures(struct tui_study_flow *flow, const struct tui_study_validation *v)
{
    char a[FORMAT_MAX], b[FORMAT_MAX], words[128];

    put(flow, "PBO", v->pbo);
    if (tui_study_validation_moved(v)) { /* more trials have ended: the distribution is of these */
        snprintf(words, sizeof(words), "%s of %d trials", cli_format_number(a, v->pbo_now, 2), v->columns);
        panel_study_put(flow, "by now", STYLE_WARN, words);
    }
    put(flow, "deflated Sharpe", v->deflated);
    put(flow, "skill", v->skill);
    put(flow, "expected by chance", v->expected);
    put(flow, "probability of loss", v->loss);
    snprintf(words, sizeof(words), "%s x in sample %s%s", cli_format_number(a, v->slope, 2),
             v->intercept >= 0 ? "+" : "", cli_format_number(b, v->intercept, 2));
    panel_study_put(flow, "out of sample =", STYLE_NORMAL, isnan(v->slope) ? "n/a" : words);
}

static void holdout(struct tui_study_flow *flow, const struct tui_study_validation *v)
{
    char a[FORMAT_MAX];

    put(flow, "holdout: Sharpe", v->holdout.sharpe);
    put(flow, "holding", v->holdout.holding);
    put(flow, "equal weight", v->holdout.equal_weight);
    panel_study_put(flow, "return", style_signed(v->holdout.return_pct, 2),
                    cli_format_percent(a, v->holdout.return_pct, 2));
    panel_study_put(flow, "drawdown", STYLE_NORMAL, cli_format_percent(a, v->holdout.drawdown_pct, 1));
    panel_study_put(flow, "trades", STYLE_NORMAL,
                    cli_format_count(a, v->holdout.trades < 0 ? NAN : (double)v->holdout.trades));
}

static void gates(struct tui_study_flow *flow, const struct tui_study_validation *v)
{
    char a[FORMAT_MAX], b[FORMAT_MAX], words[2 * FORMAT_MAX + 24];

    for (int i = 0; i < v->n_gates; i++) {
        snprintf(words, sizeof(words), "%s %s (%s)", cli_format_number(a, v->gates[i].figure, 2),
                 v->gates[i].passed ? "ok" : "REFUSED", cli_format_number(b, v->gates[i].limit, 2));
        panel_study_put(flow, v->gates[i].gate, v->gates[i].passed ? STYLE_GOOD : STYLE_BAD, words);
    }
}

void panel_validation(const struct area *area, const struct scene *scene)
{
    const struct tui_study *chosen = tui_view_study(scene->view, scene->model);
    const struct tui_study_page *page;
    char title[STUDY_LABEL_MAX + 48], words[STUDY_NAME_MAX + STATUS_TEXT_MAX + 48], a[FORMAT_MAX],
        name[STUDY_NAME_MAX + 16];

    snprintf(title, sizeof(title), "Validation of %s", chosen ? chosen->label : scene->view->study);
    struct area body = panel_study_frame(area, scene, PANEL_VALIDATION, title, &page);
    const struct tui_study_validation *v = validation_of(page);
    if (!page)
        return;
    if (!v || tui_model_studies_freshness(scene->model, scene->now) == GONE) {
        panel_frame_empty(&body, v ? "-" : "not read yet");
        return;
    }
    struct area inside = tui_area_part(&body, 1, 0, body.width - 1, body.height);
    int y = 0;
    if (!v->have) {
        snprintf(words, sizeof(words), "%s%s%s", page->n_members > 1 ? v->study : "",
                 page->n_members > 1 && v->study[0] ? ": " : "", v->words);
        tui_area_text_cut(&inside, 0, y++, inside.width, STYLE_DIM, words);
    } else {
        y = panel_frame_wrap(&inside, y, body.height > 6 ? 3 : 1, v->admitted ? STYLE_GOOD : STYLE_BAD,
                             v->verdict[0] ? v->verdict
                             : v->admitted ? "admitted"
                                           : "refused");
        snprintf(words, sizeof(words), "trial %s, %s%s%s",
                 v->trial < 0 ? "not known" : tui_study_validation_name(page, v->trial, name, sizeof(name)),
                 v->made_ns ? "proposed " : "fetched from the artifact store",
                 v->made_ns ? cli_format_time(a, v->made_ns) : "", v->made_ns ? "Z" : "");
        if (y < body.height)
            tui_area_text_cut(&inside, 0, y++, inside.width, STYLE_DIM, words);
    }
    struct area rest = tui_area_part(&body, 0, y, body.width, body.height - y);
    struct tui_study_flow flow = {&rest, 1, 0};
    figures(&flow, v);
    if (!v->have)
        return;
    flow.x = 1;
    flow.y++;
    holdout(&flow, v);
    flow.x = 1;
    flow.y++;
    gates(&flow, v);
}

/* Columns of blocks, the overfitted ones left of 0. */
static void histogram(const struct area *area, const struct tui_study_validation *v)
{
    bool plain = area->canvas->glyphs == GLYPHS_ASCII;
    int most = 0, rows = area->height - 1, columns = area->width;

    for (int i = 0; i < STUDY_LAMBDA_BINS; i++)
        most = v->lambda[i] > most ? v->lambda[i] : most;
    for (int x = 0; x < columns && most > 0 && rows > 0; x++) {
        int from = x * STUDY_LAMBDA_BINS / columns, to = (x + 1) * STUDY_LAMBDA_BINS / columns, highest = 0;
        for (int bin = from; bin < to || bin == from; bin++)
            highest = v->lambda[bin] > highest ? v->lambda[bin] : highest;
        int eighths = (int)lround(8.0 * rows * highest / most);
        eighths = highest > 0 && eighths < 1 ? 1 : eighths;
        enum style style = from < STUDY_LAMBDA_BINS / 2 ? STYLE_BAD : STYLE_GOOD;
        for (int y = rows - 1; y >= 0 && eighths > 0; y--, eighths -= 8) {
            wchar_t c = (wchar_t)(0x2580 + (eighths > 8 ? 8 : eighths));
            if (plain)
                c = eighths >= 4 || y == rows - 1 ? L'#' : L' ';
            tui_area_char(area, x, y, style, c);
        }
    }
    tui_area_text(area, 0, rows, STYLE_BAD, "overfitted");
    if (columns > 24)
        tui_area_text(area, columns / 2, rows, STYLE_DIM, "0");
    tui_area_text_right(area, columns, rows, STYLE_GOOD, "holds");
}

void panel_lambda(const struct area *area, const struct scene *scene)
{
    const struct tui_study_page *page;
    struct area body = panel_study_frame(area, scene, PANEL_LAMBDA, "CPCV logits", &page);
    const struct tui_study_validation *v = validation_of(page);
    char words[64], of[24] = "";

    if (!page)
        return;
    if (!v || v->n_lambda == 0 || tui_model_studies_freshness(scene->model, scene->now) == GONE) {
        panel_frame_empty(&body, !v ? "not read yet" : v->n_lambda == 0 ? v->returns_words : "-");
        return;
    }
    if (v->left_out > 0)
        snprintf(of, sizeof(of), " of %d", v->columns + v->left_out);
    int n = snprintf(words, sizeof(words), " %d%s trials, %lld rows ", v->columns, of, (long long)v->rows);
    if (area->width > 24 + n && tui_model_studies_freshness(scene->model, scene->now) == FRESH)
        tui_area_text_right(area, area->width - 1, 0, STYLE_DIM, words);
    struct area inside = tui_area_part(&body, 1, 0, body.width - 2, body.height);
    if (inside.width > 0 && inside.height > 1)
        histogram(&inside, v);
}

/* "#29"; of one of several workers, or of another worker of the study, "2#29". */
static const char *equity_name(const struct tui_study_page *page, char *buf, size_t size)
{
    const struct tui_study_validation *v = &page->validation;
    char base[STUDY_NAME_MAX + 1];
    int k = study_base_name(v->equity_study, base);

    if (k > 0 && (page->n_members > 1 || strcmp(v->equity_study, v->study) != 0))
        snprintf(buf, size, "%d#%d", k, v->equity_trial);
    else
        snprintf(buf, size, "#%d", v->equity_trial);
    return buf;
}

void panel_tested(const struct area *area, const struct scene *scene)
{
    static const char *const names[] = {"trial", "holding", "equal weight"};
    const struct tui_study_page *page;
    struct area body = panel_study_frame(area, scene, PANEL_TESTED, "Equity out of sample", &page);
    const struct tui_study_validation *v = validation_of(page);
    double low = INFINITY, high = -INFINITY, l, h;
    char a[FORMAT_MAX], name[32];

    if (!page)
        return;
    for (int i = 0; v && i < 3; i++)
        if (tui_chart_range(v->equity[i], v->n_equity, &l, &h)) {
            low = fmin(low, l);
            high = fmax(high, h);
        }
    int columns = body.width - AXIS - 2, rows = body.height - 1;
    if (!(low < high) || tui_model_studies_freshness(scene->model, scene->now) == GONE) {
        panel_frame_empty(&body, !v ? "not read yet" : low < high ? "-" : v->returns_words);
        return;
    }
    if (columns < 4 || rows < 1)
        return;
    struct area inside = tui_area_part(&body, 1, 0, columns, rows);
    tui_chart_line(&inside, v->equity[0], v->n_equity, low, high, STYLE_CHART);
    tui_chart_overlay(&inside, v->equity[1], v->n_equity, low, high, STYLE_LINE);
    tui_area_text(&body, columns + 2, 0, STYLE_DIM, tui_study_number(a, sizeof(a), high));
    if (rows > 1)
        tui_area_text(&body, columns + 2, rows - 1, STYLE_DIM, tui_study_number(a, sizeof(a), low));
    int x = 1;
    for (int i = 0; i < 3 && v->n_equity > 0; i++) {
        double last = v->equity[i][v->n_equity - 1];
        if (!isfinite(last))
            continue;
        x = tui_area_printf(&body, x, rows,
                            i == 0   ? STYLE_CHART
                            : i == 1 ? STYLE_LINE
                                     : STYLE_DIM,
                            "%s", names[i]);
        if (i == 0)
            x = tui_area_printf(&body, x, rows, STYLE_CHART, " %s", equity_name(page, name, sizeof(name)));
        x = tui_area_printf(&body, x + 1, rows, STYLE_NORMAL, "%s",
                            cli_format_percent(a, 100 * (last - 1), 1)) +
            2;
    }
}
