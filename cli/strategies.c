#include "cli/strategy_args.h"

#include <stdio.h>
#include <string.h>

#include "cli/stored.h"
#include "exchange/exit_status.h"
#include "strategy/library.h"
#include "strategy/param_json.h"

static json_t *value(const struct strategy_param *param, double number)
{
    return param->integer && !param->words ? json_integer((json_int_t)number)
                                           : strategy_param_json(param, number);
}

static json_t *words_array(const struct strategy_param *param)
{
    json_t *words = json_array();
    for (int i = 0; i <= (int)param->max; i++)
        json_array_append_new(words, strategy_param_json(param, i));
    return words;
}

static json_t *params_array(const struct strategy *strategy)
{
    json_t *params = json_array();
    for (size_t i = 0; i < strategy->n_params; i++) {
        const struct strategy_param *p = &strategy->params[i];
        json_array_append_new(
            params, p->words ? json_pack("{s:s, s:s, s:o, s:o}", "name", p->name, "summary", p->summary,
                                         "default", value(p, p->fallback), "words", words_array(p))
                             : json_pack("{s:s, s:s, s:b, s:o, s:o, s:o}", "name", p->name, "summary",
                                         p->summary, "integer", p->integer, "default", value(p, p->fallback),
                                         "min", value(p, p->min), "max", value(p, p->max)));
    }
    return params;
}

static void print_text(const struct strategy *strategy)
{
    printf("%s: %s\n", strategy->name, strategy->summary);
    for (size_t i = 0; i < strategy->n_params; i++) {
        const struct strategy_param *p = &strategy->params[i];
        char word[STRATEGY_WORD_MAX], words[STRATEGY_WORDS_MAX];
        if (strategy_param_word(p, p->fallback, word))
            printf("  %-13s %-8s %s: %s\n", p->name, word, strategy_param_words(p, words), p->summary);
        else
            printf("  %-13s %-8.10g %.10g to %.10g: %s\n", p->name, p->fallback, p->min, p->max, p->summary);
    }
}

struct strategies_listing {
    bool json;
    struct stored_list list;
};

static void put(struct strategies_listing *listing, const struct strategy *strategy)
{
    if (listing->json)
        cli_stored_object(&listing->list, json_pack("{s:s, s:s, s:b, s:o}", "name", strategy->name, "summary",
                                                    strategy->summary, "shorts", strategy->shorts, "params",
                                                    params_array(strategy)));
    else
        print_text(strategy);
}

static void put_plugin(void *ctx, const char *file, const struct strategy *strategy, const char *why_not)
{
    if (strategy)
        put(ctx, strategy);
    else
        (void)cli_stored_fail(EXIT_OK, "backtest", file, why_not);
}

int cli_strategies_list(const struct strategy *only, bool json)
{
    size_t n;
    const struct strategy *const *strategies = strategy_list(&n);
    struct strategies_listing listing = {json, {.name = "strategies", .form = STORED_JSON}};
    for (size_t i = 0; i < n && !only; i++)
        put(&listing, strategies[i]);
    if (only)
        put(&listing, only);
    int r = only ? 0 : strategy_library_each(put_plugin, &listing);
    if (r < 0)
        return cli_stored_fail(EXIT_ERROR, "backtest", indicator_plugin_folder(), strerror(-r));
    if (json)
        cli_stored_end(&listing.list);
    return listing.list.r < 0 ? cli_stored_fail(EXIT_ERROR, "backtest", "", "out of memory") : EXIT_OK;
}
