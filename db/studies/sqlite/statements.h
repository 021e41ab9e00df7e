/* Every statement on Optuna's tables: its name and text. READ_*: of a study's trials with ids from ?2 to ?3,
 * by id, for study_store_sync(). Private to db/studies/sqlite/. */
#ifndef DB_STUDIES_SQLITE_STATEMENTS_H
#define DB_STUDIES_SQLITE_STATEMENTS_H

/* The index has a study's trials in the order of their ids. */
#define STUDYS_TRIALS "trials AS t INDEXED BY ix_trials_study_id"
#define RANGE         "t.study_id = ?1 AND t.trial_id BETWEEN ?2 AND ?3 ORDER BY t.trial_id"
#define READ(columns, table) \
    "SELECT t.trial_id, " columns " FROM " STUDYS_TRIALS " CROSS JOIN " table \
    " AS c ON c.trial_id = t.trial_id WHERE " RANGE

#define PUT(table, owner) \
    "INSERT INTO " table " (" owner ", \"key\", value_json) VALUES (?1, ?2, ?3) " \
    "ON CONFLICT (" owner ", \"key\") DO UPDATE SET value_json = excluded.value_json"
#define DROP(table, owner) "DELETE FROM " table " WHERE " owner " = ?1 AND \"key\" = ?2"
#define COPY_ATTRIBUTES(table) \
    "INSERT INTO " table " (trial_id, \"key\", value_json) SELECT ?2, \"key\", value_json FROM " table \
    " WHERE trial_id = ?1"

#define STUDY_STATEMENTS(X) \
    X(BEGIN_READ, "BEGIN") \
    X(BEGIN_WRITE, "BEGIN IMMEDIATE") \
    X(COMMIT, "COMMIT") \
    X(ROLLBACK, "ROLLBACK") \
    X(DATA_VERSION, "PRAGMA data_version") \
    X(SCHEMA, "SELECT schema_version, version_num FROM version_info, alembic_version") \
    X(FIND, "SELECT study_id FROM studies WHERE study_name = ?1") \
    X(NAME, "SELECT study_name FROM studies WHERE study_id = ?1") \
    X(INSERT, "INSERT INTO studies (study_name) VALUES (?1)") \
    X(DIRECTIONS, "SELECT direction FROM study_directions WHERE study_id = ?1 ORDER BY objective") \
    X(DIRECTION_INSERT, "INSERT INTO study_directions (direction, study_id, objective) VALUES (?1, ?2, ?3)") \
    X(LIST, "SELECT study_id, study_name FROM studies ORDER BY study_id") \
    X(LIST_DIRECTIONS, "SELECT study_id, direction FROM study_directions ORDER BY study_id, objective") \
    X(LIST_TRIALS, "SELECT study_id, state, count(*), min(datetime_start) FROM trials " \
                   "GROUP BY study_id, state ORDER BY study_id") \
    X(USER, "SELECT \"key\", value_json FROM study_user_attributes WHERE study_id = ?1") \
    X(SYSTEM, "SELECT \"key\", value_json FROM study_system_attributes WHERE study_id = ?1") \
    X(USER_PUT, PUT("study_user_attributes", "study_id")) \
    X(SYSTEM_PUT, PUT("study_system_attributes", "study_id")) \
    X(USER_DROP, DROP("study_user_attributes", "study_id")) \
    X(SYSTEM_DROP, DROP("study_system_attributes", "study_id")) \
    X(TRIAL, "SELECT study_id, number, state FROM trials WHERE trial_id = ?1") \
    X(TRIAL_WAITING, "SELECT t.trial_id, t.number FROM " STUDYS_TRIALS \
                     " WHERE t.study_id = ?1 AND t.trial_id > ?2 AND t.state = 'WAITING' " \
                     "ORDER BY t.trial_id LIMIT 1") \
    X(TRIAL_TAKE, "UPDATE trials SET state = 'RUNNING', datetime_start = ?2 " \
                  "WHERE trial_id = ?1 AND state = 'WAITING'") \
    X(TRIAL_COUNT, \
      "SELECT count(*), max(t.trial_id) FROM " STUDYS_TRIALS " WHERE t.study_id = ?1 AND t.trial_id > ?2") \
    X(TRIAL_INSERT, "INSERT INTO trials (number, study_id, state, datetime_start) VALUES (?1, ?2, ?3, ?4)") \
    X(TRIAL_FINISH, "UPDATE trials SET state = ?2, datetime_complete = ?3 " \
                    "WHERE trial_id = ?1 AND state = 'RUNNING'") \
    X(COPY_PARAMS, "INSERT INTO trial_params (trial_id, param_name, param_value, distribution_json) " \
                   "SELECT ?2, param_name, param_value, distribution_json FROM trial_params " \
                   "WHERE trial_id = ?1 ORDER BY param_id") \
    X(COPY_USER, COPY_ATTRIBUTES("trial_user_attributes")) \
    X(COPY_SYSTEM, COPY_ATTRIBUTES("trial_system_attributes")) \
    X(PARAM_KNOWN, "SELECT c.distribution_json FROM " STUDYS_TRIALS \
                   " CROSS JOIN trial_params AS c ON c.trial_id = t.trial_id " \
                   "WHERE t.study_id = ?1 AND c.param_name = ?2 LIMIT 1") \
    X(PARAM_IS, "SELECT 1 FROM trial_params AS c CROSS JOIN trials AS t ON t.trial_id = c.trial_id " \
                "WHERE c.trial_id = ?1 AND c.param_name = ?2 AND t.study_id = ?3 " \
                "AND c.distribution_json = ?4") \
    X(PARAM, "SELECT param_value = ?3 AND distribution_json = ?4 FROM trial_params " \
             "WHERE trial_id = ?1 AND param_name = ?2") \
    X(PARAM_INSERT, "INSERT INTO trial_params (trial_id, param_name, param_value, distribution_json) " \
                    "VALUES (?1, ?2, ?3, ?4) ON CONFLICT (trial_id, param_name) DO NOTHING") \
    X(VALUE_PUT, \
      "INSERT INTO trial_values (trial_id, objective, value, value_type) VALUES (?1, ?2, ?3, ?4) " \
      "ON CONFLICT (trial_id, objective) DO UPDATE SET value = excluded.value, value_type = " \
      "excluded.value_type") \
    X(REPORT_PUT, \
      "INSERT INTO trial_intermediate_values (trial_id, step, intermediate_value, intermediate_value_type) " \
      "VALUES (?1, ?2, ?3, ?4) ON CONFLICT (trial_id, step) DO UPDATE SET intermediate_value = " \
      "excluded.intermediate_value, intermediate_value_type = excluded.intermediate_value_type") \
    X(REPORT_LAST, "SELECT intermediate_value, intermediate_value_type FROM trial_intermediate_values " \
                   "WHERE trial_id = ?1 ORDER BY step DESC LIMIT 1") \
    X(TRIAL_SYSTEM_GET, \
      "SELECT value_json FROM trial_system_attributes WHERE trial_id = ?1 AND \"key\" = ?2") \
    X(TRIAL_USER_PUT, PUT("trial_user_attributes", "trial_id")) \
    X(TRIAL_SYSTEM_PUT, PUT("trial_system_attributes", "trial_id")) \
    X(TRIAL_USER_DROP, DROP("trial_user_attributes", "trial_id")) \
    X(TRIAL_SYSTEM_DROP, DROP("trial_system_attributes", "trial_id")) \
    X(HEARTBEAT, "INSERT INTO trial_heartbeats (trial_id, heartbeat) VALUES (?1, ?2) " \
                 "ON CONFLICT (trial_id) DO UPDATE SET heartbeat = excluded.heartbeat") \
    X(STALE, "SELECT t.trial_id FROM " STUDYS_TRIALS \
             " CROSS JOIN trial_heartbeats AS c ON c.trial_id = t.trial_id " \
             "WHERE t.study_id = ?1 AND t.state = 'RUNNING' AND c.heartbeat < ?2 ORDER BY t.trial_id") \
    X(READ_TRIALS, \
      "SELECT t.trial_id, t.state, t.datetime_start, t.datetime_complete, c.heartbeat FROM " STUDYS_TRIALS \
      " LEFT JOIN trial_heartbeats AS c ON c.trial_id = t.trial_id WHERE " RANGE) \
    X(READ_PARAMS, READ("c.param_name, c.param_value, c.distribution_json", "trial_params")) \
    X(READ_VALUES, READ("c.objective, c.value, c.value_type", "trial_values")) \
    X(READ_REPORTS, \
      READ("c.step, c.intermediate_value, c.intermediate_value_type", "trial_intermediate_values")) \
    X(READ_USER, READ("c.\"key\", c.value_json", "trial_user_attributes")) \
    X(READ_SYSTEM, READ("c.\"key\", c.value_json", "trial_system_attributes"))

#endif
