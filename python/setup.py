"""The extension trod._trod, against the installed library that pkg-config knows."""

import shlex
import subprocess
from glob import glob

from setuptools import Extension, setup


def pkg_config(what):
    try:
        return shlex.split(subprocess.check_output(["pkg-config", what, "trod"], text=True))
    except (OSError, subprocess.CalledProcessError) as e:
        raise SystemExit("trod: pkg-config does not find libtrod; install libtrod-dev, or set "
                         "PKG_CONFIG_PATH to where it is installed") from e


setup(
    ext_modules=[
        Extension(
            "trod._trod",
            sources=sorted(glob("native/*.c")),
            depends=["native/native.h"],
            extra_compile_args=["-std=c11", "-D_POSIX_C_SOURCE=200809L", *pkg_config("--cflags")],
            extra_link_args=pkg_config("--libs"),
        )
    ]
)
