/* The rows of db/row.h, field by field: the lists are record/'s. */
#ifndef DB_RECORDS_H
#define DB_RECORDS_H

#include "db/queue.h"
#include "record/field.h"

extern const struct record db_record_trainings, db_record_training_points, db_record_training_evaluations,
    db_record_training_states, db_record_policies, db_record_order_policies;

/* The rows of a kind; NULL: it has a way of its own. */
const struct record *db_record_of(enum db_row_kind kind);

#endif
