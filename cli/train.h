/* `papertape train list|start|stop|resume|restart|check|log`: trainings, through the daemon. */
#ifndef CLI_TRAIN_H
#define CLI_TRAIN_H

int cli_train(int argc, char **argv);

#endif
