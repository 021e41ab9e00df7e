/* `papertape policy list|show|promote|retire`: the arena, through the daemon. */
#ifndef CLI_POLICY_H
#define CLI_POLICY_H

int cli_policy(int argc, char **argv);

#endif
