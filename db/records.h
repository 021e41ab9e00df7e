/* The rows of db/row.h, field by field: the lists are record/'s. */
#ifndef DB_RECORDS_H
#define DB_RECORDS_H

#include "db/queue.h"
#include "engine/charge_record.h"
#include "record/field.h"

extern const struct record db_record_trainings, db_record_training_points, db_record_training_evaluations,
    db_record_training_states, db_record_policies, db_record_order_policies, db_record_bar_keys,
    db_record_prices, db_record_gaps, db_record_book_bars, db_record_sessions, db_record_feeds,
    db_record_venues, db_record_bans, db_record_runs, db_record_devices, db_record_device_samples,
    db_record_device_processes, db_record_processes, db_record_process_samples, db_record_alerts,
    db_record_commands, db_record_actions, db_record_revisions, db_record_equity, db_record_margins,
    db_record_marks, db_record_positions, db_record_symbols, db_record_accounts, db_record_chart_series,
    db_record_chart_bars, db_record_bars, db_record_log_notes, db_record_terms;

/* The record of a kind's rows; NULL: the kind has functions of its own. */
const struct record *db_record_of(enum db_row_kind kind);

#endif
