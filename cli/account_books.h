/* Actions of `papertape account` that list what accounts were: their terms, their epochs. */
#ifndef CLI_ACCOUNT_BOOKS_H
#define CLI_ACCOUNT_BOOKS_H

#include "record/option.h"

int cli_account_terms(struct option_call *call);
int cli_account_epochs(struct option_call *call);

#endif
