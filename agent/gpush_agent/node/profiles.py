"""Keeps the session's environment in bash, whose profiles may reset PATH or activate another environment.

The environment of every process names one file, in two variables that bash reads after its profiles: BASH_ENV (shells
without a user: `bash -lc`) and PROMPT_COMMAND (shells with one). It acts once in each shell, and only if that shell began
with the session's environment in front: what a profile took away is put back; what a user has chosen in a terminal, and
passes on to the shells below it, stays.

The bash of an ssh command reads ~/.bashrc instead (and not BASH_ENV), which it knows from SSH_CLIENT. It gets that variable
from the file, which reads ~/.bashrc as well, so that the command itself begins with both."""
import hashlib
import os
import re

from .pythons import write

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
HOOK = r"""# Made by gpush: puts back what a profile took away of the session's environment.
gpush_status=$?
if [ "${gpush_shell-}" != "$$" ]; then
    gpush_shell=$$
    gpush_has_begun() {
        local entry
        while IFS= read -r -d '' entry; do
            case $entry in %(begins)s) return 0 ;; esac
        done 2>/dev/null </proc/$$/environ
        return 1
    }
    gpush_ahead() {
        local rest=":${!1-}:" entry entries
        IFS=: read -r -a entries <<<"$2"
        for entry in "${entries[@]}"; do
            while [[ $rest == *":$entry:"* ]]; do rest=${rest/":$entry:"/:}; done
        done
        rest=${rest#:}; rest=${rest%%:}
        export "$1=$2${rest:+:$rest}"
    }
    gpush_rc=
    if [ -n "${GPUSH_SSH_CLIENT-}" ]; then
        export SSH_CLIENT=$GPUSH_SSH_CLIENT
        unset GPUSH_SSH_CLIENT
        gpush_rc=1
        for gpush_path in /etc/bash.bashrc ~/.bashrc; do
            if [ -r "$gpush_path" ]; then . "$gpush_path"; fi
        done
    fi
    if { [[ $- == *i* || $gpush_rc ]] || shopt -q login_shell; } && gpush_has_begun; then
%(body)s
    fi
    unset -f gpush_has_begun gpush_ahead
    unset gpush_rc gpush_path
%(before)sfi
return $gpush_status
"""


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def keep(env, values, ahead, state):
    """Adds the two variables to `env`, and says whether it did. `values`: what was set (None: unset); `ahead`: variable -> folders at its
    beginning. A node whose state folder cannot be written does without."""
    values = {name: text for name, text in values.items() if NAME.match(name)}
    ahead = {name: ":".join(folders) for name, folders in ahead.items() if folders and NAME.match(name)}
    if not state or not (values or ahead):
        return False
    try:
        path = script(values, ahead, env.get("BASH_ENV"), os.path.join(state, "environment"))
    except OSError:
        return False
    prompt = env.get("PROMPT_COMMAND")
    env["BASH_ENV"] = path
    env["PROMPT_COMMAND"] = ". " + quoted(path) + ("; " + prompt if prompt else "")
    return True


def keep_in_command(env):
    """For the bash that runs an ssh command, after `keep`."""
    if env.get("SSH_CLIENT"):
        env["GPUSH_SSH_CLIENT"] = env.pop("SSH_CLIENT")


def script(values, ahead, before, folder):
    """The path of the file; its name is made of its text."""
    if "PATH" in ahead:
        begins = "%s|%s:*" % (("PATH=" + quoted(ahead["PATH"]),) * 2)
    elif ahead:
        name = min(ahead)
        begins = "%s|%s:*" % ((name + "=" + quoted(ahead[name]),) * 2)
    else:
        begins = "|".join(name + "=" + quoted(text) for name, text in sorted(values.items()) if text is not None) or "'*'"
    lines = ["gpush_ahead %s %s" % (name, quoted(text)) for name, text in sorted(ahead.items())]
    lines += ["unset " + name if text is None else "export %s=%s" % (name, quoted(text)) for name, text in sorted(values.items())]
    body = "\n".join("        " + line for line in lines)
    # Modules, for example, have one of their own, which defines `module` in scripts.
    first = "    if [[ $- != *i* && -r %s ]]; then . %s; fi\n" % ((quoted(before),) * 2) if before else ""
    text = HOOK % {"begins": begins, "body": body, "before": first}
    path = os.path.join(folder, "shell-%s.bash" % hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:12])
    write(path, text, 0o600)
    return path
