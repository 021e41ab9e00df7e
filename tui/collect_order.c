/* What the form of an order shows: the venue's rules, from the database, and what the order would be, as the
 * daemon answers its dry run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ask.h"
#include "db/reader.h"
#include "tui/collect.h"
#include "tui/command_line.h"
#include "tui/history_reader.h"

enum { DRY_RUN_AGAIN_MS = 900 }; /* the market moves: asked again, at most so often */

static void read_rules(const struct collector *collector, struct order_form *form)
{
    const char *name = tui_order_form_symbol(form);
    struct db_symbol_row row;

    if (strcmp(form->rules.name, name) == 0 || !collector->reader)
        return;
    form->rules.name[0] = '\0';
    if (!name[0] || db_reader_symbol(collector->reader->db, name, &row) < 0)
        return;
    tui_order_form_take_rules(form, &row.symbol, tui_order_form_market(collector->model, &row.symbol));
}

static void take(struct order_form *form, const char *line, enum outcome outcome, const char *words,
                 struct moment now)
{
    struct order_answer *answer = &form->answer;

    answer->done = outcome == OUTCOME_DONE;
    answer->unanswered = outcome == OUTCOME_UNANSWERED;
    answer->mono_ms = now.mono_ms;
    snprintf(answer->line, sizeof(answer->line), "%s", line);
    snprintf(answer->words, sizeof(answer->words), "%s", words);
}

void tui_collector_order_form(struct collector *collector, struct view *view, struct moment now, bool again)
{
    struct order_form *form = view->order_form;
    char line[COMMAND_LINE_MAX], words[ORDER_ANSWER_MAX], text[COMMAND_LINE_MAX + 16], verb[COMMAND_WORD_MAX];
    struct ask_line asking;

    if (!form)
        return;
    read_rules(collector, form);
    tui_order_form_line(form, line);
    again &= now.mono_ms - form->answer.mono_ms >= DRY_RUN_AGAIN_MS;
    if (form->amends > 0 || collector->dry_id || (!again && strcmp(line, form->answer.line) == 0))
        return;
    snprintf(text, sizeof(text), "%s --dry-run", line);
    if (tui_command_line_request(text, &asking, words, sizeof(words), verb) != ASK_LINE_FIRST) {
        take(form, line, OUTCOME_REFUSED, words, now);
        return;
    }
    int64_t id = cli_control_send(&collector->control, asking.cmd, asking.args);
    if (id < 0) {
        take(form, line, OUTCOME_UNANSWERED, CLI_NO_DAEMON, now);
        return;
    }
    collector->dry_id = id;
    collector->dry_sent_ms = now.mono_ms;
    memcpy(collector->dry_line, line, sizeof(collector->dry_line));
}

bool tui_collector_order_reply(struct collector *collector, struct view *view, int64_t id,
                               const json_t *reply, struct moment now)
{
    char text[COMMAND_LINE_MAX + 16], words[ORDER_ANSWER_MAX];

    if (id != collector->dry_id)
        return false;
    collector->dry_id = 0;
    if (!view->order_form || view->order_form->amends > 0)
        return true;
    snprintf(text, sizeof(text), "%s --dry-run", collector->dry_line);
    enum outcome outcome = tui_collector_line_outcome(text, reply, words, sizeof(words));
    take(view->order_form, collector->dry_line, outcome, words, now);
    tui_collector_order_form(collector, view, now, false); /* of what was typed meanwhile */
    return true;
}

bool tui_collector_order_lost(struct collector *collector, struct view *view, bool hung_up, struct moment now)
{
    if (!collector->dry_id || (!hung_up && now.mono_ms - collector->dry_sent_ms < COMMAND_TIMEOUT_MS))
        return false;
    collector->dry_id = 0;
    if (view->order_form)
        take(view->order_form, collector->dry_line, OUTCOME_UNANSWERED,
             hung_up ? "the daemon hung up" : "the daemon does not answer", now);
    return true;
}

void tui_collector_order_send(struct collector *collector, struct view *view, struct moment now)
{
    char line[COMMAND_LINE_MAX];

    if (!view->order_form || !tui_order_form_line(view->order_form, line))
        return;
    view->order_form->sent_id = tui_collector_line(collector, view, line, now);
}
