#include "tui/train_ask.h"

#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "strategy/metrics/verdict.h"

enum {
    NAME_MAX_LEN = 31, /* it becomes an account's */
    NAMES_LISTED = 64, /* columns of names in a question, after which they are counted */
};

static const char *const prompt_words[PROMPTS] = {
    [PROMPT_NAME] = "start",      [PROMPT_START] = "start",   [PROMPT_STOP] = "stop",
    [PROMPT_RESTART] = "restart", [PROMPT_RESUME] = "resume", [PROMPT_PROMOTE] = "promote",
    [PROMPT_RETIRE] = "retire",   [PROMPT_CANCEL] = "cancel", [PROMPT_FLATTEN] = "flatten",
    [PROMPT_LEAVE] = "leave",
};

const char *tui_train_ask_word(enum prompt prompt)
{
    return prompt_words[prompt] ? prompt_words[prompt] : "";
}

bool tui_train_ask_name(const char *name)
{
    size_t len = strlen(name);

    return len > 0 && len <= NAME_MAX_LEN && name[0] != '.' &&
           strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.") == len;
}

static const struct status_training *find_training(const struct model *model, const char *name)
{
    for (int i = 0; i < model->status.n_trainings; i++)
        if (strcmp(model->status.trainings[i].training, name) == 0)
            return &model->status.trainings[i];
    return NULL;
}

static const struct status_policy *find_policy(const struct model *model, const char *name)
{
    for (int i = 0; i < model->status.n_policies; i++)
        if (strcmp(model->status.policies[i].policy, name) == 0)
            return &model->status.policies[i];
    return NULL;
}

static bool is(const struct status_training *training, const char *state)
{
    return strcmp(training->state, state) == 0;
}

/* Why not; NULL: it may. `%s` is the training's name. */
static const char *start_refusal(const struct status_training *training)
{
    if (!training)
        return NULL;
    if (tui_model_training_ended(training))
        return "%s has run: `r` restarts it; a new one needs another name";
    return "%s runs already: `r` restarts it; a new one needs another name";
}

static const char *stop_refusal(const struct status_training *training)
{
    if (is(training, "done"))
        return "%s is done: there is nothing to stop";
    if (tui_model_training_ended(training))
        return "%s has ended: `e` resumes it, `r` restarts it";
    return training->stopping ? "%s is being stopped already" : NULL;
}

static const char *resume_refusal(const struct status_training *training)
{
    if (training->stopping)
        return "%s is being stopped: `e` once it has ended";
    if (is(training, "done"))
        return "%s is done: `r` restarts it, with more total_steps";
    if (is(training, "queued"))
        return "%s waits for its turn, and begins by itself";
    if (tui_model_training_works(training))
        return "%s runs: `x` stops it, `r` restarts it";
    return NULL;
}

static const char *restart_refusal(const struct status_training *training)
{
    if (training->attempts == 0)
        return "%s has not run yet: `x` takes it from the queue";
    return training->stopping ? "%s is being stopped: `r` once it has ended" : NULL;
}

static const char *arena_refusal(const struct model *model, enum prompt prompt, const char *name)
{
    const struct status_policy *policy = find_policy(model, name);
    const struct status_training *training = find_training(model, name);

    if (prompt == PROMPT_RETIRE) {
        if (!policy)
            return "no account trades by %s: `P` promotes a policy";
        return strcmp(policy->state, "retired") == 0 ? "%s is retired already" : NULL;
    }
    if (!policy && training && !training->policy[0])
        return "%s has no policy yet: it comes with a checkpoint";
    return NULL;
}

bool tui_train_ask_allowed(const struct model *model, enum prompt prompt, const char *name,
                           char words[static TRAIN_ASK_MAX])
{
    const struct status_training *training = find_training(model, name);
    const char *why = NULL;

    if (prompt == PROMPT_START)
        why = tui_train_ask_name(name)
                  ? start_refusal(training)
                  : "a name is 1 to 31 letters, digits, - _ and dots, and begins with no dot";
    else if (prompt == PROMPT_PROMOTE || prompt == PROMPT_RETIRE)
        why = arena_refusal(model, prompt, name);
    else if (!training)
        why = "%s is not in the list any more";
    else if (prompt == PROMPT_STOP)
        why = stop_refusal(training);
    else if (prompt == PROMPT_RESUME)
        why = resume_refusal(training);
    else if (prompt == PROMPT_RESTART)
        why = restart_refusal(training);
    if (!why)
        return true;
    const char *at = strstr(why, "%s");
    snprintf(words, TRAIN_ASK_MAX, "%.*s%s%s", at ? (int)(at - why) : 0, why, at ? name : "",
             at ? at + strlen("%s") : why);
    return false;
}

/* " of step 1.2M"; "" where no step is known. */
static const char *at_step(char buf[static FORMAT_MAX], int64_t steps)
{
    char count[FORMAT_MAX];

    buf[0] = '\0';
    if (steps >= 0)
        snprintf(buf, FORMAT_MAX, " of step %.20s", cli_format_count(count, (double)steps));
    return buf;
}

static void stop_words(const struct status_training *training, char *what)
{
    char step[FORMAT_MAX], count[FORMAT_MAX];

    if (training && is(training, "queued") && training->due_ns > 0)
        snprintf(what, TRAIN_ASK_MAX, "Its schedule ends: the next run does not begin.");
    else if (training && is(training, "queued"))
        snprintf(what, TRAIN_ASK_MAX, "It waits for its turn, and leaves the queue.");
    else if (training && training->study[0])
        snprintf(what, TRAIN_ASK_MAX, "It ends; `e` resumes it, and tries the trials that run again.");
    else if (training && is(training, "paused"))
        snprintf(what, TRAIN_ASK_MAX, "It is paused at its checkpoint%s, and ends there.",
                 at_step(step, training->checkpoint_steps));
    else if (training && training->steps >= 0)
        snprintf(what, TRAIN_ASK_MAX, "It writes a checkpoint at step %s or soon after, and ends.",
                 cli_format_count(count, (double)training->steps));
    else
        snprintf(what, TRAIN_ASK_MAX, "It writes a checkpoint and ends.");
}

static void continues_words(const struct status_training *training, const char *how, char *what)
{
    char step[FORMAT_MAX];

    if (training && training->study[0])
        snprintf(what, TRAIN_ASK_MAX, "The study continues with the trials that it has%s.", how);
    else if (!training || training->checkpoint_steps < 0)
        snprintf(what, TRAIN_ASK_MAX, "It continues from its last checkpoint, where there is one%s.", how);
    else
        snprintf(what, TRAIN_ASK_MAX, "It continues from its checkpoint%s%s.",
                 at_step(step, training->checkpoint_steps), how);
}

static void restart_words(const struct status_training *training, int changes, char *what)
{
    char how[64], count[FORMAT_MAX];

    if (changes > 0)
        snprintf(how, sizeof(how), ", with %d changed value%s", changes, changes == 1 ? "" : "s");
    else
        snprintf(how, sizeof(how), ", unchanged");
    if (training && is(training, "queued") && training->due_ns > 0)
        snprintf(what, TRAIN_ASK_MAX, "Its next run begins at once%s.", how);
    else if (!training || training->study[0] || !tui_model_training_works(training))
        continues_words(training, how, what);
    else
        snprintf(what, TRAIN_ASK_MAX,
                 "It writes a checkpoint at step %s or soon after, and continues from there%s.",
                 cli_format_count(count, (double)training->steps), how);
}

const char *tui_train_ask_role(const struct model *model, const char *name)
{
    const struct status_policy *policy = find_policy(model, name);

    return !policy || strcmp(policy->role, "retired") == 0 ? "challenger" : "champion";
}

const char *tui_train_ask_verdict(const struct model *model, const char *name)
{
    const struct status_policy *policy = find_policy(model, name);
    const struct status_training *training = find_training(model, name);
    bool newer = training && (!policy || strcmp(policy->role, "challenger") != 0);
    const char *verdict = newer ? training->verdict : policy ? policy->verdict : "";

    if (!verdict[0])
        return TRAIN_ASK_NO_VERDICT;
    return metrics_verdict_good(metrics_verdict_of_word(verdict)) ? "" : verdict;
}

static void promote_words(const struct model *model, const char *name, char *what)
{
    const struct status_policy *policy = find_policy(model, name);
    const char *account = model->status.champion.account[0] ? model->status.champion.account : "champion";

    if (!policy || strcmp(tui_train_ask_role(model, name), "challenger") == 0)
        snprintf(what, TRAIN_ASK_MAX,
                 "Its newest policy becomes a challenger, and trades on its own paper account %.31s.", name);
    else if (strcmp(policy->role, "champion") == 0)
        snprintf(what, TRAIN_ASK_MAX,
                 "It is the champion: a newer policy of its takes over, with what the accounts hold.");
    else if (model->status.champion.policy[0])
        snprintf(what, TRAIN_ASK_MAX,
                 "It becomes the champion: the account %.31s passes from %.31s to it, with what it holds.",
                 account, model->status.champion.policy);
    else
        snprintf(what, TRAIN_ASK_MAX, "It becomes the champion, and trades on the account %.31s too.",
                 account);
}

/* Adds the verdict, where it is not a good one. */
static void verdict_words(const struct model *model, const char *name, char *what)
{
    const char *verdict = tui_train_ask_verdict(model, name);
    const size_t n = strlen(what);

    if (strcmp(verdict, TRAIN_ASK_NO_VERDICT) == 0)
        snprintf(what + n, TRAIN_ASK_MAX - n,
                 " It has no verdict: it was not evaluated on bars that it did not learn from.");
    else if (verdict[0])
        snprintf(what + n, TRAIN_ASK_MAX - n, " Its verdict: %.24s.", verdict);
}

void tui_train_ask(const struct model *model, enum prompt prompt, const char *name, int changes,
                   struct train_question *ret)
{
    const struct status_training *training = find_training(model, name);
    const char *word = tui_train_ask_word(prompt);

    *ret = (struct train_question){.title = "", .what = ""};
    snprintf(ret->title, sizeof(ret->title), "%c%s", word[0] ? word[0] - 'a' + 'A' : ' ',
             word[0] ? word + 1 : "");
    snprintf(ret->ask, sizeof(ret->ask), "%s %.60s?", word, name);
    switch (prompt) {
    case PROMPT_STOP:
        stop_words(training, ret->what);
        break;
    case PROMPT_RESUME:
        continues_words(training, "", ret->what);
        break;
    case PROMPT_RESTART:
        restart_words(training, changes, ret->what);
        break;
    case PROMPT_START:
        if (changes > 0)
            snprintf(ret->what, sizeof(ret->what), "A new training, with %d value%s other than the default.",
                     changes, changes == 1 ? "" : "s");
        else
            snprintf(ret->what, sizeof(ret->what), "A new training, with the default configuration.");
        break;
    case PROMPT_PROMOTE:
        promote_words(model, name, ret->what);
        verdict_words(model, name, ret->what);
        break;
    case PROMPT_RETIRE:
        snprintf(ret->what, sizeof(ret->what), "It is taken off its accounts, and what they hold is closed.");
        break;
    case PROMPT_LEAVE:
        snprintf(ret->ask, sizeof(ret->ask), "leave the form?");
        snprintf(ret->what, sizeof(ret->what), "%d changed value%s of %.60s would be lost.", changes,
                 changes == 1 ? "" : "s", name);
        break;
    default:
        break;
    }
}

/* "ppo_3, ppo_1 and 4 more". */
static void list_names(char *buf, size_t size, const char *name, const char (*also)[STATUS_TRAINING_NAME_MAX],
                       int n)
{
    size_t at = (size_t)snprintf(buf, size, "%.60s", name);
    int listed = 0;

    for (; listed < n && at < NAMES_LISTED; listed++)
        at +=
            (size_t)snprintf(buf + at, size - at, "%s%.60s", listed + 1 == n ? " and " : ", ", also[listed]);
    if (listed < n)
        snprintf(buf + at, size - at, " and %d more", n - listed);
}

void tui_train_ask_several(const struct model *model, enum prompt prompt, const char *name,
                           const char (*also)[STATUS_TRAINING_NAME_MAX], int n, int changes,
                           struct train_question *ret)
{
    char names[NAMES_LISTED + 2 * STATUS_TRAINING_NAME_MAX];

    tui_train_ask(model, prompt, name, changes, ret);
    if (n == 0 || prompt == PROMPT_LEAVE)
        return;
    list_names(names, sizeof(names), name, also, n);
    snprintf(ret->ask, sizeof(ret->ask), "%s %s?", tui_train_ask_word(prompt), names);
    if (prompt == PROMPT_RESTART && changes > 0) {
        snprintf(ret->what, sizeof(ret->what),
                 "Each continues with the trials that it has, with %d changed value%s in its own "
                 "configuration; where one of these is wrong with it, no training is restarted.",
                 changes, changes == 1 ? "" : "s");
        return;
    }
    snprintf(ret->what, sizeof(ret->what), "%s",
             prompt == PROMPT_STOP      ? "Each ends; `e` resumes them, and tries the trials that run again."
             : prompt == PROMPT_RESTART ? "Each continues with the trials that it has, unchanged."
                                        : "Each continues with the trials that it has.");
}
