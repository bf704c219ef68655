"""The one exception by which any part of the agent refuses: a code and facts, never prose."""


class Refused(Exception):
    def __init__(self, code, facts=None):
        super().__init__(code)
        self.code = code
        self.facts = facts or {}


def of_error(error):
    """The refusal that any exception amounts to."""
    if isinstance(error, Refused):
        return error
    if isinstance(error, OSError):
        return of_os_error(error)
    return Refused("failed", {"reason": type(error).__name__ + ": " + str(error)[:200]})


def of_os_error(error, path=None):
    """The refusal that an OSError amounts to."""
    import errno
    code = {errno.ENOENT: "not-found", errno.ENOTDIR: "not-found", errno.EACCES: "denied", errno.EPERM: "denied",
            errno.EROFS: "denied", errno.ENOSPC: "no-space", errno.EDQUOT: "no-space", errno.EMFILE: "limit",
            errno.ENFILE: "limit", errno.EAGAIN: "limit", errno.ENOMEM: "limit", errno.E2BIG: "limit",
            errno.ECONNREFUSED: "refused", errno.ECONNRESET: "refused", errno.ETIMEDOUT: "timeout",
            errno.EHOSTUNREACH: "unreachable", errno.ENETUNREACH: "unreachable"}.get(error.errno, "failed")
    facts = {"errno": errno.errorcode.get(error.errno, str(error.errno))}
    if path is not None:
        facts["path"] = path
    return Refused(code, facts)
