"""Which step a line of output tells, and what a run's output says of its rate."""
import os
import random
import shutil
import tempfile
import time
import unittest

import client  # the path of the agent
import trees
from gpush_agent.runs import journal, rundir
from gpush_agent.samples import progress, steps

# line: step, total, epoch.
LINES = {
    "step 120 loss 2.31": (120, None, None),
    "iter 40/1000": (40, 1000, None),
    "Epoch 3 [120/938 (13%)]": (120, 938, 3),
    "Train Epoch: 3 [7680/60000 (13%)]\tLoss: 0.301232": (7680, 60000, 3),
    "Epoch: [3][ 120/5005]\tTime  0.340 ( 0.412)\tLoss 6.9e+00": (120, 5005, 3),
    "Train: 0 [ 100/1251 (  8%)]  Loss: 6.95 (6.96)  Time: 0.612s": (100, 1251, 0),
    "Epoch [3/10], Step [120/938], Loss: 0.3012": (120, 938, 3),
    "global_step=1200": (1200, None, None),
    " 12%|\u2588\u258f        | 120/1000 [00:10<01:13, 11.9it/s]": (120, 1000, None),
    "  0%|          | 3/1000 [00:04<25:16,  1.52s/it]": (3, 1000, None),
    "Epoch 2:  12%|#2        | 120/938 [00:10<01:08, 11.90it/s, v_num=1, train_loss=0.31]": (120, 938, 2),
    "Steps:  12%|#2  | 120/1000 [00:10<01:13, 11.9it/s, loss=0.1, lr=1e-5]": (120, 1000, None),
    "120it [00:10, 11.92it/s]": (120, None, None),
    "\x1b[32mtrain\x1b[0m: 100%|\u2588\u2588| 938/938 [01:19<00:00, 11.8 steps/s]": (938, 938, None),
    "iter 1200: loss 2.3104, time 84.12ms, mfu 31.20%": (1200, None, None),
    "{'loss': 2.31, 'grad_norm': 1.2, 'learning_rate': 5e-05, 'step': 120, 'epoch': 0.12}": (120, None, None),
    '{"step": 120, "loss": 2.31, "t": 1732700000.1}': (120, None, None),
    "[2026-11-27 12:00:01,123] [INFO] [logging.py:96:log_dist] [Rank 0] step=10, skipped=0, lr=[1e-05]": (10, None, None),
    " [2026-11-27 12:00:00] iteration      100/  500000 | consumed samples:   25600 | elapsed time per iteration (ms): 812.3":
        (100, 500000, None),
    "\x1b[31mstep: 10  \x1b[32mloss:  7.5123  \x1b[33mmemory: 40.1GiB(50%)\x1b[39m": (10, None, None),
    "[11/27 12:00:00 d2.utils.events]:  eta: 1:00:00  iter: 19  total_loss: 1.2  time: 0.31": (19, None, None),
    "11/27 12:00:00 - mmengine - INFO - Epoch(train)  [1][  50/1172]  lr: 1e-3  eta: 1:00:00": (50, 1172, 1),
    "11/27 12:00:00 - mmengine - INFO - Iter(train) [   50/40000]  lr: 1e-3": (50, 40000, None),
    "epoch 001:  10 / 100 loss=2.3, ppl=4.9, num_updates=10": (10, 100, 1),
    "120/938 [==>...........................] - ETA: 3s - loss: 0.31": (120, 938, None),
    "120/938 \u2501\u2501\u2501\u2501\u2500\u2500\u2500 3s 12ms/step - accuracy: 0.9": (120, 938, None),
    "|    total_timesteps      | 20480        |": (20480, None, None),
    "Epoch 1 | iter 120 step 30 | loss train: 2.31, iter time: 84.12 ms (step)": (120, None, 1),
    "completed step: 12, seconds: 0.81, TFLOP/s: 210.2": (12, None, None),
    "train/step: 1,200 loss: 2.1": (1200, None, None),
    "step 2000: train loss 2.31, val loss 2.40": (2000, None, None),
    "2026-11-27 12:00:00 INFO test_train.py:12 step 7": (7, None, None),
}
NO_STEPS = [
    "", "step", "loss 2.31", "epoch 3", "Epoch 3/10", "Epoch 3: loss 2.3", "step 2026-11-27", "iter 12:30:01", "iter 10.0.0.1",
    "step 1.2.3", "step 0.25", "torch 2.8.0", "listening on 10.0.0.1:8080", "step time 84 ms", "step_time=84", "step 84 ms", "step 84ms",
    "steps: 1000", "Total optimization steps = 1000", "batch_size=32", "last_step=4", "step 50%", "[3/5] building", "1/2/2026",
    "{'loss': 2.31, 'epoch': 0.12}", "Validation: step 5/50", "val/step 10", "Test: [ 10/98]\tTime 0.3", "eval_step=3", "Eval batch 5/50",
    "Validation DataLoader 0:  10%|#  | 5/50 [00:01<00:09, 5.0it/s]", "Sanity Checking DataLoader 0: 50%|##| 1/2 [00:00<00:00, 5.0it/s]",
    "model.bin:  45%|####5     | 450M/1.00G [00:10<00:12, 45.0MB/s]", "Map: 10%|#  | 1000/10000 [00:01<00:09, 1000.00 examples/s]",
    "Loading checkpoint shards:  50%|##| 2/4 [00:10<00:10, 5.0s/it]", "step 120/100", "x" * 100000, "step " + "1" * 40, "misstep 12",
]


class LineTest(unittest.TestCase):
    def test_steps_as_programs_and_libraries_print_them(self):
        for line, expected in LINES.items():
            found = steps.step_of(line)
            self.assertEqual(found and (found.step, found.total, found.epoch), expected, line)

    def test_what_is_no_step(self):
        for line in NO_STEPS:
            self.assertIsNone(steps.step_of(line), line[:80])

    def test_training_and_evaluation_do_not_count_together(self):
        train, other = [steps.step_of("  5%%|#  | 5/%d [00:01<00:09, 5.0it/s]" % total) for total in (1000, 63)]

        self.assertNotEqual(train.series, other.series)
        self.assertEqual(steps.step_of("Epoch 1: 5%|#| 5/50 [00:01<00:09, 5.0it/s]").series,
                         steps.step_of("Epoch 2: 9%|#| 9/50 [00:01<00:09, 5.0it/s]").series)

    def test_epochs_count_on(self):
        counts = [steps.step_of("Epoch %d [%d/938 (1%%)]" % each).count for each in ((0, 0), (0, 937), (1, 0), (1, 9))]

        self.assertEqual(counts, [0, 937, 938, 947])

    def test_any_line_is_read_at_once(self):
        seed = time.time()
        draw = random.Random(seed)
        words = ["step", "epoch", " ", "[", "]", "/", "12", "%|", "|", "it/s", ":", "<", ",", "=", "1,000", "\x1b[", "m", "iter", "\u2501", "."]
        begun = time.process_time()
        for _ in range(2000):
            steps.step_of("".join(draw.choice(words) for _ in range(draw.randrange(400))))
        self.assertLess(time.process_time() - begun, 20, "seed %r" % seed)


class JournalTest(unittest.TestCase):
    def setUp(self):
        self.state = tempfile.mkdtemp(prefix="gpa", dir=trees.WRITTEN)
        self.addCleanup(shutil.rmtree, self.state, True)
        self.make(1)

    def make(self, run, **spec):
        self.ms = 0
        self.folder = rundir.folder_of(self.state, run)
        os.makedirs(self.folder)
        rundir.write(self.folder, "spec.json", dict({"mode": "ranks", "program": ["train.py"], "world": 1}, **spec))
        self.journal = journal.Journal(self.folder, lambda: self.ms)
        self.journal.event({"event": "started"})

    def write(self, text, after=0, rank=0, channel=journal.OUT):
        self.ms += after
        self.journal.write(rank, channel, text if isinstance(text, bytes) else text.encode())

    def steps(self, first, count, each, text="step %d loss 2.31\n", **to):
        for step in range(first, first + count):
            self.write(text % step, each, **to)

    def look(self, later=0, watched=None):
        """With a clock of the run that stands a moment after its last output."""
        rundir.write(self.folder, "lock", {"started": time.monotonic() - (self.ms + later) / 1000.0})
        return (watched or progress.Progress(self.folder)).look()

    def found(self, later=0):
        value = self.look(later)
        return {name: value[name] if value[name] is None else round(value[name], 1) for name in ("step", "rate", "median", "slow_s")}

    def test_a_steady_run_has_its_rate_and_is_not_slow(self):
        self.steps(1, 600, 100)

        self.assertEqual(self.found(), {"step": 600, "rate": 10.0, "median": 10.0, "slow_s": None})

    def test_a_run_without_steps_has_no_progress(self):
        self.write("hello\n" * 1000)
        self.assertIsNone(self.look())
        self.write("step 1\n")
        self.assertEqual(self.found(), {"step": 1, "rate": None, "median": None, "slow_s": None})

    def test_one_that_becomes_three_times_slower_is_slow_since_then(self):
        self.steps(1, 600, 100)
        self.steps(601, 200, 300)

        self.assertEqual(self.found(), {"step": 800, "rate": 3.3, "median": 10.0, "slow_s": 60.0})

    def test_the_same_of_output_that_is_not_read_as_a_whole(self):
        """Two gigabytes of which the beginning is gone would cost the same."""
        noise = "x" * 150 + "\n"
        for step in range(1, 6001):
            self.write("step %d\n" % step, 100)
            self.write(noise)
        for step in range(6001, 8001):
            self.write("step %d\n" % step, 300)
            self.write(noise)
        self.assertGreater(journal.end(self.folder), 2 * progress.WHOLE)

        found = self.found()
        self.assertEqual((found["step"], found["rate"], found["median"]), (8000, 3.3, 10.0))
        self.assertAlmostEqual(found["slow_s"], 600, delta=60)

    def test_an_old_beginning_that_is_gone_is_no_harm(self):
        self.journal.segment, self.journal.kept = 100000, 7
        self.steps(1, 40000, 50, "step %d " + "y" * 60 + "\n")

        self.assertGreater(journal.segments(self.folder)[0][0], 0)
        self.assertEqual(self.found(), {"step": 40000, "rate": 20.0, "median": 20.0, "slow_s": None})

    def test_steps_that_stopped_while_the_log_goes_on_are_not_slow(self):
        self.steps(1, 600, 100)
        for _ in range(300):
            self.write("waiting for the file server\n", 1000)

        self.assertEqual(self.found(), {"step": 600, "rate": None, "median": 10.0, "slow_s": None})
        self.assertEqual(self.look()["age_s"], 300.0)

    def test_a_long_evaluation_is_no_slowness(self):
        for part in range(4):
            for step in range(100 * part + 1, 100 * part + 101):
                self.write("\r %d%%|#  | %d/1000 [00:10<01:13, 10.0it/s]" % (step / 10, step), 100, channel=journal.ERR)
            for step in range(1, 64):
                self.write("\r %d%%|#  | %d/63 [00:10<01:13, 2.0it/s]" % (step, step), 500, channel=journal.ERR)
            self.write("{'eval_loss': 1.9, 'epoch': 0.1}\n")
        self.steps(401, 5, 100, "\r 40%%|#  | %d/1000 [00:10<01:13, 10.0it/s]", channel=journal.ERR)

        self.assertEqual(self.found(), {"step": 405, "rate": 10.0, "median": 10.0, "slow_s": None})

    def test_a_stall_at_every_few_steps_counts(self):
        for step in range(1, 401):
            self.write("step %d\n" % step, 1700 if step % 4 == 0 else 100)

        self.assertEqual(self.found()["rate"], 2.0)

    def test_a_run_whose_rate_goes_up_and_down_is_not_slow(self):
        for part in range(20):
            self.steps(100 * part, 100, 300 if part % 3 == 2 else 100)
        self.steps(2000, 100, 300)

        self.assertIsNone(self.found()["slow_s"])

    def test_the_lowest_rank_that_prints_counts(self):
        for step in range(1, 201):
            for rank in (3, 1, 2):
                self.write("step %d\n" % step, 10, rank=rank)

        self.assertEqual(self.look()["rank"], 1)
        self.assertEqual(self.found()["rate"], 33.3)

    def test_ranks_that_share_an_output_print_the_same_steps(self):
        for step in range(2, 202):
            self.write("step %d\nstep %d\nstep %d\n" % (step, step, step - 1), 100)

        self.assertEqual(self.found(), {"step": 200, "rate": 10.0, "median": 10.0, "slow_s": None})

    def test_a_count_that_begins_again_goes_on(self):
        self.steps(500, 300, 100)
        self.steps(600, 300, 100)
        self.steps(0, 50, 100)

        self.assertEqual(self.found(), {"step": 49, "rate": 10.0, "median": 10.0, "slow_s": None})

    def test_epochs_that_count_from_nothing(self):
        for _ in range(10):
            self.steps(1, 60, 100, "\r%d/60 [==>....] - ETA: 3s")

        self.assertEqual(self.found(), {"step": 59, "rate": 10.0, "median": 10.0, "slow_s": None})     # the last one is not ended yet

    def test_a_number_that_falls_is_no_progress(self):
        for step in range(400, 0, -1):
            self.write("step %d\n" % step, 100)

        self.assertEqual(self.found()["rate"], None)

    def test_a_line_that_is_a_megabyte_and_one_in_pieces(self):
        for step in range(1, 31):
            self.write("step %d " % step, 1000)
            self.write("z" * (1 << 20) + "\n" if step == 10 else "loss 2\n")

        self.assertEqual(self.found()["step"], 30)
        self.assertEqual(self.found()["rate"], 1.0)

    def test_who_looks_on_reads_only_what_is_new(self):
        watched = progress.Progress(self.folder)
        self.steps(1, 300, 100)
        self.assertEqual(self.look(watched=watched)["step"], 300)
        at = watched.at
        self.steps(301, 1200, 50)
        self.write("ste")
        found = self.look(watched=watched)

        self.assertEqual((found["step"], watched.at > at), (1500, True))
        self.assertEqual(found["rate"], 20.0)
        self.write("p 1501\n", 50)
        self.assertEqual(self.look(watched=watched)["step"], 1501)

    def test_what_a_program_prints_looks_like_no_record(self):
        """Binary output with headers of records in it, some of them not true."""
        seed = time.time()
        draw = random.Random(seed)
        for step in range(1, 4001):
            self.write("step %d\n" % step, 100)
            self.write(bytes(bytearray(draw.choice((0, 0, 0, 1, 2, 65)) for _ in range(draw.randrange(300)))))
            self.write(journal.record(0, 0, b"\nnothing\n" * 4, draw.randrange(1 << 20))[:draw.randrange(60)])

        found = self.look()
        self.assertEqual(round(found["rate"], 1), 10.0, "seed %r" % seed)
        self.assertEqual(round(found["median"], 1), 10.0, "seed %r" % seed)

    def test_runs_before_it_that_did_the_same(self):
        self.steps(1, 300, 50)
        rundir.write(self.folder, "exit.json", {"exit": 0})
        self.make(2, program=["train.py", "--small"])
        self.steps(1, 300, 5)
        rundir.write(self.folder, "exit.json", {"exit": 0})
        self.make(3)
        self.write("no steps\n")
        rundir.write(self.folder, "exit.json", {"exit": 1})
        self.make(4)

        self.assertEqual(progress.earlier(self.state, 4), [{"run": 1, "rate": 20.0}])


if __name__ == "__main__":
    unittest.main()
