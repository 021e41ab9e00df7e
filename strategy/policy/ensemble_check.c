/* Checks what the members of an ensemble must have in common, so that one account can trade by all of
 * them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "exchange/bar.h"
#include "exchange/fail.h"
#include "strategy/policy/ensemble_internal.h"
#include "strategy/policy/limit_keys.h"

enum { VALUE_MAX = 64 };

/* Names both files and values, the member's first. */
static int differ(const struct ensemble_policy *ensemble, int m, const char *what, const char *its,
                  const char *right, char why[static POLICY_ERROR_MAX])
{
    return fail_with(-EINVAL, why, POLICY_ERROR_MAX,
                     "members: %.64s: %.64s has %.64s and %.64s has %.64s: the same in all of them is right",
                     what, ensemble->names[m], its, ensemble->names[0], right);
}

static void names_of(const struct policy *policy, char ret[static VALUE_MAX])
{
    size_t len = 0;
    ret[0] = '\0';
    for (int i = 0; i < policy->n_assets && len < VALUE_MAX; i++)
        len += (size_t)snprintf(ret + len, VALUE_MAX - len, "%s%s", i ? "," : "", policy->assets[i].name);
    if (len >= VALUE_MAX)
        memcpy(ret + VALUE_MAX - sizeof "…", "…", sizeof "…");
}

static int check_assets(const struct ensemble_policy *ensemble, int m, char why[static POLICY_ERROR_MAX])
{
    const struct policy *a = &ensemble->members[0]->policy, *b = &ensemble->members[m]->policy;
    bool same = a->n_assets == b->n_assets;
    char its[VALUE_MAX], right[VALUE_MAX];
    for (int i = 0; i < a->n_assets && same; i++)
        same = strcmp(a->assets[i].name, b->assets[i].name) == 0;
    if (!same) {
        names_of(b, its);
        names_of(a, right);
        return differ(ensemble, m, "symbols, in their order", its, right, why);
    }
    for (int i = 0; i < a->n_assets; i++) {
        if (a->assets[i].least == b->assets[i].least)
            continue;
        char what[SYMBOL_NAME_MAX + 32];
        snprintf(what, sizeof what, "least quantity of %s", a->assets[i].name);
        snprintf(its, sizeof its, "%.12g", b->assets[i].least);
        snprintf(right, sizeof right, "%.12g", a->assets[i].least);
        return differ(ensemble, m, what, its, right, why);
    }
    return 0;
}

static int check_rules(const struct ensemble_policy *ensemble, int m, char why[static POLICY_ERROR_MAX])
{
    const struct policy *a = &ensemble->members[0]->policy, *b = &ensemble->members[m]->policy;
    const struct policy_rules *x = &a->rules, *y = &b->rules;
    const struct {
        const char *key;
        double right, its;
    } numbers[] = {
        {"initial_capital", x->capital, y->capital},
        {"norm_action", x->norm_action, y->norm_action},
        {"buy_cost_pct", x->fee_e6 / 1e6, y->fee_e6 / 1e6},
        {"slippage_pct", a->slippage_e6 / 1e6, b->slippage_e6 / 1e6},
        {"trailing_stop_pct", x->trailing_stop, y->trailing_stop},
        {"max_position_pct", x->max_position, y->max_position},
        {"min_cash_reserve", x->min_cash, y->min_cash},
        {"forced_exit_bars", x->exit_bars, y->exit_bars},
        {"forced_exit_pct", x->exit_share, y->exit_share},
        {"cooldown_bars", x->cooldown_bars, y->cooldown_bars},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char its[32], right[32];
        if (numbers[i].its == numbers[i].right)
            continue;
        snprintf(its, sizeof its, "%.12g", numbers[i].its);
        snprintf(right, sizeof right, "%.12g", numbers[i].right);
        return differ(ensemble, m, numbers[i].key, its, right, why);
    }
    if (policy_limits_same(&x->limits, &y->limits))
        return 0;
    char its[POLICY_LIMITS_TEXT_MAX], right[POLICY_LIMITS_TEXT_MAX];
    policy_limits_text(&y->limits, its);
    policy_limits_text(&x->limits, right);
    return differ(ensemble, m, "limits", its, right, why);
}

static const char *kind_of(const struct trained_policy *trained)
{
    return trained->layout.shape.levels > 0 ? "discrete" : "continuous";
}

static const char *calendar_of(const struct trained_policy *trained)
{
    return trained->policy.calendar ? trained->policy.calendar : "none";
}

/* An action of task day-trade is a direction and a size, and two of them have no mean. */
static int check_task(const struct ensemble_policy *ensemble, int m, char why[static POLICY_ERROR_MAX])
{
    if (!ensemble->members[m]->policy.day_trade)
        return 0;
    return fail_with(-EINVAL, why, POLICY_ERROR_MAX,
                     "members: %.64s was trained with task day-trade: task portfolio is right in an ensemble",
                     ensemble->names[m]);
}

static int check_member(const struct ensemble_policy *ensemble, int m, char why[static POLICY_ERROR_MAX])
{
    const struct trained_policy *a = ensemble->members[0], *b = ensemble->members[m];
    int r = check_assets(ensemble, m, why);
    if (r == 0 && a->policy.interval_ns != b->policy.interval_ns)
        r = differ(ensemble, m, "interval", bar_interval_name(b->policy.interval_ns),
                   bar_interval_name(a->policy.interval_ns), why);
    if (r == 0 && strcmp(calendar_of(a), calendar_of(b)) != 0)
        r = differ(ensemble, m, "calendar", calendar_of(b), calendar_of(a), why);
    if (r == 0 && a->policy.session != b->policy.session)
        r = differ(ensemble, m, "session", session_choice_names[b->policy.session],
                   session_choice_names[a->policy.session], why);
    if (r == 0 && strcmp(kind_of(a), kind_of(b)) != 0)
        r = differ(ensemble, m, "actions", kind_of(b), kind_of(a), why);
    return r < 0 ? r : check_rules(ensemble, m, why);
}

int ensemble_check(const struct ensemble_policy *ensemble, char why[static POLICY_ERROR_MAX])
{
    int r = 0;
    for (int m = 0; m < ensemble->n && r == 0; m++)
        r = check_task(ensemble, m, why);
    for (int m = 1; m < ensemble->n && r == 0; m++)
        r = check_member(ensemble, m, why);
    return r;
}
