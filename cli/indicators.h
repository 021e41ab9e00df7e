/* `papertape indicators FILE SPEC…`: indicators of a bars file as CSV on stdout; `--list`: the registry. */
#ifndef CLI_INDICATORS_H
#define CLI_INDICATORS_H

#include <stddef.h>

/* Inside the verb. Each returns the exit status, after its line on stderr. */
struct indicator_spec;
int cli_indicators_list_table(void);
int cli_indicators_list_specs(const struct indicator_spec *specs, size_t n);
int cli_indicators_list_json(const struct indicator_spec *specs, size_t n); /* all rows where n is 0 */
int cli_indicators_finish_stdout(void);

#endif
