/* An action of `papertape ledger`. */
#ifndef CLI_LEDGER_CAUSES_H
#define CLI_LEDGER_CAUSES_H

#include "record/option.h"

int cli_ledger_causes(struct option_call *call);
int cli_ledger_accruals(struct option_call *call);

#endif
