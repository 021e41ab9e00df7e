/* Every statement on Optuna's tables, for all databases: its name and text, with parameters ?1, ?2 …. READ_*:
 * of a study's trials with ids from ?2 to ?3, by id, for study_store_sync(). A database's dialect is three
 * arguments: TRIALS, the table as t with, for SQLite, the index by which a study's trials are in the order of
 * their ids; JOIN, whose order SQLite keeps with CROSS; LOCK(CLAUSE), the clause where rows are locked, else
 * nothing. VERSION: where rows are locked, which transactions are seen. Private to db/studies/. */
#ifndef DB_STUDIES_SQL_STATEMENTS_H
#define DB_STUDIES_SQL_STATEMENTS_H

/* Numbers of any size are compared with columns of four bytes. */
#define STUDY_SQL_RANGE \
    "t.study_id = ?1 AND t.trial_id BETWEEN CAST(?2 AS BIGINT) AND CAST(?3 AS BIGINT) ORDER BY t.trial_id"
#define STUDY_SQL_READ(TRIALS, JOIN, columns, table) \
    "SELECT t.trial_id, " columns " FROM " TRIALS JOIN table \
    " AS c ON c.trial_id = t.trial_id WHERE " STUDY_SQL_RANGE

#define STUDY_SQL_UPDATE(table, owner) \
    "UPDATE " table " SET value_json = ?3 WHERE " owner " = ?1 AND \"key\" = ?2"
#define STUDY_SQL_PUT(table, owner) \
    "INSERT INTO " table " (" owner ", \"key\", value_json) VALUES (?1, ?2, ?3) " \
    "ON CONFLICT (" owner ", \"key\") DO UPDATE SET value_json = excluded.value_json"
#define STUDY_SQL_DROP(table, owner) "DELETE FROM " table " WHERE " owner " = ?1 AND \"key\" = ?2"
#define STUDY_SQL_COPY(table) \
    "INSERT INTO " table " (trial_id, \"key\", value_json) " \
    "SELECT CAST(?2 AS INTEGER), \"key\", value_json FROM " table " WHERE trial_id = ?1"
#define STUDY_SQL_WAITING(TRIALS) \
    "SELECT t.trial_id, t.number FROM " TRIALS " WHERE t.study_id = ?1 AND " \
    "t.trial_id > CAST(?2 AS BIGINT) AND t.state = 'WAITING' ORDER BY t.trial_id LIMIT 1"
#define STUDY_SQL_STALE_OF(TRIALS, JOIN) \
    "SELECT t.trial_id FROM " TRIALS JOIN "trial_heartbeats AS c ON c.trial_id = t.trial_id " \
    "WHERE t.study_id = ?1 AND t.state = 'RUNNING' AND c.heartbeat < ?2 ORDER BY t.trial_id"

/* clang-format off */
#define STUDY_STATEMENTS(X, TRIALS, JOIN, LOCK) \
    X(SCHEMA, "SELECT schema_version, version_num, library_version FROM version_info, alembic_version") \
    X(VERSION, "SELECT " LOCK("txid_current_snapshot(), ") "0") \
    X(FIND, "SELECT study_id FROM studies WHERE study_name = ?1") \
    X(NAME, "SELECT study_name FROM studies WHERE study_id = ?1") \
    X(LOCK_STUDY, "SELECT study_id FROM studies WHERE study_id = ?1" LOCK(" FOR UPDATE")) \
    X(INSERT, "INSERT INTO studies (study_name) VALUES (?1) ON CONFLICT (study_name) DO NOTHING " \
              "RETURNING study_id") \
    X(DIRECTIONS, "SELECT direction FROM study_directions WHERE study_id = ?1 ORDER BY objective") \
    X(DIRECTION_INSERT, "INSERT INTO study_directions (direction, study_id, objective) VALUES (?1, ?2, ?3)") \
    X(LIST, "SELECT study_id, study_name FROM studies ORDER BY study_id") \
    X(LIST_DIRECTIONS, "SELECT study_id, direction FROM study_directions ORDER BY study_id, objective") \
    X(LIST_TRIALS, "SELECT study_id, state, count(*), min(datetime_start) FROM trials " \
                   "GROUP BY study_id, state ORDER BY study_id") \
    X(USER, "SELECT \"key\", value_json FROM study_user_attributes WHERE study_id = ?1") \
    X(SYSTEM, "SELECT \"key\", value_json FROM study_system_attributes WHERE study_id = ?1") \
    X(USER_UPDATE, STUDY_SQL_UPDATE("study_user_attributes", "study_id")) \
    X(SYSTEM_UPDATE, STUDY_SQL_UPDATE("study_system_attributes", "study_id")) \
    X(USER_PUT, STUDY_SQL_PUT("study_user_attributes", "study_id")) \
    X(SYSTEM_PUT, STUDY_SQL_PUT("study_system_attributes", "study_id")) \
    X(USER_DROP, STUDY_SQL_DROP("study_user_attributes", "study_id")) \
    X(SYSTEM_DROP, STUDY_SQL_DROP("study_system_attributes", "study_id")) \
    X(TRIAL_OF, "SELECT number FROM trials WHERE study_id = ?1 AND trial_id = CAST(?2 AS BIGINT)") \
    X(TRIAL_LOCK, "SELECT study_id, number, state FROM trials WHERE trial_id = ?1" LOCK(" FOR NO KEY UPDATE")) \
    X(TRIAL_WAITING, STUDY_SQL_WAITING(TRIALS)) \
    X(TRIAL_WAITING_LOCK, STUDY_SQL_WAITING(TRIALS) LOCK(" FOR UPDATE SKIP LOCKED")) \
    X(TRIAL_TAKE, "UPDATE trials SET state = 'RUNNING', datetime_start = ?2 " \
                  "WHERE trial_id = ?1 AND state = 'WAITING'") \
    X(TRIAL_COUNT, "SELECT count(*), max(t.trial_id) FROM " TRIALS \
                   " WHERE t.study_id = ?1 AND t.trial_id > CAST(?2 AS BIGINT)") \
    X(TRIAL_INSERT, "INSERT INTO trials (number, study_id, state, datetime_start) VALUES (?1, ?2, ?3, ?4) " \
                    "RETURNING trial_id") \
    X(TRIAL_FINISH, "UPDATE trials SET state = ?2, datetime_complete = ?3 " \
                    "WHERE trial_id = ?1 AND state = 'RUNNING'") \
    X(COPY_PARAMS, "INSERT INTO trial_params (trial_id, param_name, param_value, distribution_json) " \
                   "SELECT CAST(?2 AS INTEGER), param_name, param_value, distribution_json " \
                   "FROM trial_params WHERE trial_id = ?1 ORDER BY param_id") \
    X(COPY_USER, STUDY_SQL_COPY("trial_user_attributes")) \
    X(COPY_SYSTEM, STUDY_SQL_COPY("trial_system_attributes")) \
    X(PARAM_KNOWN, "SELECT c.distribution_json FROM " TRIALS JOIN \
                   "trial_params AS c ON c.trial_id = t.trial_id " \
                   "WHERE t.study_id = ?1 AND c.param_name = ?2 LIMIT 1") \
    X(PARAM_IS, "SELECT 1 FROM trial_params AS c" JOIN "trials AS t ON t.trial_id = c.trial_id " \
                "WHERE c.trial_id = ?1 AND c.param_name = ?2 AND t.study_id = ?3 " \
                "AND c.distribution_json = ?4") \
    X(PARAM, "SELECT param_value = ?3 AND distribution_json = ?4 FROM trial_params " \
             "WHERE trial_id = ?1 AND param_name = ?2") \
    X(PARAM_INSERT, "INSERT INTO trial_params (trial_id, param_name, param_value, distribution_json) " \
                    "VALUES (?1, ?2, ?3, ?4) ON CONFLICT (trial_id, param_name) DO NOTHING") \
    X(VALUE_PUT, "INSERT INTO trial_values (trial_id, objective, value, value_type) VALUES (?1, ?2, ?3, ?4) " \
                 "ON CONFLICT (trial_id, objective) DO UPDATE SET value = excluded.value, " \
                 "value_type = excluded.value_type") \
    X(REPORT_PUT, "INSERT INTO trial_intermediate_values (trial_id, step, intermediate_value, " \
                  "intermediate_value_type) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (trial_id, step) " \
                  "DO UPDATE SET intermediate_value = excluded.intermediate_value, " \
                  "intermediate_value_type = excluded.intermediate_value_type") \
    X(REPORT_LAST, "SELECT intermediate_value, intermediate_value_type FROM trial_intermediate_values " \
                   "WHERE trial_id = ?1 ORDER BY step DESC LIMIT 1") \
    X(TRIAL_SYSTEM_GET, "SELECT value_json FROM trial_system_attributes WHERE trial_id = ?1 AND \"key\" = ?2") \
    X(TRIAL_USER_UPDATE, STUDY_SQL_UPDATE("trial_user_attributes", "trial_id")) \
    X(TRIAL_SYSTEM_UPDATE, STUDY_SQL_UPDATE("trial_system_attributes", "trial_id")) \
    X(TRIAL_USER_PUT, STUDY_SQL_PUT("trial_user_attributes", "trial_id")) \
    X(TRIAL_SYSTEM_PUT, STUDY_SQL_PUT("trial_system_attributes", "trial_id")) \
    X(TRIAL_USER_DROP, STUDY_SQL_DROP("trial_user_attributes", "trial_id")) \
    X(TRIAL_SYSTEM_DROP, STUDY_SQL_DROP("trial_system_attributes", "trial_id")) \
    X(HEARTBEAT_UPDATE, "UPDATE trial_heartbeats SET heartbeat = ?2 WHERE trial_id = ?1") \
    X(HEARTBEAT_PUT, "INSERT INTO trial_heartbeats (trial_id, heartbeat) VALUES (?1, ?2) " \
                     "ON CONFLICT (trial_id) DO UPDATE SET heartbeat = excluded.heartbeat") \
    X(STALE, STUDY_SQL_STALE_OF(TRIALS, JOIN)) \
    X(STALE_LOCK, STUDY_SQL_STALE_OF(TRIALS, JOIN) LOCK(" FOR NO KEY UPDATE OF t SKIP LOCKED")) \
    X(READ_TRIALS, "SELECT t.trial_id, t.state, t.datetime_start, t.datetime_complete, c.heartbeat " \
                   "FROM " TRIALS " LEFT JOIN trial_heartbeats AS c ON c.trial_id = t.trial_id WHERE " \
                   STUDY_SQL_RANGE) \
    X(READ_PARAMS, STUDY_SQL_READ(TRIALS, JOIN, "c.param_name, c.param_value, c.distribution_json", \
                                  "trial_params")) \
    X(READ_VALUES, STUDY_SQL_READ(TRIALS, JOIN, "c.objective, c.value, c.value_type", "trial_values")) \
    X(READ_REPORTS, STUDY_SQL_READ(TRIALS, JOIN, "c.step, c.intermediate_value, c.intermediate_value_type", \
                                   "trial_intermediate_values")) \
    X(READ_USER, STUDY_SQL_READ(TRIALS, JOIN, "c.\"key\", c.value_json", "trial_user_attributes")) \
    X(READ_SYSTEM, STUDY_SQL_READ(TRIALS, JOIN, "c.\"key\", c.value_json", "trial_system_attributes"))
/* clang-format on */

#endif
