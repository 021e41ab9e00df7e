/* The form of a sweep: its fields, how many sets they have, and how long these take. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/text.h"
#include "tui/panel/sweep.h"

enum { ABOUT_ROWS = 2, PLAN_ROWS = 1, NAME_WIDTH = 20 };

static const char *name_of(const struct sweep_field *field)
{
    return field->kind == SWEEP_FIELD_PARAM ? strchr(field->name, ' ') + 1 : field->name;
}

/* What holds where nothing is typed. */
static void default_text(const struct sweep_form *form, const struct sweep_field *field,
                         char buf[static FORMAT_MAX])
{
    const struct sweep_param *param = &form->params[field->param];

    if (field->kind != SWEEP_FIELD_PARAM)
        snprintf(buf, FORMAT_MAX, "-");
    else if (param->word[0])
        snprintf(buf, FORMAT_MAX, "%s", param->word);
    else
        snprintf(buf, FORMAT_MAX, "%.9g", param->fallback);
}

static void draw_field(const struct area *area, int y, const struct sweep_form *form, int i)
{
    const struct sweep_field *field = &form->fields[i];
    const bool chosen = i == form->row, param = field->kind == SWEEP_FIELD_PARAM;
    const int x = NAME_WIDTH + 3;
    char text[FORMAT_MAX];

    tui_area_text_cut(area, param ? 3 : 2, y, NAME_WIDTH - param, chosen ? STYLE_STRONG : STYLE_NORMAL,
                      name_of(field));
    default_text(form, field, text);
    if (chosen && !form->fresh)
        panel_frame_edit(area, x, y, &form->edit);
    else if (field->value[0])
        tui_area_text_cut(area, x, y, area->width - x - 1, chosen ? STYLE_SELECTED : STYLE_STRONG,
                          field->value);
    else
        tui_area_text_cut(area, x, y, area->width - x - 1, STYLE_DIM, text);
    tui_area_row(area, y, 1, i);
    if (chosen)
        panel_frame_cursor(area, y);
}

/* With a heading above the parameters. */
static void draw_fields(const struct area *area, const struct sweep_form *form)
{
    int heading = form->n, lines[SWEEP_FIELDS_MAX + 1], n = 0, at = 0;

    for (int i = form->n - 1; i >= 0 && form->fields[i].kind == SWEEP_FIELD_PARAM; i--)
        heading = i;
    for (int i = 0; i < form->n; i++) {
        if (i == heading)
            lines[n++] = -1;
        at = i == form->row ? n : at;
        lines[n++] = i;
    }
    const int first = at >= area->height ? at - area->height + 1 : 0;
    for (int y = 0; y < area->height && first + y < n; y++) {
        if (lines[first + y] >= 0)
            draw_field(area, y, form, lines[first + y]);
        else
            tui_area_text_cut(area, 2, y, area->width - 3, STYLE_TITLE,
                              "parameters: LO:HI:STEP, a,b,c, a value, or the default");
    }
}

/* "80 sets, about 2.1 s". */
static void draw_plan(const struct area *area, const struct scene *scene)
{
    const struct sweep_page *page = scene->view->sweeps;
    const struct sweep_form_plan *plan = &page->plan;
    char text[SWEEP_COMPLAINT_MAX + 64], time[SWEEP_TIME_MAX], age[FORMAT_MAX];
    double sets = tui_sweep_form_sets(page->form);

    if (plan->state == SWEEP_PLANNING)
        snprintf(text, sizeof(text), "%.0f sets; the first few are run, to say how long all take: %s",
                 plan->sets, cli_format_age(age, scene->real_now.mono_ms - plan->since_ms));
    else if (plan->state == SWEEP_PLAN_FAILED)
        snprintf(text, sizeof(text), "%s", plan->words);
    else if (isnan(sets))
        snprintf(text, sizeof(text), "%s", page->form->words);
    else if (plan->state == SWEEP_PLANNED && plan->left == 0)
        snprintf(text, sizeof(text), "%.0f sets, all of them run already and kept", plan->sets);
    else if (plan->state == SWEEP_PLANNED)
        snprintf(text, sizeof(text), "%.0f sets, about %s", plan->sets, cli_sweep_time(plan->seconds, time));
    else
        snprintf(text, sizeof(text), "%.0f sets; F5 says how long they take", sets);
    panel_frame_wrap(area, 0, area->height,
                     plan->state == SWEEP_PLAN_FAILED || isnan(sets) ? STYLE_BAD
                     : plan->state == SWEEP_PLANNED                  ? STYLE_GOOD
                                                                     : STYLE_WARN,
                     text);
}

static void draw_about(const struct area *area, const struct sweep_form *form)
{
    const struct sweep_field *field = &form->fields[form->row];
    char text[SWEEP_VALUE_MAX], word[FORMAT_MAX];
    const struct sweep_param *param = &form->params[field->param];

    if (field->kind != SWEEP_FIELD_PARAM) {
        snprintf(text, sizeof(text), "%s: %s", field->name, field->words);
    } else {
        default_text(form, field, word);
        if (param->words[0])
            snprintf(text, sizeof(text), "%s: %s; one of %s, default %s. Space: all of them, or the default",
                     param->name, param->summary, param->words, word);
        else
            snprintf(text, sizeof(text), "%s: %s; %.9g to %.9g, default %s. Space: a range, or the default",
                     param->name, param->summary, param->low, param->high, word);
    }
    panel_frame_wrap(area, 0, area->height, STYLE_DIM, text);
}

void panel_sweep_form(const struct area *area, const struct scene *scene)
{
    const struct sweep_page *page = scene->view->sweeps;
    const int plan = area->height >= 18 ? 2 : PLAN_ROWS, below = plan + ABOUT_ROWS;
    struct area fields = tui_area_part(area, 0, 0, area->width, area->height - below),
                sets = tui_area_part(area, 1, area->height - below, area->width - 2, plan),
                about = tui_area_part(area, 1, area->height - ABOUT_ROWS, area->width - 2, ABOUT_ROWS);

    draw_fields(&fields, page->form);
    draw_plan(&sets, scene);
    draw_about(&about, page->form);
}
