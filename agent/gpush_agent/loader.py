# The loader: goes on the command line as `python -I -S -B -X utf8 -u -c <this text>` and gets the agent's source on stdin.
# stdin: 8 hex digits (length of the header), the header (JSON), the source (zlib of JSON {"package/module": "text"}).
import os, sys

is_old = sys.version_info < (3, 6)
try:
    import importlib.machinery, json, marshal, zlib
    import fcntl, select, selectors, signal, socket, struct, termios     # what the agent cannot do without
    is_usable = not is_old
except ImportError:
    is_usable = False
if not is_usable:
    if is_old:
        sys.stderr.write('{"code": "python-too-old", "facts": {"found": "%s"}}\n' % ".".join(map(str, sys.version_info[:3])))
    else:
        sys.stderr.write('{"code": "python-broken", "facts": {}}\n')
    sys.stderr.flush()
    os._exit(98 if is_old else 97)

LARGEST = 16 << 20      # of the header, of the packed source and of the source


def bad(code, why):
    sys.stderr.write(json.dumps({"code": code, "facts": {"reason": why}}) + "\n")
    sys.stderr.flush()
    os._exit(96)


def read(size):
    if not 0 <= size <= LARGEST:
        bad("bad-input", "length")
    parts = []
    while size:
        try:
            part = os.read(0, min(size, 1 << 20))
        except OSError:         # closed
            part = b""
        if not part:
            bad("short-input", "end of input")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


try:
    header = json.loads(read(int(read(8), 16)).decode())
    unpack = zlib.decompressobj()
    packed = read(header["source"])
    text = unpack.decompress(packed, LARGEST)
    if not unpack.eof:
        bad("bad-input", "source")
    sources = json.loads(text.decode())
    sources["start"], header["mode"]
except (ValueError, KeyError, TypeError, RecursionError, zlib.error) as error:
    bad("bad-input", type(error).__name__)


class Memory:
    """Imports gpush_agent and what is in it from the source that came on stdin, or as host/compiled.py found it compiled."""
    file, found, made = None, {}, {}        # where they are kept; modules: bytes for marshal.loads; code that this process has compiled

    def find_spec(self, name, path=None, target=None):
        if name != "gpush_agent" and not name.startswith("gpush_agent."):
            return None
        short = name.replace(".", "/")[12:]
        package = (short + "/__init__").lstrip("/")
        if package in sources:
            return importlib.machinery.ModuleSpec(name, self, origin="gpush:" + package, is_package=True)
        return importlib.machinery.ModuleSpec(name, self, origin="gpush:" + short) if short in sources else None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        origin = module.__spec__.origin
        name = origin[6:]
        if name in self.found:
            code = marshal.loads(self.found[name])
        else:
            code = self.made[name] = compile(sources[name], origin, "exec")
        exec(code, module.__dict__)

    def get_source(self, name):
        return sources[self.find_spec(name).origin[6:]]


memory = Memory()
sys.meta_path.insert(0, memory)
if header.get("compiled"):
    from gpush_agent.host.compiled import File
    memory.file = File(packed, header["compiled"])
    memory.found = memory.file.read()
from gpush_agent import start
start.main(header)
