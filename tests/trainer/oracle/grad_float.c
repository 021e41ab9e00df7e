/* The float32 networks, loss and gradients against the float64 ones of grad-check's files:
 *
 *     grad-float F.safetensors... */
#include "tests/check.h"
#include "tests/trainer/oracle/grad_file.h"

/* Of each tensor's largest magnitude. A single number may be a sum whose terms cancel, of which float32 keeps
 * what the terms leave: a gradient of one number is measured by the largest of all gradients, the losses by
 * 1, the deviation of normalised advantages, where they are smaller. */
static const double tolerance = 1e-5;

struct worst {
    double share;
    const char *name;
};

static void compare(const char *path, const char *name, const float *ours, const float *theirs, size_t n,
                    double least, struct worst *worst)
{
    double largest = least, apart = 0;
    for (size_t i = 0; i < n; i++) {
        double difference = fabs((double)ours[i] - (double)theirs[i]);
        largest = fmax(largest, fabs((double)theirs[i]));
        apart = difference <= apart ? apart : difference; /* a NaN stays */
    }
    check_count++;
    if (!(apart <= tolerance * largest)) {
        check_failures++;
        fprintf(stderr, "%s: %s: differs by %g, the largest magnitude is %g\n", path, name, apart, largest);
    }
    if (largest > 0 && apart / largest > worst->share)
        *worst = (struct worst){apart / largest, name};
}

static void compare_result(const struct grad_file *file, const char *path, const char *name,
                           const float *ours, size_t n, struct worst *worst)
{
    float *theirs = grad_file_tensor(file, name, n);
    compare(path, name, ours, theirs, n, n == 1 ? 1 : 0, worst);
    free(theirs);
}

static void compare_terms(const struct grad_file *file, const char *path, const struct nn_terms *terms,
                          struct worst *worst)
{
    const float policy = (float)terms->policy, value = (float)terms->value;
    const float entropy = (float)terms->entropy, loss = (float)terms->loss;
    compare_result(file, path, "policy_loss", &policy, 1, worst);
    compare_result(file, path, "value_loss", &value, 1, worst);
    compare_result(file, path, "entropy_loss", &entropy, 1, worst);
    compare_result(file, path, "loss", &loss, 1, worst);
}

static void compare_grads(const struct grad_file *file, const char *path, const float *grads,
                          struct worst *worst)
{
    float *theirs = grad_file_params(file, "grad.");
    double largest = 0;
    for (size_t i = 0; i < file->layout.n_params; i++)
        largest = fmax(largest, fabs((double)theirs[i]));
    for (int t = 0; t < file->layout.n_tensors; t++) {
        const struct net_tensor *tensor = &file->layout.tensors[t];
        size_t n = (size_t)tensor->rows_padded * (size_t)tensor->stride; /* the padding is 0 in both */
        bool single = tensor->rows * tensor->cols == 1;
        compare(path, tensor->name, grads + tensor->offset, theirs + tensor->offset, n, single ? largest : 0,
                worst);
    }
    free(theirs);
}

static void check_file(const char *path)
{
    struct grad_file file;
    struct grad_rows rows;
    struct nn_work_f32 *work;
    struct nn_sums sums;
    struct worst worst = {0, "none"};
    grad_file_open(path, &file);
    grad_file_rows(&file, &rows);
    const size_t heads = file.rows * (size_t)file.layout.outputs;
    float *params = grad_file_params(&file, ""), *grads = calloc(file.layout.n_params, sizeof *grads);
    float *results = calloc(heads + 2 * file.rows, sizeof *results);
    int r = grads && results ? nn_work_create_f32(&file.layout, file.rows, true, &work) : -1;
    CHECK_INT(r, 0);
    if (r != 0)
        exit(EXIT_FAILURE);
    memset(grads, 0x7f, file.layout.n_params * sizeof *grads);
    nn_loss_f32(work, params, &file.loss, &rows.rows, &rows.sample, &sums);
    struct nn_terms terms = nn_terms_of(&file.loss, &sums);
    nn_backward_f32(work, params, &terms, grads);
    nn_results_f32(work, results, results + heads, results + heads + file.rows);
    compare_result(&file, path, file.layout.shape.levels ? "logits" : "mean", results, heads, &worst);
    compare_result(&file, path, "values", results + heads, file.rows, &worst);
    compare_result(&file, path, "logp", results + heads + file.rows, file.rows, &worst);
    compare_terms(&file, path, &terms, &worst);
    compare_grads(&file, path, grads, &worst);
    const char *name = strrchr(path, '/');
    printf("float32: %s: largest difference %.1e (%s)\n", name ? name + 1 : path, worst.share, worst.name);
    nn_work_destroy_f32(work);
    free(params);
    free(grads);
    free(results);
    grad_rows_free(&rows);
    grad_file_close(&file);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        check_file(argv[i]);
    CHECK(argc > 1);
    return check_done("grad_float");
}
