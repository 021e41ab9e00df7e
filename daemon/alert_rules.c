#include "daemon/alert_rules.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S INT64_C(1000000000)

enum { LEVELS = 2 };               /* warning, critical */
#define STEP_NS_MAX (5 * NS_PER_S) /* that a figure counts until the next one */

/* ---- the table ---- */

enum unit { UNIT_FLAG, UNIT_CELSIUS, UNIT_SHARE, UNIT_SECONDS };

/* Where a limit comes from: nowhere, a key's number, a key's duration (in seconds), the table. */
struct source {
    enum { SOURCE_NONE, SOURCE_NUMBER, SOURCE_SECONDS, SOURCE_FIXED } kind;
    size_t at; /* in struct alert_limits */
    double fixed;
};

struct rule {
    const char *code, *what;
    enum unit unit;
    bool below;                   /* the figure is bad below its limit, not from it on */
    struct source levels[LEVELS]; /* warning, critical */
    struct source hold;           /* for so long before it is an alert, in seconds */
    bool hold_switches;           /* a hold of 0 is off */
    double margin;                /* by which a figure must be better to be good again */
    bool settles;                 /* it is over only after recovered_for */
    bool ends;                    /* with its subject: a training that works, a study that searches */
    const char *clause;           /* of the text, at its end */
    size_t event_on;              /* of an event: its bool in struct alert_limits, plus 1 */
};

#define NUMBER(member) \
    { \
        SOURCE_NUMBER, offsetof(struct alert_limits, member), 0 \
    }
#define SECONDS(member) \
    { \
        SOURCE_SECONDS, offsetof(struct alert_limits, member), 0 \
    }
#define FIXED(value) \
    { \
        SOURCE_FIXED, 0, value \
    }
#define FLAG \
    { \
        FIXED(0.5) \
    }

static const struct rule table[] = {
    [ALERT_GPU_TEMPERATURE] = {"GPU_TEMPERATURE", "GPU temperature", UNIT_CELSIUS,
                               .levels = {NUMBER(gpu_temperature), NUMBER(gpu_temperature_critical)},
                               .margin = 3, .settles = true},
    [ALERT_GPU_MEMORY] = {"GPU_MEMORY", "GPU memory", UNIT_SHARE, .levels = {NUMBER(gpu_memory)},
                          .margin = 0.03, .settles = true},
    [ALERT_GPU_UTILISATION] = {"GPU_UTILISATION", "GPU utilisation", UNIT_SHARE, .below = true,
                               .levels = {NUMBER(gpu_utilisation)}, .hold = SECONDS(gpu_utilisation_ns),
                               .margin = 0.05, .settles = true, .ends = true, .clause = " in an update"},
    [ALERT_GPU_THROTTLED] = {"GPU_THROTTLED", "GPU throttled", UNIT_FLAG, .levels = FLAG,
                             .hold = SECONDS(throttled_ns), .hold_switches = true, .settles = true},
    [ALERT_GPU_POWER_CAPPED] = {"GPU_POWER_CAPPED", "GPU power-capped", UNIT_FLAG, .levels = FLAG,
                                .hold = SECONDS(power_capped_ns), .hold_switches = true, .settles = true},
    [ALERT_NO_TRIAL] = {"NO_TRIAL", "no trial finished", UNIT_SECONDS, .levels = {SECONDS(no_trial_ns)},
                        .ends = true},
    [ALERT_TRAINING_STALLED] = {"TRAINING_STALLED", "training stalled", UNIT_FLAG, .levels = FLAG,
                                .hold = FIXED(2), .ends = true},
    [ALERT_NEW_BEST] = {"NEW_BEST", "new best trial",
                        .event_on = offsetof(struct alert_limits, new_best) + 1},
};
_Static_assert(sizeof table / sizeof *table == ALERT_RULES_N, "a row for each rule");

static double value_of(const struct alert_limits *limits, const struct source *source)
{
    const char *at = (const char *)limits + source->at;
    double number = NAN;
    int64_t ns;
    if (source->kind == SOURCE_NUMBER) {
        memcpy(&number, at, sizeof number);
    } else if (source->kind == SOURCE_SECONDS) {
        memcpy(&ns, at, sizeof ns);
        number = (double)ns / NS_PER_S;
    } else if (source->kind == SOURCE_FIXED) {
        number = source->fixed;
    }
    return number;
}

/* A rule's limits as they are in force: NaN is off. */
struct bounds {
    double level[LEVELS];
    int64_t hold_ns, over_ns;
};

static struct bounds bounds_of(const struct alert_limits *limits, const struct rule *rule)
{
    double hold_s = value_of(limits, &rule->hold);
    struct bounds bounds = {.hold_ns = hold_s > 0 ? (int64_t)(hold_s * NS_PER_S) : 0,
                            .over_ns = rule->settles ? limits->recovered_ns : 0};
    bool off = rule->hold_switches && bounds.hold_ns == 0;
    for (int i = 0; i < LEVELS; i++) {
        double level = value_of(limits, &rule->levels[i]);
        bounds.level[i] = !off && level > 0 ? level : NAN;
    }
    return bounds;
}

const char *daemon_alert_rule_code(enum alert_rule_id rule)
{
    return table[rule].code;
}

bool daemon_alert_rule_on(const struct alert_limits *limits, enum alert_rule_id rule)
{
    const struct rule *row = &table[rule];
    struct bounds bounds = bounds_of(limits, row);
    if (row->event_on)
        return *(const bool *)((const char *)limits + row->event_on - 1);
    return !isnan(bounds.level[0]) || !isnan(bounds.level[1]);
}

/* ---- one limit ---- */

/* On while the figure is beyond its limit, with two delays. */
struct latch {
    bool on;
    int side;        /* of the last known figure: 1 beyond the limit, -1 good again, 0 between */
    int64_t side_ns; /* for how long */
};

static int side_of(const struct rule *rule, double limit, double value)
{
    if (rule->below)
        return value < limit ? 1 : value >= limit + rule->margin ? -1 : 0;
    double good = limit - fmin(rule->margin, limit / 2);
    return value >= limit ? 1 : rule->margin == 0 || value < good ? -1 : 0;
}

static void take_side(struct latch *latch, int side, int64_t step_ns, const struct bounds *bounds)
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
    struct latch latches[LEVELS];
    int level;       /* that was reported: 0 none, 1 warning, 2 critical */
    bool known;      /* the last figure was */
    int64_t last_ns; /* of the last figure */
    bool read;       /* since the last sweep */
    char about[ALERT_ABOUT_MAX];
};

void daemon_alert_rules_finish(struct alert_rules *rules)
{
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
    while (rule < ALERT_RULES_N && (table[rule].event_on || strcmp(table[rule].code, code) != 0))
        rule++;
    about_of(text, about);
    struct alert_rule_state *state =
        rule < ALERT_RULES_N ? state_of(rules, (enum alert_rule_id)rule, about) : NULL;
    if (!state)
        return;
    state->level = severity == DB_ERROR ? 2 : 1;
    for (int i = 0; i < state->level; i++)
        state->latches[i].on = true;
}

/* ---- the text ---- */

static void put_figure(enum unit unit, double value, char *buf, size_t size)
{
    switch (unit) {
    case UNIT_CELSIUS:
        snprintf(buf, size, "%.4g C", value);
        break;
    case UNIT_SHARE:
        snprintf(buf, size, "%.3g %%", 100 * value);
        break;
    case UNIT_SECONDS:
        snprintf(buf, size, value < 120 ? "%.0f s" : "%.0f min", floor(value < 120 ? value : value / 60));
        break;
    case UNIT_FLAG:
        snprintf(buf, size, "%s", "");
    }
}

static void put_limit(enum unit unit, double limit, char *buf, size_t size)
{
    char text[CONFIG_DURATION_TEXT_MAX];
    if (unit == UNIT_SECONDS) {
        config_key_duration_text((int64_t)(limit * NS_PER_S), text);
        snprintf(buf, size, "%s", text);
    } else {
        put_figure(unit, limit, buf, size);
    }
}

/* ", critical from 85 C", ", warning below 50 % for 30s in an update", ", for 10s" */
static void put_rule(const struct rule *rule, const struct bounds *bounds, int level, char *buf, size_t size)
{
    char limit[32], hold[CONFIG_DURATION_TEXT_MAX], lasts[64] = "";
    put_limit(rule->unit, bounds->level[level - 1], limit, sizeof limit);
    config_key_duration_text(bounds->hold_ns, hold);
    if (rule->hold.kind == SOURCE_SECONDS && bounds->hold_ns > 0)
        snprintf(lasts, sizeof lasts, "for %s", hold);
    if (rule->unit == UNIT_FLAG)
        snprintf(buf, size, "%s%s", lasts[0] ? ", " : "", lasts);
    else
        snprintf(buf, size, ", %s %s %s%s%s%s", level == 2 ? "critical" : "warning",
                 rule->below ? "below" : "from", limit, lasts[0] ? " " : "", lasts,
                 rule->clause ? rule->clause : "");
}

static void put_text(const struct rule *rule, const struct bounds *bounds, int level, const char *about,
                     double value, const char *detail, char ret[static DB_ALERT_TEXT_MAX])
{
    char figure[32], limit[128] = "";
    put_figure(rule->unit, value, figure, sizeof figure);
    if (level > 0)
        put_rule(rule, bounds, level, limit, sizeof limit);
    snprintf(ret, DB_ALERT_TEXT_MAX, "%s: %s%s%s%s", about, figure,
             figure[0] && detail && detail[0] ? " " : "", detail ? detail : "", limit);
}

/* ---- a figure ---- */

static void decide(struct alert_rule_state *state, int level, struct alert_decision *ret)
{
    int before = state->level, shown = level > 0 ? level : before;
    ret->change = before == 0      ? ALERT_RAISED
                  : level == 0     ? ALERT_OVER
                  : level > before ? ALERT_ESCALATED
                                   : ALERT_EASED;
    ret->severity = shown == 2 ? DB_ERROR : DB_WARNING;
    ret->code = table[state->rule].code;
    memcpy(ret->about, state->about, sizeof ret->about);
    state->level = level;
}

static void take_figure(struct alert_rule_state *state, const struct bounds *bounds, double value,
                        int64_t now_ns)
{
    int64_t step_ns = state->known && now_ns > state->last_ns ? now_ns - state->last_ns : 0;
    if (step_ns > STEP_NS_MAX)
        step_ns = STEP_NS_MAX;
    for (int i = 0; i < LEVELS && !isnan(value); i++)
        if (!isnan(bounds->level[i]))
            take_side(&state->latches[i], side_of(&table[state->rule], bounds->level[i], value), step_ns,
                      bounds);
    for (int i = 0; i < LEVELS; i++)
        if (isnan(bounds->level[i]))
            state->latches[i] = (struct latch){0};
    state->known = !isnan(value);
    state->last_ns = now_ns;
}

bool daemon_alert_rules_read(struct alert_rules *rules, const struct alert_reading *reading, int64_t now_ns,
                             struct alert_decision *ret)
{
    const struct rule *rule = &table[reading->rule];
    struct bounds bounds = bounds_of(&rules->limits, rule);
    char about[ALERT_ABOUT_MAX];
    snprintf(about, sizeof about, "%s: %.*s", rule->what, ALERT_WHERE_MAX - 1, reading->where);
    struct alert_rule_state *state = state_of(rules, reading->rule, about);
    if (!state)
        return false;
    state->read = true;
    take_figure(state, &bounds, reading->value, now_ns);
    int level = state->latches[1].on ? 2 : state->latches[0].on ? 1 : 0;
    if (level == state->level)
        return false;
    decide(state, level, ret);
    put_text(rule, &bounds, level, about, reading->value, reading->detail, ret->text);
    return true;
}

bool daemon_alert_rules_sweep(struct alert_rules *rules, struct alert_decision *ret)
{
    for (size_t i = rules->n; i-- > 0;) {
        struct alert_rule_state *state = &rules->states[i];
        bool gone = table[state->rule].ends && !state->read;
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
    *ret = (struct alert_decision){.change = ALERT_RAISED, .severity = DB_INFO, .code = table[rule].code};
    snprintf(ret->about, sizeof ret->about, "%s: %.*s", table[rule].what, ALERT_WHERE_MAX - 1, where);
    snprintf(ret->text, sizeof ret->text, "%s: %s", ret->about, detail);
    return true;
}

/* ---- the configuration ---- */

/* The key that a limit comes from. */
static const char *key_of(const struct source *source)
{
    static const struct {
        size_t at;
        const char *name;
    } keys[] = {
#define KEY_(type, member, name, ...) {offsetof(struct alert_limits, member), name},
        ALERT_KEYS(KEY_)
#undef KEY_
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i].at == source->at)
            return keys[i].name;
    return "";
}

bool daemon_alert_limits_contradict(const struct alert_limits *limits, const char **ret_key,
                                    const char **ret_other, char why[static CONFIG_WHY_MAX])
{
    char text[32], own[32];
    for (const struct rule *rule = table; rule < table + ALERT_RULES_N; rule++) {
        struct bounds bounds = bounds_of(limits, rule);
        if (isnan(bounds.level[0]) || isnan(bounds.level[1]) ||
            (rule->below ? bounds.level[1] <= bounds.level[0] : bounds.level[1] >= bounds.level[0]))
            continue;
        *ret_key = key_of(&rule->levels[1]);
        *ret_other = key_of(&rule->levels[0]);
        put_limit(rule->unit, bounds.level[0], text, sizeof text);
        put_limit(rule->unit, bounds.level[1], own, sizeof own);
        snprintf(why, CONFIG_WHY_MAX, "%s is %s the warning, %s = %s: %s %s, or off, is needed", own,
                 rule->below ? "above" : "below", *ret_other, text, text,
                 rule->below ? "or less" : "or more");
        return true;
    }
    return false;
}
