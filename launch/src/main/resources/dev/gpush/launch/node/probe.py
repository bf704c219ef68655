# Says what this Python is and has, without importing anything of it: one line of JSON after a mark.
import glob, json, os, re, sys
names, stamps, torch, cuda, place = set(), {}, None, None, None
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
    if place is None and os.path.isfile(os.path.join(folder, "torch", "version.py")):
        place, torch = folder, torch or "of unknown version"
        try:
            with open(os.path.join(folder, "torch", "version.py"), errors="replace") as file:
                match = re.search(r"^cuda\b[^=\n]*=\s*['\"]([0-9.]+)", file.read(65536), re.M)     # cuda: Optional[str] = '12.4'
            cuda = match.group(1) if match else None
        except OSError:
            pass


def nccl():
    """That of torch: the package its wheel depends on, conda's, the library beside it, the system's, by its file's name."""
    found = sorted(name.rpartition("-")[::2] for name in names if re.match(r"nvidia[_-]nccl[_-]cu\d+-[0-9.]+$", name))
    own = [version for name, version in found if name.endswith("cu" + cuda.split(".")[0])]
    if found:
        return own[0] if own else found[-1][1]
    for path in sorted(glob.glob(glob.escape(sys.prefix) + "/conda-meta/nccl-[0-9]*.json")):
        return ".".join(os.path.basename(path).split("-")[1].split(".")[:3])
    for folder in [place + "/torch/lib", place + "/nvidia/nccl/lib", sys.prefix + "/lib"] + glob.glob("/usr/lib/*-linux-gnu") + ["/usr/lib64"]:
        match = re.search(r"\.so\.([0-9]+\.[0-9]+\.[0-9]+)$", os.path.realpath(folder + "/libnccl.so.2"))
        if match:
            return match.group(1)
    return None


stamps[sys.executable] = int(os.stat(sys.executable).st_mtime)
print("\ngpush-python " + json.dumps({
    "executable": sys.executable, "version": "%d.%d.%d" % sys.version_info[:3], "torch": torch,
    "cuda": cuda, "nccl": nccl() if cuda else None,
    "prefix": sys.prefix, "venv": sys.prefix != getattr(sys, "base_prefix", sys.prefix),
    "packages": sorted(names), "stamps": stamps, "home": os.path.expanduser("~"),
    "user": os.environ.get("USER") or os.path.basename(os.path.expanduser("~")), "path": os.environ.get("PATH", "")}))
