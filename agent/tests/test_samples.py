"""What `gpush top` is made from: samples of machines that are folders, of a driver's library that is built here, and of an agent."""
import ctypes
import json
import os
import shutil
import subprocess
import tempfile
import threading
import unittest

import client  # the path of the agent
import trees
from gpush_agent.runs import rundir
from gpush_agent.samples import amd, hardware, nvml, processes, progress, sampler
from node import NodeTest, command
from recorded import Recorded, Tree

# The functions of NVML that are used, of four GPUs: a busy one, one with MIG, one that fell off the bus, one of another user.
# Those that cost too much end the process.
LIBRARY = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int of(void *handle) { return (int)(long)handle - 1; }
static int plain(void *handle) { return of(handle) == 2 ? 15 : of(handle) == 1 ? 3 : 0; }
int nvmlInit_v2(void) { return getenv("FAKE_NVML_INIT") ? atoi(getenv("FAKE_NVML_INIT")) : 0; }
int nvmlShutdown(void) { return 0; }
int nvmlDeviceGetCount_v2(unsigned *count) { *count = 4; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **handle) { *handle = (void *)(long)(index + 1); return index == 3 ? 4 : 0; }
int nvmlDeviceGetName(void *handle, char *to, unsigned size) { snprintf(to, size, "NVIDIA H100 %d", of(handle)); return 0; }
int nvmlDeviceGetUUID(void *handle, char *to, unsigned size) { snprintf(to, size, "GPU-%d", of(handle)); return 0; }
int nvmlDeviceGetUtilizationRates(void *handle, unsigned *to) { to[0] = 98; to[1] = 41; return plain(handle); }
int nvmlDeviceGetMemoryInfo(void *handle, unsigned long long *to) { to[0] = 80ULL << 30; to[1] = 9ULL << 30; to[2] = 71ULL << 30; return 0; }
int nvmlDeviceGetPowerUsage(void *handle, unsigned *to) { *to = 612345; return of(handle) == 1 ? 4 : 0; }
int nvmlDeviceGetEnforcedPowerLimit(void *handle, unsigned *to) { *to = 700000; return 0; }
int nvmlDeviceGetTemperature(void *handle, unsigned which, unsigned *to) { *to = 64 + which; return 0; }
int nvmlDeviceGetClockInfo(void *handle, unsigned which, unsigned *to) { *to = which == 1 ? 1980 : which == 2 ? 2619 : 0; return 0; }
#ifndef OLD
int nvmlDeviceGetCurrentClocksEventReasons(void *handle, unsigned long long *to) { *to = 0x4 | 0x40; return 0; }
#else
int nvmlDeviceGetCurrentClocksThrottleReasons(void *handle, unsigned long long *to) { *to = 0x1; return 0; }
#endif
int nvmlDeviceGetMaxClockInfo(void) { abort(); }
int nvmlDeviceGetTotalEnergyConsumption(void) { abort(); }
int nvmlDeviceGetPcieThroughput(void) { abort(); }
"""


class TreeTest(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="gpa", dir=trees.WRITTEN)
        self.addCleanup(shutil.rmtree, self.root, True)

    def put(self, **files):
        for path, text in files.items():
            self.write(path.replace("__", "/"), text)

    def write(self, path, text):
        full = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w") as file:
            file.write(text)


class MachineTest(TreeTest):
    def test_what_counts_up_becomes_rates(self):
        self.put(proc__stat="cpu  100 0 100 700 100 0 0 0 0 0\ncpu0 1 0\ncpu1 1 0\nintr 5\n", proc__loadavg="1.25 1 1 1/1 1\n",
                 proc__meminfo="MemTotal:  4000 kB\nMemFree: 1 kB\nMemAvailable: 1000 kB\n",
                 proc__net__dev="h\nh\neth0: 1000 1 0 0 0 0 0 0 500 1\n    lo: 9 0 0 0 0 0 0 0 9 0\n")
        for name in ("eth0", "lo", "veth1"):
            self.write("sys/class/net/%s/mtu" % name, "1500\n")
        seen = hardware.Machine(Tree(self.root))

        first = seen.sample(10.0)
        self.put(proc__stat="cpu  200 0 200 750 150 0 0 0 0 0\n", proc__net__dev="h\nh\neth0: 3000 1 0 0 0 0 0 0 100 1\n")
        second = seen.sample(12.0)

        self.assertEqual(first["cpu"], {"percent": None, "count": 2, "load": 1.25})
        self.assertEqual(first["memory"], {"total": 4000 * 1024, "used": 3000 * 1024})
        self.assertEqual(first["net"], [{"name": "eth0", "in": None, "out": None}])
        self.assertEqual(second["cpu"]["percent"], 66.7)
        self.assertEqual(second["net"], [{"name": "eth0", "in": 1000, "out": None}])     # the second one was reset

    def test_ports_that_are_up_are_counted_in_bytes(self):
        trees.Gang("infiniband").nodes[0].write(self.root)
        before = hardware.Machine(Recorded(self.root))
        self.assertEqual(before.rdma_ports(), [])       # they have no counters
        for device in os.listdir(os.path.join(self.root, "sys/class/infiniband")):
            self.write("sys/class/infiniband/%s/ports/1/counters/port_xmit_data" % device, "1000\n")
            self.write("sys/class/infiniband/%s/ports/1/counters/port_rcv_data" % device, "0\n")
        seen = hardware.Machine(Recorded(self.root))
        first = seen.sample(1.0)["rdma"][0]
        name = first["name"].split(":")[0]
        self.write("sys/class/infiniband/%s/ports/1/counters/port_xmit_data" % name, "2000\n")
        self.write("sys/class/infiniband/%s/ports/1/counters/port_rcv_data" % name, "4294967295\n")
        self.assertEqual((first["in"], first["out"], first["gbits"]), (None, None, 400.0))
        again = seen.sample(2.0)["rdma"][0]
        self.assertEqual((again["in"], again["out"]), (None, None))        # a counter of 32 bits is at its end
        self.write("sys/class/infiniband/%s/ports/1/counters/port_rcv_data" % name, "500\n")
        seen.sample(3.0)
        self.write("sys/class/infiniband/%s/ports/1/counters/port_rcv_data" % name, "750\n")
        again = seen.sample(4.0)["rdma"][0]
        self.assertEqual((again["in"], again["out"]), (1000, 0))

    def test_a_machine_that_says_nothing_is_no_failure(self):
        found = hardware.Machine(Tree(self.root)).sample(1.0)
        self.assertEqual(found, {"cpu": {"percent": None, "count": 0, "load": None}, "memory": {"total": None, "used": None},
                                 "net": [], "rdma": []})


class AmdTest(TreeTest):
    def test_the_kernel_says_what_it_has(self):
        trees.Gang("amd").nodes[0].write(self.root)
        for name, text in (("gpu_busy_percent", "97"), ("mem_info_vram_used", "1000"), ("hwmon/hwmon3/power1_average", "612000000"),
                           ("hwmon/hwmon3/power1_cap", "750000000"), ("hwmon/hwmon3/temp1_input", "64000"),
                           ("hwmon/hwmon3/freq1_input", "2100000000")):
            self.write("sys/bus/pci/devices/0000:26:00.0/" + name, text + "\n")
        gpus = sampler.Gpus(["1", "2"], Recorded(self.root)).sample()
        self.assertEqual(gpus[0], {"gpu": "1", "name": "", "util": 97, "memory_used": 1000, "memory_total": 206141652992,
                                   "power_w": 612.0, "power_limit_w": 750.0, "temperature": 64, "sm_mhz": 2100, "memory_mhz": None,
                                   "throttled": None})
        self.assertEqual([(gpu["gpu"], gpu["util"]) for gpu in gpus], [("1", 97), ("2", None)])
        self.assertEqual([gpu["gpu"] for gpu in amd.Amd(Recorded(self.root), list("abcdefgh")).samples()], list("abcdefgh"))


@unittest.skipUnless(shutil.which("cc"), "no compiler")
class NvmlTest(TreeTest):
    def load(self, *options):
        source, library = os.path.join(self.root, "nvml.c"), os.path.join(self.root, "nvml%d.so" % len(options))
        self.write("nvml.c", LIBRARY)
        subprocess.check_call(["cc", "-shared", "-fPIC", "-w", "-o", library, source] + list(options))
        return lambda: nvml.Nvml(lambda name: ctypes.CDLL(library))

    def gpus(self, slots, load):
        gpus = sampler.Gpus(slots, Tree(self.root), load)
        self.addCleanup(lambda: gpus.nvml is None or gpus.nvml.close())
        return gpus

    def test_each_value_or_why_there_is_none(self):
        found = self.gpus(list("0123"), self.load()).sample()
        busy = {"gpu": "0", "name": "NVIDIA H100 0", "util": 98, "memory_used": 71 << 30, "memory_total": 80 << 30, "power_w": 612.3,
                "power_limit_w": 700.0, "temperature": 64, "sm_mhz": 1980, "memory_mhz": 2619, "throttled": ["power-cap", "hw-thermal"]}
        self.assertEqual(found[0], busy)
        self.assertEqual(found[1], dict(busy, gpu="1", name="NVIDIA H100 1", util=None, power_w=None))
        self.assertEqual(found[2], {"gpu": "2", "name": "NVIDIA H100 2", "problem": "GPU_IS_LOST"})
        self.assertEqual(found[3], {"gpu": "3", "name": "", "problem": "NO_PERMISSION"})

    def test_only_those_of_the_session(self):
        load = self.load()
        names = lambda slots: [(gpu["gpu"], gpu["name"][-1:]) for gpu in self.gpus(slots, load).sample()]
        self.assertEqual(names(["1", "2"]), [("1", "1"), ("2", "2")])
        self.assertEqual(names(["GPU-2"]), [("GPU-2", "2")])
        self.assertEqual([slot for slot, _ in names(["GPU-"])], ["GPU-"] * 3)       # CUDA takes the beginning of one
        self.assertEqual(names(list("4567")), [("4", "0"), ("5", "1"), ("6", "2"), ("7", "")])      # the others are not visible here
        self.assertEqual(names([]), [])

    def test_an_older_driver_has_another_name_for_it(self):
        self.assertEqual(self.gpus(["0"], self.load("-DOLD")).sample()[0]["throttled"], ["idle"])

    def test_a_driver_that_does_not_begin_is_a_fact(self):
        load = self.load()
        os.environ["FAKE_NVML_INIT"] = "18"
        self.addCleanup(os.environ.pop, "FAKE_NVML_INIT")
        gpus = self.gpus(["0"], load)
        self.assertEqual((gpus.sample(), gpus.problem), ([], "NVML: LIB_RM_VERSION_MISMATCH"))

    def test_no_library_is_a_fact(self):
        gpus = self.gpus(["0"], lambda: nvml.Nvml(lambda name: ctypes.CDLL(os.path.join(self.root, name))))
        self.assertEqual((gpus.sample(), gpus.problem), ([], "no libnvidia-ml.so.1"))


class DiskLookTest(TreeTest):
    def test_a_look_at_steps_that_fails_is_none(self):
        look = sampler.DiskLook(self.root, self.root)
        look.progress = {1: progress.Progress(None), 2: progress.Progress(rundir.folder_of(self.root, 2))}     # the first one cannot be read

        self.assertEqual(look.steps([1, 2]), {1: None, 2: None})


class RepeatTest(unittest.TestCase):
    def test_no_sample_is_taken_while_one_waits_for_its_reader(self):
        reading, writing = os.pipe()
        taken, turns, looked = [], [], threading.Event()

        def sample():
            taken.append(len(taken))
            return b"sample\n"

        def clock():
            turns.append(len(taken))
            if turns[-12:] == [1] * 12:     # several turns since the first sample, which nobody has read
                looked.set()
            return float(len(turns))
        thread = threading.Thread(target=sampler.repeat, args=(sample, writing, 0.0, clock))
        thread.start()

        self.assertTrue(looked.wait(30))
        self.assertEqual(os.read(reading, 100), b"sample\n")
        self.assertEqual(os.read(reading, 100), b"sample\n")      # the next one comes now
        os.close(reading)
        self.ended(thread)
        os.close(writing)

    def ended(self, thread):
        thread.join(30)
        self.assertFalse(thread.is_alive())


class AgentTest(NodeTest):
    def lines(self, stream, count):
        self.connected.pump(lambda: stream.out[0].count(b"\n") >= count)
        return [json.loads(line) for line in bytes(stream.out[0]).decode().split("\n")[:count]]

    def sample_with(self, stream, has_all):
        """The first that has it: the disk and the runs are looked at beside the samples."""
        count = 1
        while not has_all(self.lines(stream, count)[-1]):
            count += 1
        return self.lines(stream, count)[-1]

    def open(self, **args):
        args = dict({"interval_s": 0.1, "workspace": self.base}, **args)
        return self.connected.exec(builtin="sample", args=args, stdin=False, kill_on_close=True).accepted()

    def test_samples_come_as_long_as_the_stream_is_open(self):
        self.connected = self.client()
        self.connected.call("run.start", run=7, spec=command(self.base, "sleep 600"))
        stream = self.open(gpus=["0"])
        first = self.lines(stream, 1)[0]
        self.assertEqual(first["n"], 1)
        self.assertIsNone(first["cpu"]["percent"])
        if not os.path.exists("/dev/nvidiactl"):
            self.assertEqual(first["gpu_problem"], "no libnvidia-ml.so.1")
        whole = self.sample_with(stream, lambda each: each["cpu"]["percent"] is not None and each["disk"] and each["runs"]
                                 and each["runs"][0]["ranks"])
        self.assertGreater(whole["n"], 1)
        self.assertGreater(whole["memory"]["used"], 0)
        self.assertGreater(whole["disk"]["total"], whole["disk"]["free"] - 1)
        self.assertEqual([(run["run"], [rank["rank"] for rank in run["ranks"]]) for run in whole["runs"]], [(7, [0])])
        self.assertIn(whole["runs"][0]["ranks"][0]["state"], "SRD")
        self.ends_with_its_stream_and_keeps_no_node()

    def ends_with_its_stream_and_keeps_no_node(self):
        stream = self.open(interval_s=3600)
        self.lines(stream, 1)
        pid = stream.opened["pid"]
        before = self.control("status")["idle_for_s"]
        stream.close()
        client.until(lambda: processes.processes.stat_fields(pid) in (None, []), what="end of the sampler")
        self.assertGreaterEqual(self.control("status")["idle_for_s"], before)


class RanksTest(unittest.TestCase):
    def test_ranks_below_a_launcher_are_found_by_their_variable(self):
        process, pids = self.launched(*[{"RANK": str(rank)} for rank in (5, 4)])
        seen = processes.Ranks()
        found = seen.sample([(7, "torchrun", 4, [process.pid])], 1.0)[0]
        self.assertEqual([rank["rank"] for rank in found["ranks"]], [4, 5])
        self.assertEqual(sorted(rank["pid"] for rank in found["ranks"]), pids)
        again = seen.sample([(7, "ranks", 4, [process.pid, 1 << 30])], 2.0)[0]["ranks"]
        self.assertEqual([rank["rank"] for rank in again], [4, 5])
        self.assertIn(again[0]["state"], "SR")
        self.assertEqual(again[1]["state"], "ended")

    def test_ranks_of_mpi_are_found_by_its_variables(self):
        ranks = {"OMPI_COMM_WORLD_RANK": "1"}, {"PMI_RANK": "0"}
        for mode, children, variables, expected in (("command", ranks, {"RANK": "0"}, [0, 1]), ("hand", ranks, {}, [0, 1]),
                                                    ("hand", ({"RANK": "8"},), {"OMPI_COMM_WORLD_RANK": "0"}, [8])):
            process, pids = self.launched(*children, **variables)
            found = processes.Ranks().sample([(7, mode, 0, [process.pid])], 1.0)[0]["ranks"]
            self.assertEqual([rank["rank"] for rank in found], expected)
            self.assertEqual(sorted(rank["pid"] for rank in found), pids)

    def test_ranks_that_a_thread_has_started_are_found(self):
        process, pids = self.launched({"PMI_RANK": "1"}, RANK="1", THREAD="yes")
        found = processes.Ranks().sample([(7, "command", 1, [process.pid])], 1.0)[0]["ranks"]
        self.assertEqual([(rank["rank"], rank["pid"]) for rank in found], [(1, pids[0])])

    def test_tasks_of_a_batch_script_are_its_ranks(self):
        process, pids = self.launched(*[{"RANK": str(rank), "SLURM_STEP_NUM_TASKS": "4"} for rank in (2, 3)], RANK="1")
        found = processes.Ranks().sample([(7, "command", 1, [process.pid])], 1.0)[0]["ranks"]
        self.assertEqual([rank["rank"] for rank in found], [2, 3])
        self.assertEqual(sorted(rank["pid"] for rank in found), pids)

    def launched(self, *ranks, **variables):
        """A launcher with children, each with variables of its own: its process, and their pids. With THREAD, a thread starts them."""
        child = "import os, sys; os.write(1, b'%d\\n' % os.getpid()); sys.stdin.read()"
        launcher = ("import os, subprocess, sys, threading\ndef start():\n"
                    " [subprocess.Popen([sys.executable, '-c', %r], env=dict(os.environ, **rank)) for rank in %r]; sys.stdin.read()\n"
                    "threading.Thread(target=start).start() if 'THREAD' in os.environ else start()\n" % (child, ranks))
        process = subprocess.Popen([os.sys.executable, "-c", launcher], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   env=dict({name: value for name, value in os.environ.items() if name != "RANK"}, **variables))
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.stdin.close)
        pids = sorted(int(process.stdout.readline()) for _ in ranks)
        if not processes.processes.children(process.pid):
            self.skipTest("this kernel does not list children")
        return process, pids

    def test_runs_that_are_over_are_left_out(self):
        self.assertEqual(processes.runs(None), [])
        with tempfile.TemporaryDirectory(prefix="gpa") as state:
            os.makedirs(rundir.folder_of(state, 3))
            self.assertEqual(processes.runs(state), [])


if __name__ == "__main__":
    unittest.main()
