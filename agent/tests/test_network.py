"""Which network a run uses, from what NCCL logs: the parser over recorded lines, and supervisors of programs that write such
logs. GOLDEN=write writes the facts of the recorded logs again, to be read as a diff; the verdicts' tests in Java read them."""
import json
import os
import shutil
import tempfile
import unittest

from test_supervisor import RunTest, until
from gpush_agent.core.loop import Loop
from gpush_agent.core.refused import Refused
from recorded import Recorded, Tree
from gpush_agent.network import counters, logs, nccl, observer
import trees

SLOW = True

FOLDER = os.path.join(os.path.dirname(trees.FOLDER), "transport")
# What a rank does that uses NCCL: it writes where NCCL would.
WRITES = """
def log(number, text):
    path = os.environ['NCCL_DEBUG_FILE'].replace('%%', '\\0').replace('%h', os.uname()[1].split('.')[0]).replace('%p', str(number))
    with open(path.replace('\\0', '%'), 'a') as file:
        file.write(text)
"""
INIT = ("a:1:1 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0:10.0.0.1<0>\\n"
        "a:1:1 [0] NCCL INFO Using network IB\\n"
        "a:1:1 [0] NCCL INFO comm 0x1 rank 0 nRanks 4 nNodes 2 localRanks 2 localRank 0\\n"
        "a:1:1 [0] NCCL INFO comm 0x1 rank 0 nranks 4 - Init COMPLETE\\n"
        "a:1:2 [0] NCCL INFO Channel 00/0 : 2[0] -> 0[0] [receive] via NET/IB/%d/GDRDMA\\n")


def recorded(name):
    """For each node the facts of its processes together."""
    nodes = {}
    log = None
    with open(os.path.join(FOLDER, name + ".log"), encoding="utf-8") as file:
        for line in file.read().split("\n"):
            if line.startswith("== node "):
                log = nccl.ProcessLog()
                nodes.setdefault(int(line.split()[2].rstrip(",")), []).append(log)
            elif not line.startswith("#"):
                log.line(line)
    return [nccl.together(found) for _, found in sorted(nodes.items())]


def names():
    return sorted(name[:-4] for name in os.listdir(FOLDER) if name.endswith(".log"))


class RecordedTest(unittest.TestCase):
    maxDiff = None

    def test_facts_are_as_recorded(self):
        self.assertGreater(len(names()), 7)
        for name in names():
            path = os.path.join(FOLDER, name + ".json")
            text = json.dumps(recorded(name), indent=1, sort_keys=True) + "\n"
            if os.environ.get("GOLDEN") == "write":
                with open(path, "w") as file:
                    file.write(text)
            with open(path) as file:
                self.assertEqual(file.read(), text, name)

    def test_rails_are_those_that_any_process_uses(self):
        one = recorded("infiniband")[0]
        self.assertEqual((one["network"], one["used"], one["direct"]), ("IB", ["mlx5_0", "mlx5_7"], True))
        self.assertEqual(len(one["ports"]), 8)
        two = recorded("roce")[0]
        self.assertEqual((two["used"], two.get("direct")), (["mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"], False))

    def test_the_reason_of_tcp_is_among_the_facts(self):
        self.assertIn({"code": "libibverbs", "said": "Failed to open libibverbs.so[.1]"}, recorded("socket")[0]["reasons"])

    def test_nonsense_is_no_network(self):
        log = nccl.ProcessLog()
        for line in ("", "NCCL INFO", "x NCCL INFO ", "NCCL INFO NET/IB : Using", "NCCL INFO NET/ : Using [0]", "NCCL INFO Channel : via NET/",
                     "NCCL INFO NET/IB : Using [99999999999999999999]a:1/IB", "NCCL INFO Made virtual device [1] name=", "\x00" * 100,
                     "NCCL INFO comm rank nRanks 2 nNodes x", "NCCL WARN " + "a" * 100000, "Init COMPLETE"):
            log.line(line)
        self.assertIsNone(log.network)
        self.assertFalse(log.is_connected())
        self.assertEqual(nccl.together([]), {})

    def test_lists_have_an_end(self):
        log = nccl.ProcessLog()
        log.line("h NCCL INFO NET/IB : Using " + " ".join("[%d]m%d:1/IB" % (at, at) for at in range(5000)))
        for at in range(5000):
            log.line("h NCCL INFO Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/%d" % at)
        facts = nccl.together([log])
        self.assertEqual((len(facts["ports"]), len(facts["used"])), (nccl.MOST_DEVICES, nccl.MOST_DEVICES))


class VariablesTest(unittest.TestCase):
    def test_what_the_user_set_is_kept(self):
        spec = {"transport": "log", "env": {"NCCL_DEBUG": "WARN"}}
        self.assertEqual(sorted(observer.variables(spec, "/runs/7")), ["NCCL_DEBUG_FILE", "NCCL_DEBUG_SUBSYS"])
        self.assertEqual(observer.variables({"transport": "log"}, "/a%b/7"), {
            "NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "INIT,NET", "NCCL_DEBUG_FILE": "/a%%b/7/nccl.%h.%p.log"})
        self.assertEqual(observer.variables({"transport": "counters"}, "/runs/7"), {})

    def test_what_says_nothing_of_networks_is_not_read(self):
        self.assertTrue(logs.is_talkative({"NCCL_DEBUG": "info"}))
        self.assertTrue(logs.is_talkative({"NCCL_DEBUG": "TRACE", "NCCL_DEBUG_SUBSYS": "^COLL"}))
        self.assertFalse(logs.is_talkative({"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "COLL,P2P"}))
        self.assertFalse(logs.is_talkative({"NCCL_DEBUG": "WARN"}))
        self.assertFalse(logs.is_talkative({}))


class ObservedRunTest(RunTest):
    def event(self, run):
        found = self.follow(run).finish().events()
        self.assertEqual([value["event"] for value in found].count("transport"), 1, found)
        return next(value for value in found if value["event"] == "transport"), found

    def test_logs_go_into_the_runs_folder_and_stay(self):
        self.script(WRITES + "log(os.getpid(), '%s' %% rank)\nprint(os.environ['NCCL_DEBUG'], os.environ['NCCL_DEBUG_SUBSYS'])\n" % INIT)
        run = self.start(self.spec(transport="log", world=4, nodes=2))
        facts, _ = self.event(run)
        self.assertEqual((facts["network"], facts["used"], facts["asked"], facts["by"]),
                         ("IB", ["mlx5_0", "mlx5_1"], True, "nccl"))
        output = self.follow(run).finish()
        self.assertEqual(output.of(0), b"INFO INIT,NET\n")
        folder = os.path.join(self.state, "runs", str(run))
        self.assertEqual(os.path.dirname(facts["logs"]), folder)
        self.assertEqual(len([name for name in os.listdir(folder) if name.startswith("nccl.")]), 2)

    def test_the_verdict_comes_while_the_run_goes_on(self):
        self.script(WRITES + "log(os.getpid(), '%s' %% rank)\n"
                    "while not os.path.exists('end'): time.sleep(0.02)\n" % INIT)
        run = self.start(self.spec(transport="log", world=4, nodes=2))
        until(lambda: self.follow(run, follow=False).finish().events("transport"), what="the network")
        self.assertTrue(self.status(run)["alive"])
        open(os.path.join(self.cwd, "end"), "w").close()
        self.event(run)

    def test_a_file_of_the_user_is_read_and_an_older_one_is_not(self):
        mine = os.path.join(self.cwd, "mine-%h-%p")
        host = os.uname()[1].split(".")[0]
        old = os.path.join(self.cwd, "mine-%s-1" % host)
        with open(old, "w") as file:
            file.write("a:1:1 [0] NCCL INFO Using network Socket\n")
        os.utime(old, (1, 1))
        self.script(WRITES + "log(os.getpid(), '%s' %% rank)\n" % INIT)
        run = self.start(self.spec(transport="counters", env={"NCCL_DEBUG": "INFO", "NCCL_DEBUG_FILE": mine}, world=4, nodes=2))
        facts, _ = self.event(run)
        self.assertEqual((facts["network"], facts["used"], facts["asked"]), ("IB", ["mlx5_0", "mlx5_1"], False))

    def test_what_ranks_print_is_heard(self):
        self.script("print('''%s''' %% rank, end='')\n" % INIT)
        run = self.start(self.spec(transport="counters", env={"NCCL_DEBUG": "INFO"}, world=4, nodes=2))
        self.assertEqual(self.event(run)[0]["used"], ["mlx5_0", "mlx5_1"])

    def test_a_run_without_nccl_says_so_only_where_it_was_asked(self):
        self.script("print('gloo')\n")
        run = self.start(self.spec(transport="log", env={"NCCL_DEBUG": "WARN"}, world=4, nodes=2))
        facts, _ = self.event(run)
        self.assertEqual((facts.get("network"), facts["level"]), (None, "WARN"))
        for spec in (self.spec(transport="counters"), self.spec()):
            run = self.start(spec)
            self.assertEqual(self.follow(run).finish().events("transport"), [])

    def test_an_unknown_wish_is_refused(self):
        self.script("")
        with self.assertRaises(Refused):
            self.start(self.spec(transport="guess"))

    def test_a_log_that_cannot_be_read_costs_nothing(self):
        self.script("os.mkdir(os.environ['NCCL_DEBUG_FILE'].replace('%h', os.uname()[1].split('.')[0]).replace('%p', str(os.getpid())))\n")
        run = self.start(self.spec(transport="log"))
        self.assertIsNone(self.event(run)[0].get("network"))
        self.assertEqual(self.status(run)["exit"]["exit"], 0)


GIB = 1 << 30


class Machine:
    """The first node of a recorded gang, with counters that begin at some value, as a machine that has run for long."""

    def __init__(self, test, gang):
        self.root = tempfile.mkdtemp(prefix="gpn", dir=trees.WRITTEN)
        test.addCleanup(shutil.rmtree, self.root)
        trees.Gang(gang).nodes[0].write(self.root)
        self.values = {}
        for device in os.listdir(self.path("sys/class/infiniband")) if os.path.isdir(self.path("sys/class/infiniband")) else []:
            hardware = "hw_counters/%s_bytes" if device.startswith("rdmap") else None
            for way, word in (("tx", "xmit"), ("rx", "rcv")):
                name = hardware % way if hardware else "counters/port_%s_data" % word
                self.write("sys/class/infiniband/%s/ports/1/%s" % (device, name), 7 * GIB)
        for name in os.listdir(self.path("sys/class/net")):
            if os.path.isdir(self.path("sys/class/net/" + name)):
                for way in ("tx", "rx"):
                    self.write("sys/class/net/%s/statistics/%s_bytes" % (name, way), GIB)
        self.reader = Recorded(self.root)

    def path(self, name):
        return os.path.join(self.root, name)

    def write(self, name, value):
        self.values[name] = value
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w") as file:
            file.write("%d\n" % value)

    def add(self, name, value):
        self.write(name, self.values[name] + value)

    def rdma(self, device, sent, received=None):
        own = "sys/class/infiniband/%s/ports/1/" % device
        for word, way, value in (("xmit", "tx", sent), ("rcv", "rx", sent if received is None else received)):
            if own + "counters/port_xmit_data" in self.values:
                self.add(own + "counters/port_%s_data" % word, value // 4)
            else:
                self.add(own + "hw_counters/%s_bytes" % way, value)

    def net(self, name, sent, received=None):
        own = "sys/class/net/%s/statistics/" % name
        self.add(own + "tx_bytes", sent)
        self.add(own + "rx_bytes", sent if received is None else received)


class Counted:
    """Counters with what they are read from."""

    def __init__(self, reader):
        self.reader = reader
        self.known = counters.devices(reader)
        self.ports = self.known["ports"]
        self.counters = counters.Counters(self.known, counters.sample(reader, self.known))

    def facts(self):
        return self.counters.facts(counters.sample(self.reader, self.known))

    def carried(self):
        return self.counters.carried(counters.sample(self.reader, self.known))


class CountersTest(unittest.TestCase):
    def machine(self, gang):
        machine = Machine(self, gang)
        return machine, Counted(machine.reader)

    def test_rails_that_carry_traffic_are_counted(self):
        machine, counted = self.machine("infiniband")
        self.assertEqual(counted.facts(), {})
        for rail in range(8):
            machine.rdma("mlx5_%d" % rail, GIB)
        machine.rdma("mlx5_bond_0", GIB // 100)
        facts = counted.facts()
        self.assertEqual((facts["network"], counters.gbits(counted.known, facts["used"]), facts["used"]), ("IB", 400, ["mlx5_%d" % rail for rail in range(8)]))

    def test_a_rail_that_is_silent_is_not_among_them(self):
        machine, counted = self.machine("infiniband")
        for rail in range(7):
            machine.rdma("mlx5_%d" % rail, GIB)
        self.assertEqual(len(counted.facts()["used"]), 7)

    def test_tcp_is_told_by_the_interface(self):
        machine, counted = self.machine("infiniband")
        machine.net("bond0", GIB)
        facts = counted.facts()
        self.assertEqual((facts["network"], facts["used"]), ("Socket", ["bond0"]))

    def test_files_are_no_collectives(self):
        machine, counted = self.machine("infiniband")
        machine.net("bond0", GIB // 100, 50 * GIB)      # data that is read
        machine.rdma("mlx5_0", GIB // 100, 50 * GIB)    # the same from a file system over InfiniBand
        self.assertEqual(counted.facts(), {})

    def test_little_traffic_or_traffic_of_both_kinds_is_no_verdict(self):
        machine, counted = self.machine("infiniband")
        machine.net("bond0", 100 << 20)
        self.assertEqual(counted.facts(), {})
        machine.net("bond0", GIB)
        machine.rdma("mlx5_0", GIB)
        self.assertEqual(counted.facts(), {})

    def test_ip_over_infiniband_is_tcp(self):
        machine, counted = self.machine("infiniband")
        machine.net("ib0", GIB)
        machine.rdma("mlx5_0", GIB)
        facts = counted.facts()
        self.assertEqual((facts["network"], facts["used"]), ("Socket", ["ib0"]))

    def test_efa_has_counters_of_its_own(self):
        machine, counted = self.machine("efa")
        for device in os.listdir(machine.path("sys/class/infiniband")):
            machine.rdma(device, GIB)
        facts = counted.facts()
        self.assertEqual((facts["provider"], facts["provider_devices"]), ("efa", 32))

    def test_roce_is_named_by_its_link(self):
        machine, counted = self.machine("roce")
        for port in counted.ports:
            machine.rdma(port["device"], GIB)
        self.assertEqual({port["link"] for port in counted.facts()["ports"]}, {"RoCE"})

    def test_devices_that_cannot_be_opened_explain_tcp(self):
        machine, counted = self.machine("no-uverbs")
        machine.net("eth0", GIB)
        facts = counted.facts()
        self.assertEqual((facts["network"], facts["used"], facts["reasons"][0]["code"]), ("Socket", ["eth0"], "open"))

    def test_counters_that_cannot_be_read_are_no_verdict(self):
        machine, counted = self.machine("infiniband")
        for rail in range(8):
            os.unlink(machine.path("sys/class/infiniband/mlx5_%d/ports/1/counters/port_xmit_data" % rail))
        machine.net("bond0", GIB)
        self.assertEqual(counted.facts(), {})

    def test_counters_that_stopped_or_were_reset_are_no_verdict(self):
        machine, counted = self.machine("infiniband")
        machine.write("sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data", counters.SATURATED)
        machine.net("bond0", GIB)
        self.assertEqual(counted.facts(), {})
        machine.write("sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data", 0)
        machine.write("sys/class/infiniband/mlx5_1/ports/1/counters/port_rcv_data", 0)
        self.assertEqual(counted.carried()["mlx5_1:1"], 0)
        counted.facts()

    def test_a_machine_without_anything(self):
        root = tempfile.mkdtemp(prefix="gpn")
        self.addCleanup(shutil.rmtree, root)
        self.assertEqual(Counted(Tree(root)).facts(), {})

    def test_every_recorded_machine_can_be_counted(self):
        for name in trees.names():
            machine, counted = self.machine(name)
            for port in counted.ports:
                machine.rdma(port["device"], GIB)
            self.assertEqual(bool(counted.facts()), bool(counted.ports), name)


class ManualLoop:
    """Time and timers of a test."""

    def __init__(self):
        self.now, self.waiting = 1000.0, []

    def clock(self):
        return self.now

    def after(self, seconds, call):
        self.waiting.append((self.now + seconds, call))

    def run(self, seconds):
        end = self.now + seconds
        while self.waiting and min(at for at, _ in self.waiting) <= end:
            at, call = min(self.waiting, key=lambda each: each[0])
            self.waiting.remove((at, call))
            self.now = max(self.now, at)
            call()
        self.now = end


class ObserverTest(unittest.TestCase):
    def observer(self, gang, env=None, **spec):
        self.machine, self.loop, self.told = Machine(self, gang), ManualLoop(), []
        spec = dict({"transport": "counters", "nodes": 2, "procs": 8, "mode": "torchrun", "cwd": "/"}, **spec)
        return observer.Observer(spec, env or {}, self.loop, self.told.append, self.read)

    def read(self, known, answer):
        known = known or counters.devices(self.machine.reader)
        found = {"known": known, "sample": counters.sample(self.machine.reader, known)}
        self.loop.after(0.05, lambda: answer(found))

    def test_rails_that_begin_a_little_later_are_counted(self):
        self.observer("infiniband")
        self.loop.run(20)
        for rail in range(4):
            self.machine.rdma("mlx5_%d" % rail, GIB)
        self.loop.run(2)
        for rail in range(4, 8):
            self.machine.rdma("mlx5_%d" % rail, GIB)
        self.loop.run(5)
        self.assertEqual([(facts["by"], facts["asked"], facts["nodes"], len(facts["used"])) for facts in self.told],
                         [("counters", False, 2, 8)])
        self.loop.run(1000)
        self.assertEqual(len(self.told), 1)

    def test_a_run_that_begins_late_is_still_seen(self):
        self.observer("infiniband")
        self.loop.run(3000)
        self.assertEqual(self.told, [])
        self.machine.net("bond0", GIB)
        self.loop.run(100)
        self.assertEqual([facts["network"] for facts in self.told], ["Socket"])

    def test_one_node_has_no_network_to_count(self):
        seen = self.observer("infiniband", nodes=1)
        self.assertIsNone(seen.counters)
        seen.finish()
        self.assertEqual(self.told, [])

    def test_nccls_own_words_come_first(self):
        seen = self.observer("infiniband", env={"NCCL_DEBUG": "INFO"}, procs=1)
        self.loop.run(1)
        self.machine.rdma("mlx5_0", GIB)
        self.loop.run(30)
        self.assertEqual(self.told, [])
        seen.hear(0, 1, (INIT % 0).replace("\\n", "\n").encode())
        self.loop.run(3)
        self.assertEqual([facts["by"] for facts in self.told], ["nccl"])
        self.assertEqual(self.told[0]["gbits"], 400)

    def test_without_them_counters_tell_at_the_end(self):
        seen = self.observer("infiniband", env={"NCCL_DEBUG": "INFO"}, transport="log")
        self.loop.run(1)
        self.machine.rdma("mlx5_0", GIB)
        self.loop.run(30)
        seen.finish()
        self.assertEqual([(facts["by"], facts["used"]) for facts in self.told], [("counters", ["mlx5_0"])])

    def test_with_a_level_of_the_user_that_says_nothing_counters_tell(self):
        self.observer("infiniband", env={"NCCL_DEBUG": "WARN"}, transport="log")
        self.loop.run(1)
        self.machine.rdma("mlx5_0", GIB)
        self.loop.run(10)
        self.assertEqual([(facts["by"], facts["asked"]) for facts in self.told], [("counters", True)])

    def test_devices_that_do_not_answer_are_asked_once(self):
        asked = []
        self.read = lambda known, answer: asked.append(answer)
        seen = self.observer("infiniband")
        self.loop.run(1000)
        asked[0](None)
        self.loop.run(1000)
        seen.finish()
        self.assertEqual((len(asked), self.told), (1, []))

    def test_this_machine_is_read_in_a_child(self):
        loop = Loop()
        found = []
        seen = observer.Observer({"nodes": 1}, {}, loop, found.append)
        seen.read_devices(None, lambda value: found.append(value) or setattr(loop, "running", False))
        loop.run()
        self.assertEqual(sorted(found[0]), ["known", "sample"])
        json.dumps(found)

    def test_a_program_that_only_talks_has_no_gpu(self):
        self.observer("infiniband")
        self.loop.run(1)
        self.machine.net("bond0", GIB)
        self.loop.run(10)
        self.assertEqual([facts["gpu"] for facts in self.told], [False])


if __name__ == "__main__":
    unittest.main()
