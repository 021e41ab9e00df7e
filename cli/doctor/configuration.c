/* The configuration by itself, and against what the database has. */
#include <stdio.h>
#include <string.h>

#include "cli/doctor/doctor.h"
#include "db/reader.h"

/* Each error in a line of its own. */
static void report_errors(const struct doctor *doctor, struct doctor_results *results)
{
    for (const char *line = doctor->config_errors; *line;) {
        int n = (int)strcspn(line, "\n");
        cli_doctor_add(results, DOCTOR_ERROR, "%.*s", n, line);
        cli_doctor_remedy(results, "papertaped --check-config%s%s", doctor->given.file ? " --config " : "",
                          doctor->given.file ? DOCTOR_QUOTE(doctor->given.file) : "");
        line += n + (line[n] == '\n');
    }
}

struct accounts {
    const struct doctor *doctor;
    struct doctor_results *results;
};

static void check_account(void *ctx, const struct db_account_row *row)
{
    const struct accounts *accounts = ctx;
    const struct daemon_config *config = accounts->doctor->config;
    for (int a = 0; a < config->n_accounts; a++) {
        const struct account_config *account = &config->accounts[a];
        if (strcmp(account->name, row->account.name) != 0 ||
            strcmp(account->currency, row->account.currency) == 0)
            continue;
        cli_doctor_add(accounts->results, DOCTOR_ERROR,
                       "[account %s] currency: %s, but the database has this account in %s", account->name,
                       account->currency, row->account.currency);
        cli_doctor_remedy(accounts->results, "currency = %s, or another name for the new account",
                          row->account.currency);
    }
}

static void check_data(const struct doctor *doctor, struct doctor_results *results)
{
    char err[DB_ERROR_MAX];
    struct db_reader *reader;
    struct accounts accounts = {doctor, results};
    if (db_reader_open(doctor->state.database, &reader, err, sizeof err) < 0)
        return; /* the check of the database says why */
    db_reader_accounts(reader, check_account, &accounts);
    db_reader_close(reader);
}

void cli_doctor_configuration(const struct doctor *doctor, struct doctor_results *results)
{
    report_errors(doctor, results);
    if (doctor->config_good)
        check_data(doctor, results);
    if (json_array_size(results->list) == 0)
        cli_doctor_add(results, DOCTOR_OK, "%s, %s", doctor->given.file ? doctor->given.file : "no file",
                       doctor->config_from);
}
