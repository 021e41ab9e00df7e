/* The table of alert rules, what its limits are in a configuration, and the words of an alert. Internal to
 * daemon/alert_*.c. */
#ifndef DAEMON_ALERT_TABLE_H
#define DAEMON_ALERT_TABLE_H

#include "daemon/alert_rules.h"

enum { ALERT_LEVELS = 2 }; /* warning, critical */

enum alert_unit {
    ALERT_UNIT_FLAG,
    ALERT_UNIT_CELSIUS,
    ALERT_UNIT_SHARE,
    ALERT_UNIT_SECONDS,
    ALERT_UNIT_COUNT,
    ALERT_UNIT_BYTES
};

/* What its `where` names: a field of the log (log_kinds.h). */
enum alert_of { ALERT_OF_MACHINE, ALERT_OF_ACCOUNT, ALERT_OF_TRAINING, ALERT_OF_VENUE };

/* Where a limit comes from: nowhere, a key's number, a key's duration (in seconds) or size, the table. */
struct alert_limit {
    enum {
        ALERT_LIMIT_NONE,
        ALERT_LIMIT_NUMBER,
        ALERT_LIMIT_SECONDS,
        ALERT_LIMIT_BYTES,
        ALERT_LIMIT_FIXED
    } kind;
    size_t at; /* in struct alert_limits */
    double fixed;
};

struct alert_rule {
    const char *code, *what;
    enum alert_unit unit;
    enum alert_of of;
    bool below;                              /* the figure is bad below its limit, not from it on */
    struct alert_limit levels[ALERT_LEVELS]; /* warning, critical */
    struct alert_limit hold;                 /* for so long before it is an alert, in seconds */
    bool hold_switches;                      /* a hold of 0 is off */
    double margin;                           /* by which a figure must be better to be good again */
    bool settles;                            /* it is over only after recovered_for */
    bool ends;          /* with its subject: a training that works, a study that searches */
    bool detail_only;   /* its detail has the figure: no figure and no limit are added */
    const char *clause; /* of the text, at its end; NULL: none */
    size_t event_on;    /* of an event: its bool in struct alert_limits, plus 1; 0: a condition */
};

extern const struct alert_rule daemon_alert_table[ALERT_RULES_N]; /* by enum alert_rule_id */

/* A rule's limits as they are in force. */
struct alert_bounds {
    double level[ALERT_LEVELS]; /* NaN: off */
    int64_t hold_ns, over_ns;
};
struct alert_bounds daemon_alert_bounds(const struct alert_limits *limits, const struct alert_rule *rule);

/* Is a figure beyond that limit (1), good again (-1), or between the two (0)? One that is better by the
 * margin is good, or by half the limit where that is less. */
int daemon_alert_side(const struct alert_rule *rule, double limit, double value);

/* Is a figure another than the one that is shown: by 1 degree, 1 %, a tenth of all others;
 * a share by no more than a tenth of its limit? A flag has none. */
bool daemon_alert_moved(const struct alert_rule *rule, const struct alert_bounds *bounds, double shown,
                        double value);

/* "about: 86 C detail, critical from 85 C"; of one that eased "about: 81 C detail; over at 77 C or less for
 * 30s"; of one that is over without either. detail NULL: none. */
void daemon_alert_text(const struct alert_rule *rule, const struct alert_bounds *bounds,
                       enum alert_change change, int level, const char *about, double value,
                       const char *detail, char ret[static DB_ALERT_TEXT_MAX]);

#endif
