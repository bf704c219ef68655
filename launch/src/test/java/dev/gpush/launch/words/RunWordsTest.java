package dev.gpush.launch.words;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class RunWordsTest {
  private static RunWords parse(String line) {
    return RunWords.parse(List.of(line.split(" ")));
  }

  private static RunWords.Program program(RunWords words) {
    return (RunWords.Program) words.form();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "train.py                          | train.py",
        "./sub/train.py --lr 1             | ./sub/train.py --lr 1",
        "train.py --nnodes 4 -m x          | train.py --nnodes 4 -m x",
        "-m pkg.train --lr 1               | -m pkg.train --lr 1",
        "python train.py --lr 1            | train.py --lr 1",
        "python3 -u train.py               | train.py",
        "python train                      | train",
        "python -O -X dev -W ignore t.py a | -O -X dev -W ignore t.py a",
        "python -m pkg.train --lr 1        | -m pkg.train --lr 1",
        "python -mpkg.train --lr 1         | -m pkg.train --lr 1",
        "python -O -m pkg                  | -O -m pkg",
        "python -um pkg.train --lr 1       | -m pkg.train --lr 1",
        "python -uOmpkg.train --lr 1       | -O -m pkg.train --lr 1",
        "python -uB train.py               | -B train.py",
        "python -BW ignore -Xdev t.py      | -B -W ignore -Xdev t.py",
      })
  void pythonProgramsBecomeRanks(String line, String expected) {
    RunWords words = parse(line);

    assertEquals(List.of(expected.split(" ")), program(words).words());
    assertEquals(false, program(words).torchrun());
    assertEquals(List.of(), words.replaced());
    assertEquals(Optional.empty(), words.python());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          torchrun train.py --lr 1                                    | train.py --lr 1    |                  |
          torchrun --nproc_per_node 8 --nnodes=2 train.py             | train.py           |                  | --nproc_per_node 8 --nnodes=2
          torchrun --nproc-per-node=gpu --standalone t.py             | t.py               |                  | --nproc-per-node=gpu --standalone
          torchrun --rdzv-backend c10d --rdzv-endpoint h:1 t.py       | t.py               |                  | --rdzv-backend c10d --rdzv-endpoint h:1
          torchrun --node_rank 0 --master_addr h --master_port 1 t.py | t.py               |                  | --node_rank 0 --master_addr h --master_port 1
          torchrun --max-restarts 3 --nnodes 1 -m pkg.t --a           | -m pkg.t --a       | --max-restarts 3 | --nnodes 1
          torchrun -r 3 -t 3 --log-dir /l --role r t.py               | t.py               | --role r         | -r 3 -t 3 --log-dir /l
          torchrun --standalone -- t.py --nnodes 3                    | t.py --nnodes 3    |                  | --standalone
          python -m torch.distributed.run --nnodes 2 t.py             | t.py               |                  | --nnodes 2
          python -m torch.distributed.launch --use_env t.py           | t.py               |                  | --use_env
          """)
  void pastedLaunchersLoseWhatTheSessionDecides(
      String line, String program, String kept, String replaced) {
    RunWords words = parse(line.strip());

    assertEquals(split(program), program(words).words());
    assertEquals(split(kept), program(words).options());
    assertEquals(split(replaced), words.replaced());
    assertTrue(program(words).torchrun());
  }

  private static List<String> split(String text) {
    return text == null || text.isBlank() ? List.of() : List.of(text.strip().split(" "));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          deepspeed --num_gpus 8 --hostfile h t.py --deepspeed d                 | DEEPSPEED  | t.py --deepspeed d |                               | --num_gpus 8 --hostfile h
          deepspeed --no_ssh --module pkg.t --x                                  | DEEPSPEED  | -m pkg.t --x       |                               | --no_ssh
          deepspeed --bind_cores_to_rank --no_local_rank --node_rank=1 t.py      | DEEPSPEED  | t.py               | --bind_cores_to_rank --no_local_rank | --node_rank=1
          deepspeed -H h -i a:0,1@b --master_port 1 --enable_each_rank_log l t.py| DEEPSPEED  | t.py               | --enable_each_rank_log l      | -H h -i a:0,1@b --master_port 1
          deepspeed t.py                                                         | DEEPSPEED  | t.py               |                               |
          fabric run --strategy ddp --devices=2 --num-nodes 4 t.py --devices 3   | FABRIC     | t.py --devices 3   | --strategy ddp                | --devices=2 --num-nodes 4
          fabric run --node_rank 1 --main_address h --precision bf16-mixed t.py  | FABRIC     | t.py               | --precision bf16-mixed        | --node_rank 1 --main_address h
          accelerate launch --num_processes 8 --mixed_precision bf16 --multi_gpu --machine_rank=0 t.py --x | ACCELERATE | t.py --x | --mixed_precision bf16 --multi_gpu | --num_processes 8 --machine_rank=0
          """)
  void otherLaunchersKeepWhatIsTheirOwn(
      String line, LauncherCommand.Kind kind, String program, String kept, String replaced) {
    RunWords words = parse(line.strip());

    assertEquals(new RunWords.Launched(kind, split(kept), split(program)), words.form());
    assertEquals(split(replaced), words.replaced());
  }

  @ParameterizedTest
  @CsvSource({
    "deepspeed --autotuning tune t.py, deepspeed --autotuning",
    "deepspeed --elastic_training t.py, deepspeed --elastic_training",
    "deepspeed --venv_script=x t.py, deepspeed --venv_script=x",
    "accelerate launch --cpu --mpirun_hostfile h t.py, accelerate launch --mpirun_hostfile",
  })
  void optionsThatASessionCannotHonourAreNamed(String line, String named) {
    var failed = assertThrows(GpushException.class, () -> parse(line));

    var usage = (UsageFailure.BadArguments) failed.failure();
    assertTrue(usage.rule().startsWith(named + " is not possible here: "), usage::rule);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "nvidia-smi",
        "./x.sh --a b",
        "python -c pass",
        "python",
        "python -",
        "python --version",
        "python -i t.py",
        "python -Bc pass t.py",
        "python -Oi t.py",
        "python -um",
        "python -um pip install x",
        "python -m pip install x",
        "accelerate config",
        "bash -lc x",
        "mpirun --version"
      })
  void anythingElseRunsOncePerNode(String line) {
    assertEquals(new RunWords.Command(List.of(line.split(" "))), parse(line).form());
  }

  @Test
  void rayIsALauncherOfAScript() {
    RunWords words = parse("--launcher ray A=b /opt/x/bin/python -O job.py --lr 1");

    assertEquals(new RunWords.RayProgram(List.of("-O", "job.py", "--lr", "1")), words.form());
    assertEquals(Map.of("A", "b"), words.variables());
    assertEquals(Optional.of("/opt/x/bin/python"), words.python());
  }

  @ParameterizedTest
  @CsvSource({
    "--launcher horovod t.py, '--launcher must be ray or sbatch, not horovod'",
    "--launcher ray, --launcher ray needs a script",
    "--launcher sbatch, --launcher sbatch needs a script",
    "--launcher sbatch t.py, '--launcher sbatch runs a batch script, and t.py is none'",
    "--launcher ray nvidia-smi, '--launcher ray runs a Python script on node 0, and nvidia-smi is"
        + " none'",
    "--launcher ray torchrun t.py, '--launcher ray runs a Python script on node 0, and torchrun is"
        + " none'",
  })
  void otherLaunchersAreCommands(String line, String rule) {
    var failed = assertThrows(GpushException.class, () -> parse(line));

    String said = ((UsageFailure.BadArguments) failed.failure()).rule();
    assertTrue(said.startsWith(rule), said);
  }

  @Test
  void aBatchScriptRunsOnTheFirstNode() {
    RunWords words = RunWords.parse(List.of("A=b", "jobs/train.sbatch", "--lr", "1"));

    assertEquals(Map.of("A", "b"), words.variables());
    assertEquals(new RunWords.BatchScript(List.of("jobs/train.sbatch", "--lr", "1")), words.form());
    assertEquals(
        new RunWords.BatchScript(List.of("job.slurm", "7")),
        parse("--launcher sbatch A=b job.slurm 7").form());
    assertEquals(words, parse("--launcher sbatch A=b jobs/train.sbatch --lr 1"));
  }

  @Test
  void oneWordWithSpacesIsForTheShell() {
    assertEquals(
        new RunWords.Shell("nvidia-smi | head"),
        RunWords.parse(List.of("nvidia-smi | head")).form());
    assertEquals(
        List.of("my train.py", "a b"),
        program(RunWords.parse(List.of("my train.py", "a b"))).words());
  }

  @ParameterizedTest
  @CsvSource({"/opt/x/bin/python", "python3.12", "./venv/bin/python3", "~/envs/llm/bin/python"})
  void interpreterThatSaysMoreThanPythonIsTheChoice(String python) {
    RunWords words = parse(python + " train.py");

    assertEquals(Optional.of(python), words.python());
    assertEquals(List.of("train.py"), program(words).words());
  }

  @Test
  void variablesBeforeTheProgramAreItsEnvironment() {
    RunWords words = parse("A=1 B=x=y torchrun --nnodes 2 t.py C=3");

    assertEquals(Map.of("A", "1", "B", "x=y"), words.variables());
    assertEquals(List.of("t.py", "C=3"), program(words).words());
    assertEquals(new RunWords.Command(List.of("A=1")), parse("A=1").form());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "-m",
        "torchrun",
        "torchrun --nnodes 2",
        "deepspeed --no_ssh",
        "torchrun --no-python x",
        "accelerate launch"
      })
  void refusesWhatHasNoProgram(String line) {
    var failed = assertThrows(GpushException.class, () -> parse(line));

    assertTrue(failed.failure() instanceof UsageFailure.BadArguments, failed::toString);
  }
}
