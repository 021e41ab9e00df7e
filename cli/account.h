/* `papertape account list|create|deposit|withdraw|reset|transfer …`: paper accounts. */
#ifndef CLI_ACCOUNT_H
#define CLI_ACCOUNT_H

int cli_account(int argc, char **argv);

#endif
