/* `papertape alerts list [--json]`, `alerts ack ID`. */
#ifndef TUI_COMMAND_ALERTS_H
#define TUI_COMMAND_ALERTS_H

int command_alerts(int argc, char **argv);

#endif
