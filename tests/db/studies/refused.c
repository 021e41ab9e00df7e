/* What a store refuses, with which errno and words: foreign, newer, older, locked, read-only, damaged and
 * missing files, names that are taken, values and states against Optuna's rules. Nothing is changed by any.
 */
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tests/db/studies/fixture.h"

enum { UNPRIVILEGED = 65534, SHORT_MS = 20 };

static void run_sql(const char *path, const char *sql)
{
    sqlite3 *db;
    char *said = NULL;
    if (sqlite3_open(path, &db) != SQLITE_OK || sqlite3_exec(db, sql, NULL, NULL, &said) != SQLITE_OK) {
        fprintf(stderr, "%s: %s\n", sql, said ? said : sqlite3_errmsg(db));
        exit(EXIT_FAILURE);
    }
    sqlite3_close(db);
}

static int open_it(const char *path, enum study_store_mode mode)
{
    struct study_store *store = NULL;
    int r = study_store_open(path, mode, SHORT_MS, &store, err);
    if (r == 0)
        study_store_close(store);
    else
        CHECK(store == NULL);
    return r;
}

static void test_urls(void)
{
    REFUSED(open_it("mysql://host/db", STUDY_STORE_WRITE), -EPROTONOSUPPORT, "sqlite:///FILE");
    REFUSED(open_it("mysql://ada:se@cret@host/db", STUDY_STORE_WRITE), -EPROTONOSUPPORT, "//…@host/db:");
    CHECK(!strstr(err, "ada") && !strstr(err, "cret"));
    static const char *const quoted_wrong[] = {"se@cret", "se/cret", "se?cret", "@cret", "se#cret/"};
    for (size_t i = 0; i < sizeof quoted_wrong / sizeof *quoted_wrong; i++) {
        char server[80];
        snprintf(server, sizeof server, "postgresql://ada:%s@host/db", quoted_wrong[i]);
        REFUSED(open_it(server, STUDY_STORE_WRITE), -EINVAL, "//…@host/db: has");
        CHECK(!strstr(err, "ada") && !strstr(err, "cret"));
    }
    /* A password may be a key, too. */
    static const char *const with_key[] = {
        "postgresql://host/db?password=secret&timeout=x",
        "postgresql://u@host/db?password=secret&timeout=x",
        "postgresql://host/db?sslpassword=secret&timeout",
        "postgresql://host/db?password=se@cret",
        "postgresql://u@v@host/db?password=secret",
        "mysql://u:v@host/db?password=se@cret",
        "mysql://host/db?password=secret",
    };
    for (size_t i = 0; i < sizeof with_key / sizeof *with_key; i++) {
        CHECK(open_it(with_key[i], STUDY_STORE_WRITE) < 0);
        CHECK(err[0] && !strstr(err, "cret"));
    }
    REFUSED(open_it("sqlite://f.db", STUDY_STORE_WRITE), -EINVAL, "three slashes");
    REFUSED(open_it("sqlite:///", STUDY_STORE_WRITE), -EINVAL, "names no file");
    REFUSED(open_it("", STUDY_STORE_WRITE), -EINVAL, "names no file");
    REFUSED(open_it(scratch_path("no/such/folder.db"), STUDY_STORE_WRITE), -ENOENT,
            "folder.db: No such file or directory: a file in a folder");
    REFUSED(open_it(scratch_path("missing.db"), STUDY_STORE_READ), -ENOENT,
            "missing.db: No such file or directory: a file of studies");
    CHECK(access(scratch_path("missing.db"), F_OK) < 0);
    char url[SCRATCH_PATH_MAX + 16];
    snprintf(url, sizeof url, "sqlite:///%s", scratch_path("url.db"));
    OK(open_it(url, STUDY_STORE_WRITE));
    OK(open_it(scratch_path("url.db"), STUDY_STORE_READ));
    REFUSED(open_it(scratch_root(), STUDY_STORE_WRITE), -EISDIR, "is a folder");
    REFUSED(open_it(scratch_root(), STUDY_STORE_READ), -EISDIR, "is a folder");
}

static void make_url(const char *file, const char *query, char ret[static SCRATCH_PATH_MAX + 64])
{
    snprintf(ret, SCRATCH_PATH_MAX + 64, "sqlite:///%s%s", scratch_path(file), query);
}

/* Text that is neither a URL nor a file's path never makes a file, and its password is in no sentence. */
static void test_mistyped(void)
{
    static const char *const texts[] = {
        "postgresql//pt:secret@localhost/x",
        "postgresql:/pt:secret@localhost/x",
        "pt:secret@localhost/x",
        "pt@localhost",
        "postgresql:studies",
        "postgres:studies",
        "postgresql//localhost",
        "sqlite:/f.db",
        "host=localhost user=pt password=secret dbname=x",
        "password=secret",
        "dbname=x",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        REFUSED(open_it(texts[i], STUDY_STORE_WRITE), -EINVAL,
                "postgresql://USER@HOST/DATABASE or sqlite:///FILE");
        CHECK(!strstr(err, "secret"));
        CHECK(access(texts[i], F_OK) < 0);
        CHECK(study_store_file(texts[i]) == NULL);
    }
    REFUSED(open_it("postgres://u@h/x", STUDY_STORE_WRITE), -EPROTONOSUPPORT,
            "postgresql://USER@HOST/DATABASE");
    OK(open_it(scratch_write("a@b", ""), STUDY_STORE_WRITE)); /* a path is a path */
    char *url;
    OK(study_store_of_state("a@b", &url, err));
    CHECK_STR(url, "./a@b/studies.db");
    free(url);
    OK(study_store_of_state("/a@b", &url, err));
    CHECK_STR(url, "/a@b/studies.db");
    free(url);
    static const char *const keys[] = {"postgresql://u@host/db?passwrd=secret",
                                       "postgresql://host/db?sslmode=prefer&Password=secret"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        CHECK(open_it(keys[i], STUDY_STORE_READ) < 0);
        CHECK(!strstr(err, "secret"));
        CHECK(strstr(err, i == 0 ? "passwrd" : "Password") || strstr(err, "install libpq5"));
    }
}

/* As SQLAlchemy reads them, or with a sentence; never a file of another name. */
static void test_queries(void)
{
    static const char *const wrong[] = {
        "?uri=true", "?timeout=1&cache=shared", "?timeout=", "?timeout=0", "?timeout=1s", "?timeout=nan",
        "?timeout"};
    char url[SCRATCH_PATH_MAX + 64];
    struct study_store *store = NULL;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        make_url("query.db", wrong[i], url);
        REFUSED(open_it(url, STUDY_STORE_WRITE), -EINVAL, "timeout");
        CHECK(access(scratch_path("query.db"), F_OK) < 0);
        CHECK(access(url + strlen("sqlite:///"), F_OK) < 0);
    }
    make_url("query.db", "?timeout=0.02", url);
    OK(study_store_open(url, STUDY_STORE_WRITE, 0, &store, err));
    CHECK(access(scratch_path("query.db"), F_OK) == 0);
    CHECK(access(url + strlen("sqlite:///"), F_OK) < 0);
    sqlite3 *other;
    CHECK_INT(sqlite3_open(scratch_path("query.db"), &other), SQLITE_OK);
    CHECK_INT(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    REFUSED(study_store_begin(store, err), -EBUSY, "is in use by other processes");
    sqlite3_close(other);
    study_store_close(store);
    char *file = study_store_file(url);
    CHECK_STR(file, scratch_path("query.db"));
    free(file);
    REFUSED(open_it("sqlite:///:memory:", STUDY_STORE_WRITE), -EINVAL, "a file");
    REFUSED(open_it(":memory:", STUDY_STORE_WRITE), -EINVAL, "a file");
    CHECK(access(":memory:", F_OK) < 0);
    OK(open_it(scratch_path("a?b"), STUDY_STORE_WRITE)); /* a path alone */
    CHECK(access(scratch_path("a?b"), F_OK) == 0);
}

static void test_schemas(void)
{
    REFUSED(open_it(scratch_write("text.db", "this is not a database, but a text of some length\n"),
                    STUDY_STORE_WRITE),
            -EMEDIUMTYPE, "no SQLite database");
    const char *foreign = scratch_path("foreign.db"), *alike = scratch_path("alike.db"),
               *path = scratch_path("v.db");
    run_sql(foreign, "CREATE TABLE bars (open INTEGER); CREATE TABLE trials (a)");
    REFUSED(open_it(foreign, STUDY_STORE_WRITE), -EMEDIUMTYPE, "holds other tables");
    REFUSED(open_it(foreign, STUDY_STORE_READ), -EMEDIUMTYPE, "holds other tables");
    run_sql(alike, "CREATE TABLE trials (trial_id INTEGER PRIMARY KEY, patient TEXT)");
    REFUSED(open_it(alike, STUDY_STORE_WRITE), -EMEDIUMTYPE, "not Optuna's");
    REFUSED(open_it(alike, STUDY_STORE_READ), -EMEDIUMTYPE, "trials has other columns");
    run_sql(alike, "CREATE TABLE studies (a)"); /* it was left as it was */
    REFUSED(open_it(alike, STUDY_STORE_READ), -EMEDIUMTYPE, "studies has other columns");
    run_sql(alike,
            "DROP TABLE studies; DROP TABLE trials; CREATE TABLE version_info (version_info_id INTEGER, "
            "schema_version INTEGER, library_version TEXT)");
    REFUSED(open_it(alike, STUDY_STORE_READ), -ENOENT, "no studies yet"); /* as ours, only started */
    OK(open_it(path, STUDY_STORE_WRITE));
    run_sql(path, "UPDATE alembic_version SET version_num = 'v9.1.0.a'");
    REFUSED(open_it(path, STUDY_STORE_WRITE), -EMEDIUMTYPE, "v9.1.0.a");
    CHECK(strstr(err, "newer than 12 (v3.2.0.a)") != NULL);
    run_sql(path, "UPDATE alembic_version SET version_num = 'v3.0.0.d'");
    REFUSED(open_it(path, STUDY_STORE_READ), -EMEDIUMTYPE, "optuna storage upgrade");
    run_sql(
        path,
        "UPDATE alembic_version SET version_num = 'v3.2.0.a'; UPDATE version_info SET schema_version = 13");
    REFUSED(open_it(path, STUDY_STORE_WRITE), -EMEDIUMTYPE, "schema 13");
    /* Its making was interrupted. */
    run_sql(path, "UPDATE version_info SET schema_version = 12; DROP TABLE alembic_version; DROP TABLE "
                  "trial_heartbeats");
    REFUSED(open_it(path, STUDY_STORE_READ), -ENOENT, "no studies yet");
    OK(open_it(path, STUDY_STORE_WRITE));
    OK(open_it(path, STUDY_STORE_READ));
    REFUSED(open_it(scratch_write("empty.db", ""), STUDY_STORE_READ), -ENOENT, "no studies yet");
}

static void test_locked(void)
{
    const char *path = scratch_path("locked.db");
    struct study_store *store;
    struct study *study;
    int64_t trial;
    int number;
    sqlite3 *other;
    OK(study_store_open(path, STUDY_STORE_WRITE, SHORT_MS, &store, err));
    int64_t id = make_study(store, "l");
    CHECK_INT(sqlite3_open(path, &other), SQLITE_OK);
    CHECK_INT(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    REFUSED(study_store_ask(store, id, true, &trial, &number, err), -EBUSY, "is in use by other processes");
    OK(study_store_load(store, id, &study, err)); /* readers are not kept out */
    OK(study_store_sync(store, study, err));
    CHECK_INT(sqlite3_exec(other, "COMMIT; BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
    REFUSED(study_store_begin(store, err), -EBUSY, "is in use by other processes for 0.02 s");
    REFUSED(study_store_sync(store, study, err), -EBUSY, "is in use by other processes");
    REFUSED(open_it(path, STUDY_STORE_WRITE), -EBUSY, "is in use by other processes");
    sqlite3_close(other);
    OK(study_store_ask(store, id, true, &trial, &number, err));
    CHECK_INT(number, 0);
    study_destroy(study);
    study_store_close(store);
}

/* A storage that is upgraded while it is open is not read on. */
static void test_upgraded(void)
{
    const char *path = scratch_path("upgraded.db");
    struct study_store *store = open_store(path);
    struct study *study;
    int64_t id = make_study(store, "u");
    OK(study_store_load(store, id, &study, err));
    run_sql(path, "UPDATE version_info SET schema_version = 13");
    REFUSED(study_store_sync(store, study, err), -EMEDIUMTYPE, "schema 13");
    REFUSED(study_store_sync(store, study, err), -EMEDIUMTYPE, "schema 13");
    run_sql(path, "UPDATE version_info SET schema_version = 12");
    OK(study_store_sync(store, study, err));
    run_sql(path, "DELETE FROM alembic_version");
    REFUSED(study_store_sync(store, study, err), -EMEDIUMTYPE, "Optuna's schema 12");
    study_destroy(study);
    study_store_close(store);
}

/* A store that is opened and closed beside another of this process leaves that one's lock alone. */
static void test_beside(void)
{
    const char *path = scratch_path("beside.db");
    struct study_store *store = open_store(path);
    make_study(store, "b");
    OK(study_store_begin(store, err));
    OK(open_it(path, STUDY_STORE_READ));
    OK(open_it(path, STUDY_STORE_WRITE));
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        struct study_store *other;
        int r = study_store_open(path, STUDY_STORE_WRITE, SHORT_MS, &other, err);
        _exit(r == 0 && study_store_begin(other, err) == -EBUSY ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    CHECK_INT(status, 0);
    OK(study_store_commit(store, err));
    study_store_close(store);
}

/* Runs as a user who is not root, since permissions do not bind root. */
static void as_unprivileged(void (*test)(const char *), const char *path)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        check_failures = 0;
        if (getuid() == 0 && setresuid(UNPRIVILEGED, UNPRIVILEGED, UNPRIVILEGED) < 0)
            _exit(EXIT_FAILURE);
        test(path);
        _exit(check_failures ? EXIT_FAILURE : EXIT_SUCCESS);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    CHECK_INT(status, 0);
}

static void reads_only(const char *path)
{
    struct study_store *store;
    struct study *study;
    int64_t id, trial;
    int number;
    REFUSED(open_it(path, STUDY_STORE_WRITE), -EROFS, "is read-only");
    OK(study_store_open(path, STUDY_STORE_READ, SHORT_MS, &store, err));
    OK(study_store_find(store, "r", &id, err));
    OK(study_store_load(store, id, &study, err));
    CHECK_INT(study->n_trials, 1);
    REFUSED(study_store_ask(store, id, false, &trial, &number, err), -EROFS, "read only");
    study_destroy(study);
    study_store_close(store);
}

static void test_read_only(void)
{
    char folder[SCRATCH_MAX], path[SCRATCH_MAX + 16];
    scratch_make(folder);
    snprintf(path, sizeof path, "%s/r.db", folder);
    struct study_store *store = open_store(path);
    ask(store, make_study(store, "r"), false);
    study_store_close(store);
    CHECK_INT(chmod(scratch_root(), 0755), 0);
    CHECK_INT(chmod(folder, 0777), 0);
    CHECK_INT(chmod(path, 0444), 0);
    as_unprivileged(reads_only, path);
    CHECK_INT(chmod(path, 0666), 0);
    CHECK_INT(chmod(folder, 0555), 0); /* no room for a journal */
    as_unprivileged(reads_only, path);
    CHECK_INT(chmod(folder, 0700), 0);
    CHECK_INT(chmod(scratch_root(), 0700), 0);
}

/* A file that is full takes the transaction back as a whole. */
static void fills(const char *path)
{
    struct study_store *store = open_store(path);
    struct study *study;
    int64_t id, trial;
    enum { LARGE = 8 << 20 };
    char *large = malloc(LARGE);
    memset(large, '1', LARGE);
    large[LARGE - 1] = '\0';
    OK(study_store_find(store, "r", &id, err));
    OK(study_store_load(store, id, &study, err));
    struct rlimit limit = {1 << 20, 1 << 20};
    signal(SIGXFSZ, SIG_IGN);
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);
    OK(study_store_begin(store, err));
    trial = ask(store, id, false);
    int r = study_store_set_user(store, trial, "large", large, err);
    CHECK(r == -EIO || r == -ENOSPC);
    REFUSED(study_store_set_user(store, trial, "small", "1", err), -ECANCELED, "was taken back");
    REFUSED(study_store_commit(store, err), -ECANCELED, "was taken back");
    OK(study_store_sync(store, study, err));
    CHECK_INT(study->n_trials, 1);
    trial = ask(store, id, false);
    OK(study_store_sync(store, study, err));
    CHECK_INT(study->n_trials, 2);
    CHECK_INT(study->trials[1]->id, trial);
    free(large);
    study_destroy(study);
    study_store_close(store);
}

/* A writer that was killed in the middle of its pages: a reader takes them back. */
static void dies(const char *path)
{
    sqlite3 *db;
    sqlite3_open(path, &db);
    sqlite3_exec(
        db,
        "PRAGMA cache_size = 2; BEGIN IMMEDIATE; UPDATE studies SET study_name = 'half'; WITH RECURSIVE c(i) "
        "AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 2000) INSERT INTO trials (number, study_id, "
        "state) SELECT i, 1, 'WAITING' FROM c; UPDATE study_directions SET direction = 'NOT_SET'",
        NULL, NULL, NULL);
    raise(SIGKILL);
}

static void test_hot_journal(const char *path)
{
    struct study_store *store;
    struct study_summary *list;
    char journal[SCRATCH_PATH_MAX + 16];
    size_t n;
    pid_t pid = fork();
    if (pid == 0)
        dies(path);
    int status = 0;
    waitpid(pid, &status, 0);
    CHECK(WIFSIGNALED(status));
    snprintf(journal, sizeof journal, "%s-journal", path);
    CHECK(access(journal, F_OK) == 0);
    OK(study_store_open(path, STUDY_STORE_READ, SHORT_MS, &store, err));
    OK(study_store_list(store, &list, &n, err));
    CHECK_INT(n, 1);
    CHECK_STR(list[0].name, "r");
    CHECK_INT(list[0].directions[0], STUDY_MAXIMIZE);
    CHECK_INT(list[0].trials[TRIAL_WAITING], 0);
    study_summaries_finish(list, n);
    free(list);
    study_store_close(store);
    CHECK(access(journal, F_OK) < 0);
}

static void test_rules(void)
{
    static const enum study_direction wrong[] = {STUDY_NOT_SET};
    struct study_store *store = open_store(scratch_path("rules.db"));
    int64_t id = make_study(store, "taken"), none;
    bool existed;
    REFUSED(study_store_create(store, "taken", maximize, 1, &none, NULL, err), -EEXIST,
            "is there already (MAXIMIZE)");
    REFUSED(study_store_create(store, "taken", maximize, 2, &none, &existed, err), -EEXIST,
            "directions MAXIMIZE; MAXIMIZE, MINIMIZE were asked for");
    REFUSED(study_store_create(store, "taken", maximize + 1, 1, &none, &existed, err), -EEXIST,
            "MINIMIZE were asked");
    REFUSED(study_store_create(store, "", maximize, 1, &none, NULL, err), -EINVAL, "a name of");
    REFUSED(study_store_create(store, "n", wrong, 1, &none, NULL, err), -EINVAL, "MINIMIZE or MAXIMIZE");
    REFUSED(study_store_create(store, "n", maximize, 0, &none, NULL, err), -EINVAL, "1 to 16");
    struct distribution rate = number_of(DISTRIBUTION_FLOAT, 1e-6, 1e-3, 0, true);
    struct distribution plain = number_of(DISTRIBUTION_FLOAT, 1e-6, 1e-3, 0, false);
    struct distribution wider = number_of(DISTRIBUTION_FLOAT, 1e-7, 1, 0, true);
    struct distribution whole = number_of(DISTRIBUTION_INT, 1, 9, 1, false);
    struct distribution kind = choices_of("[1, 2]"), kinds = choices_of("[1, 2, 3]");
    int64_t trial = ask(store, id, false);
    OK(set_param(store, trial, "rate", &rate, 1e-5));
    OK(set_param(store, trial, "rate", &rate, 1e-5));
    REFUSED(set_param(store, trial, "rate", &rate, 1e-4), -EEXIST, "another value");
    OK(set_param(store, trial, "kind", &kind, 1));
    REFUSED(set_param(store, trial, "x", &rate, 0.5), -EINVAL, "a value of 1e-06 to 0.001");
    REFUSED(set_param(store, trial, "x", &whole, 2.5), -EINVAL, "on its grid");
    REFUSED(set_param(store, trial, "", &whole, 2), -EINVAL, "a name of");
    trial = ask(store, id, false);
    REFUSED(set_param(store, trial, "rate", &plain, 1e-5), -EINVAL, "keeps its class");
    REFUSED(set_param(store, trial, "rate", &whole, 1), -EINVAL, "keeps its class");
    REFUSED(set_param(store, trial, "kind", &kinds, 1), -EINVAL, "its choices");
    OK(set_param(store, trial, "rate", &wider, 0.5));
    REFUSED(set_param(store, trial + 9, "rate", &rate, 1e-5), -ENOENT, "is not there");
    REFUSED(study_store_report(store, trial, -1, 0, err), -EINVAL, "step of 0");
    double values[] = {NAN, 1};
    REFUSED(study_store_tell(store, trial, TRIAL_COMPLETE, values, 1, err), -EINVAL, "NaN");
    REFUSED(study_store_tell(store, trial, TRIAL_COMPLETE, values, 2, err), -EINVAL, "1 are needed");
    REFUSED(study_store_tell(store, trial, TRIAL_RUNNING, NULL, 0, err), -EINVAL, "COMPLETE, PRUNED or FAIL");
    REFUSED(study_store_tell(store, trial, TRIAL_FAIL, values, 1, err), -EINVAL, "FAIL has no values");
    OK(study_store_tell(store, trial, TRIAL_FAIL, NULL, 0, err));
    REFUSED(study_store_report(store, trial, 1, 0, err), -EINVAL, "never changes");
    REFUSED(study_store_set_user(store, trial, "a", "1", err), -EINVAL, "never changes");
    REFUSED(set_param(store, trial, "y", &whole, 1), -EINVAL, "never changes");
    REFUSED(study_store_heartbeat(store, trial, err), -EINVAL, "is FAIL");
    REFUSED(study_store_set_study_user(store, 99, "a", "1", err), -ENOENT, "study id 99");
    struct study *study = load(store, id);
    CHECK_INT(study->n_trials, 2);
    CHECK_INT(study->trials[0]->n_params, 2);
    CHECK_INT(study->trials[1]->n_params, 1);
    study_destroy(study);
    distribution_finish(&kind);
    distribution_finish(&kinds);
    study_store_close(store);
}

/* What a store has remembered of a parameter is forgotten with the transaction, and with the study. */
static void test_forgets(void)
{
    const char *path = scratch_path("forgets.db");
    struct study_store *store = open_store(path), *other = open_store(path);
    struct distribution rate = number_of(DISTRIBUTION_FLOAT, 1e-6, 1e-3, 0, true);
    struct distribution plain = number_of(DISTRIBUTION_FLOAT, 1e-6, 1e-3, 0, false);
    int64_t id = make_study(store, "f"), trial = ask(store, id, false);
    OK(study_store_begin(store, err));
    OK(set_param(store, trial, "rate", &plain, 1e-5));
    study_store_rollback(store);
    OK(set_param(other, ask(other, id, false), "rate", &rate, 1e-5));
    REFUSED(set_param(store, trial, "rate", &plain, 1e-5), -EINVAL, "keeps its class");
    OK(set_param(store, trial, "rate", &rate, 1e-5));
    OK(set_param(store, ask(store, id, false), "rate", &rate, 1e-5));

    run_sql(
        path,
        "DELETE FROM trial_params; DELETE FROM trials; DELETE FROM study_directions; DELETE FROM studies");
    CHECK_INT(make_study(other, "f"), id);
    OK(set_param(other, ask(other, id, false), "rate", &plain, 1e-5));
    trial = ask(store, id, false);
    REFUSED(set_param(store, trial, "rate", &rate, 1e-5), -EINVAL, "keeps its class");
    OK(set_param(store, trial, "rate", &plain, 1e-5));
    study_store_close(store);
    study_store_close(other);
}

int main(void)
{
    scratch_in_memory();
    test_urls();
    test_mistyped();
    test_queries();
    test_schemas();
    test_locked();
    test_upgraded();
    test_beside();
    test_read_only();
    const char *path = scratch_path("full.db");
    struct study_store *store = open_store(path);
    ask(store, make_study(store, "r"), false);
    study_store_close(store);
    CHECK_INT(chmod(scratch_root(), 0777), 0);
    CHECK_INT(chmod(path, 0666), 0);
    as_unprivileged(fills, path);
    test_hot_journal(path);
    test_rules();
    test_forgets();
    return check_done("db/studies/refused");
}
