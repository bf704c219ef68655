"""Keeps the session's environment in bash, whose profiles may reset PATH or activate another environment.

The environment of every process names one file, in two variables that bash reads after its profiles: BASH_ENV (shells
without a user: `bash -lc`) and PROMPT_COMMAND (shells with one). It acts once in each shell, on each variable for itself: if
the shell began with the session's value, and a profile took that away, it is put back, behind what stood in front of it.

A terminal of an editor may begin without it, if the editor asks `bash -ilc` for its variables, which reads profiles and neither
of the two. Therefore all is put back at a first prompt that has no prompt above it, which GPUSH_PROMPT tells. Below a prompt,
what a user has chosen in a terminal stays.

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
    gpush_ahead() {
        local rest=":${!1-}:" first=$2 begin=":$3:" entry entries
        case $begin in
            *":$2:"*) first=${begin%%%%":$2:"*}:$2; first=${first#:} ;;
            *) [ "$gpush_first" ] || return ;;
        esac
        IFS=: read -r -a entries <<<"$first"
        for entry in "${entries[@]}"; do
            while [[ $rest == *":$entry:"* ]]; do rest=${rest/":$entry:"/:}; done
        done
        rest=${rest#:}; rest=${rest%%:}
        export "$1=$first${rest:+:$rest}"
    }
    gpush_keep() {
        local entry %(locals)s
        while IFS= read -r -d '' entry; do
            case $entry in
%(begins)s
            esac
        done 2>/dev/null </proc/$$/environ
%(body)s
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
    gpush_first=
    if [[ $- == *i* ]]; then
        gpush_first=${GPUSH_PROMPT-1}
        export GPUSH_PROMPT=
        # A prompt that an editor made calls functions that the shells below it do not have.
        if [[ "${PROMPT_COMMAND[*]-}" != */environment/shell-* ]]; then export -n PROMPT_COMMAND; fi
    fi
    if [[ $- == *i* || $gpush_rc ]] || shopt -q login_shell; then gpush_keep; fi
    unset -f gpush_ahead gpush_keep
    unset gpush_rc gpush_path gpush_first
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


def keep_in_editor(env):
    """VS Code's server gives its extensions what `bash -ilc` says of the environment, unless it was started by VS Code's own
    command, whose user has one already."""
    env.setdefault("VSCODE_CLI", "1")


def script(values, ahead, before, folder):
    """The path of the file; its name is made of its text."""
    lines, begins, locals_ = [], [], []
    for number, name in enumerate(sorted(set(values) | set(ahead))):
        began = "gpush_%d" % number
        locals_.append(began)
        begins.append("%s=*) %s=${entry#*=} ;;" % (name, began))
        if name in ahead:
            lines.append('gpush_ahead %s %s "${%s-}"' % (name, quoted(ahead[name]), began))
        elif values[name] is None:
            lines.append('if [[ $gpush_first || -z ${%s+set} ]]; then unset %s; fi' % (began, name))
        else:
            lines.append('if [[ $gpush_first || ${%s-} == %s ]]; then export %s=%s; fi'
                         % (began, quoted(values[name]), name, quoted(values[name])))
    # Modules, for example, have one of their own, which defines `module` in scripts.
    first = "    if [[ $- != *i* && -r %s ]]; then . %s; fi\n" % ((quoted(before),) * 2) if before else ""
    text = HOOK % {"locals": " ".join(locals_), "begins": "\n".join(" " * 16 + each for each in begins),
                   "body": "\n".join(" " * 8 + each for each in lines), "before": first}
    path = os.path.join(folder, "shell-%s.bash" % hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:12])
    write(path, text, 0o600)
    return path
