/* What is kept of each rule and subject, and what a figure changes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/alert_table.h"

#define NS_PER_S    INT64_C(1000000000)
#define STEP_NS_MAX (5 * NS_PER_S)  /* that a figure counts until the next one */
#define SHOWN_NS    (60 * NS_PER_S) /* that a text stays at least */

/* ---- one limit ---- */

/* On while the figure is beyond its limit, with two delays. */
struct latch {
    bool on;
    int side;        /* of the last known figure: 1 beyond the limit, -1 good again, 0 between */
    int64_t side_ns; /* for how long */
};

static void take_side(struct latch *latch, int side, int64_t step_ns, const struct alert_bounds *bounds)
{
    latch->side_ns = side == latch->side ? latch->side_ns + step_ns : 0;
    latch->side = side;
    if (side > 0 && latch->side_ns >= bounds->hold_ns)
        latch->on = true;
    if (side < 0 && latch->side_ns >= bounds->over_ns)
        latch->on = false;
}

/* ---- the states ---- */

struct alert_rule_state {
    enum alert_rule_id rule;
    struct latch latches[ALERT_LEVELS];
    int level;       /* that was reported: 0 none, 1 warning, 2 critical */
    bool known;      /* the last figure was */
    int64_t last_ns; /* of the last figure */
    bool read;       /* since the last sweep */
    char about[ALERT_ABOUT_MAX];
    /* Of an alert that is open. */
    enum alert_change shown_as; /* its text is that of this change … */
    double shown;               /* … and figure, NaN: not known, … */
    int64_t shown_ns;           /* … since then; 0: a former run's */
    double worst_value;         /* NaN: not known */
    char *worst;                /* its text by the worst figure; NULL: without memory */
};

void daemon_alert_rules_finish(struct alert_rules *rules)
{
    for (size_t i = 0; i < rules->n; i++)
        free(rules->states[i].worst);
    free(rules->states);
    rules->states = NULL;
    rules->n = rules->cap = 0;
}

/* Its state, made where there is none; NULL without memory. */
static struct alert_rule_state *state_of(struct alert_rules *rules, enum alert_rule_id rule,
                                         const char *about)
{
    for (size_t i = 0; i < rules->n; i++)
        if (rules->states[i].rule == rule && strcmp(rules->states[i].about, about) == 0)
            return &rules->states[i];
    if (rules->n == rules->cap) {
        size_t cap = rules->cap ? 2 * rules->cap : 32;
        struct alert_rule_state *grown = realloc(rules->states, cap * sizeof *grown);
        if (!grown)
            return NULL;
        rules->states = grown;
        rules->cap = cap;
    }
    struct alert_rule_state *state = &rules->states[rules->n++];
    *state = (struct alert_rule_state){.rule = rule};
    snprintf(state->about, sizeof state->about, "%s", about);
    return state;
}

static void forget(struct alert_rules *rules, size_t i)
{
    free(rules->states[i].worst);
    rules->states[i] = rules->states[--rules->n];
}

/* "what: where" of "what: where: figures". */
static void about_of(const char *text, char ret[static ALERT_ABOUT_MAX])
{
    const char *end = strstr(text, ": ");
    end = end ? strstr(end + 2, ": ") : NULL;
    snprintf(ret, ALERT_ABOUT_MAX, "%.*s", end ? (int)(end - text) : (int)strlen(text), text);
}

void daemon_alert_rules_adopt(struct alert_rules *rules, const char *code, enum db_severity severity,
                              const char *text)
{
    char about[ALERT_ABOUT_MAX];
    int rule = 0;
    while (rule < ALERT_RULES_N &&
           (daemon_alert_table[rule].event_on || strcmp(daemon_alert_table[rule].code, code) != 0))
        rule++;
    about_of(text, about);
    struct alert_rule_state *state =
        rule < ALERT_RULES_N ? state_of(rules, (enum alert_rule_id)rule, about) : NULL;
    if (!state)
        return;
    state->level = severity == DB_ERROR ? 2 : 1;
    for (int i = 0; i < state->level; i++)
        state->latches[i].on = true;
    state->shown_as = ALERT_RAISED;
    state->shown = state->worst_value = NAN;
    state->shown_ns = 0;
    free(state->worst);
    state->worst = strdup(text);
}

/* ---- a figure ---- */

static void decide(struct alert_rule_state *state, int level, struct alert_decision *ret)
{
    int before = state->level, shown = level > 0 ? level : before;
    ret->change = before == 0      ? ALERT_RAISED
                  : level == 0     ? ALERT_OVER
                  : level > before ? ALERT_ESCALATED
                  : level < before ? ALERT_EASED
                                   : ALERT_MOVED;
    ret->severity = shown == 2 ? DB_ERROR : DB_WARNING;
    const char *where = strstr(state->about, ": ");
    ret->rule = state->rule;
    ret->code = daemon_alert_table[state->rule].code;
    snprintf(ret->where, sizeof ret->where, "%s", where ? where + 2 : "");
    memcpy(ret->about, state->about, sizeof ret->about);
    snprintf(ret->worst, sizeof ret->worst, "%s", level == 0 && state->worst ? state->worst : "");
    state->level = level;
    if (ret->change != ALERT_MOVED)
        state->shown_as = ret->change;
    if (level == 0 || before == 0) {
        free(state->worst);
        state->worst = NULL;
    }
    if (before == 0 || daemon_alert_table[state->rule].unit == ALERT_UNIT_FLAG)
        state->worst_value = NAN; /* the next one is */
}

static void take_figure(struct alert_rule_state *state, const struct alert_bounds *bounds, double value,
                        int64_t now_ns)
{
    int64_t step_ns = state->known && now_ns > state->last_ns ? now_ns - state->last_ns : 0;
    if (step_ns > STEP_NS_MAX)
        step_ns = STEP_NS_MAX;
    for (int i = 0; i < ALERT_LEVELS && !isnan(value); i++)
        if (!isnan(bounds->level[i]))
            take_side(&state->latches[i],
                      daemon_alert_side(&daemon_alert_table[state->rule], bounds->level[i], value), step_ns,
                      bounds);
    for (int i = 0; i < ALERT_LEVELS; i++)
        if (isnan(bounds->level[i]))
            state->latches[i] = (struct latch){0};
    state->known = !isnan(value);
    state->last_ns = now_ns;
}

static bool is_bad(const struct alert_rule *rule, const struct alert_bounds *bounds, double value)
{
    for (int i = 0; i < ALERT_LEVELS; i++)
        if (!isnan(value) && !isnan(bounds->level[i]) && daemon_alert_side(rule, bounds->level[i], value) > 0)
            return true;
    return false;
}

/* A figure that is on the good side of all limits, of a rule that nothing is kept of, changes nothing: a
 * state that starts later is the same. Of a thousand accounts most are so, each second. */
static bool is_nothing(const struct alert_rules *rules, const struct alert_reading *reading,
                       const struct alert_rule *rule, const struct alert_bounds *bounds)
{
    if (is_bad(rule, bounds, reading->value))
        return false;
    for (size_t i = 0; i < rules->n; i++)
        if (rules->states[i].rule == reading->rule)
            return false;
    return true;
}

/* Of an open alert: what its end says. */
static void keep_worst(struct alert_rule_state *state, const struct alert_bounds *bounds,
                       const struct alert_reading *reading)
{
    const struct alert_rule *rule = &daemon_alert_table[state->rule];
    char text[DB_ALERT_TEXT_MAX];
    bool worse = isnan(state->worst_value) ||
                 (rule->below ? reading->value < state->worst_value : reading->value > state->worst_value);
    if (state->level == 0 || !worse || !is_bad(rule, bounds, reading->value))
        return;
    daemon_alert_text(rule, bounds, state->shown_as, state->level, state->about, reading->value,
                      reading->detail, text);
    free(state->worst);
    state->worst = strdup(text);
    state->worst_value = reading->value;
}

/* A flag's text may be another by its detail: why it is so. */
static bool flag_moved(const struct alert_rule_state *state, const struct alert_bounds *bounds,
                       const struct alert_reading *reading)
{
    const struct alert_rule *rule = &daemon_alert_table[state->rule];
    char text[DB_ALERT_TEXT_MAX];
    if (!is_bad(rule, bounds, reading->value))
        return false;
    daemon_alert_text(rule, bounds, state->shown_as, state->level, state->about, reading->value,
                      reading->detail, text);
    return !state->worst || strcmp(text, state->worst) != 0;
}

/* Of an open alert: has its text been there for long enough, and is it another now? */
static bool has_moved(struct alert_rule_state *state, const struct alert_bounds *bounds,
                      const struct alert_reading *reading, int64_t now_ns)
{
    const struct alert_rule *rule = &daemon_alert_table[state->rule];
    if (state->level > 0 && state->shown_ns == 0)
        state->shown_ns = now_ns;
    if (state->level == 0 || isnan(reading->value) || now_ns - state->shown_ns < SHOWN_NS)
        return false;
    if (rule->unit == ALERT_UNIT_FLAG)
        return flag_moved(state, bounds, reading);
    return isnan(state->shown) || daemon_alert_moved(rule, bounds, state->shown, reading->value);
}

bool daemon_alert_rules_read(struct alert_rules *rules, const struct alert_reading *reading, int64_t now_ns,
                             struct alert_decision *ret)
{
    const struct alert_rule *rule = &daemon_alert_table[reading->rule];
    struct alert_bounds bounds = daemon_alert_bounds(&rules->limits, rule);
    char about[ALERT_ABOUT_MAX];
    if (is_nothing(rules, reading, rule, &bounds))
        return false;
    snprintf(about, sizeof about, "%s: %.*s", rule->what, ALERT_WHERE_MAX - 1, reading->where);
    struct alert_rule_state *state =
        daemon_alert_rule_on(&rules->limits, reading->rule) ? state_of(rules, reading->rule, about) : NULL;
    if (!state)
        return false;
    state->read = true;
    take_figure(state, &bounds, reading->value, now_ns);
    int level = state->latches[1].on ? 2 : state->latches[0].on ? 1 : 0;
    if (level == state->level && !has_moved(state, &bounds, reading, now_ns)) {
        keep_worst(state, &bounds, reading);
        return false;
    }
    decide(state, level, ret);
    keep_worst(state, &bounds, reading);
    daemon_alert_text(rule, &bounds, state->shown_as, level, about, reading->value, reading->detail,
                      ret->text);
    state->shown = reading->value;
    state->shown_ns = now_ns;
    return true;
}

bool daemon_alert_rules_sweep(struct alert_rules *rules, struct alert_decision *ret)
{
    for (size_t i = rules->n; i-- > 0;) {
        struct alert_rule_state *state = &rules->states[i];
        const struct alert_rule *rule = &daemon_alert_table[state->rule];
        bool known = !rules->early || (rule->of != ALERT_OF_ACCOUNT && rule->of != ALERT_OF_TRAINING);
        bool gone = rule->ends && !state->read && known;
        if (!gone && daemon_alert_rule_on(&rules->limits, state->rule))
            continue;
        bool open = state->level > 0;
        if (open) {
            decide(state, 0, ret);
            snprintf(ret->text, sizeof ret->text, "%s: %s", state->about,
                     gone ? "it has ended" : "the rule is switched off");
        }
        forget(rules, i);
        if (open)
            return true;
    }
    for (size_t i = 0; i < rules->n; i++)
        rules->states[i].read = false;
    return false;
}

bool daemon_alert_rules_event(const struct alert_limits *limits, enum alert_rule_id rule, const char *where,
                              const char *detail, struct alert_decision *ret)
{
    if (!daemon_alert_rule_on(limits, rule))
        return false;
    *ret = (struct alert_decision){
        .change = ALERT_RAISED, .rule = rule, .severity = DB_INFO, .code = daemon_alert_table[rule].code};
    snprintf(ret->where, sizeof ret->where, "%s", where);
    snprintf(ret->about, sizeof ret->about, "%s: %s", daemon_alert_table[rule].what, ret->where);
    snprintf(ret->text, sizeof ret->text, "%s: %s", ret->about, detail);
    return true;
}
