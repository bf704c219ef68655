"""Brings the Python of the image that this runs in, with all that it needs, to a folder of a pod whose own image has none.

What comes of it is started by its own loader and with its own libraries, so the other image may have another libc, or none:
FOLDER/ld --library-path FOLDER/so FOLDER/bin/python3
"""
import glob
import importlib
import os
import shutil
import subprocess
import sys

UNWANTED = shutil.ignore_patterns("test", "tests", "idlelib", "tkinter", "turtledemo", "ensurepip", "lib2to3", "site-packages",
                                  "dist-packages", "config-*", "__pycache__", "*.a")


def load_all(library):
    """So that every library is there which any module of the standard library wants."""
    for path in sorted(set(glob.glob(os.path.join(library, "lib-dynload", "*.so")))
                       - set(glob.glob(os.path.join(library, "lib-dynload", "_tkinter*")))):
        try:
            importlib.import_module(os.path.basename(path).partition(".")[0])
        except Exception:       # of what this image has not got either
            pass


def mapped(program, library):
    """The shared objects that this process has mapped, its loader among them."""
    found = set()
    with open("/proc/self/maps") as file:
        for line in file:
            path = line.rstrip("\n").split(None, 5)[5:]
            if path and path[0].startswith("/") and ".so" in os.path.basename(path[0]):
                found.add(path[0])
    return sorted(path for path in found if path != program and not path.startswith(library + "/"))


def names(path):
    """All that its folder calls it: libraries are asked for by names that are links."""
    folder = os.path.dirname(path)
    return [name for name in os.listdir(folder) if os.path.realpath(os.path.join(folder, name)) == os.path.realpath(path)]


def main(to):
    program, library = os.path.realpath("/proc/self/exe"), os.path.dirname(os.path.realpath(os.__file__))
    load_all(library)
    libraries = mapped(program, library)
    loaders = [path for path in libraries if os.path.basename(path).startswith("ld-")]
    if not loaders:
        sys.exit("the Python of this image is linked statically: take another image")
    for folder in ("bin", "lib", "so"):
        shutil.rmtree(os.path.join(to, folder), ignore_errors=True)
        os.makedirs(os.path.join(to, folder))
    shutil.copy(program, os.path.join(to, "bin", "python3"))
    shutil.copytree(library, os.path.join(to, "lib", "python%d.%d" % sys.version_info[:2]), ignore=UNWANTED)
    for path in libraries:
        for name in names(path):
            shutil.copy(path, os.path.join(to, "so", name))
    shutil.copy(loaders[0], os.path.join(to, "ld"))
    os.chmod(os.path.join(to, "ld"), 0o755)
    words = [os.path.join(to, "ld"), "--library-path", os.path.join(to, "so"), os.path.join(to, "bin", "python3")]
    sys.exit(subprocess.call(words + ["-I", "-S", "-B", "-c", "import ctypes, fcntl, hashlib, json, select, socket, zlib"]))


main(sys.argv[1])
