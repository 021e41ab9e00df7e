/* papertape explain: why an order is what it is, recomputed from the log. */
#ifndef TUI_COMMAND_EXPLAIN_H
#define TUI_COMMAND_EXPLAIN_H

int command_explain(int argc, char **argv);

#endif
