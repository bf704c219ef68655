"""What the facts are read with, piece by piece: what kernels, drivers and people really write."""
import json
import os
import shutil
import socket
import sys
import tempfile
import unittest

import trees
from gpush_agent.core.refused import Refused
from gpush_agent.core import programs
from gpush_agent.fabric import conf, gather, gpus, interfaces, reader, netlink, topology, variables
from gpush_agent.link import frames
from node import NodeTest
from recorded import Recorded, Tree
from run import slow


class ParsersTest(unittest.TestCase):
    def test_values_that_are_none_are_left_out(self):
        fields = ["3", "NVIDIA GB10", "580.95.05", "[N/A]"]
        self.assertEqual(gpus.gpu_of(fields), {"name": "NVIDIA GB10", "driver": "580.95.05"})
        for none in ("[Not Supported]", "[Unknown Error]", "ERR!", "[GPU requires reset]", "N/A", ""):
            self.assertNotIn("driver", gpus.gpu_of(fields[:2] + [none] + fields[3:]), none)
        self.assertEqual([gpus.gpu_of(fields[:3] + [mode])["mig"] for mode in ("Enabled", "Disabled")], [True, False])

    def test_matrix_of_a_driver_that_has_no_legend(self):
        text = ("\tGPU0\tGPU1\tmlx5_0\tmlx5_1\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tNV12\tPXB\tSYS\t0-31\t0\n"
                "GPU1\tNV12\t X \tSYS\tPHB\t32-63\t1\nmlx5_0\tPXB\tSYS\t X \tSYS\n\nLegend:\n\n  X    = Self\n")
        self.assertEqual(topology.parse(text), {"GPU0": {"GPU1": "NV12", "mlx5_0": "PXB", "mlx5_1": "SYS"},
                                                "GPU1": {"GPU0": "NV12", "mlx5_0": "SYS", "mlx5_1": "PHB"}})

    def test_matrix_that_is_none(self):
        for text in ("", "Failed to initialize NVML: Driver/library version mismatch\n", "\tGPU0\n", "GPU0\tX\n", "\x1b[4m\tGPU0\x1b[0m\nGPU0\t X \n"):
            self.assertEqual(topology.parse(text), {}, text)

    def test_default_route_is_the_usable_one_with_the_lowest_metric(self):
        head = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"
        rows = {"wlan0": "00000000\t0101A8C0\t0003\t0\t0\t600\t00000000", "eth0": "00000000\t0101A8C0\t0003\t0\t0\t100\t00000000",
                "unreachable": "00000000\t00000000\t0201\t0\t0\t0\t00000000", "eth9": "0000FEA9\t00000000\t0001\t0\t0\t0\t0000FFFF",
                "half": "00000000\t0101A8C0\t0003\t0\t0\t0\t00000080"}
        text = head + "".join("%s\t%s\t0\t0\t0\n" % row for row in sorted(rows.items()))
        self.assertEqual(interfaces.default4(text), "eth0")
        self.assertIsNone(interfaces.default4(head + "eth0\t00000000\n"))
        self.assertIsNone(interfaces.default6("nonsense\n\n"))

    def test_conf_is_read_as_nccl_reads_it(self):
        text = ("# comment\n\nNCCL_A=1\nNCCL_A=2\nexport NCCL_B=1\nNCCL_C = 1\nNCCL_D=\"x\"\nNCCL_E=x \nnothing\nNCCL_F=a=b\nNCCL_G=1\r\n"
                " NCCL_H=1\nNCCL_I=\n9=1\nMY_TOKEN=secret\n")
        found = conf.parse("/etc/nccl.conf", text)
        self.assertEqual(found["variables"], {"NCCL_A": "1", "NCCL_D": '"x"', "NCCL_E": "x ", "NCCL_F": "a=b", "NCCL_G": "1", "NCCL_I": ""})
        self.assertEqual(found["mistakes"], [
            "line 4: NCCL_A is set above, and the first counts", "line 5: 'export' is not understood, and nothing is set",
            "line 6: blanks around the name belong to it, and nothing is set", "line 7: quotes belong to the value",
            "line 8: blanks around the value belong to it", "line 9: has no '='",
            "line 11: a carriage return at the end belongs to the value",
            "line 12: blanks around the name belong to it, and nothing is set", "line 14: not a name of a variable"])
        self.assertNotIn("mistakes", conf.parse("/etc/nccl.conf", "NCCL_A=1"))

    def test_only_variables_that_matter_and_no_secrets(self):
        self.assertEqual(variables.of({"NCCL_DEBUG": "INFO", "PATH": "/bin", "NVIDIA_API_KEY": "x", "UCX_TLS": "tcp\n", "MASTER_ADDR": "a",
                                       "HF_TOKEN": "x", "OMP_NUM_THREADS": "8", "NCCL_X Y": "1", "NVIDIA_REQUIRE_CUDA": "x" * 2000}),
                         {"NCCL_DEBUG": "INFO", "UCX_TLS": "tcp", "MASTER_ADDR": "a", "OMP_NUM_THREADS": "8"})

    def test_names_in_the_order_of_their_numbers(self):
        self.assertEqual(sorted(["mlx5_10", "mlx5_2", "mlx5_bond_0", "mlx5_1", "lo", "1", "eth\u0663"], key=reader.natural),
                         ["1", "eth\u0663", "lo", "mlx5_1", "mlx5_2", "mlx5_10", "mlx5_bond_0"])


class TreeTest(unittest.TestCase):
    """Single facts of small trees, which no recorded gang has."""

    def facts(self, *lines, **params):
        node = trees.Node(0, "x")
        for line in lines:
            if line.startswith("| "):
                node.output(line[2:])
            else:
                for one in trees.expanded(line, 0):
                    node.line(one)
        root = tempfile.mkdtemp(prefix="gpt", dir=trees.WRITTEN)
        self.addCleanup(shutil.rmtree, root)
        node.write(root)
        return gather.facts(Recorded(root, {}, "/home/me"), params.get("peers", ()))

    def test_an_empty_machine(self):
        self.assertEqual(self.facts(), {"environment": {"image": {}, "session": {}}, "provider": {"files": []}})

    def test_two_ports_have_their_own_interfaces(self):
        for name, values in (("dev_port", ("0", "1")), ("dev_id", ("0x0", "0x1"))):
            found = self.facts("@pci 0000:05:00.0 driver=mlx4_core", '@hca mlx4_0 InfiniBand "56 Gb/sec (4X FDR)" pci=0000:05:00.0 uverbs=0',
                               '@hca mlx4_0 InfiniBand "10 Gb/sec (4X SDR)" pci=0000:05:00.0 uverbs=0 port=2 state="1: DOWN" phys="3: Disabled"',
                               "@net ib{0,1} pci=0000:05:00.0 type=32", "sys/class/net/ib0/dev_port = 0", "sys/class/net/ib1/dev_port = 0",
                               "sys/class/net/ib0/%s = %s" % (name, values[0]), "sys/class/net/ib1/%s = %s" % (name, values[1]))
            self.assertEqual([(port["port"], port["state"], port["gbits"], port["interfaces"]) for port in found["rdma"]],
                             [(1, "ACTIVE", 56, ["ib0"]), (2, "DOWN", 10, ["ib1"])], name)

    def test_a_function_of_a_card_has_the_vendor_of_the_card(self):
        found = self.facts("@pci 0000:05:00.1 driver=mlx5_core", "sys/devices/pci0000:00/0000:05:00.1/physfn -> ../0000:05:00.0/",
                           '@hca mlx5_0 InfiniBand "400 Gb/sec (4X NDR)" pci=0000:05:00.1',
                           "sys/class/infiniband/mlx5_1 -> ../../devices/pci0000:00/0000:05:00.1/mlx5_core.sf.4/infiniband/mlx5_1/",
                           "sys/class/infiniband/mlx5_1/ports/1/state = 4: ACTIVE")
        self.assertEqual([(port["vendor"], port["verbs"]) for port in found["rdma"]], [("0x15b3", "missing")] * 2)

    def test_a_device_node_that_fails_otherwise_is_named(self):
        found = self.facts("@pci 0000:05:00.0", '@hca mlx5_0 InfiniBand "400 Gb/sec (4X NDR)" pci=0000:05:00.0 uverbs=7 node=EIO')
        self.assertEqual((found["rdma"][0]["verbs"], found["unreadable"]), ("denied", [{"path": "/dev/infiniband/uverbs7", "why": "EIO"}]))

    def test_gids_behind_empty_slots_are_found_and_whole_tables_are_not_read(self):
        lines = ["@pci 0000:05:00.0", '@hca mlx5_0 Ethernet "100 Gb/sec (4X EDR)" pci=0000:05:00.0 slots=256']
        lines += ['@gid mlx5_0 %d "RoCE v2" fe80:0000:0000:0000:0000:0000:0000:%04x e' % (index, index) for index in (0, 3, 17, 200)]
        self.assertEqual([gid["index"] for gid in self.facts(*lines)["rdma"][0]["gids"]], [0, 3, 17])

    def test_a_driver_that_does_not_know_mig(self):
        found = self.facts("dev/nvidiactl = ", "$ " + trees.QUERY + " ! exit 2", '| Field "mig.mode.current" is not a valid field to query.',
                           "$ " + trees.QUERY.replace(",mig.mode.current", ""), "| 0, Tesla K80, 418.226.00")
        self.assertEqual([(gpu["name"], gpu["driver"], "mig" in gpu) for gpu in found["gpus"]], [("Tesla K80", "418.226.00", False)])
        self.assertNotIn("unreadable", found)

    def test_a_driver_that_hangs(self):
        found = self.facts("proc/driver/nvidia/version = NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19",
                           "proc/driver/nvidia/gpus/0000:04:00.0/information :", "| Model: \\t NVIDIA A100-SXM4-40GB", "| GPU UUID: \\t GPU-77",
                           "| Bus Location: \\t 0000:04:00.0", "$ " + trees.QUERY + " ! timeout", "$ nvidia-smi topo -m ! timeout")
        self.assertEqual(found["gpus"], [{"name": "NVIDIA A100-SXM4-40GB", "driver": "535.129.03"}])
        self.assertEqual([entry["why"] for entry in found["unreadable"]], ["timeout", "timeout"])
        self.assertNotIn("topology", found)

    def test_a_container_has_those_of_amds_gpus_that_it_may_read(self):
        found = self.facts("dev/kfd = ", '@pci 0000:{05,26,46}:00.0 vendor=0x1002', '@kfd pci="0000:05:00.0 0000:26:00.0 0000:46:00.0" hidden=0000:26:00.0',
                           "sys/devices/pci0000:00/0000:{05,46}:00.0/product_name = AMD Instinct MI300X OAM")
        self.assertEqual(found["gpus"], [{"name": "AMD Instinct MI300X OAM"}] * 2)
        self.assertEqual(found["topology"], {"GPU0": {"GPU1": "XGMI"}, "GPU1": {"GPU0": "XGMI"}})
        self.assertNotIn("unreadable", found)

    def test_locked_memory(self):
        limits = "proc/self/limits = Max locked memory         65536                unlimited            bytes"
        self.assertEqual(self.facts(limits)["memlock"], 65536)
        self.assertEqual(self.facts(limits, "proc/self/status = CapEff:\t000001ffffffffff")["memlock"], -1)
        self.assertEqual(self.facts(limits, "proc/self/status = CapEff:\tzz")["memlock"], 65536)

    def test_plugins_that_no_linker_finds_are_told_apart(self):
        lines = ["opt/amazon/ofi-nccl/lib/libnccl-net.so = ", "usr/lib/x86_64-linux-gnu/libnccl-net-x.so = ",
                 "usr/lib/x86_64-linux-gnu/libnccl.so.2 = ", "lib -> usr/lib/"]
        found = self.facts(*lines)
        self.assertEqual((found["plugins"], found["plugins_off_path"]),
                         (["/lib/x86_64-linux-gnu/libnccl-net-x.so"], ["/opt/amazon/ofi-nccl/lib/libnccl-net.so"]))
        found = self.facts("@session LD_LIBRARY_PATH=/opt/amazon/ofi-nccl/lib/::relative:/nothing", *lines)
        self.assertEqual(found["plugins"][0], "/opt/amazon/ofi-nccl/lib/libnccl-net.so")
        self.assertNotIn("plugins_off_path", found)

    def test_conf_files_that_count(self):
        lines = ["home/me/.nccl.conf = NCCL_A=home", "etc/nccl.conf = NCCL_A=etc", "srv/n.conf = NCCL_A=named", "etc/rccl.conf ! EACCES"]
        found = self.facts("@home /home/me", *lines)
        self.assertEqual([entry["path"] for entry in found["conf"]], ["/home/me/.nccl.conf", "/etc/nccl.conf"])
        self.assertEqual(found["unreadable"], [{"path": "/etc/rccl.conf", "why": "EACCES"}])
        found = self.facts("@session NCCL_CONF_FILE=/srv/n.conf", *lines)
        self.assertEqual([entry["path"] for entry in found["conf"]], ["/srv/n.conf", "/etc/nccl.conf"])
        found = self.facts("@session NCCL_CONF_FILE=/srv/none.conf")
        self.assertEqual(found["unreadable"], [{"path": "/srv/none.conf", "why": "NCCL_CONF_FILE names no file that can be read"}])

    @slow
    def test_too_much_fits_into_one_message_and_says_what_is_missing(self):
        lines = ["@pci 0000:05:{%s}.0" % ",".join("%02x" % at for at in range(70)),
                 '@hca mlx5_{0..69} Ethernet "100 Gb/sec (4X EDR)" pci=0000:05:{%s}.0 slots=16' % ",".join("%02x" % at for at in range(70)),
                 "@net eth{0..299}", "@session NCCL_X{0..150}=%s" % ("x" * 900)]
        lines += ['@gid mlx5_{0..69} %d "RoCE v2" fe80:0000:0000:0000:0000:0000:0000:%04x interface{0..69}' % (index, index) for index in range(16)]
        found = self.facts(*lines)
        self.assertLess(len(frames.pack_json({"result": found})), frames.MAX_MESSAGE)
        self.assertEqual(len(found["rdma"]), 64)
        self.assertEqual({len(port["gids"]) for port in found["rdma"]}, {4})
        self.assertEqual([entry["path"] for entry in found["unreadable"] if entry["why"] == "too much"], ["environment", "gids"])
        self.assertEqual(len(found["interfaces"]), 256)

    def test_bad_parameters(self):
        for bad in ({"peers": "10.0.0.1"}, {"peers": [1]}, {"peers": ["x" * 100]}):
            self.assertRaises(Refused, gather.answer, bad, {}, "/root")

    def test_peers_that_are_no_addresses(self):
        found = self.facts(peers=["gpu7", "10.0.0.9"])
        self.assertEqual(found["unreadable"], [{"path": "route to gpu7", "why": "not an address"}, {"path": "route to 10.0.0.9", "why": "ENETUNREACH"}])


class ThisMachineTest(unittest.TestCase):
    def test_addresses_and_routes_without_iproute2(self):
        addresses = netlink.addresses()
        self.assertIn("127.0.0.1/8", addresses["lo"])
        self.assertEqual(netlink.route("127.0.0.1"), "lo")
        self.assertEqual(reader.connected("127.0.0.1", addresses), "lo")
        self.assertRaises(OSError, netlink.route, "nonsense")

    def test_where_netlink_does_not_answer(self):
        original = socket.AF_NETLINK
        socket.AF_NETLINK = 99              # no such family
        try:
            here = reader.Reader()
            self.assertEqual(here.addresses(), {})
            self.assertEqual(here.unreadable, [{"path": "addresses", "why": "EAFNOSUPPORT"}])
            self.assertEqual(here.route("127.0.0.1", {"lo": ["127.0.0.1/8"]}), "lo")
        finally:
            socket.AF_NETLINK = original

    def test_programs_have_limits(self):
        def python(text):
            return [sys.executable, "-I", "-S", "-c", text], dict(os.environ)

        found = programs.run([python("print('x')"), python("import sys; print('y'); sys.exit(9)"), (["/nothing"], {}),
                              python("import sys\nwhile True: sys.stdout.write('z' * 65536)")], 60)
        self.assertEqual([(output.why, output.text[:2]) for output in found], [(None, "x\n"), ("exit 9", "y\n"), ("ENOENT", ""), ("too long", "zz")])
        slow = programs.run([(["/bin/sh", "-c", "trap '' TERM; exec sleep 1000"], dict(os.environ))], 0.2)
        self.assertEqual(slow, [("", "", "timeout")])

    def test_what_is_no_file_does_not_hold_anybody_up(self):
        root = tempfile.mkdtemp(prefix="gpt")
        self.addCleanup(shutil.rmtree, root)
        os.mkfifo(os.path.join(root, "fifo"))
        os.mkdir(os.path.join(root, "folder"))
        here = Tree(root)
        self.assertEqual([here.text(name) for name in ("fifo", "folder", "none")], ["", "", ""])
        self.assertEqual(here.unreadable, [{"path": "/fifo", "why": "not a file"}, {"path": "/folder", "why": "not a file"}])

    def test_a_script_of_a_provider_is_sourced(self):
        root = tempfile.mkdtemp(prefix="gpt")
        self.addCleanup(shutil.rmtree, root)
        with open(os.path.join(root, "env.sh"), "w") as file:
            file.write("echo noise\nexport NCCL_NET=gIB NCCL_LIB=$NCCL_LIB_DIR\nread line\n")
        with open(os.path.join(root, "bad.sh"), "w") as file:
            file.write("exit 3\n")
        here = Tree(root, {"PATH": os.environ["PATH"]})
        found = here.sourced("env.sh", {"PATH": os.environ["PATH"], "NCCL_LIB_DIR": "/lib"})
        self.assertEqual((found["NCCL_NET"], found["NCCL_LIB"]), ("gIB", "/lib"))
        self.assertEqual((here.sourced("bad.sh", {}), here.unreadable), ({}, [{"path": "source /bad.sh", "why": "exit 3"}]))

    def test_this_machine_says_something(self):
        found = gather.answer({"peers": ["127.0.0.1"]}, dict(os.environ), os.environ.get("HOME", "/"))
        json.dumps(found, allow_nan=False)
        self.assertEqual(found["routes"], [{"to": "127.0.0.1", "interface": "lo"}])
        self.assertIn("loopback", [entry["kind"] for entry in found["interfaces"]])
        self.assertEqual(found["hostname"], socket.gethostname())


class CallTest(NodeTest):
    def test_the_agent_answers(self):
        client = self.client()
        found = client.call("fabric.facts", peers=["127.0.0.1"])
        self.assertEqual(found["routes"][0]["interface"], "lo")
        self.assertEqual(client.call("fabric.facts", peers=7), {"code": "bad-request", "facts": {"field": "peers"}})

    def test_asked_before_the_login_shell_has_answered(self):
        client = self.client(env=None, env_over={"UCX_TLS": "tcp"})
        self.assertEqual(client.call("fabric.facts")["environment"]["session"]["UCX_TLS"], "tcp")

    def test_the_session_is_that_of_runs(self):
        client = self.client(env_over={"NCCL_DEBUG": "WARN", "HF_TOKEN": "secret"})
        session = client.call("fabric.facts")["environment"]["session"]
        self.assertEqual((session["NCCL_DEBUG"], "HF_TOKEN" in session), ("WARN", False))


if __name__ == "__main__":
    unittest.main()
