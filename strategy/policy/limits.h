/* Limits on top of a policy's rules, as plain numbers: strategy/policy/limit_rules.h says what each does,
 * strategy/policy/limit_keys.h has their names and texts. */
#ifndef STRATEGY_POLICY_LIMITS_H
#define STRATEGY_POLICY_LIMITS_H

/* How far above a position's average cost, and the part of it that is sold there. */
struct policy_profit {
    double above, part;
};

/* Shares are of 1; 0: no such limit. */
struct policy_limits {
    double exposure, exposure_symbol; /* most of equity in all assets together, in one */
    double daily_loss;                /* of the UTC day's first equity */
    double stop_loss, trailing_stop;  /* below a position's average cost, below the peak of its closes */
    double portfolio_trailing_stop;   /* below the peak of equity */
    double cooldown_s;                /* from that move to cash on, whole seconds */
    struct policy_profit take_profit;
};

#endif
