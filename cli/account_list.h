/* `papertape account list`. */
#ifndef CLI_ACCOUNT_LIST_H
#define CLI_ACCOUNT_LIST_H

#include "record/option.h"

int cli_account_list(struct option_call *call);

#endif
