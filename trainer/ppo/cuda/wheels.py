"""Prints where pip has put cuBLASLt, a line a place: the header's folder, a tab, the library's folder.

PyTorch's wheels bring them: since CUDA 13 in nvidia/cu13/{include,lib}, before in nvidia/cublas/{include,lib}, below
site-packages. meson.build calls this where the toolkit has no cublasLt.h."""
import glob
import os
import site
import sys


def places():
    folders = [*sys.path[1:], *site.getsitepackages(), site.getusersitepackages()]  # the first is this script's own
    for folder in dict.fromkeys(os.path.abspath(folder) for folder in folders if folder):
        for root in [*sorted(glob.glob(f"{glob.escape(folder)}/nvidia/cu[0-9]*"), reverse=True), f"{folder}/nvidia/cublas"]:
            if os.path.isfile(f"{root}/include/cublasLt.h") and glob.glob(f"{glob.escape(root)}/lib/libcublasLt.so.*"):
                yield f"{root}/include\t{root}/lib"


print("\n".join(places()))
