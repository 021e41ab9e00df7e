"""The loss and its gradients in JAX on the CPU, in float64."""
import os

os.environ["JAX_PLATFORMS"] = "cpu"
# Each shape is run once: compiling it well takes ten times as long as running it.
os.environ["XLA_FLAGS"] = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
import jax
import numpy as np
import ppo_loss

jax.config.update("jax_enable_x64", True)


class Ops:
    tanh, exp, sqrt = jax.numpy.tanh, jax.numpy.exp, jax.numpy.sqrt
    maximum, minimum, clip = jax.numpy.maximum, jax.numpy.minimum, jax.numpy.clip
    arange, stack, sum = jax.numpy.arange, jax.numpy.stack, jax.numpy.sum

    @staticmethod
    def mean(x, axis):
        return jax.numpy.mean(x, axis, keepdims=True)

    @staticmethod
    def logsumexp(x, axis):
        return jax.nn.logsumexp(x, axis, keepdims=True)


def compiled(metadata):
    """params, batch -> ((loss, results), gradients)"""

    def total(params, batch):
        results = ppo_loss.loss(Ops, params, batch, metadata)
        return results["loss"], results

    return jax.jit(jax.value_and_grad(total, has_aux=True))


def evaluate(params, batch, metadata, run=None):
    """Results and gradients by name, NumPy's; `run`: what compiled() gave."""
    (_, results), grads = (run or compiled(metadata))(params, batch)
    return results, {name: np.asarray(grad) for name, grad in grads.items()}
