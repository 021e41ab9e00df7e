#include "cli/verbs.h"

#include <string.h>

#include "cli/doctor/doctor.h"
#include "cli/sweep_run.h"
#include "cli/text.h"
#include "db/names.h"
#include "db/state.h"
#include "exchange/fees.h"
#include "exchange/venue.h"
#include "exchange/venues.h"
#include "strategy/risk_keys.h"
#include "strategy/strategy.h"

const struct option_row cli_globals[CLI_GLOBALS] = {
    {"state", "DIR",
     "the daemon's state directory; else $STATE_DIRECTORY, else of $XDG_STATE_HOME/papertape "
     "(~/.local/state/papertape) and the service's " STATE_SERVICE_DIR " the first that has one",
     offsetof(struct option_call, state)},
    {"json", NULL, "one JSON object, with \"schema\": \"papertape.NAME/1\"; what is not known is null",
     offsetof(struct option_call, json)},
    {"csv", NULL, "of lists: CSV with exact decimals, times in nanoseconds",
     offsetof(struct option_call, csv), .without = "json"},
    OPTION_HELP,
    OPTION_VERSION,
};

void cli_say(const char *line)
{
    cli_text_print(stderr, line);
    fputc('\n', stderr);
}

static void offer_venues(const struct option_call *call, void *ctx,
                         void (*offer)(void *ctx, const char *name))
{
    size_t n;
    const struct venue *const *venues = venues_known(&n);

    (void)call;
    for (size_t i = 0; i < n; i++)
        offer(ctx, venues[i]->format->name);
}

static void offer_checks(const struct option_call *call, void *ctx,
                         void (*offer)(void *ctx, const char *name))
{
    (void)call;
    for (int i = 0; i < DOCTOR_N; i++)
        offer(ctx, cli_doctor_checks[i].name);
}

static void offer_tiers(const struct option_call *call, void *ctx, void (*offer)(void *ctx, const char *name))
{
    const struct fee_schedule *schedule;

    (void)call;
    for (size_t v = 0; (schedule = fee_schedule(v)); v++)
        for (size_t i = 0; i < schedule->n; i++)
            offer(ctx, schedule->tiers[i].name);
}

static void offer_metrics(const struct option_call *call, void *ctx,
                          void (*offer)(void *ctx, const char *name))
{
    (void)call;
    for (int i = 0; i <= SWEEP_DSR; i++)
        offer(ctx, backtest_sweep_metric_name((enum sweep_metric)i));
}

static void offer_limits(const struct option_call *call, void *ctx,
                         void (*offer)(void *ctx, const char *name))
{
    (void)call;
    for (size_t i = 0; i < RISK_KEYS_N; i++)
        offer(ctx, risk_keys[i].name);
}

static void offer_strategies(const struct option_call *call, void *ctx,
                             void (*offer)(void *ctx, const char *name))
{
    size_t n;
    const struct strategy *const *strategies = strategy_list(&n);

    (void)call;
    for (size_t i = 0; i < n; i++)
        offer(ctx, strategies[i]->name);
}

/* Is it a word of the line: "NAME", "NAME:…" or "--OPTION=NAME…"? */
static bool names_it(const struct option_call *call, const char *name)
{
    size_t len = strlen(name);

    for (int i = 0; i < call->n; i++) {
        const char *equals = call->arguments[i][0] == '-' ? strchr(call->arguments[i], '=') : NULL;
        const char *word = equals ? equals + 1 : call->arguments[i];
        if (strncmp(word, name, len) == 0 && (word[len] == ':' || word[len] == '\0'))
            return true;
    }
    return false;
}

/* The parameters of the strategies that the line names; of all where it names none. */
static void offer_keys(const struct option_call *call, void *ctx, void (*offer)(void *ctx, const char *name))
{
    size_t n;
    const struct strategy *const *all = strategy_list(&n);

    for (bool any = false, every = false; !any; every = true)
        for (size_t i = 0; i < n; i++)
            if (every || names_it(call, all[i]->name)) {
                any = true;
                for (size_t k = 0; k < all[i]->n_params; k++)
                    offer(ctx, all[i]->params[k].name);
            }
}

/* The kinds that are the same in every state. */
static const struct {
    const char *kind;
    void (*offer)(const struct option_call *call, void *ctx, void (*offer)(void *ctx, const char *name));
} kinds[] = {
    {"CHECK", offer_checks},        {"KEY", offer_keys},   {"LIMIT", offer_limits}, {"METRIC", offer_metrics},
    {"STRATEGY", offer_strategies}, {"TIER", offer_tiers}, {"VENUE", offer_venues}};

bool cli_names_known(const char *kind, const struct option_call *call, void *ctx,
                     void (*offer)(void *ctx, const char *name))
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kind, kinds[i].kind) == 0) {
            kinds[i].offer(call, ctx, offer);
            return true;
        }
    return false;
}

void cli_names(const char *kind, const struct option_call *call, void *ctx,
               void (*offer)(void *ctx, const char *name))
{
    if (!cli_names_known(kind, call, ctx, offer))
        db_names(kind, call->state, ctx, offer);
}
