/* `papertape pause`, `resume`, `flatten --yes`: trading on and off. */
#ifndef TUI_COMMAND_TRADING_H
#define TUI_COMMAND_TRADING_H

int command_pause(int argc, char **argv);
int command_resume(int argc, char **argv);
int command_flatten(int argc, char **argv);

#endif
