/* What keys do to trainings and policies: an error says what would be right before anything is asked, a y is
 * wanted, and the form. Golden screens of the form and of the questions. */
#include "tui/train_keys.h"

#include <locale.h>

#include "fixtures/dashboard.h"
#include "tests/check.h"
#include "tests/tui/picture.h"
#include "tui/key_table.h"
#include "tui/train_ask.h"

static const char *golden;
static struct model *model;
static struct view view;
static const struct moment now = {1723161255342000000, 1000000};

static const char text[] = "# As the daemon trains by default\n"
                           "[training]\n"
                           "name = ppo-world-wide-5m_2\n"
                           "total_steps = 5000000 ; until then\n"
                           "\n"
                           "[network]\n"
                           "policy_layers = 64,64\n"
                           "\n"
                           "[ppo]\n"
                           "# The optimiser's\n"
                           "learning_rate = 0.0003\n"
                           "oops\n"
                           "\n"
                           "[data]\n"
                           "state = /var/lib/papertape\n"
                           "symbols = \033[31mBTCUSDT,\xE6\x97\xA5\xE6\x9C\xAC\n"
                           "interval = 1m\n";

static enum action press(int key)
{
    return tui_keys_press(&view, model, 80, 24, now, key);
}

static enum action type(const char *keys)
{
    enum action action = ACTION_NONE;

    for (; *keys; keys++)
        action = press(*keys);
    return action;
}

static void screen(const char *name, int width, int height)
{
    CHECK(picture_matches(golden, name, model, &view, now, width, height, GLYPHS_BRAILLE));
}

static void begin(bool readonly)
{
    tui_view_finish(&view);
    tui_view_init(&view, readonly, 1000);
    view.tab = TAB_STUDY;
}

static void choose(const char *training)
{
    snprintf(view.training, sizeof(view.training), "%s", training);
    view.focus = PANEL_TRAININGS;
}

/* The key does nothing but say these words. */
static void check_note(int key, const char *words)
{
    view.words[0] = '\0';
    CHECK_INT(press(key), ACTION_NONE);
    CHECK_INT(view.prompt, PROMPT_NONE);
    CHECK(view.outcome == OUTCOME_NOTE || view.outcome == OUTCOME_REFUSED);
    CHECK_STR(view.words, words);
}

/* The key asks, nothing but y is yes, and that asks the daemon about `subject`. */
static void check_question(int key, enum prompt prompt, enum action action, const char *subject)
{
    for (const char *other = "nxqY \r"; *other; other++) {
        CHECK_INT(press(key), ACTION_NONE);
        CHECK_INT(view.prompt, prompt);
        CHECK_INT(press(*other), ACTION_NONE);
        CHECK_INT(view.prompt, PROMPT_NONE);
        CHECK_STR(view.words, "nothing is done");
    }
    press(key);
    CHECK_INT(press(PRESS_ESCAPE), ACTION_NONE);
    press(key);
    CHECK_INT(press(PRESS_ENTER), ACTION_NONE);
    press(key); /* then the window shrinks */
    CHECK_INT(tui_keys_press(&view, model, 39, 9, now, 'y'), ACTION_NONE);
    CHECK_INT(view.prompt, PROMPT_NONE);
    press(key);
    CHECK_INT(press('y'), action);
    CHECK_STR(view.subject, subject);
}

/* The help's "y confirms" stands at the keys that ask that, "by the form" at those that open it. */
static void check_help_words(void)
{
    const struct key_row *row;
    int asked = 0, forms = 0;

    for (int i = 0; (row = tui_key_table(i)); i++) {
        const enum prompt prompt =
            row->place == KEYS_STUDY && !row->keys[1] ? tui_train_keys_prompt(row->keys[0]) : PROMPT_NONE;
        const bool form = prompt == PROMPT_RESTART || prompt == PROMPT_NAME;
        if (row->place != KEYS_STUDY)
            continue;
        CHECK_INT(strstr(row->words, "y confirms") != NULL, prompt != PROMPT_NONE && !form);
        CHECK_INT(strstr(row->words, "by the form") != NULL, form);
        asked += prompt != PROMPT_NONE;
        forms += form;
    }
    CHECK_INT(asked, 7);
    CHECK_INT(forms, 3);
}

static void check_trainings(void)
{
    begin(false);
    choose("ppo-world-wide-5m_2"); /* it runs */
    check_question('x', PROMPT_STOP, ACTION_TRAIN_STOP, "ppo-world-wide-5m_2");
    check_note('e', "ppo-world-wide-5m_2 runs: x stops it, r restarts it");
    press('x');
    screen("stop-80x24", 80, 24);
    screen("stop-40x10", 40, 10);
    struct status_training *running = NULL;
    for (int i = 0; i < model->status.n_trainings; i++)
        if (strcmp(model->status.trainings[i].training, "ppo-world-wide-5m_2") == 0)
            running = &model->status.trainings[i];
    CHECK(running != NULL);
    strcpy(running->state, "stopped"); /* while the question stands */
    screen("stop-ended-80x24", 80, 24);
    CHECK_INT(press('y'), ACTION_NONE);
    CHECK_STR(view.words, "ppo-world-wide-5m_2 has ended: e resumes it, r restarts it");
    check_question('e', PROMPT_RESUME, ACTION_TRAIN_RESUME, "ppo-world-wide-5m_2");
    press('e');
    screen("resume-80x24", 80, 24);
    press('n');
    strcpy(running->state, "paused");
    check_question('e', PROMPT_RESUME, ACTION_TRAIN_RESUME, "ppo-world-wide-5m_2");
    check_question('x', PROMPT_STOP, ACTION_TRAIN_STOP, "ppo-world-wide-5m_2");
    strcpy(running->state, "update");
    running->stopping = true;
    check_note('x', "ppo-world-wide-5m_2 is being stopped already");
    check_note('e', "ppo-world-wide-5m_2 is being stopped: e once it has ended");
    check_note('r', "ppo-world-wide-5m_2 is being stopped: r once it has ended");
    running->stopping = false;
    strcpy(running->state, "done");
    check_note('e', "ppo-world-wide-5m_2 is done: r restarts it, with more total_steps");
    check_note('x', "ppo-world-wide-5m_2 is done: there is nothing to stop");
    strcpy(running->state, "queued");
    check_note('e', "ppo-world-wide-5m_2 waits for its turn, and begins by itself");
    running->attempts = 0;
    check_note('r', "ppo-world-wide-5m_2 has not run yet: x takes it from the queue");
    running->attempts = 2;
    strcpy(running->state, "update");
    choose("ppo-world-wide-5m_1"); /* it failed */
    check_note('x', "ppo-world-wide-5m_1 has ended: e resumes it, r restarts it");
    check_question('e', PROMPT_RESUME, ACTION_TRAIN_RESUME, "ppo-world-wide-5m_1");

    press('1'); /* elsewhere */
    view.focus = PANEL_PRICES;
    check_note('r', "trainings and policies are on tab 2");
    check_note('s', "trainings and policies are on tab 2");
    check_note('x', "choose an order first: 6, then the arrows");
    press('6');
    CHECK_INT(press('x'), ACTION_NONE); /* still of an order */
    CHECK_INT(view.prompt, PROMPT_CANCEL);
    press('n');

    begin(false);
    choose("ppo-world-wide-5m_2");
    model->source = MODEL_NOTHING; /* at the start, until its first answer */
    for (const char *key = "sxrePR"; *key; key++)
        check_note(*key, "the daemon has not answered yet");
    snprintf(model->daemon_words, sizeof(model->daemon_words), "control.sock: no daemon is listening");
    for (const char *key = "xe"; *key; key++)
        check_note(*key, "no daemon is listening");
    model->daemon_words[0] = '\0';
    model->source = MODEL_DATABASE;
    for (const char *key = "sxrePR"; *key; key++)
        check_note(*key, "no daemon is listening");
    model->source = MODEL_DAEMON;
    begin(true);
    for (const char *key = "sxrePR"; *key; key++)
        check_note(*key, "read-only: started with --readonly");
    begin(false);
    model->reads_only = true;
    strcpy(model->operators, "papertape");
    for (const char *key = "sxreP"; *key; key++)
        check_note(*key, "reading only: ask for group papertape");
    model->reads_only = false;
    int n = model->status.n_trainings;
    begin(false);
    model->status.n_trainings = 0;
    for (const char *key = "xreP"; *key; key++)
        check_note(*key, "choose one first: Tab to its list, then the arrows");
    model->status.n_trainings = n;
}

static void check_policies(void)
{
    struct status_policy *policy = &model->status.policies[0];
    char name[STATUS_TRAINING_NAME_MAX];

    begin(false);
    snprintf(name, sizeof(name), "%s", policy->policy);
    snprintf(view.policy, sizeof(view.policy), "%s", name);
    view.focus = PANEL_POLICIES;
    check_question('P', PROMPT_PROMOTE, ACTION_PROMOTE, name);
    check_question('R', PROMPT_RETIRE, ACTION_RETIRE, name);
    press('R');
    screen("retire-80x24", 80, 24);
    press('n');
    check_note('x', "choose one first: Tab to its list, then the arrows");
    struct status_policy kept = *policy;
    strcpy(policy->state, "retired");
    press('R');
    CHECK_INT(view.prompt, PROMPT_NONE);
    check_question('P', PROMPT_PROMOTE, ACTION_PROMOTE, name);
    *policy = kept;

    struct train_question question;
    strcpy(policy->role, "challenger");
    strcpy(model->status.champion.policy, "older");
    strcpy(model->status.champion.account, "champion");
    tui_train_ask(model, PROMPT_PROMOTE, name, 0, &question);
    CHECK(strstr(question.what, "the account champion passes from older to it") != NULL);
    CHECK(strstr(question.what, "verdict") == NULL); /* its own, a good one */
    strcpy(policy->verdict, "only_holds");
    tui_train_ask(model, PROMPT_PROMOTE, name, 0, &question);
    CHECK(strstr(question.what, " Its verdict: only_holds.") != NULL);
    strcpy(policy->role, "champion");
    tui_train_ask(model, PROMPT_PROMOTE, name, 0, &question);
    CHECK(strstr(question.what, "a newer policy of its takes over") != NULL);
    CHECK(strstr(question.what, " Its verdict: within_luck.") != NULL); /* the training's */
    *policy = kept;
    tui_train_ask(model, PROMPT_PROMOTE, "new-one", 0, &question);
    CHECK(strstr(question.what, "becomes a challenger") != NULL);

    view.focus = PANEL_POLICIES; /* the step that the question named, and no other */
    memcpy(view.policy, name, sizeof(view.policy));
    strcpy(policy->role, "challenger");
    press('P');
    CHECK_STR(view.role, "champion");
    CHECK(!view.bad_verdict);
    strcpy(policy->role, "retired");
    CHECK_INT(press('y'), ACTION_NONE);
    CHECK_STR(view.words, "its role has changed meanwhile: nothing is done");
    press('P');
    CHECK_STR(view.role, "challenger");
    CHECK(view.bad_verdict);
    CHECK_INT(press('y'), ACTION_PROMOTE);
    *policy = kept;

    choose("ppo-world-wide-5m_3"); /* without a policy */
    check_note('P', "ppo-world-wide-5m_3 has no policy yet: it comes with a checkpoint");
    check_note('R', "no account trades by ppo-world-wide-5m_3: P promotes a policy");
}

/* P pins the baseline where two are marked, also read-only, and promotes with fewer and elsewhere. */
static void check_baseline(void)
{
    static const char *const names[] = {"ppo-world-wide-5m_1", "ppo-world-wide-5m_2"};

    for (int i = 0; i < model->status.n_trainings; i++) /* each may be promoted */
        strcpy(model->status.trainings[i].policy, "p.safetensors");
    for (int readonly = 0; readonly < 2; readonly++) {
        begin(readonly);
        for (int i = 0; i < 2; i++) {
            choose(names[i]);
            press('P');
            CHECK_INT(view.prompt, readonly ? PROMPT_NONE : PROMPT_PROMOTE);
            view.prompt = PROMPT_NONE;
            press(' ');
        }
        CHECK_INT(view.compare.baseline, 0);
        CHECK_INT(press('P'), ACTION_COLLECT);
        CHECK_INT(view.prompt, PROMPT_NONE);
        CHECK_INT(view.compare.baseline, 1);
        CHECK(strstr(view.words, names[1]) && strstr(view.words, "P promotes"));
        view.outcome = OUTCOME_NONE;
        char *drawn = picture_draw(model, &view, now, 120, 40, GLYPHS_ASCII);
        CHECK((strstr(drawn, "P baseline") != NULL) == !readonly && !strstr(drawn, "P promote"));
        free(drawn);
        for (int i = 0; i < 2; i++) { /* on its page, from each of its panels */
            choose(names[!i]);
            press(PRESS_ENTER);
            CHECK(view.detail);
            view.focus = i ? PANEL_CURVE : view.focus;
            drawn = picture_draw(model, &view, now, 120, 40, GLYPHS_ASCII);
            CHECK((strstr(drawn, "P baseline") != NULL) == !readonly && !strstr(drawn, "P promote"));
            free(drawn);
            CHECK_INT(press('P'), ACTION_COLLECT);
            CHECK_INT(view.compare.baseline, !i);
            CHECK_INT(view.prompt, PROMPT_NONE);
            press(PRESS_ESCAPE);
        }
        choose(names[0]);
        press('P');
        CHECK_INT(view.compare.baseline, 0);
        struct status_training *study = &model->status.trainings[0];
        strcpy(study->study, "a-run"); /* it has no curve */
        choose(study->training);
        CHECK_INT(press('P'), ACTION_NONE);
        CHECK(strstr(view.words, "no learning curve"));
        CHECK_INT(press(' '), ACTION_NONE);
        CHECK_INT(view.compare.n, 2);
        CHECK_INT(view.compare.baseline, 0);
        study->study[0] = '\0';
        choose(names[0]);
        view.focus = PANEL_POLICIES; /* a policy is no curve */
        CHECK(press('P') != ACTION_COLLECT);
        CHECK_INT(view.compare.baseline, 0);
        view.prompt = PROMPT_NONE;
        view.focus = PANEL_TRAININGS;
        press(' '); /* one is left */
        CHECK_INT(view.compare.n, 1);
        press('P');
        CHECK_INT(view.prompt, readonly ? PROMPT_NONE : PROMPT_PROMOTE);
        view.prompt = PROMPT_NONE;
    }
}

static void check_names(void)
{
    static const char *const right[] = {"a", "ppo-btc_1.b", "0123456789012345678901234567890", "-x"};
    static const char *const wrong[] = {"",         ".a", "a b", "a/b", "01234567890123456789012345678901",
                                        "\xC3\xA9", "a\n"};

    for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++)
        CHECK(tui_train_ask_name(right[i]));
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        CHECK(!tui_train_ask_name(wrong[i]));
    begin(false);
    press('s');
    CHECK_INT(view.prompt, PROMPT_NAME);
    CHECK_INT(press(PRESS_ENTER), ACTION_NONE); /* no name yet */
    CHECK_INT(view.prompt, PROMPT_NAME);
    type("ppo-world-wide-5m_1");
    screen("start-taken-80x24", 80, 24);
    CHECK_INT(press(PRESS_ENTER), ACTION_NONE);
    CHECK_INT(view.prompt, PROMPT_NAME);
    press('U' & 0x1f);
    type("ppo q");
    press(PRESS_BACKSPACE);
    CHECK_STR(view.typed, "ppo"); /* a blank is not typed */
    screen("start-name-40x10", 40, 10);
    type("01234567890123456789012345678901234567890123456789");
    CHECK_INT(strlen(view.typed), 39); /* what is too long is not cut to a name: it is refused */
    CHECK_INT(press(PRESS_ENTER), ACTION_NONE);
    CHECK_INT(view.prompt, PROMPT_NAME);
    CHECK_INT(press(PRESS_ESCAPE), ACTION_NONE);
    CHECK_INT(view.prompt, PROMPT_NONE);
    press('s');
    CHECK_STR(view.typed, "");
    type("mine");
    CHECK_INT(press(PRESS_ENTER), ACTION_FORM);
    CHECK(view.page && !view.page->restart && view.page->mode == FORM_WAITS);
    CHECK_STR(view.page->name, "mine");
    screen("form-waits-80x24", 80, 24);
    CHECK_INT(type("sc?1"), ACTION_NONE); /* there is nothing to do it to */
    CHECK_INT(press('q'), ACTION_NONE);
    CHECK(view.page == NULL);
}

static void check_form(void)
{
    begin(false);
    choose("ppo-world-wide-5m_2");
    CHECK_INT(press('r'), ACTION_FORM);
    CHECK(view.page && view.page->restart);
    CHECK_INT(tui_form_page_fill(view.page, text), 0);
    struct form_page *page = view.page;
    CHECK_INT(page->row, 2); /* the first that can be changed */
    screen("form-80x24", 80, 24);
    screen("form-40x10", 40, 10);
    screen("form-120x40", 120, 40);
    type("jjjj");
    CHECK_INT(page->row, 8); /* over what is not shown: a heading */
    press(PRESS_ENTER);
    CHECK_INT(page->mode, FORM_ROWS);
    CHECK(page->words[0]);
    press('j');
    press(PRESS_ENTER);
    CHECK_INT(page->mode, FORM_EDITS);
    press(PRESS_BACKSPACE);
    press(PRESS_LEFT);
    type("9"); /* 0.0090 */
    screen("form-editing-80x24", 80, 24);
    press(PRESS_ESCAPE);
    CHECK_INT(tui_form_changes(&page->form), 0);
    press(PRESS_ENTER);
    press('U' & 0x1f);
    type("1e-4 ;x");
    press(PRESS_ENTER); /* not taken: it would be a comment */
    CHECK_INT(page->mode, FORM_EDITS);
    CHECK(page->words[0]);
    press(PRESS_BACKSPACE);
    press(PRESS_BACKSPACE);
    press(PRESS_BACKSPACE);
    press(PRESS_ENTER);
    CHECK_INT(tui_form_changes(&page->form), 1);
    press(PRESS_END);
    press('k');
    press(PRESS_ENTER); /* looked at, not changed: what stands there is not what is shown */
    press(PRESS_ENTER);
    CHECK_INT(tui_form_changes(&page->form), 1);
    CHECK_INT(press('c'), ACTION_FORM_CHECK);
    CHECK_INT(press(PRESS_F5), ACTION_FORM_CHECK);

    tui_form_keep_lines(&page->form);
    tui_form_errors_begin(&page->form);
    tui_form_error(&page->form, 4, "training", "total_steps", "5000000: more than 5000000 is right");
    tui_form_error(&page->form, 12, "", "",
                   "KEY = VALUE or [SECTION] is needed, as the example of every key has it");
    tui_form_error(&page->form, 0, "", "", "bars are needed: none of \033[1mBTCUSDT\n is there");
    screen("form-errors-80x24", 80, 24);
    screen("form-errors-40x10", 40, 10);
    press('w');
    screen("form-whole-40x10", 40, 10);
    press(PRESS_ESCAPE);
    CHECK(view.page == page && !view.whole);
    CHECK_INT(press('s'), ACTION_NONE);
    CHECK_STR(page->words, "the check found 3 errors: `n` goes to the next, `c` checks again");
    press('n');
    CHECK_INT(page->row, 3);
    press('n');
    CHECK_INT(page->row, 11);
    press('d');
    CHECK_INT(tui_form_changes(&page->form), 2);
    press(PRESS_ENTER); /* not while it is left out */
    CHECK_INT(page->mode, FORM_ROWS);
    type("a");
    CHECK_INT(page->mode, FORM_ADDS);
    screen("form-adding-80x24", 80, 24);
    screen("form-adding-40x10", 40, 10);
    type("serve.");
    press(PRESS_DOWN);
    screen("form-filtered-80x24", 80, 24);
    press(PRESS_ENTER);
    CHECK_INT(page->mode, FORM_EDITS);
    press(PRESS_ESCAPE);
    CHECK_INT(tui_form_changes(&page->form), 3);
    screen("form-changed-80x24", 80, 24);
    press('d'); /* one that was added goes */
    CHECK_INT(tui_form_changes(&page->form), 2);
    press('?');
    CHECK(view.help);
    screen("form-help-80x24", 80, 24);
    CHECK_INT(press('q'), ACTION_NONE); /* closes the help, and nothing else */
    CHECK(!view.help && view.page == page);
    CHECK_INT(tui_keys_press(&view, model, 39, 9, now, 'q'), ACTION_NONE); /* changes are not lost unseen */
    CHECK(view.page == page);

    CHECK_INT(press('s'), ACTION_NONE);
    CHECK_INT(view.prompt, PROMPT_RESTART);
    screen("restart-80x24", 80, 24);
    CHECK_INT(press('n'), ACTION_NONE);
    model->source = MODEL_DATABASE; /* no daemon to ask: the list that is left says nothing about it */
    CHECK_INT(press('s'), ACTION_NONE);
    CHECK_INT(view.prompt, PROMPT_NONE);
    CHECK_STR(view.words, "no daemon is listening");
    model->source = MODEL_DAEMON;
    press('s');
    model->source = MODEL_DATABASE;
    CHECK_INT(press('y'), ACTION_NONE);
    CHECK_STR(view.words, "no daemon is listening");
    model->source = MODEL_DAEMON;
    press(PRESS_F12);
    CHECK_INT(press('y'), ACTION_FORM_SEND);
    CHECK(view.page == page); /* until it is done */
    press(PRESS_ESCAPE);
    CHECK_INT(view.prompt, PROMPT_LEAVE);
    screen("leave-80x24", 80, 24);
    press('n');
    CHECK(view.page == page);
    press('q');
    CHECK_INT(press('y'), ACTION_NONE);
    CHECK(view.page == NULL);
}

/* No crash and no control character, at any size and in any mode. */
static void check_every_size(void)
{
    begin(false);
    choose("ppo-world-wide-5m_2");
    press('r');
    CHECK_INT(tui_form_page_fill(view.page, text), 0);
    tui_form_keep_lines(&view.page->form);
    tui_form_errors_begin(&view.page->form);
    tui_form_error(&view.page->form, 4, "", "", "wrong");
    for (int width = 1; width < 220; width += 9)
        for (int height = 1; height < 70; height += 4) {
            view.page->mode = (enum form_mode)((width + height) % (FORM_ADDS + 1));
            view.prompt = (enum prompt)(width % 2 ? (width + height) % PROMPTS : PROMPT_NONE);
            view.page->row = (size_t)(width * height) % (view.page->form.n + 1);
            char *picture = picture_draw(model, &view, now, width, height, (enum glyphs)(width % 3));
            CHECK(picture && picture_safe("every size", picture, width, height));
            free(picture);
        }
}

int main(int argc, char **argv)
{
    if (argc != 2 || !setlocale(LC_CTYPE, "C.UTF-8"))
        return argc != 2 ? EXIT_FAILURE : CHECK_SKIP;
    golden = argv[1];
    json_t *status = json_loads(fixture_status, 0, NULL), *trainings = json_loads(fixture_trainings, 0, NULL);
    model = tui_model_create(1000);
    CHECK_INT(json_object_update(status, trainings), 0);
    CHECK_INT(tui_model_take_status(model, status, now), 0);
    json_decref(status);
    json_decref(trainings);
    check_help_words();
    check_trainings();
    check_policies();
    check_names();
    check_form();
    check_every_size();
    check_baseline();
    tui_view_finish(&view);
    tui_model_destroy(model);
    return check_done("tui/train_keys");
}
