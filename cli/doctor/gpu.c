/* The devices, as the daemon samples them, and whether the module can use the first. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/doctor/module.h"
#include "daemon/gpu/vendors.h"

static void report_device(const struct device_sample *device, struct doctor_results *results)
{
    cli_doctor_add(results, DOCTOR_OK, "%s, driver %s", device->name,
                   device->driver[0] ? device->driver : "n/a");
}

static const char *remedy_of(int r, bool wanted)
{
    if (r == -ENOEXEC)
        return "apt install --reinstall papertape-gpu";
    if (r == -ENOENT)
        return "apt install papertape-gpu; or [policies] inference = cpu";
    return wanted ? "nvidia-smi; or [policies] inference = cpu" : "nvidia-smi";
}

/* Without a device the module has nothing to use: no fault, unless one is asked for. */
static void report_module(const struct doctor *doctor, bool device, struct doctor_results *results)
{
    char reason[DOCTOR_TEXT_MAX];
    bool wanted = doctor->config_good && doctor->config->inference == INFERENCE_GPU;
    int r = cli_doctor_module(reason, sizeof reason);
    if (r == 0) {
        cli_doctor_add(results, DOCTOR_OK, "the GPU module uses %s", reason);
        return;
    }
    bool fault = wanted || (device && r != -ENOENT && r != -ENODEV);
    cli_doctor_add(results, fault ? DOCTOR_WARNING : DOCTOR_OK, "the CPU does the work: %s", reason);
    if (fault)
        cli_doctor_remedy(results, "%s", remedy_of(r, wanted));
}

void cli_doctor_gpu(const struct doctor *doctor, struct doctor_results *results)
{
    static struct gpu_vendors vendors;
    static struct gpu_result found;
    daemon_gpu_vendors_sample(&vendors, &found);
    for (int i = 0; i < found.n_devices; i++)
        report_device(&found.devices[i], results);
    if (found.reason[0]) {
        cli_doctor_add(results, DOCTOR_WARNING, "%s", found.reason);
        cli_doctor_remedy(results, "nvidia-smi; dmesg | grep -i -e nvrm -e amdgpu -e i915");
    } else if (found.n_devices == 0) {
        cli_doctor_add(results, DOCTOR_OK, "no GPU");
    }
    report_module(doctor, found.n_devices > 0, results);
}
