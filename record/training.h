/* Trainings and policies, field by field: db/row.h describes each. */
#ifndef RECORD_TRAINING_H
#define RECORD_TRAINING_H

#include "record/field.h"

#define RECORD_TRAINING(FIRST, NEXT) \
    FIRST(name, "name", "name", STRING, FIXED, REQUIRED, NULL) \
    NEXT(state, "state", "state", STRING, CHANGES, REQUIRED, NULL) \
    NEXT(reason, "reason", "reason", STRING, CHANGES, REQUIRED, NULL) \
    NEXT(cause, "cause", "cause", STRING, CHANGES, REQUIRED, NULL) \
    NEXT(priority, "priority", "priority", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(device, "device", "device", STRING, CHANGES, REQUIRED, NULL) \
    NEXT(backend, "backend", "backend", STRING, CHANGES, REQUIRED, NULL) \
    NEXT(config, "config", "config", STRING, CHANGES, REQUIRED, NULL) \
    NEXT(steps, "steps", "steps", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(total_steps, "total_steps", "total_steps", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(iteration, "iteration", "iteration", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(attempts, "attempts", "attempts", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(steps_s, "steps_s", "steps_s", REAL, CHANGES, NULLABLE, NULL) \
    NEXT(episode_return, "return", "return", REAL, CHANGES, NULLABLE, NULL) \
    NEXT(memory_bytes, "memory_bytes", "memory_bytes", SIGNED, CHANGES, UNKNOWN, NULL) \
    NEXT(cpu_s, "cpu_s", "cpu_s", REAL, CHANGES, NULLABLE, NULL) \
    NEXT(checkpoint, "checkpoint", "checkpoint", STRING, CHANGES, REQUIRED, NULL) \
    NEXT(policy, "policy", "policy", STRING, CHANGES, REQUIRED, NULL) \
    NEXT(created_ns, "created_ns", "created_ns", TIME, CHANGES, REQUIRED, NULL) \
    NEXT(started_ns, "started_ns", "started_ns", TIME, CHANGES, REQUIRED, NULL) \
    NEXT(ended_ns, "ended_ns", "ended_ns", TIME, CHANGES, REQUIRED, NULL) \
    NEXT(heard_ns, "heard_ns", "heard_ns", TIME, CHANGES, REQUIRED, NULL) \
    NEXT(seq, "seq", "seq", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(verdict, "verdict", "verdict", STRING, CHANGES, REQUIRED, NULL) \
    NEXT(verdict_text, "verdict_text", "verdict_text", STRING, CHANGES, REQUIRED, NULL)

/* By name in the worker's events, as an evaluation. */
#define RECORD_TRAINING_POINT(FIRST, NEXT) \
    FIRST(training, "training", "training", STRING, FIXED, REQUIRED, NULL) \
    NEXT(steps, "steps", "steps", SIGNED, FIXED, REQUIRED, NULL) \
    NEXT(iteration, "iteration", "iteration", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(ts_ns, "ts_ns", "ts_ns", TIME, CHANGES, REQUIRED, NULL) \
    NEXT(steps_s, "steps_s", "steps_per_second", REAL, CHANGES, NULLABLE, NULL) \
    NEXT(episode_return, "return", "episode_return", REAL, CHANGES, NULLABLE, NULL) \
    NEXT(reward, "reward", "reward", REAL, CHANGES, NULLABLE, NULL) \
    NEXT(policy_loss, "policy_loss", "policy_loss", REAL, CHANGES, NULLABLE, NULL) \
    NEXT(value_loss, "value_loss", "value_loss", REAL, CHANGES, NULLABLE, NULL) \
    NEXT(entropy_loss, "entropy_loss", "entropy_loss", REAL, CHANGES, NULLABLE, NULL) \
    NEXT(loss, "loss", "loss", REAL, CHANGES, NULLABLE, NULL) \
    NEXT(kl, "kl", "kl", REAL, CHANGES, NULLABLE, NULL) \
    NEXT(clip_fraction, "clip_fraction", "clip_fraction", REAL, CHANGES, NULLABLE, NULL) \
    NEXT(explained_variance, "explained_variance", "explained_variance", REAL, CHANGES, NULLABLE, NULL) \
    NEXT(grad_norm, "grad_norm", "grad_norm", REAL, CHANGES, NULLABLE, NULL) \
    NEXT(learning_rate, "learning_rate", "learning_rate", REAL, CHANGES, NULLABLE, NULL) \
    NEXT(std, "std", "std", REAL, CHANGES, NULLABLE, NULL) \
    NEXT(rollout_s, "rollout_s", "rollout_seconds", REAL, CHANGES, NULLABLE, NULL) \
    NEXT(advantages_s, "advantages_s", "advantages_seconds", REAL, CHANGES, NULLABLE, NULL) \
    NEXT(update_s, "update_s", "update_seconds", REAL, CHANGES, NULLABLE, NULL) \
    NEXT(device_utilisation, "device_utilisation", "device_utilisation", REAL, CHANGES, NULLABLE, NULL) \
    NEXT(cpu_utilisation, "cpu_utilisation", "cpu_utilisation", REAL, CHANGES, NULLABLE, NULL) \
    NEXT(memory_bytes, "memory_bytes", "peak_rss_bytes", REAL, CHANGES, NULLABLE, NULL) \
    NEXT(learner_bytes, "learner_bytes", "learner_bytes", REAL, CHANGES, NULLABLE, NULL)

#define RECORD_TRAINING_EVALUATION(FIRST, NEXT) \
    FIRST(training, "training", "training", STRING, FIXED, REQUIRED, NULL) \
    NEXT(steps, "steps", "steps", SIGNED, FIXED, REQUIRED, NULL) \
    NEXT(ts_ns, "ts_ns", "ts_ns", TIME, CHANGES, REQUIRED, NULL) \
    NEXT(reward, "reward", "reward", REAL, CHANGES, NULLABLE, NULL) \
    NEXT(total_return, "return", "return", REAL, CHANGES, NULLABLE, NULL) \
    NEXT(benchmark_return, "benchmark_return", "benchmark_return", REAL, CHANGES, NULLABLE, NULL) \
    NEXT(drawdown, "drawdown", "drawdown", REAL, CHANGES, NULLABLE, NULL)

#define RECORD_TRAINING_STATE(FIRST, NEXT) \
    FIRST(training, "training", "training", STRING, FIXED, REQUIRED, NULL) \
    NEXT(ts_ns, "ts_ns", "ts_ns", TIME, FIXED, REQUIRED, NULL) \
    NEXT(state, "state", "state", STRING, CHANGES, REQUIRED, NULL) \
    NEXT(utilisation, "utilisation", "utilisation", REAL, CHANGES, NULLABLE, NULL)

#define RECORD_POLICY(FIRST, NEXT) \
    FIRST(name, "name", "name", STRING, FIXED, REQUIRED, NULL) \
    NEXT(role, "role", "role", WORD, CHANGES, REQUIRED, &db_words_policy_role) \
    NEXT(account, "account", "account", STRING, CHANGES, REQUIRED, NULL) \
    NEXT(id, "policy", "policy", HASH, CHANGES, REQUIRED, NULL) \
    NEXT(training, "training", "training", STRING, CHANGES, REQUIRED, NULL) \
    NEXT(path, "path", "path", STRING, CHANGES, REQUIRED, NULL) \
    NEXT(since_ns, "since_ns", "since_ns", TIME, CHANGES, REQUIRED, NULL) \
    NEXT(reason, "reason", "reason", STRING, CHANGES, REQUIRED, NULL) \
    NEXT(proposal, "proposal", "proposal", STRING, CHANGES, REQUIRED, NULL) \
    NEXT(judged_ns, "judged_ns", "judged_ns", TIME, CHANGES, REQUIRED, NULL) \
    NEXT(expires_ns, "expires_ns", "expires_ns", TIME, CHANGES, REQUIRED, NULL)

#define RECORD_ORDER_POLICY(FIRST, NEXT) \
    FIRST(order_id, "order_id", "order_id", UNSIGNED, FIXED, REQUIRED, NULL) \
    NEXT(id, "policy", "policy", HASH, CHANGES, REQUIRED, NULL) \
    NEXT(backend, "backend", "backend", STRING, CHANGES, REQUIRED, NULL)

#endif
