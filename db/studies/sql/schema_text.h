/* Optuna's RDB schema 12 (Alembic's head v3.2.0.a) as SQLAlchemy creates it: for SQLite to the byte, so that
 * schema dumps of our file and of Optuna's are the same. A database's dialect is the types: KEY of numbered
 * rows, and those of Optuna's enums, of reals and of times. */
#ifndef DB_STUDIES_SQL_SCHEMA_TEXT_H
#define DB_STUDIES_SQL_SCHEMA_TEXT_H

#define STUDY_SCHEMA_VERSION  12
#define STUDY_SCHEMA_REVISION "v3.2.0.a"
#define STUDY_SCHEMA_LIBRARY  "5.0.0"

/* All tables; a SQL list. */
#define STUDY_SCHEMA_TABLES \
    "'studies', 'version_info', 'study_directions', 'study_user_attributes', 'study_system_attributes', " \
    "'trials', 'trial_user_attributes', 'trial_system_attributes', 'trial_params', 'trial_values', " \
    "'trial_intermediate_values', 'trial_heartbeats', 'alembic_version'"
enum { STUDY_SCHEMA_N_TABLES = 13 };

/* clang-format off */
#define STUDY_SCHEMA_TABLE(table) "CREATE TABLE IF NOT EXISTS " table " (\n\t"
#define STUDY_SCHEMA_OF_STUDY "FOREIGN KEY(study_id) REFERENCES studies (study_id)\n);\n"
#define STUDY_SCHEMA_OF_TRIAL "FOREIGN KEY(trial_id) REFERENCES trials (trial_id)\n);\n"
#define STUDY_SCHEMA_ATTRIBUTES(KEY, table, owner, OF_OWNER) \
    STUDY_SCHEMA_TABLE(owner "_" table "_attributes") \
    owner "_" table "_attribute_id " KEY " NOT NULL, \n\t" owner "_id INTEGER, \n\t\"key\" VARCHAR(512), \n\t" \
    "value_json TEXT, \n\tPRIMARY KEY (" owner "_" table "_attribute_id), \n\tUNIQUE (" owner "_id, \"key\"), \n\t" \
    OF_OWNER

#define STUDY_SCHEMA(KEY, DIRECTION, STATE, VALUE, REPORT, REAL, TIME) \
    STUDY_SCHEMA_TABLE("studies") \
    "study_id " KEY " NOT NULL, \n\tstudy_name VARCHAR(512) NOT NULL, \n\tPRIMARY KEY (study_id)\n);\n" \
    "CREATE UNIQUE INDEX IF NOT EXISTS ix_studies_study_name ON studies (study_name);\n" \
    STUDY_SCHEMA_TABLE("version_info") \
    "version_info_id INTEGER NOT NULL, \n\tschema_version INTEGER, \n\tlibrary_version VARCHAR(256), \n\t" \
    "PRIMARY KEY (version_info_id), \n\tCHECK (version_info_id=1)\n);\n" \
    STUDY_SCHEMA_TABLE("study_directions") \
    "study_direction_id " KEY " NOT NULL, \n\tdirection " DIRECTION " NOT NULL, \n\tstudy_id INTEGER NOT NULL, \n\t" \
    "objective INTEGER NOT NULL, \n\tPRIMARY KEY (study_direction_id), \n\tUNIQUE (study_id, objective), \n\t" \
    STUDY_SCHEMA_OF_STUDY \
    STUDY_SCHEMA_ATTRIBUTES(KEY, "user", "study", STUDY_SCHEMA_OF_STUDY) \
    STUDY_SCHEMA_ATTRIBUTES(KEY, "system", "study", STUDY_SCHEMA_OF_STUDY) \
    STUDY_SCHEMA_TABLE("trials") \
    "trial_id " KEY " NOT NULL, \n\tnumber INTEGER, \n\tstudy_id INTEGER, \n\tstate " STATE " NOT NULL, \n\t" \
    "datetime_start " TIME ", \n\tdatetime_complete " TIME ", \n\tPRIMARY KEY (trial_id), \n\t" \
    STUDY_SCHEMA_OF_STUDY \
    "CREATE INDEX IF NOT EXISTS ix_trials_study_id ON trials (study_id);\n" \
    STUDY_SCHEMA_ATTRIBUTES(KEY, "user", "trial", STUDY_SCHEMA_OF_TRIAL) \
    STUDY_SCHEMA_ATTRIBUTES(KEY, "system", "trial", STUDY_SCHEMA_OF_TRIAL) \
    STUDY_SCHEMA_TABLE("trial_params") \
    "param_id " KEY " NOT NULL, \n\ttrial_id INTEGER, \n\tparam_name VARCHAR(512), \n\tparam_value " REAL ", \n\t" \
    "distribution_json TEXT, \n\tPRIMARY KEY (param_id), \n\tUNIQUE (trial_id, param_name), \n\t" \
    STUDY_SCHEMA_OF_TRIAL \
    STUDY_SCHEMA_TABLE("trial_values") \
    "trial_value_id " KEY " NOT NULL, \n\ttrial_id INTEGER NOT NULL, \n\tobjective INTEGER NOT NULL, \n\t" \
    "value " REAL ", \n\tvalue_type " VALUE " NOT NULL, \n\tPRIMARY KEY (trial_value_id), \n\t" \
    "UNIQUE (trial_id, objective), \n\t" STUDY_SCHEMA_OF_TRIAL \
    STUDY_SCHEMA_TABLE("trial_intermediate_values") \
    "trial_intermediate_value_id " KEY " NOT NULL, \n\ttrial_id INTEGER NOT NULL, \n\tstep INTEGER NOT NULL, \n\t" \
    "intermediate_value " REAL ", \n\tintermediate_value_type " REPORT " NOT NULL, \n\t" \
    "PRIMARY KEY (trial_intermediate_value_id), \n\tUNIQUE (trial_id, step), \n\t" STUDY_SCHEMA_OF_TRIAL \
    STUDY_SCHEMA_TABLE("trial_heartbeats") \
    "trial_heartbeat_id " KEY " NOT NULL, \n\ttrial_id INTEGER NOT NULL, \n\theartbeat " TIME " NOT NULL, \n\t" \
    "PRIMARY KEY (trial_heartbeat_id), \n\tUNIQUE (trial_id), \n\t" STUDY_SCHEMA_OF_TRIAL \
    STUDY_SCHEMA_TABLE("alembic_version") \
    "version_num VARCHAR(32) NOT NULL, \n\tCONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)\n);\n"

/* As Optuna does it after creating its tables: where they have no row yet. */
#define STUDY_SCHEMA_ROWS_(version, revision, library) \
    "INSERT INTO version_info (version_info_id, schema_version, library_version) SELECT 1, " #version \
    ", '" library "' WHERE NOT EXISTS (SELECT 1 FROM version_info);\n" \
    "INSERT INTO alembic_version (version_num) SELECT '" revision \
    "' WHERE NOT EXISTS (SELECT 1 FROM alembic_version);\n"
#define STUDY_SCHEMA_ROWS_OF(version) STUDY_SCHEMA_ROWS_(version, STUDY_SCHEMA_REVISION, STUDY_SCHEMA_LIBRARY)
#define STUDY_SCHEMA_ROWS STUDY_SCHEMA_ROWS_OF(STUDY_SCHEMA_VERSION)
/* clang-format on */

#endif
