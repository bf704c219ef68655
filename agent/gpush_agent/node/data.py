"""Data that the configuration names, as it is on this node: folders, volumes that must be mounted, and a home in a volume."""
import os
import re
import shutil

VARIABLE = re.compile(r"\$(?:\{(USER|HOME)\}|(USER|HOME)(?![A-Za-z0-9_]))")
MOST_FILE = 1 << 20         # bytes of a file that a new home gets from the image's
STARTUP = (".bashrc", ".bash_profile", ".profile", ".bash_logout", ".zshrc", ".zprofile", ".inputrc", ".condarc")
SKELETON = "/etc/skel"


def check(places):
    """Whether it is such a list."""
    return isinstance(places, list) and all(
        isinstance(place, dict) and all(isinstance(place.get(name), str) for name in ("key", "path"))
        and all(isinstance(place.get(name, ""), (str, type(None))) for name in ("volume", "mount", "variable"))
        and not any("\0" in text for text in place.values() if isinstance(text, str))
        for place in places)


def expanded(path, account):
    """`account`: (user, home, …)."""
    text = VARIABLE.sub(lambda found: account[0] if "USER" in found.groups() else account[1], path)
    return account[1] + text[1:] if text == "~" or text.startswith("~/") else text


def variables(places, account):
    return {place["variable"]: expanded(place["path"], account) for place in places if place.get("variable")}


def problem(places, account):
    """What is wrong with the first that cannot be used, {"what", "because"}; None if all can."""
    for place in places:
        because = flaw(place, expanded(place["path"], account))
        if because:
            return {"what": place["key"], "because": because}
    return None


def flaw(place, path):
    if place.get("volume") and not os.path.ismount(place["mount"]):
        return "%s is not mounted, because the node was made without it; after gpush down, gpush up makes another" % place["volume"]
    if not place.get("variable"):
        return None             # made by who writes there
    if not os.path.exists(path):
        return "%s does not exist%s" % (path, " in " + place["volume"] if place.get("volume") else " on the node")
    if not os.access(path, os.R_OK | (os.X_OK if os.path.isdir(path) else 0)):
        return "you may not read " + path
    return None


def make_home(home, image):
    """A home in a volume has, at first, what shells read at their start in the image's home. Returns what is wrong, or None."""
    try:
        os.makedirs(home, 0o700, exist_ok=True)
        if not any(name in STARTUP for name in os.listdir(home)):
            for name in STARTUP:
                source = next((path for path in (os.path.join(image, name), os.path.join(SKELETON, name)) if small(path)), None)
                if source:
                    new = os.path.join(home, ".%s.%s" % (name, os.urandom(4).hex()))
                    shutil.copyfile(source, new)
                    os.rename(new, os.path.join(home, name))
        if os.access(home, os.W_OK | os.X_OK):
            return None
        reason = "Permission denied"
    except OSError as error:
        reason = error.strerror
    return {"what": "home", "because": "%s cannot be written: %s" % (home, reason)}


def small(path):
    try:
        return os.path.isfile(path) and os.path.getsize(path) <= MOST_FILE
    except OSError:
        return False
