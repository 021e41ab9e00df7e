#include "tui/print.h"

#include <math.h>
#include <string.h>

#include "cli/stored.h"
#include "cli/text.h"
#include "record/json.h"
#include "tui/panel/study_words.h"
#include "tui/study_rows.h"

/* ---- Text. ---- */

static void line(FILE *out, const struct tui_study *study, struct moment now)
{
    char a[FORMAT_MAX], direction[STATUS_WORD_MAX], name[STATUS_WORD_MAX];

    fputs("study     ", out);
    cli_text_print(out, study->label);
    fprintf(out, " %s trials %d", tui_study_direction(study, direction), tui_study_done(study));
    if (study->wanted >= 0)
        fprintf(out, " of %lld", (long long)study->wanted);
    fprintf(out, " run %d", tui_study_running(study));
    if (study->stale > 0)
        fprintf(out, " stale %s", panel_study_stale(a, study, now));
    fprintf(out, " ok %d pruned %d fail %d", study->counts[TRIAL_COMPLETE], study->counts[TRIAL_PRUNED],
            tui_study_failed(study));
    if (study->retried > 0)
        fprintf(out, " retried %d", study->retried);
    if (study->have_best)
        fprintf(out, " best %s %s", tui_study_best_name(study, name),
                tui_study_number(a, sizeof(a), study->best));
    else if (study->pareto >= 0)
        fprintf(out, " Pareto front %d", study->pareto);
    fprintf(out, " trials/h %s", cli_format_number(a, study->trials_h, 1));
    fprintf(out, " left %s", panel_study_eta(a, study->eta_s));
    fprintf(out, " age %s%s", cli_format_age(a, panel_study_age_ms(study, now)),
            panel_study_silent(study, now) ? " STALE" : "");
    if (study->verdict[0])
        fprintf(out, " verdict %s", study->verdict);
    if (study->unread[0]) {
        fputs(" UNREAD ", out);
        cli_text_print(out, study->unread);
    }
    fputc('\n', out);
}

void tui_print_studies(FILE *out, const struct model *model, struct moment now)
{
    if (model->studies_error != 0 && tui_model_studies_rows(model) > 0)
        fprintf(out, "studies   none: %s\n", model->studies_words);
    for (int i = 0; model->studies && i < model->studies->n; i++)
        line(out, &model->studies->study[i], now);
}

static void trial_line(FILE *out, const struct tui_study_page *page, const struct tui_study_trial *trial,
                       struct moment now)
{
    char text[160], age[FORMAT_MAX];
    enum style unused;
    int columns[STUDY_IMPORTANCE_MAX];

    fprintf(out, "trial     %s %s", tui_study_trial_name(page, trial, text, sizeof(text)),
            panel_study_trial_state(trial, now, &unused));
    panel_study_values(text, sizeof(text), page, trial);
    fprintf(out, " value %s", text[0] ? text : "n/a");
    int64_t ms = tui_study_trial_duration_ms(trial, now.wall_ns / 1000);
    fprintf(out, " duration %s", cli_format_age(age, ms));
    int n = tui_study_rows_columns(page, 0, columns, STUDY_IMPORTANCE_MAX);
    for (int i = 0; i < n; i++)
        if (tui_study_cell_text(page, &trial->cells[columns[i]], text, sizeof(text))[0]) {
            fputc(' ', out);
            cli_text_print(out, page->params[columns[i]]);
            fputc('=', out);
            cli_text_print(out, text);
        }
    if (trial->failure) {
        fputs(": ", out);
        cli_text_print(out, trial->failure);
    }
    fputc('\n', out);
}

static void proposal_line(FILE *out, const struct tui_study_page *page)
{
    const struct tui_study_validation *v = &page->validation;
    char a[FORMAT_MAX], b[FORMAT_MAX], c[FORMAT_MAX], name[STUDY_NAME_MAX + 16];

    fputs("proposal  ", out);
    cli_text_print(out, v->trial < 0 ? "n/a" : tui_study_validation_name(page, v->trial, name, sizeof(name)));
    fprintf(out, " PBO %s deflated Sharpe %s skill %s %s\n", cli_format_number(a, v->pbo, 2),
            cli_format_number(b, v->deflated, 2), cli_format_number(c, v->skill, 2), v->verdict);
}

void tui_print_study(FILE *out, const struct tui_study_page *page, struct moment now, int most)
{
    int n;

    const struct importance_basis *of = &page->importance_of;

    line(out, &page->study, now);
    if (page->n_importance > 0 && of->left_out > 0)
        fprintf(out, "parameters of %d trials of %d of %d workers: the others have other parameters\n",
                of->trials, of->studies, of->studies + of->left_out);
    for (int i = 0; i < page->n_importance; i++) {
        fputs("parameter ", out);
        cli_text_print(out, page->params[page->importance[i].param]);
        fprintf(out, " importance %.1f%%%s\n", 100 * page->importance[i].share,
                page->study.n_objectives > 1 ? " of the first objective" : "");
    }
    if (page->have_validation && page->validation.have)
        proposal_line(out, page);
    if (page->study.verdict[0])
        fprintf(out, "verdict   %s\n", page->study.verdict_text);
    const struct tui_study_trial *const *rows = tui_study_rows(page, SORT_VALUE, false, "", &n);
    for (int i = 0; i < n && i < most; i++)
        trial_line(out, page, rows[i], now);
    if (n > most)
        fprintf(out, "trials    %d of %d: --json has all\n", most, n);
}

/* ---- JSON. ---- */

static json_t *time_ns(int64_t us)
{
    return us == STUDY_NO_TIME ? json_null() : json_integer((json_int_t)us * 1000);
}

PRINT_OBJECT(study_object, struct tui_study, PRINT_AS(TEXT, REQUIRED, label, "study"), PRINT_TEXT(name),
             PRINT_AS(TEXT, REQUIRED, job, "training"), PRINT_AS(SIGNED, REQUIRED, members, "workers"),
             PRINT_LATER("directions"), PRINT_AS(SIGNED, REQUIRED, n_trials, "trials"),
             PRINT_AS(SIGNED, UNKNOWN, wanted, "trials_wanted"), PRINT_LATER("done"), PRINT_LATER("running"),
             PRINT_AS(SIGNED, REQUIRED, stale, "stale_trials"), PRINT_LATER("stale_age_ms"),
             PRINT_AS(SIGNED, REQUIRED, counts[TRIAL_COMPLETE], "complete"),
             PRINT_AS(SIGNED, REQUIRED, counts[TRIAL_PRUNED], "pruned"), PRINT_LATER("failed"),
             PRINT_WHOLE(retried), PRINT_AS(SIGNED, REQUIRED, counts[TRIAL_WAITING], "waiting"),
             PRINT_LATER("best_value"), PRINT_LATER("best_number"),
             PRINT_AS(SIGNED, OPTIONAL, best_k, "best_worker"),
             PRINT_AS(SIGNED, UNKNOWN, pareto, "pareto_front"),
             PRINT_AS(REAL, OPTIONAL, trials_h, "trials_per_hour"), PRINT_REAL(eta_s),
             PRINT_LATER("started_ns"), PRINT_LATER("age_ms"), PRINT_LATER("stale"), PRINT_LATER("state"),
             PRINT_WORD(unread), PRINT_WORD(verdict), PRINT_WORD(verdict_text));

static json_t *study_json(const struct tui_study *study, struct moment now)
{
    static const char *const directions[STUDY_DIRECTIONS] = {"not_set", "minimize", "maximize"};
    json_t *object = study_object(study, NULL), *list = json_array();

    for (int i = 0; i < study->n_objectives; i++)
        json_array_append_new(list, json_string(directions[study->directions[i]]));
    json_object_set_new(object, "directions", list);
    json_object_set_new(object, "done", json_integer(tui_study_done(study)));
    json_object_set_new(object, "running", json_integer(tui_study_running(study)));
    json_object_set_new(object, "failed", json_integer(tui_study_failed(study)));
    if (study->stale > 0)
        json_object_set_new(object, "stale_age_ms",
                            json_integer((now.wall_ns / 1000 - study->stale_us) / 1000));
    if (study->have_best) {
        json_object_set_new(object, "best_value", record_json_real(study->best));
        json_object_set_new(object, "best_number", json_integer(study->best_number));
    }
    json_object_set_new(object, "started_ns", time_ns(study->started_us));
    json_object_set_new(object, "age_ms", record_json_count(panel_study_age_ms(study, now)));
    json_object_set_new(object, "stale", json_boolean(panel_study_silent(study, now)));
    enum style style;
    json_object_set_new(object, "state", json_string(panel_study_own_state(study, now, &style)));
    return object;
}

json_t *tui_print_studies_json(const struct model *model, struct moment now)
{
    json_t *list = model->studies ? json_array() : json_null();

    for (int i = 0; model->studies && i < model->studies->n; i++)
        json_array_append_new(list, study_json(&model->studies->study[i], now));
    return list;
}

/* A member as a cell, in `buf` or its own: a list's texts with blanks between. */
static const char *csv_cell(const json_t *value, char *buf)
{
    size_t n = 0, i;
    json_t *item;

    buf[0] = '\0';
    json_array_foreach(value, i, item)
    {
        n += (size_t)snprintf(buf + n, STORED_CELL - n, "%s%s", i ? " " : "", json_string_value(item));
        n = n < STORED_CELL ? n : STORED_CELL - 1;
    }
    if (json_is_boolean(value))
        return json_is_true(value) ? "true" : "false";
    if (json_is_number(value))
        buf[json_dumpb(value, buf, STORED_CELL - 1, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17))] = '\0';
    return json_is_string(value) ? json_string_value(value) : buf;
}

void tui_print_studies_csv(FILE *out, const struct model *model, struct moment now)
{
    struct stored_list list = {.name = "studies", .form = STORED_CSV, .out = out};
    json_t *names = study_json(&(struct tui_study){0}, now), *rows = tui_print_studies_json(model, now), *row,
           *value;
    const char *cells[STORED_COLUMNS_MAX], *key;
    char buf[STORED_COLUMNS_MAX][STORED_CELL];
    size_t i;

    json_object_foreach(names, key, value) list.own[list.n_columns++].name = key;
    json_array_foreach(rows, i, row)
    {
        for (int k = 0; k < list.n_columns; k++)
            cells[k] = csv_cell(json_object_get(row, list.own[k].name), buf[k]);
        cli_stored_row(&list, cells);
    }
    cli_stored_end(&list);
    json_decref(rows);
    json_decref(names);
}

static const struct stored_column table[] = {
    {"study", -5}, {"direction", -9}, {"trials", 6}, {"wanted", 6},   {"running", 7}, {"ok", 4},
    {"pruned", 6}, {"failed", 6},     {"best", -6},  {"value", 8},    {"front", 5},   {"trials/h", 8},
    {"left", -6},  {"age", -5},       {"state", -5}, {"verdict", -7},
};

enum { TABLE = sizeof(table) / sizeof(*table) };

static void table_row(struct stored_list *list, const struct tui_study *study, struct moment now)
{
    char buf[TABLE][STORED_CELL] = {{0}}, left[FORMAT_MAX], age[FORMAT_MAX], rate[FORMAT_MAX];
    const char *cells[TABLE];

    for (int i = 0; i < TABLE; i++)
        cells[i] = buf[i];
    cells[0] = study->label;
    cells[1] = tui_study_direction(study, buf[1]);
    cli_stored_integer(buf[2], tui_study_done(study));
    if (study->wanted >= 0)
        cli_stored_integer(buf[3], study->wanted);
    cli_stored_integer(buf[4], tui_study_running(study));
    cli_stored_integer(buf[5], study->counts[TRIAL_COMPLETE]);
    cli_stored_integer(buf[6], study->counts[TRIAL_PRUNED]);
    cli_stored_integer(buf[7], tui_study_failed(study));
    if (study->have_best) {
        cells[8] = tui_study_best_name(study, buf[8]);
        cells[9] = tui_study_number(buf[9], STORED_CELL, study->best);
    }
    if (study->pareto >= 0)
        cli_stored_integer(buf[10], study->pareto);
    cells[11] = isnan(study->trials_h) ? "" : cli_format_number(rate, study->trials_h, 1);
    cells[12] = panel_study_eta(left, study->eta_s);
    cells[13] = cli_format_age(age, panel_study_age_ms(study, now));
    char stale[FORMAT_MAX];
    enum style style;
    const char *state = panel_study_own_state(study, now, &style);
    if (strcmp(state, "stale") == 0)
        snprintf(buf[14], STORED_CELL, "stale %s", panel_study_stale(stale, study, now));
    cells[14] = study->unread[0] ? study->unread : buf[14][0] ? buf[14] : state;
    cells[15] = study->verdict;
    cli_stored_row(list, cells);
}

void tui_print_studies_table(FILE *out, const struct model *model, struct moment now)
{
    struct stored_list list = {
        .name = "studies", .form = STORED_TABLE, .out = out, .columns = table, .n_columns = TABLE};

    for (int i = 0; model->studies && i < model->studies->n; i++)
        table_row(&list, &model->studies->study[i], now);
    cli_stored_end(&list);
}

static json_t *cell_json(const struct tui_study_page *page, const struct tui_study_cell *cell)
{
    const struct tui_study_distribution *d = &page->distributions[cell->distribution];

    if (d->kind == DISTRIBUTION_CATEGORICAL)
        return cell->value >= 0 && cell->value < d->n_choices ? record_json_text(d->choices[(int)cell->value])
                                                              : json_null();
    if (d->kind == DISTRIBUTION_INT && fabs(cell->value) < 9e15)
        return json_integer((json_int_t)cell->value);
    return record_json_real(cell->value);
}

static json_t *trial_json(const struct tui_study_page *page, const struct tui_study_trial *trial,
                          struct moment now)
{
    json_t *params = json_object(), *reports = json_array(),
           *values = trial->values ? json_array() : json_null();
    int64_t now_us = now.wall_ns / 1000;

    for (int i = 0; trial->values && i < page->study.n_objectives; i++)
        json_array_append_new(values, record_json_real(trial->values[i]));
    for (int i = 0; i < page->n_params; i++)
        if (!isnan(trial->cells[i].value)) {
            json_t *value = cell_json(page, &trial->cells[i]);
            if (json_object_set(params, page->params[i], value) < 0) { /* a name that is no UTF-8 */
                char clean[512];
                cli_text_clean(clean, sizeof(clean), page->params[i]);
                json_object_set(params, clean, value);
            }
            json_decref(value);
        }
    for (int i = 0; i < trial->n_reports; i++)
        json_array_append_new(reports, json_pack("[I, o]", (json_int_t)trial->reports[i].step,
                                                 record_json_real(trial->reports[i].value)));
    return json_pack("{s:o, s:i, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o}",
                     "study", record_json_text(page->members[trial->member]), "number", trial->number,
                     "state", study_trial_state_name(trial->state), "values", values, "params", params,
                     "reports", reports, "started_ns", time_ns(trial->started_us), "completed_ns",
                     time_ns(trial->completed_us), "duration_ms",
                     record_json_count(tui_study_trial_duration_ms(trial, now_us)), "heartbeat_age_ms",
                     record_json_count(tui_study_trial_age_ms(trial, now_us)), "stale",
                     tui_model_trial_freshness(trial, now) != FRESH, "share", record_json_real(trial->share),
                     "steps_per_second", record_json_real(trial->steps_s), "worker",
                     trial->worker[0] ? record_json_text(trial->worker) : json_null(), "violation",
                     record_json_real(trial->violation), "failure", record_json_text(trial->failure));
}

static json_t *validation_json_of(const struct tui_study_validation *v)
{
    if (!v->have)
        return json_null();
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o}", "study", record_json_text(v->study), "trial",
        record_json_count(v->trial), "skill", record_json_real(v->skill), "value", record_json_real(v->value),
        "pbo", record_json_real(v->pbo), "probability_of_loss", record_json_real(v->loss), "deflated_sharpe",
        record_json_real(v->deflated), "holdout_sharpe", record_json_real(v->holdout.sharpe), "admitted",
        v->admitted, "words", record_json_text(v->verdict));
}

json_t *tui_print_study_json(const struct tui_study_page *page, struct moment now)
{
    json_t *object = study_json(&page->study, now), *trials = json_array(), *importance = json_array(),
           *params = json_array();

    for (int i = 0; i < page->n_trials; i++)
        json_array_append_new(trials, trial_json(page, &page->trials[i], now));
    for (int i = 0; i < page->n_importance; i++)
        json_array_append_new(importance, json_pack("{s:o, s:o}", "param",
                                                    record_json_text(page->params[page->importance[i].param]),
                                                    "share", record_json_real(page->importance[i].share)));
    for (int i = 0; i < page->n_params; i++)
        json_array_append_new(params, record_json_text(page->params[i]));
    json_object_set_new(object, "params", params);
    json_object_set_new(object, "importance", importance);
    json_object_set_new(object, "importance_objective", json_integer(0));
    json_object_set_new(object, "importance_trials", json_integer(page->importance_of.trials));
    json_object_set_new(object, "importance_workers", json_integer(page->importance_of.studies));
    json_object_set_new(object, "importance_left_out", json_integer(page->importance_of.left_out));
    json_object_set_new(object, "validation",
                        page->have_validation ? validation_json_of(&page->validation) : json_null());
    json_object_set_new(object, "trial_list", trials);
    return object;
}
