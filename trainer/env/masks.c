#include "trainer/env/scalar/masks.h"

#include "trainer/env/internal.h"

void env_masks(const struct env *env, uint8_t *ret)
{
    const struct env_view *view = &env->view;
    size_t size = env_masks_size(view);
    for (size_t e = 0; e < view->state.copies; e++)
        env_masks_copy(view, e, ret + e * size);
}
