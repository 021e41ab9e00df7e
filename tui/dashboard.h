/* The live screen, and what scripts get instead. */
#ifndef TUI_DASHBOARD_H
#define TUI_DASHBOARD_H

#include <stdbool.h>
#include <stdint.h>

#include "db/state.h"
#include "tui/canvas.h"
#include "tui/layout.h"
#include "tui/opened.h"
#include "tui/past.h"
#include "tui/settings.h"
#include "tui/theme.h"

struct dashboard_options {
    struct state_dir state;
    const char *studies; /* --studies; NULL: the state directory's */
    int64_t interval_ms;
    enum tab tab;
    const char *view;    /* --view: the saved view to begin with; NULL */
    struct past_want at; /* --at: the moment to begin with; without a jump: now */
    struct opened open;  /* the page to begin with */
    enum scheme scheme;
    enum glyphs glyphs;
    bool readonly;
    struct dashboard_settings settings; /* with what the command line set */
    const char *settings_words;         /* what is wrong in their file; "" */
};

/* Runs until the user quits or a signal ends it; the terminal is then restored. Returns an exit status; a
 * signal is raised again, so that the caller's parent sees it: a shell reports 128 and its number. */
int tui_dashboard_run(const struct dashboard_options *options);

/* The glyphs for the locale and terminal: ASCII outside UTF-8, blocks on the Linux console. */
enum glyphs tui_dashboard_glyphs(void);

#endif
