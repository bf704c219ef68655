# Says what this Python is and has, without importing anything of it: one line of JSON after a mark.
import json, os, re, sys
names, stamps, torch = set(), {}, None
for folder in sys.path:
    try:
        entries = os.listdir(folder) if folder else []
    except OSError:
        continue
    found = [entry for entry in entries if entry.endswith((".dist-info", ".egg-info"))]
    if found or "-packages" in folder:
        stamps[folder] = int(os.stat(folder).st_mtime)
    for entry in found:
        name = re.sub(r"(-py[0-9.]+)?\.(dist|egg)-info$", "", entry)
        names.add(name)
        if torch is None and name.startswith("torch-"):
            torch = name[6:]
    if torch is None and os.path.isfile(os.path.join(folder, "torch", "version.py")):
        torch = "of unknown version"
stamps[sys.executable] = int(os.stat(sys.executable).st_mtime)
print("\ngpush-python " + json.dumps({
    "executable": sys.executable, "version": "%d.%d.%d" % sys.version_info[:3], "torch": torch,
    "prefix": sys.prefix, "venv": sys.prefix != getattr(sys, "base_prefix", sys.prefix),
    "packages": sorted(names), "stamps": stamps, "home": os.path.expanduser("~"),
    "user": os.environ.get("USER") or os.path.basename(os.path.expanduser("~")), "path": os.environ.get("PATH", "")}))
