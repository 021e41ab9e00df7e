/* The alert rules: one table of what is watched, from which figure on and for how long it is an alert, and
 * when it is over. Pure: figures and time are passed in, changes come out; the caller raises the alerts
 * (daemon/session.h) and reads the figures (daemon/alert_subjects.h). A further rule is a line of
 * ALERT_RULES, its row in alert_table.c, its keys in alert_keys.h, and whatever reads its figure. */
#ifndef DAEMON_ALERT_RULES_H
#define DAEMON_ALERT_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/alert_keys.h"
#include "db/row.h"

#define ALERT_RULES(X) \
    X(GPU_LOST) \
    X(GPU_TEMPERATURE) \
    X(GPU_MEMORY) \
    X(GPU_UTILISATION) \
    X(GPU_THROTTLED) \
    X(GPU_POWER_CAPPED) \
    X(NO_TRIAL) \
    X(TRAINING_STALLED) \
    X(NEW_BEST) \
    X(ORDERS_REFUSED) \
    X(DRAWDOWN) \
    X(DRAWDOWN_LIMIT) \
    X(DAILY_LOSS) \
    X(CONCENTRATION) \
    X(NO_TRADES) \
    X(SHARPE_LOW) \
    X(DISK) \
    X(WAL_LARGE) \
    X(CLOCK_OFFSET) \
    X(BACKUP_FAILED) \
    X(BACKUP_OLD) \
    X(SINK_FAILING)

enum alert_rule_id {
#define ALERT_ID_(code) ALERT_##code,
    ALERT_RULES(ALERT_ID_)
#undef ALERT_ID_
        ALERT_RULES_N,
};

enum {
    ALERT_WHERE_MAX = 168,
    ALERT_ABOUT_MAX = 200, /* "what: where" */
};

enum alert_change {
    ALERT_SAME,
    ALERT_RAISED,
    ALERT_ESCALATED, /* a warning is an error now, the same alert */
    ALERT_EASED,     /* an error is a warning again */
    ALERT_OVER,
    ALERT_MOVED, /* it is the same, by another figure: its text is another */
};

struct alert_reading {
    enum alert_rule_id rule;
    const char *where;  /* the subject, the same at each reading: "ppo-btc"; without ": " */
    double value;       /* in the rule's unit; of a flag 0 or 1; NaN: not known now, which changes nothing */
    const char *detail; /* more for the text, after the figure; NULL: nothing */
};

struct alert_decision {
    enum alert_change change;
    enum alert_rule_id rule;
    enum db_severity severity; /* of one that is over: what it was */
    const char *code;
    char where[ALERT_WHERE_MAX];   /* the subject */
    char about[ALERT_ABOUT_MAX];   /* what the text begins with: finds the alert */
    char text[DB_ALERT_TEXT_MAX];  /* "what: where: figures"; of one that is over for the log alone */
    char worst[DB_ALERT_TEXT_MAX]; /* of one that is over: its text by its worst figure; "": not known */
};

struct alert_rule_state;

/* {.limits = …} is empty. */
struct alert_rules {
    struct alert_limits limits;
    struct alert_rule_state *states; /* of each rule and subject that was read */
    size_t n, cap;
    bool early; /* accounts and trainings are not known yet: what a former run raised of them stays */
};
void daemon_alert_rules_finish(struct alert_rules *rules);

bool daemon_alert_rule_on(const struct alert_limits *limits, enum alert_rule_id rule);

/* Takes over an alert of a condition that was open before: what a former run raised is not raised a second
 * time, and ends by the same rule. Nothing without a rule of that code. */
void daemon_alert_rules_adopt(struct alert_rules *rules, const char *code, enum db_severity severity,
                              const char *text);

/* A figure at now_ns, of a clock that does not go back. True, with *ret, where that changes an alert, or its
 * text (ALERT_MOVED: by a step of the figure, at most once a minute); what a rule that is switched off left
 * is for the sweep. Between two known figures on the same side of the limit so much time has passed there, at
 * most 5 s. */
bool daemon_alert_rules_read(struct alert_rules *rules, const struct alert_reading *reading, int64_t now_ns,
                             struct alert_decision *ret);

/* All subjects that there are have been read since the last call. What a training's rule does not find any
 * more is over; a device that is gone keeps its alert, since nothing is known of it; an alert of a rule that
 * is switched off is over. Call it until it returns false. */
bool daemon_alert_rules_sweep(struct alert_rules *rules, struct alert_decision *ret);

/* The text of an event (NEW_BEST): severity, code and "what: where: detail". False: it is switched off. */
bool daemon_alert_rules_event(const struct alert_limits *limits, enum alert_rule_id rule, const char *where,
                              const char *detail, struct alert_decision *ret);

/* Limits that contradict each other: the key that is wrong, the other one, and what would be right.
 * False: they do not. */
bool daemon_alert_limits_contradict(const struct alert_limits *limits, const char **ret_key,
                                    const char **ret_other, char why[static CONFIG_WHY_MAX]);

#endif
