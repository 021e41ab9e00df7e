/* Recurrences side by side: lane l is task l. Each task runs alone until all have their first output and the
 * outputs' lines begin; then W bars of W tasks are transposed into W vectors of a bar each, computed in
 * order, and transposed back; where the shortest ends, each continues alone. */
#include "indicators_gpu/exact/walks.h"
#include "indicators_gpu/fast/simd.h"
#include "indicators_gpu/step/recurrence.h"

/* From so many bars on columns exceed the cache anyway: outputs are written past it. */
enum { STREAM_FROM = 1 << 18 };

/* The bars that all lanes walk together: [begin, end), a multiple of W of them. */
struct span {
    size_t begin, end;
    bool stream; /* all outputs begin on cache lines there */
};

static bool on_lines(const struct exact_task *task, size_t begin)
{
    for (size_t k = 0; k < task->spec->row->n_outputs; k++)
        if ((uintptr_t)(task->out[k] + begin) % VEC_BYTES != 0)
            return false;
    return true;
}

static struct span span_of(const struct exact_task *tasks, size_t n)
{
    struct span span = {0, SIZE_MAX, false};
    for (size_t l = 0; l < n; l++) {
        size_t first = indicator_lookback(tasks[l].spec) + 1;
        first = first > tasks[l].done ? first - tasks[l].done : 0;
        span.begin = first > span.begin ? first : span.begin;
        span.end = tasks[l].n < span.end ? tasks[l].n : span.end;
    }
    while ((uintptr_t)(tasks[0].out[0] + span.begin) % VEC_BYTES != 0)
        span.begin++;
    if (span.end < span.begin)
        span.end = span.begin;
    span.end = span.begin + (span.end - span.begin) / W * W;
    span.stream = span.end - span.begin >= STREAM_FROM;
    for (size_t l = 0; l < n; l++)
        span.stream = span.stream && on_lines(&tasks[l], span.begin);
    return span;
}

static bool has_started(const struct exact_task *task)
{
    return task->memory && task->memory->started;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* W bars of each lane's column, a vector a bar. Lanes beyond the tasks repeat the first. */
static inline void gather(vec rows[W], const double *const columns[W], size_t i)
{
    for (int l = 0; l < W; l++)
        rows[l] = vec_load(columns[l] + i);
    vec_transpose(rows);
}

static inline void scatter(vec rows[W], const struct exact_task *tasks, size_t n, int output, size_t i,
                           bool stream)
{
    vec_transpose(rows);
    for (size_t l = 0; l < n; l++)
        vec_put(tasks[l].out[output] + i, rows[l], stream);
}

/* A store fence, before another thread may read non-temporal stores. */
static inline void settle(bool stream)
{
#if defined(__SSE2__)
    if (stream)
        _mm_sfence();
#else
    (void)stream;
#endif
}

#define LANES(to, l, value) \
    for (size_t l = 0; l < W; l++) \
    (to)[l] = (value)

static inline vec next_ema(vec y, vec x, vec k)
{
    return y + k * (x - y);
}

static inline vec next_wilder(vec y, vec x, vec period)
{
    return (y * (period - 1.0) + x) / period;
}

/* ---- ema ---- */

static void ema_alone(const struct exact_task *task, struct ema_state *s, size_t from, size_t to)
{
    for (size_t i = from; i < least(to, task->n); i++)
        if (ema_step(s, task->in.close[i]))
            task->out[0][i] = s->value;
}

static void ema(const struct exact_task *tasks, size_t n)
{
    struct span span = span_of(tasks, n);
    struct ema_state states[W];
    const double *closes[W];
    vec k, y;
    for (size_t l = 0; l < n; l++) {
        if (has_started(&tasks[l]))
            states[l] = tasks[l].memory->ema;
        else
            ema_start(&states[l], tasks[l].spec->options[0]);
        ema_alone(&tasks[l], &states[l], 0, span.begin);
    }
    LANES(closes, l, tasks[l < n ? l : 0].in.close);
    LANES(k, l, states[l < n ? l : 0].k);
    LANES(y, l, states[l < n ? l : 0].value);
    for (size_t i = span.begin; i < span.end; i += W) {
        vec rows[W];
        gather(rows, closes, i);
        for (int r = 0; r < W; r++)
            rows[r] = y = next_ema(y, rows[r], k);
        scatter(rows, tasks, n, 0, i, span.stream);
    }
    settle(span.stream);
    for (size_t l = 0; l < n; l++) {
        states[l].value = y[l];
        ema_alone(&tasks[l], &states[l], span.end, SIZE_MAX);
        if (tasks[l].memory) {
            tasks[l].memory->started = true;
            tasks[l].memory->ema = states[l];
        }
    }
}

/* ---- macd ---- */

static void macd_alone(const struct exact_task *task, struct macd_state *s, size_t from, size_t to)
{
    struct macd_values values;
    for (size_t i = from; i < least(to, task->n); i++)
        if (macd_step(s, task->in.close[i], &values)) {
            task->out[0][i] = values.macd;
            task->out[1][i] = values.signal;
            task->out[2][i] = values.hist;
        }
}

static void macd(const struct exact_task *tasks, size_t n)
{
    struct span span = span_of(tasks, n);
    struct macd_state states[W];
    const double *closes[W];
    vec fast_k, slow_k, signal_k, fast, slow, signal;
    for (size_t l = 0; l < n; l++) {
        const double *options = tasks[l].spec->options;
        if (has_started(&tasks[l]))
            states[l] = tasks[l].memory->macd;
        else
            macd_start(&states[l], options[0], options[1], options[2]);
        macd_alone(&tasks[l], &states[l], 0, span.begin);
    }
    LANES(closes, l, tasks[l < n ? l : 0].in.close);
    LANES(fast_k, l, states[l < n ? l : 0].fast.k);
    LANES(slow_k, l, states[l < n ? l : 0].slow.k);
    LANES(signal_k, l, states[l < n ? l : 0].signal.k);
    LANES(fast, l, states[l < n ? l : 0].fast.value);
    LANES(slow, l, states[l < n ? l : 0].slow.value);
    LANES(signal, l, states[l < n ? l : 0].signal.value);
    for (size_t i = span.begin; i < span.end; i += W) {
        vec rows[W], signals[W], hists[W];
        gather(rows, closes, i);
        for (int r = 0; r < W; r++) {
            fast = next_ema(fast, rows[r], fast_k);
            slow = next_ema(slow, rows[r], slow_k);
            rows[r] = fast - slow;
            signals[r] = signal = next_ema(signal, rows[r], signal_k);
            hists[r] = rows[r] - signal;
        }
        scatter(rows, tasks, n, 0, i, span.stream);
        scatter(signals, tasks, n, 1, i, span.stream);
        scatter(hists, tasks, n, 2, i, span.stream);
    }
    settle(span.stream);
    for (size_t l = 0; l < n; l++) {
        states[l].fast.value = fast[l];
        states[l].slow.value = slow[l];
        states[l].signal.value = signal[l];
        macd_alone(&tasks[l], &states[l], span.end, SIZE_MAX);
        if (tasks[l].memory) {
            tasks[l].memory->started = true;
            tasks[l].memory->macd = states[l];
        }
    }
}

/* ---- rsi ---- */

static void rsi_alone(const struct exact_task *task, struct rsi_state *s, size_t from, size_t to)
{
    double value;
    for (size_t i = from; i < least(to, task->n); i++)
        if (rsi_step(s, task->in.close[i], &value))
            task->out[0][i] = value;
}

static void rsi(const struct exact_task *tasks, size_t n)
{
    const vec zero = vec_all(0.0), hundred = vec_all(100.0), faded = vec_all(AVERAGE_FADED);
    struct span span = span_of(tasks, n);
    struct rsi_state states[W];
    const double *closes[W];
    vec period, before, gain, loss;
    for (size_t l = 0; l < n; l++) {
        if (has_started(&tasks[l]))
            states[l] = tasks[l].memory->rsi;
        else
            rsi_start(&states[l], tasks[l].spec->options[0]);
        rsi_alone(&tasks[l], &states[l], 0, span.begin);
    }
    LANES(closes, l, tasks[l < n ? l : 0].in.close);
    LANES(period, l, states[l < n ? l : 0].period);
    LANES(before, l, states[l < n ? l : 0].before);
    LANES(gain, l, states[l < n ? l : 0].gain);
    LANES(loss, l, states[l < n ? l : 0].loss);
    for (size_t i = span.begin; i < span.end; i += W) {
        vec rows[W];
        gather(rows, closes, i);
        for (int r = 0; r < W; r++) {
            vec change = rows[r] - before;
            before = rows[r];
            gain = next_wilder(gain, vec_max(change, zero), period);
            loss = next_wilder(loss, vec_max(-change, zero), period);
            vec sum = gain + loss;
            rows[r] = vec_select(vec_gt(faded, sum), zero, hundred * (gain / sum));
        }
        scatter(rows, tasks, n, 0, i, span.stream);
    }
    settle(span.stream);
    for (size_t l = 0; l < n; l++) {
        states[l].before = before[l];
        states[l].gain = gain[l];
        states[l].loss = loss[l];
        rsi_alone(&tasks[l], &states[l], span.end, SIZE_MAX);
        if (tasks[l].memory) {
            tasks[l].memory->started = true;
            tasks[l].memory->rsi = states[l];
        }
    }
}

/* ---- atr ---- */

static void atr_alone(const struct exact_task *task, struct atr_state *s, size_t from, size_t to)
{
    const struct indicator_columns *in = &task->in;
    double value;
    for (size_t i = from; i < least(to, task->n); i++)
        if (atr_step(s, in->high[i], in->low[i], in->close[i], &value))
            task->out[0][i] = value;
}

static inline vec range_of(vec high, vec low, vec before)
{
    vec range = high - low;
    range = vec_max(vec_abs(high - before), range);
    return vec_max(vec_abs(low - before), range);
}

static void atr(const struct exact_task *tasks, size_t n)
{
    struct span span = span_of(tasks, n);
    struct atr_state states[W];
    const double *highs[W], *lows[W], *closes[W];
    vec period, before, value;
    for (size_t l = 0; l < n; l++) {
        if (has_started(&tasks[l]))
            states[l] = tasks[l].memory->atr;
        else
            atr_start(&states[l], tasks[l].spec->options[0]);
        atr_alone(&tasks[l], &states[l], 0, span.begin);
    }
    LANES(highs, l, tasks[l < n ? l : 0].in.high);
    LANES(lows, l, tasks[l < n ? l : 0].in.low);
    LANES(closes, l, tasks[l < n ? l : 0].in.close);
    LANES(period, l, states[l < n ? l : 0].period);
    LANES(before, l, states[l < n ? l : 0].before);
    LANES(value, l, states[l < n ? l : 0].value);
    for (size_t i = span.begin; i < span.end; i += W) {
        vec high[W], low[W], close[W];
        gather(high, highs, i);
        gather(low, lows, i);
        gather(close, closes, i);
        for (int r = 0; r < W; r++) {
            high[r] = value = next_wilder(value, range_of(high[r], low[r], before), period);
            before = close[r];
        }
        scatter(high, tasks, n, 0, i, span.stream);
    }
    settle(span.stream);
    for (size_t l = 0; l < n; l++) {
        states[l].before = before[l];
        states[l].value = value[l];
        atr_alone(&tasks[l], &states[l], span.end, SIZE_MAX);
        if (tasks[l].memory) {
            tasks[l].memory->started = true;
            tasks[l].memory->atr = states[l];
        }
    }
}

/* ---- sma ---- */

enum { SUMS = 8 }; /* enough independent sums to hide an addition's latency */

/* A lane is a bar here, and SUMS vectors of bars are summed side by side. */
static void sma(const struct exact_task *tasks, size_t n)
{
    (void)n;
    const double *x = tasks->in.close, of = tasks->spec->options[0];
    size_t period = (size_t)of, i = period - 1 > tasks->done ? period - 1 - tasks->done : 0;
    const double *oldest = x + i - (period - 1); /* of bar i's window */
    double *mean = tasks->out[0];
    for (; i < tasks->n; i++, oldest++) {
        if (i + SUMS * W <= tasks->n && (uintptr_t)(mean + i) % VEC_BYTES == 0)
            break;
        double sum = 0.0;
        for (size_t j = 0; j < period; j++)
            sum += oldest[j];
        mean[i] = sum / of;
    }
    for (; i + SUMS * W <= tasks->n; i += SUMS * W, oldest += SUMS * W) {
        vec sum[SUMS];
        for (int s = 0; s < SUMS; s++)
            sum[s] = vec_all(0.0);
        for (size_t j = 0; j < period; j++)
            for (int s = 0; s < SUMS; s++)
                sum[s] += vec_load(oldest + j + s * W);
        for (int s = 0; s < SUMS; s++)
            vec_store(mean + i + s * W, sum[s] / of);
    }
    for (; i < tasks->n; i++, oldest++) {
        double sum = 0.0;
        for (size_t j = 0; j < period; j++)
            sum += oldest[j];
        mean[i] = sum / of;
    }
}

extern const struct exact_set FAST(exact_set);
const struct exact_set FAST(exact_set) = {W, ema, macd, rsi, atr, sma};
