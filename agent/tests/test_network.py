"""Which network a run uses, from what NCCL logs: the parser over recorded lines, and supervisors of programs that write such
logs. GOLDEN=write writes the facts of the recorded logs again, to be read as a diff; the verdicts' tests in Java read them."""
import json
import os
import unittest

from test_supervisor import RunTest, until
from gpush_agent.core.refused import Refused
from gpush_agent.network import logs, nccl, observer
import trees

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
        self.assertEqual((one["network"], one["used"], one["direct"], one["processes"]), ("IB", ["mlx5_0", "mlx5_7"], True, 2))
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
        self.assertEqual((facts["network"], facts["used"], facts["processes"], facts["asked"], facts["by"]),
                         ("IB", ["mlx5_0", "mlx5_1"], 2, True, "nccl"))
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
        self.assertEqual((facts["network"], facts["processes"], facts["asked"]), ("IB", 2, False))

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


if __name__ == "__main__":
    unittest.main()
