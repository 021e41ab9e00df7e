#include "db/records.h"

#include "db/row.h"
#include "record/training.h"

#define ROW struct db_training
static const struct record_field trainings[] = {RECORD_FIELDS(RECORD_TRAINING)};
const struct record db_record_trainings = RECORD_OF("trainings", trainings);
#undef ROW

#define ROW struct db_training_point
static const struct record_field training_points[] = {RECORD_FIELDS(RECORD_TRAINING_POINT)};
const struct record db_record_training_points = RECORD_OF("training_points", training_points);
#undef ROW

#define ROW struct db_training_evaluation
static const struct record_field training_evaluations[] = {RECORD_FIELDS(RECORD_TRAINING_EVALUATION)};
const struct record db_record_training_evaluations = RECORD_OF("training_evaluations", training_evaluations);
#undef ROW

#define ROW struct db_training_state
static const struct record_field training_states[] = {RECORD_FIELDS(RECORD_TRAINING_STATE)};
const struct record db_record_training_states = RECORD_OF("training_states", training_states);
#undef ROW

#define ROW struct db_policy
static const struct record_field policies[] = {RECORD_FIELDS(RECORD_POLICY)};
const struct record db_record_policies = RECORD_OF("policies", policies);
#undef ROW

#define ROW struct db_order_policy
static const struct record_field order_policies[] = {RECORD_FIELDS(RECORD_ORDER_POLICY)};
const struct record db_record_order_policies = RECORD_OF("order_policies", order_policies);
#undef ROW

static const struct record *const of_kind[DB_ROW_KINDS] = {
    [DB_ROW_TRAINING] = &db_record_trainings,
    [DB_ROW_TRAINING_POINT] = &db_record_training_points,
    [DB_ROW_TRAINING_EVALUATION] = &db_record_training_evaluations,
    [DB_ROW_TRAINING_STATE] = &db_record_training_states,
    [DB_ROW_POLICY] = &db_record_policies,
    [DB_ROW_ORDER_POLICY] = &db_record_order_policies,
};

const struct record *db_record_of(enum db_row_kind kind)
{
    return of_kind[kind];
}
