"""Why ranks fail: each reason made to happen by a real supervisor and real ranks where this machine can, else from what was
recorded elsewhere (NCCL, CUDA, Xid, cgroup v2, a machine without memory)."""
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import test_supervisor as base
from client import free_port
from gpush_agent.core import processes
from gpush_agent.runs import evidence, leftovers, reasons, requests, rundir

SLOW = True

MEMORY_CGROUP = "/sys/fs/cgroup/memory"
CLONE_NEWNS = 0x20000
MS_PRIVATE_REC = (1 << 18) | (1 << 14)
ROOT = os.getuid() == 0


class ReasonTest(base.RunTest):
    """One rank fails, the other waits; `reason` is what is written down of the first failure."""
    IN_CHILD = None

    def setUp(self):
        super().setUp()
        claim = requests.Start.claim

        def in_child(start):
            if self.IN_CHILD:
                self.IN_CHILD()
            return claim(start)
        requests.Start.claim = in_child
        self.addCleanup(setattr, requests.Start, "claim", claim)

    def ended(self, text, mode="ranks", **more):
        if text is not None:
            self.script(text)
        run = self.start(self.spec(mode, env={"GPUSH_WORKSPACE": self.cwd}, **dict({"stop_grace_s": 3}, **more)))
        self.output = self.follow(run).finish()
        return self.status(run)["exit"]

    def reason(self, text, **more):
        exit = self.ended(text, **more)
        self.assertEqual(exit["first"]["reason"], exit["failures"][0]["reason"])
        return exit["first"]["reason"]

    ONE = "if rank == 0:\n    time.sleep(1000)\n"


class PythonTest(ReasonTest):
    def test_a_missing_module_names_the_user_s_own_line(self):
        os.mkdir(os.path.join(self.cwd, "lib"))
        with open(os.path.join(self.cwd, "lib", "data.py"), "w") as file:
            file.write("import os\n\n\ndef load():\n    import boto3_missing\n")
        reason = self.reason(self.ONE + "from lib import data\nimport json\njson.JSONDecoder(object_hook=lambda _: data.load())"
                             ".decode('{}')\n")
        self.assertEqual(reason, {"code": "import", "type": "ModuleNotFoundError", "message": "No module named 'boto3_missing'",
                                  "frame": {"file": "lib/data.py", "line": 5, "function": "load"}})

    def test_an_exception_inside_a_library_is_told_at_the_user_s_line(self):
        reason = self.reason(self.ONE + "import json\n\ndef main():\n    json.loads('[1, ')\n\nmain()\n")
        self.assertEqual(reason["code"], "exception")
        self.assertEqual(reason["type"], "json.decoder.JSONDecodeError")
        self.assertEqual(reason["frame"], {"file": "train.py", "line": 8, "function": "main"})

    def test_a_script_with_a_mistake(self):
        reason = self.reason(self.ONE + "print(\n")
        self.assertEqual((reason["type"], reason["frame"]["file"]), ("SyntaxError", "train.py"))

    def test_the_same_exception_of_several_ranks_is_written_once(self):
        """All ranks wait for each other, and none can be ended by the TERM that follows the first failure."""
        exit = self.ended("signal.signal(signal.SIGTERM, signal.SIG_IGN)\nopen('r%d' % rank, 'w').close()\n"
                          "while not all(os.path.exists('r%d' % n) for n in range(4)):\n    time.sleep(0.01)\n"
                          "if rank == 3:\n    raise KeyError('other')\nraise ValueError('bad')\n",
                          procs=4, world=4, slots=["0", "1", "2", "3"], stop_grace_s=60)
        folded = {failure["reason"]["type"]: sorted(failure["ranks"]) for failure in exit["failures"]}
        self.assertEqual(folded, {"ValueError": [0, 1, 2], "KeyError": [3]})

    def test_a_traceback_that_ends_nothing_is_not_the_reason(self):
        reason = self.reason(self.ONE + "import traceback\ntry:\n    1 / 0\nexcept ZeroDivisionError:\n    traceback.print_exc()\n"
                             "for n in range(30):\n    print('warming up', n, file=sys.stderr)\nos._exit(9)\n")
        self.assertEqual(reason, {"code": "exit", "exit": 9, "last": "warming up 29"})

    def test_an_exit_in_a_library(self):
        reason = self.reason(self.ONE + "import ctypes\nprint('giving up', file=sys.stderr)\nctypes.CDLL(None)._exit(5)\n")
        self.assertEqual(reason, {"code": "exit", "exit": 5, "last": "giving up"})

    def test_an_abort_in_a_library_has_its_last_words_and_the_user_s_line(self):
        reason = self.reason(self.ONE + "import ctypes\n\ndef step():\n    ctypes.CDLL(None).abort()\n\n"
                             "print('free(): invalid pointer', file=sys.stderr)\nstep()\n")
        self.assertEqual(reason, {"code": "signal", "signal": 6, "message": "free(): invalid pointer",
                                  "frame": {"file": "train.py", "line": 8, "function": "step"}})

    def test_a_signal_of_somebody_else(self):
        reason = self.reason(self.ONE + "os.kill(os.getpid(), signal.SIGKILL)\n")
        self.assertEqual(reason, {"code": "signal", "signal": 9})

    def test_a_shell_tells_the_signal_of_its_program(self):
        exit = self.ended(None, "command", command="python3 -c 'import os; os.abort()'; exit $?")
        self.assertEqual((exit["exit"], exit["first"]["reason"]["signal"]), (134, 6))

    def test_a_command_whose_stderr_went_to_stdout(self):
        exit = self.ended("1 / 0\n", "command", command="RANK=0 python3 train.py 2>&1 | tee log; exit 3")
        self.assertEqual((exit["exit"], exit["first"]["reason"]["type"]), (3, "ZeroDivisionError"))


class FullPlacesTest(ReasonTest):
    """In a mount namespace of its own, small file systems are the run's /dev/shm and its output folder."""
    def IN_CHILD(self):
        libc = ctypes.CDLL(None, use_errno=True)
        small = os.path.join(self.base, "small")
        os.makedirs(small, exist_ok=True)
        for done in (libc.unshare(CLONE_NEWNS), libc.mount(b"none", b"/", None, ctypes.c_ulong(MS_PRIVATE_REC), None),
                     libc.mount(b"tmpfs", b"/dev/shm", b"tmpfs", ctypes.c_ulong(0), b"size=1m"),
                     libc.mount(b"tmpfs", small.encode(), b"tmpfs", ctypes.c_ulong(0), b"size=64k")):
            if done != 0:
                os._exit(77)

    @unittest.skipUnless(ROOT, "mounts need root")
    def test_a_full_dev_shm_is_a_bus_error(self):
        reason = self.reason(self.ONE + "import mmap\n\ndef fill(area):\n    for at in range(0, len(area), 4096):\n"
                             "        area[at:at + 1] = b'x'\n\n"
                             "with open('/dev/shm/torch_%d_1_0' % os.getpid(), 'w+b') as file:\n    file.truncate(8 << 20)\n"
                             "    fill(mmap.mmap(file.fileno(), 0))\n")
        self.assertEqual((reason["code"], reason["path"], reason["size"], reason["free"]),
                         ("shared-memory", "/dev/shm", 1 << 20, 0))
        self.assertEqual(reason["frame"]["function"], "fill")

    @unittest.skipUnless(ROOT, "mounts need root")
    def test_a_full_disk_names_the_place(self):
        small = os.path.join(self.base, "small")
        reason = self.reason(self.ONE + "with open(%r, 'wb', 0) as file:\n    while True:\n        file.write(bytes(4096))\n"
                             % os.path.join(small, "checkpoint"), outputs=small)
        self.assertEqual((reason["code"], reason["path"], reason["size"]), ("disk-full", small, 65536))
        self.assertEqual(reason["frame"]["line"], 7)


@unittest.skipUnless(ROOT and os.path.isdir(MEMORY_CGROUP), "no memory cgroup (v1) that this user can make")
class MemoryTest(ReasonTest):
    GROUP = os.path.join(MEMORY_CGROUP, "gpush-test-%d" % os.getpid())

    def setUp(self):
        super().setUp()
        os.mkdir(self.GROUP)
        with open(os.path.join(self.GROUP, "memory.limit_in_bytes"), "w") as file:
            file.write("100M")
        self.addCleanup(lambda: os.path.isdir(self.GROUP) and base.until(self.removed, what="an empty cgroup"))

    def removed(self):
        try:
            os.rmdir(self.GROUP)
            return True
        except OSError:
            return False

    def IN_CHILD(self):
        with open(os.path.join(self.GROUP, "cgroup.procs"), "w") as file:
            file.write(str(os.getpid()))

    EAT = "eaten = []\nwhile True:\n    eaten.append(bytearray(1 << 20))\n"

    def test_a_rank_that_its_cgroup_kills_for_memory(self):
        reason = self.reason(self.ONE + self.EAT)
        self.assertEqual((reason["code"], reason["scope"], reason["limit"]), ("memory", "cgroup", 100 << 20))

    def test_without_the_kernel_s_log_the_counters_tell(self):
        opened = evidence.Evidence.open_log
        evidence.Evidence.open_log = lambda self: None
        self.addCleanup(setattr, evidence.Evidence, "open_log", opened)
        reason = self.reason(self.ONE + self.EAT)
        self.assertEqual(reason, {"code": "memory", "scope": "cgroup", "limit": 100 << 20})

    def test_a_program_below_a_shell(self):
        self.script(self.EAT)
        exit = self.ended(None, "command", command="RANK=0 python3 train.py; exit $?")
        self.assertEqual((exit["exit"], exit["first"]["reason"]["code"]), (137, "memory"))


class RecordedTest(unittest.TestCase):
    """A recorded tree stands in for /proc, /sys and /dev."""
    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="gpe")
        self.addCleanup(shutil.rmtree, self.root, True)
        self.addCleanup(setattr, evidence, "ROOT", evidence.ROOT)
        evidence.ROOT = self.root
        self.place = reasons.Place("/ws", "/ws")

    def put(self, name, text):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "a" if name == "dev/kmsg" else "w") as file:
            file.write(text)

    def first_pids(self):
        os.makedirs(os.path.join(self.root, "proc/self/ns"))
        os.symlink(evidence.FIRST_PIDS, os.path.join(self.root, "proc/self/ns/pid"))

    def v2(self, path, **counts):
        self.put("sys/fs/cgroup" + path + "/memory.events",
                 "low 0\nhigh 0\nmax 9\noom %d\noom_kill %d\noom_group_kill 0\n" % (counts["oom"], counts["kill"]))
        self.put("sys/fs/cgroup" + path + "/memory.max", counts.get("limit", "max") + "\n")

    def group(self, path, mounted="/"):
        self.put("proc/self/cgroup", "0::%s\n" % path)
        self.put("proc/self/mountinfo", "30 23 0:26 %s /sys/fs/cgroup ro,nosuid - cgroup2 cgroup2 rw,nsdelegate\n" % mounted)
        self.put("proc/vmstat", "nr_free_pages 1\noom_kill 3\n")

    def test_cgroup_v2_of_a_job_below_its_limit(self):
        """Slurm: the limit is the job's, the processes are in a step below it; events of v2 count upwards."""
        self.group("/system.slice/job_7/step_0")
        for path, limit in (("/system.slice", "max"), ("/system.slice/job_7", "1073741824"), ("/system.slice/job_7/step_0", "max")):
            self.v2(path, oom=2, kill=2, limit=limit)
        node = evidence.Evidence()
        self.v2("/system.slice/job_7/step_0", oom=2, kill=3)
        self.v2("/system.slice/job_7", oom=3, kill=3, limit="1073741824")
        self.v2("/system.slice", oom=3, kill=3)
        self.assertEqual(node.oom([5], True), {"scope": "cgroup", "limit": 1 << 30})

    def test_cgroup_v2_of_a_container(self):
        self.group("/")
        self.v2("", oom=0, kill=0, limit="4096000")
        node = evidence.Evidence()
        self.assertIsNone(node.oom([5], True))
        self.v2("", oom=1, kill=1, limit="4096000")
        self.assertEqual(node.oom([5], True), {"scope": "cgroup", "limit": 4096000})

    def test_a_container_sees_only_its_part_of_a_v1_tree(self):
        self.put("proc/self/cgroup", "4:memory:/kubepods/pod1/c1\n")
        self.put("proc/self/mountinfo", "35 31 0:32 /kubepods/pod1/c1 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n")
        self.put("sys/fs/cgroup/memory/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n")
        self.put("sys/fs/cgroup/memory/memory.failcnt", "0\n")
        self.put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
        node = evidence.Evidence()
        self.put("sys/fs/cgroup/memory/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n")
        self.assertEqual(node.oom([5], True), {"scope": "machine"})

    OOM = ("6,900,4000,-;oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/u,"
           "task=python3,pid=4711,uid=1000\n"
           "3,901,4001,-;Out of memory: Killed process 4711 (python3) total-vm:81920kB, anon-rss:40960kB, file-rss:0kB, "
           "shmem-rss:0kB, UID:1000 pgtables:1kB oom_score_adj:0\n SUBSYSTEM=memory\n")

    def test_a_machine_without_memory_is_read_from_the_kernel_s_log(self):
        self.put("dev/kmsg", self.OOM.replace("4711", "99"))
        self.first_pids()
        node = evidence.Evidence()
        self.assertIsNone(node.oom([99], True), "of before the run")
        self.put("dev/kmsg", self.OOM)
        self.assertEqual(node.oom([4711], True), {"scope": "machine", "process": "python3", "used": 40960 * 1024})
        self.assertIsNone(node.oom([4712], True), "another process")
        reason = reasons.of(("signal", 9), b"", node, self.place, [4711])
        self.assertEqual((reason["code"], reason["scope"]), ("memory", "machine"))

    def test_where_the_log_is_closed_the_machine_s_counter_tells_that_there_was_one(self):
        self.group("/user.slice")
        node = evidence.Evidence()
        self.put("proc/vmstat", "oom_kill 4\n")
        self.assertEqual(node.oom([4711], True), {"scope": "unknown"})

    def test_a_data_loader_s_worker_that_was_killed(self):
        self.put("dev/kmsg", "")
        self.first_pids()
        node = evidence.Evidence()
        self.put("dev/kmsg", self.OOM)
        text = (b"Traceback (most recent call last):\n  File \"/ws/train.py\", line 9, in main\n    next(loader)\n"
                b"RuntimeError: DataLoader worker (pid 4711) is killed by signal: Killed. \n")
        reason = reasons.of(("exit", 1), text, node, self.place, [4700])
        self.assertEqual((reason["code"], reason["process"], reason["frame"]["line"]), ("memory", "python3", 9))

    XID = ("4,902,5000,-;NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
           "4,903,5001,-;NVRM: Xid (PCI:0000:3b:00): 48, pid=4711, name=python3, Double Bit ECC Error\n")
    CUDA = (b"[rank2]: Traceback (most recent call last):\n[rank2]:   File \"/ws/train.py\", line 40, in step\n"
            b"[rank2]:     loss.backward()\n[rank2]:   File \"/env/lib/python3.11/site-packages/torch/_tensor.py\", line 5, in backward\n"
            b"[rank2]:     x()\n[rank2]: RuntimeError: CUDA error: uncorrectable ECC error encountered\n"
            b"[rank2]: CUDA kernel errors might be asynchronously reported at some other API call\n")

    def test_a_cuda_error_with_the_gpu_s_own_report(self):
        self.put("dev/kmsg", self.XID.replace("79", "13"))
        node = evidence.Evidence()
        self.put("dev/kmsg", self.XID)
        reason = reasons.of(("exit", 1), self.CUDA, node, self.place, [4711], rank=2)
        self.assertEqual(reason["code"], "cuda")
        self.assertEqual(reason["message"], "CUDA error: uncorrectable ECC error encountered")
        self.assertEqual([xid["xid"] for xid in reason["xids"]], [79, 48])
        self.assertEqual(reason["xids"][1], {"xid": 48, "gpu": "0000:3b:00", "text": "Double Bit ECC Error"})
        self.assertEqual(reason["frame"], {"file": "train.py", "line": 40, "function": "step"})

    def texts(self):
        def raised(text):
            return b"Traceback (most recent call last):\n  File \"/ws/a.py\", line 3, in f\n    g()\n" + text + b"\n"
        yield raised(b"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."), 1, {"code": "cuda-memory"}
        yield (b"[rank1]:[E1123 08:00:00.1 ProcessGroupNCCL.cpp:632] [Rank 1] Watchdog caught collective operation timeout: "
               b"WorkNCCL(SeqNum=3, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=10000) ran for 10017 milliseconds before "
               b"timing out.\nterminate called after throwing an instance of 'c10::DistBackendError'\n  what():  x\n"), -6, {
                   "code": "collective-timeout", "by": "nccl", "operation": "allreduce", "sequence": 3, "ms": 10000}
        yield raised(b"RuntimeError: [../third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting 2000ms for recv "
                     b"operation to complete"), 1, {"code": "collective-timeout", "by": "gloo", "ms": 2000}
        yield raised(b"RuntimeError: [../gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.0.0.2]:12345"), 1, {
            "code": "peer"}
        yield raised(b"torch.distributed.DistBackendError: NCCL error in: NCCLUtils.hpp:328, remote process exited\n"
                     b"ncclRemoteError: A call failed possibly due to a network error"), 1, {"code": "peer"}
        yield raised(b"requests.exceptions.ConnectionError: Connection reset by peer"), 1, {"code": "exception"}
        yield raised(b"torch.distributed.DistStoreError: Timed out after 61 seconds waiting for clients. 1/2 clients joined."), 1, {
            "code": "rendezvous", "joined": 1, "expected": 2, "ms": 61000}
        yield raised(b"torch.distributed.DistNetworkError: The client socket has timed out after 60000ms while trying to connect to "
                     b"(10.0.0.1, 29500)."), 1, {"code": "rendezvous", "address": "10.0.0.1", "port": 29500, "ms": 60000}
        yield raised(b"RuntimeError: DataLoader worker (pid 7) is killed by signal: Bus error. It is possible that dataloader's "
                     b"workers are out of shared memory. Please try to raise your shared memory limit."), 1, {"code": "shared-memory"}
        yield b"terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\n", -6, {
            "code": "signal", "signal": 6, "message": "std::bad_alloc: std::bad_alloc"}
        yield raised(b"ValueError: bad") + raised(b"torch.distributed.elastic.multiprocessing.errors.ChildFailedError: "), 1, {
            "type": "ValueError"}
        yield raised(b"ValueError: bad") + b"Exception ignored in: <function X.__del__ at 0x7f>\n" + raised(b"TypeError: x"), 1, {
            "type": "ValueError"}
        # as an H200 wrote it: the ignored one is shown twice, the first time without a word
        ignored = (b"Traceback (most recent call last):\n  File \"cupy_backends/cuda/api/driver.pyx\", line 73, in check_status\n"
                   b"cupy_backends.cuda.api.driver.CUDADriverError: CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered\n")
        yield raised(b"torch.AcceleratorError: CUDA error: an illegal memory access was encountered\nSearch for ...\n\n") + (
            ignored + b"Exception ignored in: 'cupy.cuda.function.Module.__dealloc__'\n" + ignored), 1, {
                "code": "cuda", "type": "torch.AcceleratorError", "message": "CUDA error: an illegal memory access was encountered"}
        yield ignored, 1, {"code": "cuda", "frame": None}
        yield (b"Traceback (most recent call last):\n  File \"/ws/fill.py\", line 6, in fill\n    keep.append(cupy.empty(16 << 30))\n"
               b"  File \"cupy_backends/cuda/api/runtime.pyx\", line 146, in cupy_backends.cuda.api.runtime.check_status\n"
               b"cupy_backends.cuda.api.runtime.CUDARuntimeError: cudaErrorMemoryAllocation: out of memory\n"), 1, {
                   "code": "cuda-memory", "frame": {"file": "fill.py", "line": 6, "function": "fill"}}
        yield raised(b"jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 256.00GiB with allocator "
                     b"GPU_0_bfc on device 0. [executable_name='jit_broadcast_in_dim'] [tf-allocator-allocation-error='']"), 1, {
                         "code": "cuda-memory"}
        yield raised(b"RuntimeError: Caught ValueError in DataLoader worker process 0.\nOriginal Traceback (most recent call last):\n"
                     b"  File \"/ws/data.py\", line 12, in get\n    x\nValueError: bad sample\n"), 1, {
                         "type": "ValueError", "frame": {"file": "data.py", "line": 12, "function": "get"}}
        yield b"\xff\xfe\n  File \"\n" * 50 + b"Traceback (most recent call last):\n", 1, {"code": "exit", "exit": 1}
        yield b"", 3, {"code": "exit", "exit": 3, "last": ""}

    def test_what_libraries_say(self):
        node = evidence.Evidence()
        for text, status, wanted in self.texts():
            ended = ("signal", -status) if status < 0 else ("exit", status)
            reason = reasons.of(ended, text, node, self.place)
            self.assertEqual({name: reason.get(name) for name in wanted}, wanted, text)

    def test_lines_of_other_processes_between_those_of_a_traceback(self):
        two = (b"Traceback (most recent call last):\nTraceback (most recent call last):\n  File \"/ws/a.py\", line 3, in f\nloading\n"
               b"  File \"/ws/a.py\", line 3, in f\n    g()\n    g()\nValueError: bad\nValueError: bad\n")
        reason = reasons.of(("exit", 1), two, evidence.Evidence(), self.place)
        self.assertEqual((reason["type"], reason["frame"]["line"]), ("ValueError", 3))


class CleanTest(ReasonTest):
    def test_all_ranks_are_gone_when_the_grace_is_over_and_what_they_left_is_named_or_removed(self):
        """The other rank ignores TERM, has a child that does, and holds memory of a library and of its own."""
        name = "torch_%d_1_0" % os.getpid()
        self.addCleanup(lambda: os.path.exists("/dev/shm/" + name) and os.unlink("/dev/shm/" + name))
        data = "gpush-test-%d" % os.getpid()
        self.addCleanup(lambda: os.path.exists("/dev/shm/" + data) and os.unlink("/dev/shm/" + data))
        exit = self.ended(
            "if rank == 0:\n    import mmap\n    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
            "    areas = []\n    for name in %r:\n        file = open('/dev/shm/' + name, 'w+b')\n        file.truncate(8192)\n"
            "        areas.append(mmap.mmap(file.fileno(), 0))\n        file.close()\n"
            "    child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(1000)'], start_new_session=True)\n"
            "    with open('pids.new', 'w') as file:\n        file.write('%%d %%d\\n' %% (os.getpid(), child.pid))\n"
            "    os.rename('pids.new', 'pids')\n    time.sleep(1000)\n"
            "while not os.path.exists('pids'):\n    time.sleep(0.01)\nsys.exit(4)\n" % ((name, data),))
        self.assertEqual(exit["exit"], 4)
        self.assertFalse(any(base.alive(pid) for pid in self.pids(1, "pids")))
        self.assertFalse(os.path.exists("/dev/shm/" + name))
        self.assertTrue(os.path.exists("/dev/shm/" + data), "the user's own data")
        self.assertEqual(exit["left"]["shm"]["removed"], 1)
        self.assertGreaterEqual(exit["left"]["shm"]["bytes"], 8192)
        # from the failure on: the grace of 3 s, and what a loaded machine adds to KILL and the look around
        self.assertGreaterEqual(exit["ms"] - exit["first"]["at_ms"], 2900)

    def test_a_grace_for_those_who_save(self):
        exit = self.ended("if rank == 0:\n    def save(*_):\n        open('saved', 'w').close()\n        sys.exit(0)\n"
                          "    signal.signal(signal.SIGTERM, save)\n    open('ready', 'w').close()\n    time.sleep(1000)\n"
                          "while not os.path.exists('ready'):\n    time.sleep(0.01)\nsys.exit(4)\n", stop_grace_s=1000)
        self.assertEqual(exit["exit"], 4)
        self.assertTrue(os.path.exists(os.path.join(self.cwd, "saved")))

    def test_who_holds_the_port_is_named(self):
        port = free_port()
        master = {"addr": "127.0.0.1", "port": port}
        exit = self.ended("if rank == 0:\n    time.sleep(1000)\n"
                          "import socket\nsock = socket.socket()\nsock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)\n"
                          "sock.bind(('', %d))\nsock.listen(1)\nos.set_inheritable(sock.fileno(), True)\n"
                          "env = {name: text for name, text in os.environ.items() if name != 'GPUSH_MARK'}\n"
                          "env['GPUSH_AGENT'] = 'another'\n"
                          "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(1000)'], close_fds=False,"
                          " env=env, start_new_session=True)\n"
                          "with open('holder', 'w') as file:\n    file.write('%%d\\n' %% child.pid)\nsys.exit(4)\n" % port,
                          master=master)
        pid = self.pids(1, "holder")[0]
        self.addCleanup(processes.kill, [pid], signal.SIGKILL)
        self.assertEqual((exit["left"]["port"]["port"], exit["left"]["port"]["pid"]), (port, pid))
        self.assertTrue(base.alive(pid), "what is not ours is not killed")

    def test_an_old_record_without_reasons_is_read(self):
        run = self.start(self.spec(program=["-c", "pass"]))
        self.follow(run).finish()
        folder = rundir.folder_of(self.state, run)
        rundir.write(folder, "exit.json", {"exit": 3, "signal": None, "first": {"rank": 1, "exit": 3, "signal": None, "at_ms": 5,
                                                                               "asked": False}, "stopped": False, "ms": 9})
        self.assertEqual(self.status(run)["exit"]["first"]["rank"], 1)


class NvidiaTest(unittest.TestCase):
    def test_holders_are_read_from_nvidia_smi(self):
        folder = tempfile.mkdtemp(prefix="gpn")
        self.addCleanup(shutil.rmtree, folder, True)
        with open(os.path.join(folder, "nvidia-smi"), "w") as file:
            file.write("#!/bin/sh\nfor word; do case $word in --id=*) id=${word#*=} ;; esac; done\n[ \"$id\" = 0,GPU-1 ] || exit 1\n"
                       "echo '00000000:3B:00.0, %d, /usr/bin/python3, 1024'\necho 'x, [N/A], y, [N/A]'\n"
                       "echo '00000000:00:06.0, %d, [No data], 4614'\n"
                       "echo '00000000:00:07.0, %d, [Not Found], 12'\n" % ((os.getpid(),) * 3))
        os.chmod(os.path.join(folder, "nvidia-smi"), 0o755)
        path = os.environ["PATH"]
        os.environ["PATH"] = folder + ":" + path
        self.addCleanup(os.environ.__setitem__, "PATH", path)
        found = leftovers.gpu_holders("0,GPU-1")
        self.assertEqual([(one["gpu"], one["pid"], one.get("name"), one["mb"]) for one in found],
                         [("00000000:3B:00.0", os.getpid(), "python3", 1024),
                          ("00000000:00:06.0", os.getpid(), leftovers.who(os.getpid())["name"], 4614),
                          ("00000000:00:07.0", os.getpid(), None, 12)])
        self.assertNotIn("user", found[2], "the number is another process in this container")
        self.assertEqual(leftovers.gpu_holders("2"), [], "only the run's own GPUs are asked for")


class EndingTest(unittest.TestCase):
    ENDING = """
import ctypes, os, sys, threading
def last():
    state = b""
    while state != b"Z":
        with open("/proc/self/stat", "rb") as file:
            state = file.read().rpartition(b")")[2].split()[0]
    os.write(1, b"first thread has ended\\n")
    os.read(0, 1)
    os._exit(0)
threading.Thread(target=last).start()
ctypes.CDLL(None).pthread_exit(None)
"""

    def test_a_process_lives_until_its_last_thread_has_ended(self):
        """One that used a GPU is so for a while when it is killed, and its memory is not free before."""
        with subprocess.Popen([sys.executable, "-c", self.ENDING], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            self.addCleanup(process.kill)
            process.stdout.readline()
            self.assertIn(process.pid, processes.descendants(os.getpid()), "it still has a thread")
            process.stdin.close()
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            self.assertNotIn(process.pid, processes.descendants(os.getpid()), "it is a zombie")


if __name__ == "__main__":
    print(sys.version, file=sys.stderr)
    unittest.main()
