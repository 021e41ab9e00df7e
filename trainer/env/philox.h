/* What the trainer draws by strategy/philox.h. */
#ifndef TRAINER_ENV_PHILOX_H
#define TRAINER_ENV_PHILOX_H

#include "strategy/philox.h"

/* What the fourth counter word says a draw is for, in its highest byte, so that no two draws of one seed
 * share a counter. 0: an episode's beginning, trainer/env/begin.h. */
enum { PPO_DRAW_ACTION = 1, PPO_DRAW_SHUFFLE = 2, PPO_DRAW_WORLD = 3, PPO_DRAW_INIT = 4, STUDY_DRAW = 5 };

#endif
