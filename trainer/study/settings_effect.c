/* Keys of [search] that other keys leave without effect: trials of theirs would differ in nothing. */
#include <stdio.h>
#include <string.h>

#include "trainer/config_table.h"
#include "trainer/study/settings_table.h"

enum { VALUE_MAX = 128 };

/* `keys`, blanks between, have an effect where section.other is `value`; or with `unless`, where it is not.
 */
static const struct effect {
    const char *keys, *section, *other, *value;
    bool unless;
} effects[] = {
    {"threshold trend_bars weight_day weight_return weight_step weight_trend session_close_s session_zone "
     "borrow_rate collateral shorts",
     "environment", "task", "day-trade", false},
    {"concentration_penalty norm_action time_decay_floor weight_absolute weight_alpha weight_cash",
     "environment", "task", "portfolio", false},
    {"action_span levels", "environment", "actions", "discrete", false},
    {"log_std_init log_std_max log_std_min", "environment", "actions", "continuous", false},
    {"borrow_rate collateral", "environment", "shorts", "true", false},
    {"forced_exit_pct", "environment", "forced_exit_bars", "0", true},
    {"session_close_s session_zone", "data", "calendar", "", false},
    {"lr_final", "ppo", "lr_schedule", "constant", true},
    {"sequence", "network", "recurrent", "0", true},
    {"entropy_bound value_bound", "ppo", "bounded", "true", false},
    {"clip_observations", "ppo", "normalise_observations", "true", false},
    {"clip_rewards", "ppo", "normalise_rewards", "true", false},
};
enum { N_EFFECTS = sizeof effects / sizeof *effects };

static bool has_word(const char *words, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = strstr(words, word); at; at = strstr(at + n, word))
        if ((at == words || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0'))
            return true;
    return false;
}

static bool holds(const struct effect *effect, const struct study_settings *settings, const char *value)
{
    return space_find(&settings->space, effect->other) >= 0 ||
           (strcmp(value, effect->value) == 0) != effect->unless;
}

int study_settings_misfits(const struct study_settings *settings, const struct train_config *config,
                           void (*misfit)(void *ctx, const char *section, const char *keys,
                                          const char *words),
                           void *ctx)
{
    char value[VALUE_MAX], words[CONFIG_ERROR_MAX];
    int n = 0;
    if (settings->rules.strategy)
        return 0;
    for (int i = 0; i < settings->space.n; i++)
        for (const struct effect *effect = effects; effect < effects + N_EFFECTS; effect++) {
            const char *key = settings->space.params[i].name;
            if (!has_word(effect->keys, key) ||
                train_config_get(config, effect->section, effect->other, value, sizeof value) < 0 ||
                holds(effect, settings, value))
                continue;
            snprintf(words, sizeof words, "[search] %s: it has no effect with [%s] %s = %s: %s%s is right",
                     key, effect->section, effect->other, value,
                     effect->unless   ? "another than "
                     : *effect->value ? ""
                                      : "none",
                     effect->value);
            misfit(ctx, "search", key, words);
            n++;
            break;
        }
    return n;
}
