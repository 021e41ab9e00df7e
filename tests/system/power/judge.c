/* What a restart without faults must find. */
#include <sqlite3.h>

#include "cli/recorded.h"
#include "db/verify.h"
#include "engine/parity.h"
#include "exchange/journal/journal.h"
#include "tests/system/power/sim.h"

/* Statements are prepared once a database. */
enum { DONE_COMMANDS, LIVE_ORDERS, LEDGER_ROWS, INTEGRITY, PENDING, QUESTIONS };
static const char *const questions[QUESTIONS] = {
    [DONE_COMMANDS] = "SELECT count(*) FROM commands WHERE instr(args, ?1) AND state = 'done'",
    [LIVE_ORDERS] = "SELECT count(*) FROM orders WHERE client_id = ?1 AND state <> 'REJECTED'",
    [LEDGER_ROWS] = "SELECT count(*) FROM ledger WHERE abs(amount) = CAST(?1 AS INTEGER)",
    [INTEGRITY] = "SELECT integrity_check = 'ok' FROM pragma_integrity_check",
    [PENDING] = "SELECT count(*) FROM commands WHERE state = 'pending'",
};

static int64_t number(sqlite3_stmt *const *stmts, int which, const char *text)
{
    sqlite3_stmt *stmt = stmts[which];
    if (text)
        sqlite3_bind_text(stmt, 1, text, -1, SQLITE_STATIC);
    int64_t value = sqlite3_step(stmt) == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : -1;
    sqlite3_reset(stmt);
    return value;
}

/* Whatever the outcome, the command was carried out at most once. */
static void judge_ask(struct sim *sim, sqlite3_stmt *const *stmts, const struct ask *ask, int i)
{
    char amount[24];
    int64_t rows = number(stmts, DONE_COMMANDS, ask->token), n, wanted = rows;
    if (ask->answer && rows == 0)
        sim_fail(sim, "%s %s was acknowledged and is gone", ask->cmd, ask->token);
    if (rows > 1)
        sim_fail(sim, "%s %s was carried out %lld times", ask->cmd, ask->token, (long long)rows);
    if (strcmp(ask->cmd, "order") == 0) {
        n = number(stmts, LIVE_ORDERS, ask->token);
    } else if (strcmp(ask->cmd, "account_transfer") == 0 || strcmp(ask->cmd, "account_deposit") == 0) {
        snprintf(amount, sizeof amount, "%d", 100000000 + (i + 1) * 100);
        n = number(stmts, LEDGER_ROWS, amount);
        wanted = rows * (strcmp(ask->cmd, "account_transfer") == 0 ? 2 : 1);
    } else {
        return;
    }
    if (n != wanted)
        sim_fail(sim, "%s %s: %lld rows came of it, not %lld", ask->cmd, ask->token, (long long)n,
                 (long long)wanted);
}

static void judge_rows(struct sim *sim)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *stmts[QUESTIONS] = {0};
    int rc = sqlite3_open_v2(sim->state.database, &db, SQLITE_OPEN_READONLY, NULL);
    for (int i = 0; rc == SQLITE_OK && i < QUESTIONS; i++)
        rc = sqlite3_prepare_v2(db, questions[i], -1, &stmts[i], NULL);
    if (rc != SQLITE_OK)
        sim_fail(sim, "the database cannot be read: %s", sqlite3_errmsg(db));
    else if (number(stmts, INTEGRITY, NULL) != 1)
        sim_fail(sim, "integrity_check failed");
    else if (number(stmts, PENDING, NULL) != 0)
        sim_fail(sim, "a command is left pending");
    for (int i = 0; i < sim->n_asks && !sim->why[0]; i++)
        judge_ask(sim, stmts, &sim->asks[i], i);
    for (int i = 0; i < QUESTIONS; i++)
        sqlite3_finalize(stmts[i]);
    sqlite3_close(db);
}

static void judge_parity(struct sim *sim, struct db_reader *reader)
{
    struct recorded_rows rows;
    struct parity_result result;
    char err[JOURNAL_ERROR_MAX] = "";
    if (cli_recorded_load(reader, true, &rows) < 0) {
        sim_fail(sim, "parity: %s", db_reader_error(reader));
        return;
    }
    const struct parity_options options = {.path = sim->state.events, .recorded = &rows.recorded};
    if (engine_parity_run(&options, &result, err, sizeof err) < 0)
        sim_fail(sim, "parity: %s", err);
    else if (!result.equal)
        sim_fail(sim, "parity: event %llu: %s %llu: %s: the log gives %s, recorded is %s",
                 (unsigned long long)result.difference_seq, result.difference.table,
                 (unsigned long long)result.difference.id, result.difference.field,
                 result.difference.replayed, result.difference.recorded);
    cli_recorded_finish(&rows);
}

static void judge_ledger(struct sim *sim)
{
    struct db_reader *reader = NULL;
    struct db_verified *verified = NULL;
    char err[DB_ERROR_MAX] = "";
    if (db_reader_open(sim->state.database, &reader, err, sizeof err) < 0) {
        sim_fail(sim, "the database: %s", err);
        return;
    }
    if (db_verify(reader, &verified) < 0)
        sim_fail(sim, "ledger verify: %s", db_reader_error(reader));
    else if (!verified->ok)
        sim_fail(sim, "ledger verify: %s", verified->failure);
    db_verified_destroy(verified);
    judge_parity(sim, reader);
    db_reader_close(reader);
}

void judge(struct sim *sim)
{
    struct journal_summary summary;
    char err[JOURNAL_ERROR_MAX] = "";
    struct db_writer *writer = daemon_session_writer(sim->daemon.session);
    int r = db_writer_flush(writer, 60000);
    if (r < 0)
        sim_fail(sim, "what is put cannot be stored: %d", r);
    uv_run(&sim->loop, UV_RUN_NOWAIT);
    judge_rows(sim);
    judge_ledger(sim);
    if (journal_verify(sim->state.events, &summary, err, sizeof err) < 0)
        sim_fail(sim, "events verify: %s", err);
}
