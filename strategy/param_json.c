#include "strategy/param_json.h"

#include "strategy/strategy.h"

json_t *strategy_param_json(const struct strategy_param *param, double value)
{
    char word[STRATEGY_WORD_MAX];
    return strategy_param_word(param, value, word) ? json_string(word) : json_real(value);
}

bool strategy_param_from_json(const struct strategy *strategy, size_t param, const json_t *value,
                              double params[static STRATEGY_PARAMS_MAX])
{
    const struct strategy_param *of = &strategy->params[param];
    if (of->words)
        return json_is_string(value) &&
               strategy_set(strategy, params, of->name, json_string_value(value), NULL) == 0;
    if (!json_is_number(value))
        return false;
    params[param] = json_number_value(value);
    return true;
}
