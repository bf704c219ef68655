package dev.gpush.shell.command;

import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.run.RunDifference;
import dev.gpush.core.run.RunDifference.Kind;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class RunsDiffTest {
  private final Desk desk = new Desk();

  @BeforeEach
  void runs() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.runs.add(7, "running", Optional.empty(), "train.py", "--lr", "3e-4");
    desk.runs.add(6, "failed", Optional.of(3), "train.py");
    desk.runs.differences =
        List.of(
            new RunDifference(Kind.CODE, "generation", "G41", "G42"),
            new RunDifference(Kind.COMMAND, "words", "train.py", "train.py --lr 3e-4"),
            new RunDifference(Kind.PLAN, "finding", "", "node 1: mlx5_3 is DOWN"));
  }

  @Test
  void whatDifferedIsATable() {
    desk.expect(
        """
        $ gpush runs --diff 6 7
        OF       WHAT        RUN 6     RUN 7
        code     generation  G41       G42
        command  words       train.py  train.py --lr 3e-4
        plan     finding     -         node 1: mlx5_3 is DOWN
        $ gpush runs --diff 7 7
        2> runs 7 and 7 do not differ in what is recorded
        """);
  }

  @Test
  void jsonHasNullWhereOneHadNone() {
    desk.runs.differences =
        List.of(new RunDifference(Kind.PLAN, "finding", "", "node 1: mlx5_3 is DOWN"));
    desk.expect(
        """
        $ gpush runs --diff 6 7 --json
        [
          {
            "of": "plan",
            "what": "finding",
            "first": null,
            "second": "node 1: mlx5_3 is DOWN"
          }
        ]
        """);
  }

  @Test
  void aRunThatIsNotThereIsNamed() {
    desk.expect(
        """
        $ gpush runs --diff 6 9
        2> gpush: devbox has no run '9'
        2>   because it has 7 and 6
        2>   try: gpush runs -s devbox
        ? 2
        """);
  }
}
