#include "daemon/alert_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_S INT64_C(1000000000)

/* clang-format off */
#define NUMBER(member)  {ALERT_LIMIT_NUMBER, offsetof(struct alert_limits, member), 0}
#define SECONDS(member) {ALERT_LIMIT_SECONDS, offsetof(struct alert_limits, member), 0}
#define BYTES(member)   {ALERT_LIMIT_BYTES, offsetof(struct alert_limits, member), 0}
#define FIXED(value)    {ALERT_LIMIT_FIXED, 0, value}
#define FLAG            .levels = {FIXED(0.5)}
#define ON(member)      .event_on = offsetof(struct alert_limits, member) + 1
#define RULE(id, ...)   [ALERT_##id] = {#id, __VA_ARGS__},

const struct alert_rule daemon_alert_table[] = {
    RULE(GPU_LOST, "GPU lost", ALERT_UNIT_SECONDS, .levels = {SECONDS(gpu_lost_ns)}, .detail_only = true)
    RULE(GPU_TEMPERATURE, "GPU temperature", ALERT_UNIT_CELSIUS, .margin = 3, .settles = true,
         .levels = {NUMBER(gpu_temperature), NUMBER(gpu_temperature_critical)})
    RULE(GPU_MEMORY, "GPU memory", ALERT_UNIT_SHARE, .margin = 0.03, .settles = true,
         .levels = {NUMBER(gpu_memory)})
    RULE(GPU_UTILISATION, "GPU utilisation", ALERT_UNIT_SHARE, .of = ALERT_OF_TRAINING, .margin = 0.05, .settles = true, .ends = true,
         .below = true, .levels = {NUMBER(gpu_utilisation)}, .hold = SECONDS(gpu_utilisation_ns),
         .clause = " in an update")
    /* By heat, and what the hardware does by itself. The power cap is a rule of its own, and off: a device
     * under load is at its cap. */
    RULE(GPU_THROTTLED, "GPU throttled", ALERT_UNIT_FLAG, FLAG, .settles = true,
         .hold = SECONDS(throttled_ns), .hold_switches = true)
    RULE(GPU_POWER_CAPPED, "GPU power-capped", ALERT_UNIT_FLAG, FLAG, .settles = true,
         .hold = SECONDS(power_capped_ns), .hold_switches = true)
    RULE(NO_TRIAL, "no trial finished", ALERT_UNIT_SECONDS, .of = ALERT_OF_TRAINING, .ends = true, .levels = {SECONDS(no_trial_ns)})
    RULE(TRAINING_STALLED, "training stalled", ALERT_UNIT_FLAG, .of = ALERT_OF_TRAINING, FLAG, .ends = true, .hold = FIXED(2))
    RULE(NEW_BEST, "new best trial", ON(new_best))
    RULE(ORDERS_REFUSED, "orders refused", ALERT_UNIT_COUNT, .of = ALERT_OF_ACCOUNT, .settles = true, .ends = true,
         .levels = {NUMBER(orders_refused)})
    RULE(DRAWDOWN, "drawdown", ALERT_UNIT_SHARE, .of = ALERT_OF_ACCOUNT, .margin = 0.01, .ends = true,
         .levels = {NUMBER(drawdown), NUMBER(drawdown_critical)})
    RULE(DRAWDOWN_LIMIT, "drawdown near its limit", ALERT_UNIT_SHARE, .of = ALERT_OF_ACCOUNT, .margin = 0.05, .ends = true,
         .levels = {NUMBER(drawdown_of_limit)}, .clause = " of it")
    RULE(DAILY_LOSS, "daily loss near its limit", ALERT_UNIT_SHARE, .of = ALERT_OF_ACCOUNT, .margin = 0.05, .ends = true,
         .levels = {NUMBER(daily_loss_of_limit), FIXED(1)}, .clause = " of it")
    RULE(CONCENTRATION, "concentration", ALERT_UNIT_SHARE, .of = ALERT_OF_ACCOUNT, .margin = 0.05, .ends = true,
         .levels = {NUMBER(concentration)})
    RULE(NO_TRADES, "no trades", ALERT_UNIT_SECONDS, .of = ALERT_OF_ACCOUNT, .ends = true, .levels = {SECONDS(no_trades_ns)})
    RULE(SHARPE_LOW, "live Sharpe below the backtest's", ALERT_UNIT_SHARE, .of = ALERT_OF_ACCOUNT, .below = true, .ends = true,
         .margin = 0.01, .levels = {NUMBER(sharpe_p)})
    RULE(DISK, "disk", ALERT_UNIT_SHARE, .margin = 0.02, .levels = {NUMBER(disk), NUMBER(disk_critical)})
    /* Good at half of it, which is what the file keeps at most once no reader is in the way. */
    RULE(WAL_LARGE, "write-ahead log", ALERT_UNIT_BYTES, .margin = INFINITY, .levels = {BYTES(wal_bytes)})
    RULE(CLOCK_OFFSET, "clock offset", ALERT_UNIT_SECONDS, .of = ALERT_OF_VENUE, .settles = true, .ends = true,
         .levels = {SECONDS(clock_offset_ns)})
    RULE(BACKUP_FAILED, "backup failed", ALERT_UNIT_FLAG, .levels = {[1] = FIXED(0.5)})
    RULE(BACKUP_OLD, "no new backup", ALERT_UNIT_SECONDS, .levels = {SECONDS(backup_old_ns)})
    RULE(SINK_FAILING, "alert sink fails", ALERT_UNIT_SECONDS, .ends = true,
         .levels = {SECONDS(sink_failing_ns)})
};
/* clang-format on */

static double value_of(const struct alert_limits *limits, const struct alert_limit *source)
{
    const char *at = (const char *)limits + source->at;
    double number = NAN;
    int64_t ns;
    uint64_t bytes;
    if (source->kind == ALERT_LIMIT_NUMBER) {
        memcpy(&number, at, sizeof number);
    } else if (source->kind == ALERT_LIMIT_SECONDS) {
        memcpy(&ns, at, sizeof ns);
        number = (double)ns / NS_PER_S;
    } else if (source->kind == ALERT_LIMIT_BYTES) {
        memcpy(&bytes, at, sizeof bytes);
        number = (double)bytes;
    } else if (source->kind == ALERT_LIMIT_FIXED) {
        number = source->fixed;
    }
    return number;
}

struct alert_bounds daemon_alert_bounds(const struct alert_limits *limits, const struct alert_rule *rule)
{
    double hold_s = value_of(limits, &rule->hold);
    struct alert_bounds bounds = {.hold_ns = hold_s > 0 ? llround(hold_s * NS_PER_S) : 0,
                                  .over_ns = rule->settles ? limits->recovered_ns : 0};
    bool off = rule->hold_switches && bounds.hold_ns == 0;
    for (int i = 0; i < ALERT_LEVELS; i++) {
        double level = value_of(limits, &rule->levels[i]);
        bounds.level[i] = !off && level > 0 ? level : NAN;
    }
    return bounds;
}

bool daemon_alert_rule_on(const struct alert_limits *limits, enum alert_rule_id rule)
{
    const struct alert_rule *row = &daemon_alert_table[rule];
    struct alert_bounds bounds = daemon_alert_bounds(limits, row);
    if (row->event_on)
        return *(const bool *)((const char *)limits + row->event_on - 1);
    return !isnan(bounds.level[0]) || !isnan(bounds.level[1]);
}

/* ---- a figure's side ---- */

/* From which figure on it is good again. */
static double good_at(const struct alert_rule *rule, double limit)
{
    return rule->below ? limit + rule->margin : limit - fmin(rule->margin, limit / 2);
}

int daemon_alert_side(const struct alert_rule *rule, double limit, double value)
{
    const double rounding = 1e-9; /* 0.95 - 0.03 is below 0.92 */
    double good = good_at(rule, limit);
    if (rule->below)
        return value < limit ? 1 : value >= good - rounding ? -1 : 0;
    return value >= limit ? 1 : rule->margin == 0 || value <= good + rounding ? -1 : 0;
}

bool daemon_alert_moved(const struct alert_rule *rule, const struct alert_bounds *bounds, double shown,
                        double value)
{
    const double rounding = 1e-9;
    double step = rule->unit == ALERT_UNIT_CELSIUS ? 1
                  : rule->unit == ALERT_UNIT_SHARE ? 0.01
                                                   : fmax(1, shown / 10);
    for (int i = 0; i < ALERT_LEVELS && rule->unit == ALERT_UNIT_SHARE; i++)
        step = fmin(step, bounds->level[i] / 10); /* NaN counts as none */
    return rule->unit != ALERT_UNIT_FLAG && fabs(value - shown) >= step - rounding;
}

/* ---- the text ---- */

static void put_figure(enum alert_unit unit, double value, char *buf, size_t size)
{
    switch (unit) {
    case ALERT_UNIT_CELSIUS:
        snprintf(buf, size, "%.4g C", value);
        break;
    case ALERT_UNIT_SHARE:
        snprintf(buf, size, "%.3g %%", 100 * value);
        break;
    case ALERT_UNIT_SECONDS:
        snprintf(buf, size, value < 120 ? "%.0f s" : "%.0f min", floor(value < 120 ? value : value / 60));
        break;
    case ALERT_UNIT_COUNT:
        snprintf(buf, size, "%.0f", value);
        break;
    case ALERT_UNIT_BYTES:
        snprintf(buf, size, "%.4g MiB", value / (1 << 20));
        break;
    case ALERT_UNIT_FLAG:
        buf[0] = '\0';
    }
}

static void put_limit(enum alert_unit unit, double limit, char *buf, size_t size)
{
    char text[CONFIG_DURATION_TEXT_MAX];
    if (unit == ALERT_UNIT_SECONDS) {
        config_key_duration_text(llround(limit * NS_PER_S), text);
        snprintf(buf, size, "%s", text);
    } else {
        put_figure(unit, limit, buf, size);
    }
}

/* ", critical from 85 C", ", warning below 50 % for 30s in an update", ", for 10s" */
static void put_rule(const struct alert_rule *rule, const struct alert_bounds *bounds, int level, char *buf,
                     size_t size)
{
    char limit[32], hold[CONFIG_DURATION_TEXT_MAX], lasts[64] = "";
    put_limit(rule->unit, bounds->level[level - 1], limit, sizeof limit);
    config_key_duration_text(bounds->hold_ns, hold);
    if (rule->hold.kind == ALERT_LIMIT_SECONDS && bounds->hold_ns > 0)
        snprintf(lasts, sizeof lasts, "for %s", hold);
    if (rule->unit == ALERT_UNIT_FLAG)
        snprintf(buf, size, "%s%s", lasts[0] ? ", " : "", lasts);
    else
        snprintf(buf, size, ", %s %s %s%s%s%s", level == 2 ? "critical" : "warning",
                 rule->below ? "below" : "from", limit, lasts[0] ? " " : "", lasts,
                 rule->clause ? rule->clause : "");
}

/* "; over at 77 C or less for 30s": what eased may be below its warning's limit too. */
static void put_end(const struct alert_rule *rule, const struct alert_bounds *bounds, int level, char *buf,
                    size_t size)
{
    char good[32], lasts[CONFIG_DURATION_TEXT_MAX];
    put_limit(rule->unit, good_at(rule, bounds->level[level - 1]), good, sizeof good);
    config_key_duration_text(bounds->over_ns, lasts);
    snprintf(buf, size, "; over at %s or %s%s%s", good, rule->below ? "more" : "less",
             bounds->over_ns > 0 ? " for " : "", bounds->over_ns > 0 ? lasts : "");
}

void daemon_alert_text(const struct alert_rule *rule, const struct alert_bounds *bounds,
                       enum alert_change change, int level, const char *about, double value,
                       const char *detail, char ret[static DB_ALERT_TEXT_MAX])
{
    char figure[32], limit[128] = "";
    put_figure(rule->unit, value, figure, sizeof figure);
    if (rule->detail_only) {
        snprintf(ret, DB_ALERT_TEXT_MAX, "%s: %s", about, detail ? detail : "");
        return;
    }
    if (change == ALERT_EASED)
        put_end(rule, bounds, level, limit, sizeof limit);
    else if (level > 0)
        put_rule(rule, bounds, level, limit, sizeof limit);
    snprintf(ret, DB_ALERT_TEXT_MAX, "%s: %s%s%s%s", about, figure,
             figure[0] && detail && detail[0] ? " " : "", detail ? detail : "", limit);
}

/* ---- the configuration ---- */

/* The key that a limit comes from. */
static const char *key_of(const struct alert_limit *source)
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
    for (const struct alert_rule *rule = daemon_alert_table; rule < daemon_alert_table + ALERT_RULES_N;
         rule++) {
        struct alert_bounds bounds = daemon_alert_bounds(limits, rule);
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
