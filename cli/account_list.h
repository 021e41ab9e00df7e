/* `papertape account list`: the accounts as the database last knew them. */
#ifndef CLI_ACCOUNT_LIST_H
#define CLI_ACCOUNT_LIST_H

/* argv[0] is "account", argv[1] "list". Returns an exit status. */
int cli_account_list(int argc, char **argv, const char *help);

#endif
