/* An outside strategy as the event log describes it, so that it is known without its file: its name,
 * parameters, and the indicators that it reads with the parameters that were recorded. It decides nothing:
 * its decisions are in the log. */
#ifndef STRATEGY_RECORDED_H
#define STRATEGY_RECORDED_H

#include "strategy/external.h"

struct strategy_described_param {
    char name[STRATEGY_PARAM_NAME_MAX], summary[STRATEGY_SUMMARY_MAX], words[STRATEGY_WORDS_MAX];
    double fallback, min, max;
    bool integer, later;
    enum strategy_opens opens;
};

/* Texts "" are none. */
struct strategy_description {
    enum strategy_form form;
    uint8_t hash[STRATEGY_HASH_SIZE];
    char source[STRATEGY_SOURCE_MAX], title[STRATEGY_TITLE_MAX], summary[STRATEGY_SUMMARY_MAX];
    bool shorts, needs_shorts, peers, together;
    uint32_t state_size; /* at most STRATEGY_STATE_MAX */
    uint32_t symbols_min;
    uint32_t n_params, n_specs;
    struct strategy_described_param params[STRATEGY_PARAMS_MAX];
    double values[STRATEGY_PARAMS_MAX]; /* that the specs are of */
    char specs[STRATEGY_SPECS_MAX][STRATEGY_SPEC_TEXT];
};

/* Describes it with these parameters; without its specs where it cannot say them now. */
void strategy_describe(const struct strategy *strategy, const double *params,
                       struct strategy_description *ret);

/* The strategy of a description, the same for the same one. It lives as long as the program. 0,
 * -EINVAL for one that contradicts itself, or -ENOMEM. Any thread may call it. */
int strategy_recorded(const struct strategy_description *description, const struct strategy **ret);

/* Was it made from a description? */
bool strategy_is_recorded(const struct strategy *strategy);

#endif
