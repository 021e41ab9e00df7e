/* papertape explain: why an order is what it is, recomputed from the log. */
#ifndef CLI_EXPLAIN_H
#define CLI_EXPLAIN_H

int cli_explain(int argc, char **argv);

#endif
