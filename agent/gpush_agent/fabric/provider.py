"""Whose machine this is, by evidence: files that only one provider's images have, the firmware's names, and NCCL's plugins."""
import re

from . import variables

PRODUCT = ("sys_vendor", "product_name", "chassis_asset_tag")
FILES = (
    "/usr/local/gib/scripts/set_nccl_env.sh",                                       # GCP, RDMA (A3 Ultra, A4)
    "/usr/local/nvidia/lib64/nccl-env-profile.sh", "/var/lib/tcpxo/lib64/nccl-env-profile.sh", "/dev/aperture_devices",
    "/opt/microsoft/ndv4-topo.xml", "/opt/microsoft/ndv5-topo.xml", "/opt/microsoft/ncv4/topo.xml",
    "/opt/amazon/efa/bin/fi_info", "/opt/amazon/ofi-nccl", "/opt/aws-ofi-nccl",
    "/var/run/nvidia-topologyd/virtualTopology.xml",                                # NCCL reads it by itself
    "/dev/cxi0", "/opt/cray/libfabric", "/opt/hpcx", "/dev/kfd", "/etc/crusoe")
SCRIPTS = ("/usr/local/gib/scripts/set_nccl_env.sh", "/usr/local/nvidia/lib64/nccl-env-profile.sh",
           "/var/lib/tcpxo/lib64/nccl-env-profile.sh")
FOLDERS = ("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
           "/lib64", "/usr/lib64", "/lib", "/usr/lib")                              # what the dynamic linker searches by itself
USUAL = ("/usr/local/lib", "/usr/local/gib/lib64", "/usr/local/nvidia/lib64", "/var/lib/tcpxo/lib64",
         "/opt/amazon/ofi-nccl/lib", "/opt/amazon/ofi-nccl/lib64", "/opt/amazon/ofi-nccl/lib/x86_64-linux-gnu",
         "/opt/amazon/ofi-nccl/lib/aarch64-linux-gnu", "/opt/aws-ofi-nccl/lib", "/opt/hpcx/nccl_rdma_sharp_plugin/lib",
         "/opt/rocm/lib", "/usr/local/cuda/lib64", "/usr/local/nccl-rdma-sharp-plugins/lib")
PLUGIN = re.compile(r"lib[nr]ccl-(net|tuner|profiler|env|anp|ofi)([-_][\w-]{1,60})?\.so\Z", re.A)
MAX_FOLDERS = 64
MAX_PLUGINS = 64


def facts(reader):
    found = {"files": [path for path in FILES if reader.exists(path.lstrip("/"))]}
    product = {name: reader.word("sys/class/dmi/id/" + name) for name in PRODUCT}
    product = {name: value for name, value in product.items() if value}
    if product:
        found["product"] = product
    return found


def scripts(reader):
    """What a provider's own script sets where a user sources it, as a shell says it."""
    found = []
    for path in SCRIPTS:
        if reader.exists(path.lstrip("/")):
            environment = {name: value for name, value in reader.session.items() if not name.startswith(variables.FAMILIES)}
            environment["NCCL_LIB_DIR"] = path.rpartition("/")[0]       # TCPXO's asks where its libraries are
            after = variables.of(reader.sourced(path.lstrip("/"), environment))
            found.append({"path": path, "variables": {name: value for name, value in after.items()
                                                      if environment.get(name) != value}})
    return found


def plugins(reader):
    """{"plugins": those that the dynamic linker finds, "plugins_off_path": those in the usual folders that it does not}."""
    searched = [folder for folder in reader.session.get("LD_LIBRARY_PATH", "").split(":") if folder.startswith("/")]
    searched += configured(reader) + list(FOLDERS)
    seen, found = set(), {"plugins": [], "plugins_off_path": []}
    for key, folders in (("plugins", searched[:MAX_FOLDERS]), ("plugins_off_path", USUAL)):
        for folder in folders:
            folder = re.sub(r"/+", "/", folder).rstrip("/")
            real = reader.resolved(folder.lstrip("/"))         # /lib is /usr/lib on newer systems
            if real in seen:
                continue
            seen.add(real)
            found[key] += [folder + "/" + name for name in sorted(reader.listed(folder.lstrip("/"))) if PLUGIN.match(name)]
    return {key: paths[:MAX_PLUGINS] for key, paths in found.items() if paths}


def configured(reader):
    """The folders of ld.so.conf; it includes all of ld.so.conf.d everywhere."""
    found = []
    paths = ["etc/ld.so.conf"] + ["etc/ld.so.conf.d/" + name for name in reader.names("etc/ld.so.conf.d") if name.endswith(".conf")]
    for path in paths[:MAX_FOLDERS]:
        found += [line.strip() for line in reader.text(path).splitlines() if line.startswith("/")]
    return found
