/* The form of an order: its fields, the line that it makes, what the chosen field is, the venue's rules, and
 * what the daemon says that it would be. */
#include <stdio.h>
#include <string.h>

#include "cli/text.h"
#include "exchange/filter_words.h"
#include "tui/panel/frame.h"
#include "tui/panel/panel.h"

enum {
    COLUMN_WIDTH = 38, /* from twice of which on there are two columns of fields */
    ABOUT_ROWS = 2,
    RULE_ROWS = 3,   /* of rules in running text; FILTER_RULES where there is room for one a row */
    ANSWER_ROWS = 4, /* of what it would be, below its rule */
    ANSWER_LEAST = 2,
    HELD_LEAST = 4,   /* of what is held, with its rule; else there is none of it */
    FIELDS_LEAST = 4, /* rows of fields that are in sight at least */
    ANSWER_EXPECTED_MS = 1000,
};

#define PART "; " /* between the lines of an answer, as cli_text_one_line() joins them */

/* The rows of each part, from above. */
struct order_rows {
    int columns, fields, line, about, rules, answer, held; /* answer, held: with their rules */
};

static void shrink(int *part, int least, int *over)
{
    int by = *part - least < *over ? *part - least : *over;

    if (by > 0) {
        *part -= by;
        *over -= by;
    }
}

/* `answer`: rows that what it would be needs, which is never cut for less. */
static struct order_rows lay_out(int n, int width, int height, int answer)
{
    struct order_rows rows = {.columns = width >= 2 * COLUMN_WIDTH ? 2 : 1,
                              .line = 1,
                              .about = ABOUT_ROWS,
                              .rules = RULE_ROWS,
                              .answer = 1 + (answer > ANSWER_ROWS ? answer : ANSWER_ROWS)};
    rows.fields = (n + rows.columns - 1) / rows.columns;
    bool needed = answer > ANSWER_ROWS;
    int over = rows.fields + rows.line + rows.about + rows.rules + rows.answer - (height - 2);

    if (-over >= FILTER_RULES - RULE_ROWS) {
        over += FILTER_RULES - RULE_ROWS;
        rows.rules = FILTER_RULES;
    }
    if (-over >= HELD_LEAST)
        rows.held = -over;
    else if (over < 0)
        rows.answer -= over;
    if (needed)
        shrink(&rows.rules, 0, &over);
    shrink(&rows.fields, rows.fields / 2 > FIELDS_LEAST ? rows.fields / 2 : FIELDS_LEAST, &over);
    shrink(&rows.answer, 1 + ANSWER_LEAST, &over);
    shrink(&rows.rules, 0, &over);
    shrink(&rows.about, 1, &over);
    shrink(&rows.fields, 1, &over);
    shrink(&rows.line, 0, &over);
    return rows;
}

static int name_width(const struct order_form *form, int from, int end)
{
    int width = 0;

    for (int i = from; i < end && i < form->n; i++)
        width = (int)strlen(form->fields[i].name) > width ? (int)strlen(form->fields[i].name) : width;
    return width;
}

static void draw_field(const struct area *area, int y, const struct order_form *form, int i, int name)
{
    const struct order_field *field = &form->fields[i];
    bool chosen = i == form->row, changed = form->amends > 0 && strcmp(field->value, field->was) != 0;
    bool typed = field->kind != ORDER_FIELD_CHOICE && field->kind != ORDER_FIELD_FLAG;
    int x = name + 4, room = area->width - x - 1;

    tui_area_text_cut(area, 2, y, name, chosen ? STYLE_STRONG : STYLE_NORMAL, field->name);
    if (changed)
        tui_area_char(area, 1, y, STYLE_WARN, L'*');
    if (room < 2)
        return;
    if (field->value[0]) {
        int width = cli_text_width(field->value);
        tui_area_text_cut(area, x, y, room, chosen && form->fresh ? STYLE_SELECTED : STYLE_STRONG,
                          field->value);
        x += width < room ? width : room;
    } else if (!chosen || !typed) {
        tui_area_text_cut(area, x, y, room, STYLE_DIM, field->kind == ORDER_FIELD_FLAG ? "no" : "-");
    }
    if (chosen)
        panel_frame_cursor(area, y);
    if (chosen && typed)
        tui_area_char(area, x, y, STYLE_KEY, L'_');
}

static void draw_fields(const struct area *area, const struct order_form *form, int columns)
{
    int height = area->height, rows = (form->n + columns - 1) / columns, width = area->width / columns;
    int at = form->row % rows, from = at < height ? 0 : at - height + 1;

    for (int c = 0; c < columns; c++) {
        struct area part =
            tui_area_part(area, c * width, 0, c == columns - 1 ? area->width - c * width : width, height);
        int name = name_width(form, c * rows, (c + 1) * rows);
        for (int y = 0; y < height && y + from < rows && c * rows + from + y < form->n; y++)
            draw_field(&part, y, form, c * rows + from + y, name);
    }
}

static void draw_line(const struct area *area, const struct order_form *form)
{
    char line[COMMAND_LINE_MAX];

    tui_order_form_line(form, line);
    tui_area_char(area, 0, 0, STYLE_KEY, L':');
    tui_area_text_cut(area, 1, 0, area->width - 1, STYLE_NORMAL, line);
}

/* What can be typed in the field. */
static const char *hint(const struct order_field *field)
{
    switch (field->kind) {
    case ORDER_FIELD_PRICE:
        return "Left, Right: by the tick";
    case ORDER_FIELD_QTY:
        return "Left, Right: by the lot";
    case ORDER_FIELD_FLAG:
        return "Space: yes, or no";
    case ORDER_FIELD_AMOUNT:
    case ORDER_FIELD_TEXT:
        return "";
    case ORDER_FIELD_NAME:
    case ORDER_FIELD_CHOICE:
        break;
    }
    return "Left, Right: the next one";
}

static void draw_about(const struct area *area, const struct order_form *form)
{
    const struct order_field *field = &form->fields[form->row];
    const char *how = hint(field), *words = field->words ? field->words : "";
    char text[1024];

    if (form->words[0]) {
        panel_frame_wrap(area, 0, area->height, STYLE_BAD, form->words);
        return;
    }
    snprintf(text, sizeof(text), "%s%s%s%s%s%s%s", field->name, field->argument ? " " : "",
             field->argument ? field->argument : "", *how ? ". " : "", how, *words ? ". " : "", words);
    panel_frame_wrap(area, 0, area->height, STYLE_DIM, text);
}

static void draw_rules(const struct area *area, const struct scene *scene)
{
    static const char *const names[FILTER_RULES] = {
        [FILTER_RULE_PRICE] = "prices",
        [FILTER_RULE_QTY] = "quantity",
        [FILTER_RULE_MARKET_QTY] = "market orders",
        [FILTER_RULE_NOTIONAL] = "notional",
        [FILTER_RULE_BAND] = "limit price",
        [FILTER_RULE_ORDERS] = "open orders",
    };
    static const enum filter_rule order[FILTER_RULES] = {FILTER_RULE_BAND,       FILTER_RULE_QTY,
                                                         FILTER_RULE_NOTIONAL,   FILTER_RULE_PRICE,
                                                         FILTER_RULE_MARKET_QTY, FILTER_RULE_ORDERS};
    const struct order_form *form = scene->view->order_form;
    const struct symbol *rules = &form->rules;
    enum order_side side = tui_order_form_sells(form) ? ORDER_SELL : ORDER_BUY;
    bool known = rules->name[0] && strcmp(rules->name, tui_order_form_symbol(form)) == 0,
         apart = known && area->height >= FILTER_RULES;
    char words[ORDER_WORDS_MAX], text[FILTER_RULES * (ORDER_WORDS_MAX + 32)] = "";
    size_t at = 0;
    int y = 0;

    if (!known)
        snprintf(text, sizeof(text),
                 "The venue's rules of that symbol are not known here; the daemon checks them.");
    for (int i = 0; known && i < FILTER_RULES; i++) {
        enum filter_rule rule = order[i];
        filter_rule_words(rules, rule, side, tui_order_form_market(scene->model, rules), words);
        if (!words[0])
            continue;
        if (apart) {
            tui_area_text(area, 1, y, STYLE_DIM, names[rule]);
            tui_area_text_cut(area, 16, y++, area->width - 16, STYLE_NORMAL, words);
            continue;
        }
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s: %s", at ? "; " : "", names[rule], words);
    }
    if (!apart)
        panel_frame_wrap(area, 0, area->height, STYLE_DIM, text);
    if (area->height == 0)
        tui_canvas_keep(area->canvas, text);
}

/* A part a row where there is room, else as running text. */
static void draw_parts(const struct area *area, enum style style, const char *words)
{
    int parts = 1, y = 0;
    char part[ORDER_ANSWER_MAX];

    for (const char *c = words; (c = strstr(c, PART)); c += 2)
        parts++;
    if (parts > area->height) {
        panel_frame_wrap(area, 0, area->height, style, words);
        return;
    }
    const char *c = words;
    for (; *c && y < area->height; c += *c ? 2 : 0) {
        const char *end = strstr(c, PART);
        size_t len = end ? (size_t)(end - c) : strlen(c);
        snprintf(part, sizeof(part), "%.*s", (int)len, c);
        y = panel_frame_wrap(area, y, area->height - y, style, part);
        c += len;
    }
    if (*c)
        tui_canvas_keep(area->canvas, words);
}

/* What stands below the last rule. */
struct order_said {
    char text[ORDER_ANSWER_MAX + 64];
    enum style style;
    bool parts;           /* a part a row, where there is room */
    char age[FORMAT_MAX]; /* "": of no time */
    enum style age_style;
};

static void say_answer(const struct scene *scene, struct order_said *said)
{
    const struct order_answer *answer = &scene->view->order_form->answer;
    int64_t age_ms = scene->real_now.mono_ms - answer->mono_ms;
    enum freshness freshness = freshness_of(age_ms, ANSWER_EXPECTED_MS);
    const char *end = answer->words;

    panel_frame_age(said->age, sizeof(said->age), freshness, age_ms);
    said->age_style = panel_frame_style(freshness, STYLE_DIM);
    said->parts = answer->done;
    said->style = panel_frame_style(freshness, answer->done         ? STYLE_NORMAL
                                               : answer->unanswered ? STYLE_WARN
                                                                    : STYLE_BAD);
    for (const char *c = end; (c = strstr(c, PART)); c++)
        end = c;
    if (answer->done) /* the last part says that nothing was ordered */
        snprintf(said->text, sizeof(said->text), "%.*s", (int)(end - answer->words), answer->words);
    else
        snprintf(said->text, sizeof(said->text), "%s: %s", answer->unanswered ? "unanswered" : "refused",
                 answer->words);
}

static void say_amend(const struct scene *scene, struct order_said *said)
{
    const struct order_form *form = scene->view->order_form;
    struct status_order order;
    char line[COMMAND_LINE_MAX];

    if (!tui_model_order(scene->model, form->amends, &order)) {
        snprintf(said->text, sizeof(said->text), "order %lld has ended", (long long)form->amends);
        said->style = STYLE_WARN;
        return;
    }
    int at = snprintf(said->text, sizeof(said->text), "%s %s %.10g %s", order.side, order.type, order.qty,
                      order.symbol);
    if (order.price > 0)
        at += snprintf(said->text + at, sizeof(said->text) - (size_t)at, " limit %.*f", order.price_decimals,
                       order.price);
    if (order.stop > 0)
        at += snprintf(said->text + at, sizeof(said->text) - (size_t)at, " stop %.*f", order.price_decimals,
                       order.stop);
    at += snprintf(said->text + at, sizeof(said->text) - (size_t)at, ", %s, filled %.10g, account %s",
                   order.state, order.filled, order.account);
    if (tui_order_form_line(form, line))
        snprintf(said->text + at, sizeof(said->text) - (size_t)at,
                 PART "the daemon checks what is changed once it is sent");
    said->parts = true;
    said->style = panel_frame_style(tui_model_freshness(scene->model, scene->real_now), STYLE_NORMAL);
}

static void say(const struct scene *scene, struct order_said *said)
{
    const struct view *view = scene->view;
    const struct order_form *form = view->order_form;
    bool refused = view->outcome == OUTCOME_REFUSED;
    char line[COMMAND_LINE_MAX];

    *said = (struct order_said){.style = STYLE_DIM};
    tui_order_form_line(form, line);
    if (form->sent_id && (refused || view->outcome == OUTCOME_UNANSWERED)) { /* until the next key */
        said->style = refused ? STYLE_BAD : STYLE_WARN;
        snprintf(said->text, sizeof(said->text), "%s %s: %.1000s", view->command,
                 tui_outcome_word(view->outcome), view->words);
    } else if (form->amends > 0) {
        say_amend(scene, said);
    } else if (strcmp(form->answer.line, line) == 0) {
        say_answer(scene, said);
    } else {
        snprintf(said->text, sizeof(said->text), "the daemon is asked");
    }
}

static void draw_said(const struct area *area, const struct scene *scene, const struct order_said *said)
{
    const char *title = scene->view->order_form->amends > 0 ? "The order now" : "What it would be";
    struct area body = panel_frame_rule(area, scene, PANEL_NONE, title, -1, NULL);
    struct area text = tui_area_part(&body, 1, 0, body.width - 2, body.height);

    if (said->age[0])
        tui_area_text_right(area, area->width - 1, 0, said->age_style, said->age);
    if (said->parts)
        draw_parts(&text, said->style, said->text);
    else
        panel_frame_wrap(&text, 0, text.height, said->style, said->text);
}

static void draw_keys(const struct area *area, const struct scene *scene)
{
    static const char *const keys[][2] = {{"Enter", "order; y confirms"},
                                          {"Esc", "back"},
                                          {"Left Right", "step"},
                                          {"Ctrl-U", "clear"},
                                          {":", "as a line"},
                                          {"F1", "help"},
                                          {"F3", "whole texts"}};
    const struct order_form *form = scene->view->order_form;
    struct hint_row row = panel_frame_hints(area);

    if (scene->view->outcome != OUTCOME_NONE) {
        panel_outcome(area, scene->view, 0, scene->real_now);
        return;
    }
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        panel_frame_hint(&row, keys[i][0], i == 0 && form->amends > 0 ? "amend; y confirms" : keys[i][1]);
    panel_frame_hints_end(&row);
}

/* The market of the order's symbol at the right of the title. */
static void draw_market(const struct area *area, const struct scene *scene, int from)
{
    const struct status_symbol *symbol =
        tui_model_symbol(scene->model, tui_order_form_symbol(scene->view->order_form));
    char last[FORMAT_MAX], bid[FORMAT_MAX], ask[FORMAT_MAX], age[FORMAT_MAX], text[4 * FORMAT_MAX + 64];

    if (!symbol)
        return;
    enum freshness freshness = tui_model_symbol_freshness(scene->model, symbol, scene->real_now);
    panel_frame_age(age, sizeof(age), freshness,
                    tui_model_age(scene->model, symbol->age_ms, scene->real_now));
    snprintf(text, sizeof(text), "%s  last %s  bid %s  ask %s  %s", symbol->symbol,
             cli_format_number(last, symbol->last, symbol->price_decimals),
             cli_format_number(bid, symbol->bid, symbol->price_decimals),
             cli_format_number(ask, symbol->ask, symbol->price_decimals), age);
    int width = cli_text_width(text);
    if (freshness == GONE || from + width + 3 > area->width)
        return;
    tui_area_line(area, area->width - width - 2, 0, width + 2, STYLE_NORMAL, L' ');
    tui_area_text_right(area, area->width - 1, 0, panel_frame_style(freshness, STYLE_NORMAL), text);
}

void panel_order(const struct area *screen, const struct scene *scene)
{
    const struct order_form *form = scene->view->order_form;
    int width = screen->width, height = screen->height, y = 1;
    struct order_said said;
    char title[64];

    say(scene, &said);
    struct order_rows rows =
        lay_out(form->n, width, height, panel_frame_wrap_rows(said.text, width > 2 ? width - 2 : 1));

    for (int row = 0; row < height; row++)
        tui_area_line(screen, 0, row, width, STYLE_NORMAL, L' ');
    if (form->amends > 0)
        snprintf(title, sizeof(title), "Amend order %lld", (long long)form->amends);
    else
        snprintf(title, sizeof(title), "Order");
    struct area part = tui_area_part(screen, 0, 0, width, 1);
    int end;
    panel_frame_rule(&part, scene, PANEL_NONE, title, -1, &end);
    draw_market(&part, scene, end);
    /* First, so that it is the first of what is cut. */
    part =
        tui_area_part(screen, 0, y + rows.fields + rows.line + rows.about + rows.rules, width, rows.answer);
    draw_said(&part, scene, &said);
    part = tui_area_part(screen, 0, y, width, rows.fields);
    draw_fields(&part, form, rows.columns);
    part = tui_area_part(screen, 1, y += rows.fields, width - 2, rows.line);
    if (rows.line > 0)
        draw_line(&part, form);
    part = tui_area_part(screen, 1, y += rows.line, width - 2, rows.about);
    draw_about(&part, form);
    part = tui_area_part(screen, 1, y += rows.about, width - 2, rows.rules);
    draw_rules(&part, scene);
    part = tui_area_part(screen, 0, y + rows.rules + rows.answer, width, rows.held);
    if (rows.held > 0)
        panel_order_held(&part, scene);
    part = tui_area_part(screen, 0, height - 1, width, 1);
    draw_keys(&part, scene);
}

void panel_order_confirm(const struct area *screen, const struct scene *scene)
{
    enum { WIDTH = 60, LINE_ROWS = 4, AROUND = 5 /* frame, blanks and keys */, LEAST = 3, FRAME = 2 };
    const struct order_form *form = scene->view->order_form;
    struct order_said said;
    char line[COMMAND_LINE_MAX];

    if (!form)
        return;
    tui_order_form_line(form, line);
    say(scene, &said);
    int width = (WIDTH < screen->width ? WIDTH : screen->width) - 4, room = screen->height;
    int lines = panel_frame_wrap_rows(line, width), rows = panel_frame_wrap_rows(said.text, width);
    lines = lines < LINE_ROWS ? lines : LINE_ROWS;
    /* In a small screen without blanks, then with the keys in the frame. */
    int around = lines + rows + AROUND <= room ? AROUND : lines + rows + LEAST <= room ? LEAST : FRAME;
    rows = lines + rows + around <= room ? rows : room - around - lines;
    struct area box =
        panel_frame_box(screen, WIDTH, lines + rows + around, form->amends > 0 ? "Amend" : "Order");
    panel_frame_wrap(&box, panel_frame_wrap(&box, 0, lines, STYLE_STRONG, line) + (around == AROUND), rows,
                     said.style, said.text);
    panel_frame_yes(&box, around == FRAME, "does it");
}
