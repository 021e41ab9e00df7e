/* Lines of the command line: what their verbs request is sent as every command is, and what the verbs say of
 * the answer is its outcome. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ask.h"
#include "cli/text.h"
#include "exchange/exit_status.h"
#include "tui/collect.h"
#include "tui/command_line.h"

int64_t tui_collector_line(struct collector *collector, struct view *view, const char *text,
                           struct moment now)
{
    char said[CANVAS_SIDE_MAX], verb[COMMAND_WORD_MAX], words[VIEW_BARRED_MAX];
    struct ask_line asking;
    int status = tui_command_line_request(text, &asking, said, sizeof(said), verb);
    bool acts = status == ASK_LINE_FIRST || tui_command_line_acts(text);
    const char *why = acts ? tui_view_barred(view, collector->model, words) : NULL;
    if (!why && status != ASK_LINE_FIRST)
        why = said;
    if (why) {
        json_decref(asking.args);
        tui_view_report(view, OUTCOME_REFUSED, verb, why, now);
        return 0;
    }
    bool pending = collector->command_id != 0;
    tui_collector_command(collector, view, asking.cmd, asking.args, now);
    if (pending || !collector->command_id)
        return 0;
    free(collector->line);
    collector->line = strdup(text);
    return collector->command_id;
}

enum outcome tui_collector_line_outcome(const char *text, const json_t *reply, char *words, size_t size)
{
    char verb[COMMAND_WORD_MAX], *printed = NULL;
    struct ask_line asking = {.reply = reply};
    size_t length;
    FILE *out = open_memstream(&printed, &length);

    if (!out) {
        snprintf(words, size, "out of memory: it was answered");
        return OUTCOME_UNANSWERED;
    }
    int status = tui_command_line_run(text, out, &asking, words, size, verb);
    if (fclose(out) == 0 && printed[0])
        cli_text_one_line(words, size, printed);
    free(printed);
    return status == EXIT_OK ? OUTCOME_DONE : OUTCOME_REFUSED;
}
