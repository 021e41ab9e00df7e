#include "trainer/command/eval_report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/report/conditions.h"

static void list_policy(struct text *text, const struct eval_args *args, const struct eval_market *market)
{
    const struct policy *policy = market->ensemble ? &market->ensemble->policy : &market->policy->policy;
    char words[96], id[POLICY_ID_TEXT];
    policy_id_text(policy->id, id);
    report_page_fact(text, "Policy", args->policy_path, policy->kind);
    report_page_fact(text, "Id", id, "SHA-256 of its file");
    if (market->ensemble)
        snprintf(words, sizeof words, "%d members", policy->n_members);
    else
        snprintf(words, sizeof words, "%lld steps", (long long)market->policy->trained_steps);
    report_page_fact(text, market->ensemble ? "Ensemble" : "Trained for", words, NULL);
    if (policy->verdict_text)
        report_page_fact(text, "Its training said", policy->verdict_text, "on its own rows of testing");
}

static void list_bars(struct text *text, const struct eval_args *args, const struct eval_market *market)
{
    size_t missing = 0;
    char words[64];
    for (size_t i = 0; i < args->bars.n; i++)
        report_page_fact(text, i == 0 ? "Bars" : "", args->bars.paths[i], NULL);
    for (int i = 0; i < market->bars->n_symbols; i++)
        missing += trainer_data_missing(market->bars, i, 0, market->bars->rows, NULL);
    snprintf(words, sizeof words, "%zu", missing);
    report_page_fact(text, "Missing bars", words, "of all symbols in these files; curves have gaps there");
}

int trainer_eval_report(const struct eval_args *args, const struct eval_market *market,
                        const struct training_episode *episode, const struct trainer_trace *trace,
                        const struct verdict *verdict)
{
    const struct trainer_evaluated evaluated = {episode,         trace,   market->env_market,
                                                &market->params, verdict, market_row_ns(market->bars)};
    const char *slash = strrchr(args->policy_path, '/');
    struct text text = {0}, title = {0};
    text_str(&title, "Evaluation of ");
    text_str(&title, slash ? slash + 1 : args->policy_path);
    char *words = text_take(&title);
    report_page_begin(&text, words ? words : "Evaluation");
    trainer_report_verdict(&text, verdict);
    int r = trace->failed ? -ENOMEM : trainer_report_evaluation(&text, &evaluated);
    report_page_heading(&text, "What it was evaluated on");
    report_page_facts(&text);
    list_policy(&text, args, market);
    list_bars(&text, args, market);
    trainer_report_symbols(&text, evaluated.market);
    trainer_report_evaluated_rows(&text, &evaluated);
    trainer_report_params(&text, evaluated.params, false);
    report_page_fact(&text, "Version", "papertape " PAPERTAPE_VERSION, NULL);
    report_page_facts_end(&text);
    report_page_end(&text);
    free(words);
    r = r < 0 ? r : report_page_write(&text, args->report);
    text_finish(&text);
    return r;
}
