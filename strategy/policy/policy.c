#include "strategy/policy/policy.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "exchange/bar.h"
#include "exchange/calendar_file.h"
#include "strategy/policy/limit_keys.h"
#include "strategy/policy/symbol.h"

int policy_find_symbol(const struct policy_asset *asset, const char *currency, const struct symbol *symbols,
                       int n)
{
    int found = -1;
    for (int s = 0; s < n; s++) {
        if (strcmp(symbols[s].name, asset->name) == 0)
            return s;
        if (found < 0 && strcmp(symbols[s].base, asset->name) == 0 && strcmp(symbols[s].quote, currency) == 0)
            found = s;
    }
    return found;
}

bool policy_same_rules(const struct policy *a, const struct policy *b)
{
    const struct policy_rules *x = &a->rules, *y = &b->rules;
    if ((a->runtime || b->runtime) && memcmp(a->id, b->id, POLICY_ID_SIZE) != 0)
        return false;
    if (a->session != b->session || a->day_trade != b->day_trade)
        return false;
    if (a->n_assets != b->n_assets || a->interval_ns != b->interval_ns || a->first_ns != b->first_ns ||
        x->norm_action != y->norm_action || x->trailing_stop != y->trailing_stop ||
        x->max_position != y->max_position || x->min_cash != y->min_cash || x->exit_bars != y->exit_bars ||
        x->exit_share != y->exit_share || x->cooldown_bars != y->cooldown_bars || x->capital != y->capital ||
        !policy_limits_same(&x->limits, &y->limits))
        return false;
    for (int i = 0; i < a->n_assets; i++)
        if (strcmp(a->assets[i].name, b->assets[i].name) != 0 || a->assets[i].least != b->assets[i].least)
            return false;
    return true;
}

static bool ends(const char *path, const char *end)
{
    size_t len = strlen(path), n = strlen(end);
    return len > n && strcmp(path + len - n, end) == 0;
}

bool policy_names_ensemble(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return ends(name, ".ensemble.json") || strcmp(name, "ensemble.json") == 0;
}

bool policy_names_trained(const char *path)
{
    return ends(path, ".safetensors");
}

bool policy_names_one_file(const char *path)
{
    return policy_names_trained(path) || policy_names_ensemble(path);
}

void policy_id_text(const uint8_t id[static POLICY_ID_SIZE], char ret[static POLICY_ID_TEXT])
{
    for (int i = 0; i < POLICY_ID_SIZE; i++)
        snprintf(ret + 2 * i, 3, "%02x", id[i]);
}

int policy_id_parse(const char *text, uint8_t ret[static POLICY_ID_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    uint8_t id[POLICY_ID_SIZE];
    if (strlen(text) != POLICY_ID_TEXT - 1 || strspn(text, digits) != POLICY_ID_TEXT - 1)
        return -EINVAL;
    for (int i = 0; i < POLICY_ID_SIZE; i++)
        id[i] = (uint8_t)(16 * (strchr(digits, text[2 * i]) - digits) +
                          (strchr(digits, text[2 * i + 1]) - digits));
    memcpy(ret, id, sizeof id);
    return 0;
}

bool policy_same_asset(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    static const char quote[] = "USDT";
    size_t q = sizeof quote - 1;
    if (strcmp(a, b) == 0)
        return true;
    if (n < m) {
        const char *swap = a;
        a = b;
        b = swap;
        size_t was = n;
        n = m;
        m = was;
    }
    return n == m + q && strncmp(a, b, m) == 0 && strcmp(a + m, quote) == 0;
}

static bool same_calendar(const char *a, const char *b)
{
    return strcmp(calendar_file_name(a), calendar_file_name(b)) == 0;
}

const char *policy_calendar_table(const char *name)
{
    return name ? calendar_file_name(name) : NULL;
}

const char *policy_calendar_refusal(const struct policy *policy, const char *calendar,
                                    char err[static POLICY_ERROR_MAX])
{
    const char *own = policy->calendar;
    if (policy->act)
        return NULL;
    if (own && policy->session == SESSION_ALL) {
        snprintf(
            err, POLICY_ERROR_MAX,
            "has hours in which it is not traded, and it was trained on those too, session all of calendar "
            "%.64s: one of session regular or extended is right",
            own);
        return err;
    }
    if (own ? same_calendar(own, calendar) : calendar[0] == '\0')
        return NULL;
    if (!own)
        snprintf(err, POLICY_ERROR_MAX,
                 "has the calendar %s, and it was trained on a market that trades at all times: one that was "
                 "trained with [data] calendar is right",
                 calendar);
    else if (calendar[0])
        snprintf(err, POLICY_ERROR_MAX, "has the calendar %s, and it was trained on that of %.64s", calendar,
                 own);
    else
        snprintf(err, POLICY_ERROR_MAX,
                 "trades at all times here, and it was trained on the bars of session %s of calendar %.64s",
                 session_choice_names[policy->session], own);
    return err;
}

const char *policy_refusal(const struct policy *policy, const char *currency, const struct symbol *symbols,
                           int n_symbols, int64_t interval_ns, char err[static POLICY_ERROR_MAX])
{
    int had[SYMBOLS_MAX];
    if (policy->interval_ns != interval_ns) {
        const char *bars = bar_interval_name(interval_ns);
        snprintf(err, POLICY_ERROR_MAX, "it decides on bars of %s, and these are of %s",
                 bar_interval_name(policy->interval_ns), bars ? bars : "another interval");
        return err;
    }
    for (int i = 0; i < policy->n_assets; i++) {
        const char *name = policy->assets[i].name;
        struct policy_symbol units;
        int s = had[i] = policy_find_symbol(&policy->assets[i], currency, symbols, n_symbols);
        const char *why = NULL;
        if (s < 0)
            why = "is not among the symbols";
        else if (strcmp(symbols[s].quote, currency) != 0)
            why = "is not quoted in the account's currency";
        else if (policy_symbol_init(&symbols[s], &units) < 0)
            why = "has lots that share no quantum";
        for (int k = 0; k < i && s >= 0; k++)
            if (had[k] == s)
                why = "is there twice";
        char calendar[POLICY_ERROR_MAX];
        if (!why)
            why = policy_calendar_refusal(policy, symbols[s].calendar, calendar);
        if (why) {
            snprintf(err, POLICY_ERROR_MAX, "%s, which it trades, %.400s", name, why);
            return err;
        }
    }
    return NULL;
}
