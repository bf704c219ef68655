"""Which variables of an environment matter for the network and GPUs. Others, and secrets, never leave the node."""
import re

FAMILIES = ("NCCL_", "RCCL_", "TORCH_NCCL_", "TORCH_FR_", "GLOO_", "UCX_", "FI_", "RDMAV_", "OMPI_MCA_", "CUDA_", "NVIDIA_",
            "HSA_", "HIP_", "ROCR_", "MASTER_")
NAMES = frozenset(("OMP_NUM_THREADS", "NODE_ADDR"))
SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH(?!ORITY)", re.I)
MAX_VALUE = 1024            # NCCL itself reads no more of a line
MAX_VARIABLES = 200


def is_secret(name):
    """NVIDIA_API_KEY is of a family, and a secret."""
    return SECRET.search(name) is not None


def plain(value):
    """Without control characters: it is shown on terminals."""
    return "".join(letter for letter in value if letter >= " " and letter != "\x7f")


def of(environment):
    """Those that matter, sorted. A value that is too long is left out: half of one would be wrong."""
    names = [name for name in sorted(environment)
             if (name.startswith(FAMILIES) or name in NAMES) and not is_secret(name) and re.match(r"\w{1,128}\Z", name, re.A)]
    found = {}
    for name in names[:MAX_VARIABLES]:
        value = plain(environment[name])
        if len(value) <= MAX_VALUE:
            found[name] = value
    return found
