/* What `papertape alerts` does with prices: the functions of its actions. The verb's struct is ask_args. */
#ifndef CLI_PRICE_ALERTS_H
#define CLI_PRICE_ALERTS_H

#include "record/option.h"

/* Each an exit status. */
int cli_price_alerts_set(struct option_call *call);    /* SYMBOL, with --above or --below */
int cli_price_alerts_remove(struct option_call *call); /* NUMBER */
int cli_price_alerts_list(struct option_call *call);

#endif
