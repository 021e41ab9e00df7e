#include "strategy/risk_keys.h"

#define ROW(member, name, of_kind, fallback, about) \
    {"risk", name, about, fallback, of_kind, KEY_AT(struct risk_limits, member)},

const struct config_key risk_keys[RISK_KEYS_N] = {RISK_KEYS(ROW)};
