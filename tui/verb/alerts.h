/* `papertape alerts list [--json]`, `alerts ack ID`. */
#ifndef TUI_VERB_ALERTS_H
#define TUI_VERB_ALERTS_H

int tui_alerts(int argc, char **argv);

#endif
