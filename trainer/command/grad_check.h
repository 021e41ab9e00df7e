/* `papertape-trainer grad-check --widths W,W --obs N --actions N --batch N --seed N --out F.safetensors`: one
 * batch, its loss and all gradients in float64, in a file, for whoever wants to reckon them again. */
#ifndef TRAINER_COMMAND_GRAD_CHECK_H
#define TRAINER_COMMAND_GRAD_CHECK_H

/* argv[0] is the verb. An exit status: 0 done, 1 an error, 2 a wrong command line. */
int trainer_command_grad_check(int argc, char **argv);

#endif
