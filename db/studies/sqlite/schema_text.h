/* Optuna's RDB schema 12 (Alembic's head v3.2.0.a), to the byte as SQLAlchemy creates it, so that schema
 * dumps of our file and of Optuna's are the same. */
#ifndef DB_STUDIES_SQLITE_SCHEMA_TEXT_H
#define DB_STUDIES_SQLITE_SCHEMA_TEXT_H

#define STUDY_SCHEMA_VERSION  12
#define STUDY_SCHEMA_REVISION "v3.2.0.a"
#define STUDY_SCHEMA_LIBRARY  "5.0.0"

#define ATTRIBUTES(table, owner, owners) \
    "CREATE TABLE IF NOT EXISTS " owner "_" table "_attributes (\n\t" owner "_" table \
    "_attribute_id INTEGER NOT NULL, \n\t" owner \
    "_id INTEGER, \n\t\"key\" VARCHAR(512), \n\tvalue_json TEXT, " \
    "\n\tPRIMARY KEY (" owner "_" table "_attribute_id), \n\tUNIQUE (" owner \
    "_id, \"key\"), \n\tFOREIGN KEY(" owner "_id) REFERENCES " owners " (" owner "_id)\n);\n"

#define STUDY_SCHEMA \
    "CREATE TABLE IF NOT EXISTS studies (\n\tstudy_id INTEGER NOT NULL, \n\tstudy_name VARCHAR(512) NOT " \
    "NULL, " \
    "\n\tPRIMARY KEY (study_id)\n);\n" \
    "CREATE UNIQUE INDEX IF NOT EXISTS ix_studies_study_name ON studies (study_name);\n" \
    "CREATE TABLE IF NOT EXISTS version_info (\n\tversion_info_id INTEGER NOT NULL, \n\tschema_version " \
    "INTEGER, " \
    "\n\tlibrary_version VARCHAR(256), \n\tPRIMARY KEY (version_info_id), \n\tCHECK " \
    "(version_info_id=1)\n);\n" \
    "CREATE TABLE IF NOT EXISTS study_directions (\n\tstudy_direction_id INTEGER NOT NULL, \n\tdirection " \
    "VARCHAR(8) NOT NULL, \n\tstudy_id INTEGER NOT NULL, \n\tobjective INTEGER NOT NULL, \n\tPRIMARY KEY " \
    "(study_direction_id), \n\tUNIQUE (study_id, objective), \n\tFOREIGN KEY(study_id) REFERENCES studies " \
    "(study_id)\n);\n" ATTRIBUTES("user", "study", "studies") ATTRIBUTES( \
        "system", "study", \
        "studies") "CREATE TABLE IF NOT EXISTS trials (\n\ttrial_id INTEGER NOT NULL, \n\tnumber INTEGER, " \
                   "\n\tstudy_id INTEGER, " \
                   "\n\tstate VARCHAR(8) NOT NULL, \n\tdatetime_start DATETIME, \n\tdatetime_complete " \
                   "DATETIME, \n\tPRIMARY KEY " \
                   "(trial_id), \n\tFOREIGN KEY(study_id) REFERENCES studies (study_id)\n);\n" \
                   "CREATE INDEX IF NOT EXISTS ix_trials_study_id ON trials (study_id);\n" ATTRIBUTES( \
                       "user", "trial", "trials") \
                       ATTRIBUTES( \
                           "system", "trial", \
                           "trials") "CREATE TABLE IF NOT EXISTS trial_params (\n\tparam_id INTEGER NOT " \
                                     "NULL, \n\ttrial_id INTEGER, \n\tparam_name " \
                                     "VARCHAR(512), \n\tparam_value FLOAT, \n\tdistribution_json TEXT, " \
                                     "\n\tPRIMARY KEY (param_id), \n\tUNIQUE " \
                                     "(trial_id, param_name), \n\tFOREIGN KEY(trial_id) REFERENCES trials " \
                                     "(trial_id)\n);\n" \
                                     "CREATE TABLE IF NOT EXISTS trial_values (\n\ttrial_value_id INTEGER " \
                                     "NOT NULL, \n\ttrial_id INTEGER NOT NULL, " \
                                     "\n\tobjective INTEGER NOT NULL, \n\tvalue FLOAT, \n\tvalue_type " \
                                     "VARCHAR(7) NOT NULL, \n\tPRIMARY KEY " \
                                     "(trial_value_id), \n\tUNIQUE (trial_id, objective), \n\tFOREIGN " \
                                     "KEY(trial_id) REFERENCES trials " \
                                     "(trial_id)\n);\n" \
                                     "CREATE TABLE IF NOT EXISTS trial_intermediate_values " \
                                     "(\n\ttrial_intermediate_value_id INTEGER NOT NULL, " \
                                     "\n\ttrial_id INTEGER NOT NULL, \n\tstep INTEGER NOT NULL, " \
                                     "\n\tintermediate_value FLOAT, " \
                                     "\n\tintermediate_value_type VARCHAR(7) NOT NULL, \n\tPRIMARY KEY " \
                                     "(trial_intermediate_value_id), \n\tUNIQUE " \
                                     "(trial_id, step), \n\tFOREIGN KEY(trial_id) REFERENCES trials " \
                                     "(trial_id)\n);\n" \
                                     "CREATE TABLE IF NOT EXISTS trial_heartbeats (\n\ttrial_heartbeat_id " \
                                     "INTEGER NOT NULL, \n\ttrial_id INTEGER " \
                                     "NOT NULL, \n\theartbeat DATETIME NOT NULL, \n\tPRIMARY KEY " \
                                     "(trial_heartbeat_id), \n\tUNIQUE (trial_id), " \
                                     "\n\tFOREIGN KEY(trial_id) REFERENCES trials (trial_id)\n);\n" \
                                     "CREATE TABLE IF NOT EXISTS alembic_version (\n\tversion_num " \
                                     "VARCHAR(32) NOT NULL, \n\tCONSTRAINT " \
                                     "alembic_version_pkc PRIMARY KEY (version_num)\n);\n"

/* As Optuna does it after creating its tables: where they have no row yet. */
#define STUDY_SCHEMA_ROWS(version, revision, library) \
    "INSERT INTO version_info (version_info_id, schema_version, library_version) SELECT 1, " #version \
    ", '" library "' WHERE NOT EXISTS (SELECT 1 FROM version_info);\n" \
    "INSERT INTO alembic_version (version_num) SELECT '" revision \
    "' WHERE NOT EXISTS (SELECT 1 FROM alembic_version);\n"

#endif
