/* What an evaluation's figures hold for: bars, range, rules and costs, as a table of facts. */
#ifndef TRAINER_REPORT_CONDITIONS_H
#define TRAINER_REPORT_CONDITIONS_H

#include "trainer/report/evaluation.h"

/* Facts for between report_page_facts() and its end. Symbols and interval of a market; */
void trainer_report_symbols(struct text *text, const struct env_market *market);
/* the rows of an evaluation; */
void trainer_report_evaluated_rows(struct text *text, const struct trainer_evaluated *evaluated);
/* the environment's parameters by their keys: those that always matter, and others that differ from
 * the preset market. Those of rewards and of episodes in training only with `training`. */
void trainer_report_params(struct text *text, const struct env_params *params, bool training);

/* "2023-01-01 00:00 to 2023-12-31 23:00 (8760 bars)", opening times. */
enum { REPORT_ROWS_MAX = 96 };
const char *trainer_report_rows(int64_t first_ns, int64_t last_ns, size_t rows,
                                char ret[static REPORT_ROWS_MAX]);

#endif
