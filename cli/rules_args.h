/* An account's rules as a command line gives them. */
#ifndef CLI_RULES_ARGS_H
#define CLI_RULES_ARGS_H

#include "exchange/fees.h"
#include "strategy/risk.h"

/* Reads key=value, several with commas, into limits; keys and units are those of papertaped.ini's [risk].
 * EXIT_OK, or EXIT_USAGE with one line on stderr. */
int cli_rules_args_risk(const char *verb, const char *text, struct risk_limits *limits);

/* Reads maker:taker, or a venue's tier, as vip1 or VENUE/vip1. The same statuses. */
int cli_rules_args_fees(const char *verb, const char *text, struct fee_rates *ret);

#endif
