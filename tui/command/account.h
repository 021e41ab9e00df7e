/* `papertape account list|create|deposit|withdraw|reset|transfer …`: paper accounts. */
#ifndef TUI_COMMAND_ACCOUNT_H
#define TUI_COMMAND_ACCOUNT_H

int command_account(int argc, char **argv);

#endif
