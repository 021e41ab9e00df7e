/* `papertape policy list|show|promote|retire`: the arena, through the daemon. */
#ifndef TUI_COMMAND_POLICY_H
#define TUI_COMMAND_POLICY_H

int command_policy(int argc, char **argv);

#endif
