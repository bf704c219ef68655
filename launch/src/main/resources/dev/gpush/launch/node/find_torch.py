# Names environments that have torch, one a line: where people keep them, and what is on PATH.
import glob, os, sys
home = os.path.expanduser("~")
places = [os.environ.get("VIRTUAL_ENV"), os.environ.get("CONDA_PREFIX")]
places += [os.path.dirname(folder) for folder in os.environ.get("PATH", "").split(":") if folder.endswith("/bin")]
for pattern in (
        "~/.venv", "~/venv", "~/envs/*", "~/venvs/*", "~/.virtualenvs/*", "~/.conda/envs/*", "~/.pyenv/versions/*",
        "~/*conda*", "~/*conda*/envs/*", "~/*forge*", "~/*forge*/envs/*", "/opt/*conda*", "/opt/*conda*/envs/*", "/opt/venv"):
    places += sorted(glob.glob(os.path.expanduser(pattern)))
seen = []
for place in places:
    if place and place not in seen and glob.glob(place + "/lib/python3*/*-packages/torch/version.py"):
        seen.append(place)
for place in seen[:8]:
    print("~" + place[len(home):] if place.startswith(home + "/") else place)
