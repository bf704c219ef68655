"""The matrix of nvidia-smi topo -m: how near GPUs and network devices are to each other."""
import re

MAX_NAMES = 128
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
CONTROL = re.compile(r"[\x00-\x1f\x7f]")
COLUMN = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,31}\Z")    # CPU Affinity, NUMA Affinity and GPU NUMA ID have blanks
CONNECTION = re.compile(r"NV[0-9]{1,3}\Z|PIX\Z|PXB\Z|PHB\Z|NODE\Z|SYS\Z|C2C\Z")


def plain(text):
    """Without colours and control characters."""
    return CONTROL.sub("", ESCAPE.sub("", text))


def parse(text):
    """{"GPU0": {"GPU1": "NV18", "NIC0": "PIX"}}; {} where it is no matrix."""
    rows, columns = {}, None
    for line in text.splitlines():
        cells = [plain(cell).strip() for cell in ESCAPE.sub("", line).split("\t")]
        if columns is None:
            if "GPU0" in cells or "GPU0" in cells[0].split():
                columns = cells
        elif re.match(r"GPU[0-9]{1,3}\Z", cells[0]) and len(rows) < MAX_NAMES:
            pairs = {name: cell for name, cell in list(zip(columns, cells))[1:MAX_NAMES] if COLUMN.match(name) and CONNECTION.match(cell)}
            if pairs:
                rows[cells[0]] = pairs
    return rows
