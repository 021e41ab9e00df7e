#ifndef TUI_COMMAND_STUDY_H
#define TUI_COMMAND_STUDY_H

/* `papertape study list|show`. argv[0] is "study". Returns an exit status. */
int command_study(int argc, char **argv);

#endif
