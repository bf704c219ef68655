"""nccl.conf files, read as NCCL reads them: it takes each line as it is, and a variable that is set already stays."""
import re

from .variables import MAX_VALUE, is_secret, plain

MAX_LINES = 1000
MAX_VARIABLES = 256
MAX_MISTAKES = 20
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}\Z")


def files(reader, image):
    """Those that exist, in the order in which NCCL reads them, then RCCL's."""
    named = reader.session.get("NCCL_CONF_FILE") or image.get("NCCL_CONF_FILE")
    home = reader.home.rstrip("/")
    paths = [named if named else home + "/.nccl.conf", "/etc/nccl.conf", home + "/.rccl.conf", "/etc/rccl.conf"]
    found = []
    for path in paths:
        data = reader.data(path.lstrip("/")) if path.startswith("/") else None
        if data is None:
            if path == named:
                reader.cannot(path, "NCCL_CONF_FILE names no file that can be read")
            continue
        found.append(parse(path, data.decode("utf-8", "replace")))
    return found


def parse(path, text):
    variables, mistakes = {}, []
    lines = text.split("\n")
    for number, line in enumerate(lines[:MAX_LINES], 1):
        if line.startswith("#") or not line.strip():
            continue
        name, sign, value = line.partition("=")
        why = mistake(name, sign, value, variables)
        if why and len(mistakes) < MAX_MISTAKES:
            mistakes.append("line %d: %s" % (number, why))
        if sign and NAME.match(name) and name not in variables and not is_secret(name) and len(variables) < MAX_VARIABLES:
            variables[name] = plain(value)[:MAX_VALUE]
    if len(lines) > MAX_LINES:
        mistakes.append("only the first %d lines were read" % MAX_LINES)
    found = {"path": path, "variables": variables}
    if mistakes:
        found["mistakes"] = mistakes
    return found


def mistake(name, sign, value, variables):
    """Why a line does not do what it seems to do; None where it does."""
    if not sign:
        return "has no '='"
    if name.strip().startswith("export "):
        return "'export' is not understood, and nothing is set"
    if name != name.strip():
        return "blanks around the name belong to it, and nothing is set"
    if not NAME.match(name):
        return "not a name of a variable"
    if name in variables:
        return "%s is set above, and the first counts" % name
    if value.endswith("\r"):
        return "a carriage return at the end belongs to the value"
    if value != value.strip():
        return "blanks around the value belong to it"
    if value[:1] in ("'", '"'):
        return "quotes belong to the value"
    return None
