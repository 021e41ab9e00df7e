/* `papertape pause`, `resume`, `flatten --yes`: trading on and off. */
#ifndef CLI_TRADING_H
#define CLI_TRADING_H

int cli_pause(int argc, char **argv);
int cli_resume(int argc, char **argv);
int cli_flatten(int argc, char **argv);

#endif
