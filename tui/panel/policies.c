#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "cli/text.h"
#include "tui/panel/list.h"
#include "tui/panel/training_words.h"

/* As tui_list_columns() has them. */
enum { NAME, ROLE, ACCOUNT, STATE, TRADES, SHARPE, RETURN, EQUITY, AGE, VERDICT, ACTIONS };

enum { ID_COLUMNS = 12 };

static enum style state_style(const char *state)
{
    if (strcmp(state, "trading") == 0)
        return STYLE_GOOD;
    if (strcmp(state, "refused") == 0 || strcmp(state, "killed") == 0)
        return STYLE_BAD;
    return strcmp(state, "warming") == 0 ? STYLE_WARN : STYLE_DIM;
}

/* The currency that its account counts in, which every symbol's name ends with: "". */
static const char *currency_of(const struct model *model, const struct status_policy *p)
{
    const char *currency = "";

    for (int i = 0; i < model->status.n_accounts; i++)
        if (strcmp(model->status.accounts[i].account, p->account) == 0)
            currency = model->status.accounts[i].currency;
    for (int i = 0; i < p->n_actions; i++) {
        size_t name = strlen(p->actions[i].symbol), end = strlen(currency);
        if (name <= end || strcmp(p->actions[i].symbol + name - end, currency) != 0)
            return "";
    }
    return currency;
}

/* "BTC +0.12 ETH -0.30". */
static void actions(const struct model *model, const struct status_policy *p, char *buf, size_t size)
{
    int end = (int)strlen(currency_of(model, p));
    char value[FORMAT_MAX];
    size_t n = 0;

    buf[0] = '\0';
    for (int i = 0; i < p->n_actions; i++) {
        const char *symbol = p->actions[i].symbol;
        int more = snprintf(buf + n, size - n, "%s%.*s %s", n ? " " : "", (int)strlen(symbol) - end, symbol,
                            cli_format_signed(value, p->actions[i].action, 2));
        if (more < 0 || (size_t)more >= size - n)
            return;
        n += (size_t)more;
    }
}

/* How long ago it decided last; -1: not known, or it no longer decides. */
static int64_t decided_age(const struct model *model, const struct status_policy *p, struct moment now)
{
    int64_t clock_ns = tui_model_clock_ns(model, now);

    if (p->decided_ns < 0 || clock_ns <= 0 || strcmp(p->role, "retired") == 0)
        return -1;
    return clock_ns > p->decided_ns ? (clock_ns - p->decided_ns) / 1000000 : 0;
}

static void row(const struct table *table, int y, const struct scene *scene, const struct status_policy *p)
{
    const struct model *model = scene->model;
    enum freshness freshness = tui_model_freshness(model, scene->now),
                   decided = tui_model_policy_freshness(model, p, scene->now);
    bool gone = freshness == GONE, retired = strcmp(p->role, "retired") == 0;
    char text[STATUS_ACTIONS_MAX * 32], name[STATUS_TRAINING_NAME_MAX];
    enum style plain = panel_frame_style(freshness, retired ? STYLE_DIM : STYLE_NORMAL);

    panel_frame_middle(table->area->canvas, name, sizeof(name), p->policy, table->columns[NAME].width);
    panel_table_text(table, NAME, y, panel_frame_style(freshness, retired ? STYLE_DIM : STYLE_STRONG), name);
    panel_table_text(table, ROLE, y,
                     panel_frame_style(freshness, strcmp(p->role, "champion") == 0 ? STYLE_GOOD : plain),
                     p->role);
    panel_frame_middle(table->area->canvas, name, sizeof(name), p->account, table->columns[ACCOUNT].width);
    panel_table_text(table, ACCOUNT, y, plain, name);
    panel_table_text(table, STATE, y, panel_frame_style(freshness, state_style(p->state)),
                     gone          ? "-"
                     : p->state[0] ? p->state
                                   : "n/a");
    panel_table_text(table, TRADES, y, plain,
                     gone ? "-" : cli_format_count(text, panel_training_number(p->trades)));
    panel_table_text(table, SHARPE, y, panel_frame_style(freshness, style_signed(p->sharpe, 2)),
                     gone ? "-" : cli_format_number(text, p->sharpe, 2));
    panel_table_text(table, RETURN, y, panel_frame_style(freshness, style_signed(p->return_pct, 2)),
                     gone ? "-" : cli_format_percent(text, p->return_pct, 2));
    panel_table_text(table, EQUITY, y, plain,
                     gone ? "-" : cli_format_fit(text, p->equity, 2, table->columns[EQUITY].width));
    int64_t age_ms = decided_age(model, p, scene->now);
    panel_frame_age(text, sizeof(text), age_ms < 0 ? GONE : decided, age_ms);
    panel_table_text(table, AGE, y, decided == FRESH ? STYLE_DIM : STYLE_WARN, text);
    panel_table_text(table, VERDICT, y, panel_training_verdict_style(p->verdict),
                     p->verdict[0] ? p->verdict : "n/a");
    if (table->x[ACTIONS] < 0)
        return;
    struct area rest =
        tui_area_part(table->area, table->x[ACTIONS], y, table->area->width - table->x[ACTIONS], 1);
    if (strcmp(p->state, "refused") == 0 && p->detail[0] && !gone) {
        tui_area_text_cut(&rest, 0, 0, rest.width, STYLE_BAD, p->detail);
        return;
    }
    int x = 0;
    if (table->x[AGE] < 0 && decided == STALE) /* where its age has no column */
        x = tui_area_printf(&rest, 0, 0, STYLE_WARN, "%s", text) + 1;
    actions(model, p, text, sizeof(text));
    bool known = decided != GONE && !gone && text[0];
    tui_area_text_cut(&rest, x, 0, rest.width - x, panel_frame_style(decided, STYLE_NORMAL),
                      known ? text : "-");
}

/* How far it is from the crown; without a needed e-value a policy is crowned only by command. */
static int evidence(const struct area *body, int x, int y, const struct status_policy *p)
{
    x = tui_area_printf(body, x, y, STYLE_DIM, ", evidence %.3g", p->evidence.value);
    if (isfinite(p->evidence.value_needed))
        x = tui_area_printf(body, x, y, STYLE_DIM, " of %.3g", p->evidence.value_needed);
    return tui_area_printf(body, x, y, STYLE_DIM, " on %lld of %lld days against %s",
                           (long long)p->evidence.days, (long long)p->evidence.days_needed,
                           p->evidence.against);
}

/* Facts of the chosen one that do not fit into the table; a champion trades for the account of that name,
 * too. */
static void facts(const struct area *body, const struct scene *scene, int y)
{
    const struct status *s = &scene->model->status;
    const struct status_policy *p = tui_view_policy(scene->view, scene->model);
    char age[FORMAT_MAX];
    int x = 1;

    if (!p)
        return;
    bool since = p->since_ns > 0 && scene->now.wall_ns > p->since_ns,
         champion = strcmp(p->role, "champion") == 0 && s->champion.account[0];
    const char *why = p->detail[0] ? p->detail : p->reason;
    x = tui_area_printf(body, x, y, STYLE_DIM, "%s: %s", p->policy, p->role);
    if (since)
        x = tui_area_printf(body, x, y, STYLE_DIM, " for %s",
                            cli_format_age(age, (scene->now.wall_ns - p->since_ns) / 1000000));
    int64_t decided_ms = decided_age(scene->model, p, scene->now);
    if (decided_ms >= 0)
        x = tui_area_printf(body, x, y, STYLE_DIM, ", decided %s ago", cli_format_age(age, decided_ms));
    if (p->verdict[0])
        x = tui_area_printf(body, tui_area_text(body, x, y, STYLE_DIM, ", verdict") + 1, y,
                            panel_training_verdict_style(p->verdict), "%s", p->verdict);
    if (champion)
        x = tui_area_printf(body, x, y, STYLE_DIM, ", also on account %s", s->champion.account);
    if (p->expires_ns > 0)
        x = tui_area_printf(body, x, y, STYLE_DIM, ", expires in %s",
                            cli_format_age(age, tui_model_until_ms(scene->model, p->expires_ns, scene->now)));
    if (p->limits[0] && x < body->width)
        x = tui_area_text_cut(body, tui_area_text(body, x, y, STYLE_DIM, ", limits: "), y, body->width - x,
                              STYLE_DIM, p->limits);
    if (p->evidence.against[0])
        x = evidence(body, x, y, p);
    const struct {
        const char *label, *text;
    } more[] = {{", ", why},
                {", every ", p->interval},
                {" on ", p->backend},
                {", id ", p->id},
                {", of ", p->training}};
    for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
        if (more[i].text[0] && x < body->width) {
            x = tui_area_text(body, x, y, STYLE_DIM, more[i].label);
            bool id = more[i].text == p->id; /* as long as the lists of the command line have it */
            int width = id ? ID_COLUMNS : cli_text_width(more[i].text);
            width = width < body->width - x ? width : body->width - x;
            if (id)
                x = tui_area_printf(body, x, y, STYLE_DIM, "%.*s", width, p->id);
            else
                x = tui_area_text_cut(body, x, y, width, STYLE_DIM, more[i].text);
        }
}

void panel_policies(const struct area *area, const struct scene *scene)
{
    const struct model *model = scene->model;
    int n = model->status.n_policies;
    char more[40] = "";
    struct list_frame frame;

    if (model->status.policies_total > n)
        snprintf(more, sizeof(more), "first of %lld", (long long)model->status.policies_total);
    panel_list_frame(area, scene, PANEL_POLICIES, "Policies", more, &frame);
    const struct area body = frame.body;
    bool below = scene->view->tab == TAB_STUDY && body.height > 3;

    if (n == 0) {
        char sentence[PANEL_SENTENCE_MAX];
        panel_frame_empty(
            &body,
            model->at_ns > 0                 ? "- those whose role has not changed since"
            : model->source == MODEL_NOTHING ? "no policy is known yet"
            : scene->view->readonly
                ? "no policies"
                : panel_frame_sentence(scene, "no policies: `P` lets a training's newest trade", sentence));
        return;
    }
    struct column shown[LIST_COLUMNS_MAX];
    int columns = panel_list_columns(scene, LIST_POLICIES, shown);
    if (area->width >= 140)
        shown[NAME].width = shown[ACCOUNT].width = 19;
    int least = area->width >= 146 ? 146 /* with the verdict */ : area->width >= 140 ? 128 : 110;
    int wider = area->width - least;
    shown[ACTIONS].width += wider > 0 ? wider : 0;
    struct table table = panel_frame_table(&frame.area, frame.title_end, shown, columns);
    struct window window = panel_list_window(scene, &frame, PANEL_POLICIES, below);
    panel_list_empty(&frame, scene, "");
    for (int i = window.first; i < window.end; i++) {
        panel_frame_row(&body, i - window.first, &window, i);
        if (tui_lists_row(&frame.rows, i))
            row(&table, i - window.first + 1, scene, tui_lists_row(&frame.rows, i));
        else
            panel_list_unread(&frame, &body, i - window.first, i);
    }
    if (below)
        facts(&body, scene, body.height - 1);
}
