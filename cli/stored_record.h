/* Lists whose rows are a record's (record/field.h): each column is a field by its name. */
#ifndef CLI_STORED_RECORD_H
#define CLI_STORED_RECORD_H

#include "cli/stored.h"
#include "record/json.h"

/* Begins a list of `record` with `columns` in that order. Fields that it does not name stand behind them, in
 * the record's order, in CSV and JSON. `out`: NULL is stdout. */
struct stored_list cli_stored_record_list(const struct record *record, const struct stored_column *columns,
                                          int n, enum stored_form form, FILE *out);
void cli_stored_record_row(struct stored_list *list, const void *row, const struct record_context *context);

#endif
