#ifndef TUI_VERB_STUDY_H
#define TUI_VERB_STUDY_H

/* `papertape study list|show`. argv[0] is "study". Returns an exit status. */
int tui_study(int argc, char **argv);

#endif
