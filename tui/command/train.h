/* `papertape train list|start|stop|resume|restart|check|log`: trainings, through the daemon. */
#ifndef TUI_COMMAND_TRAIN_H
#define TUI_COMMAND_TRAIN_H

int command_train(int argc, char **argv);

#endif
