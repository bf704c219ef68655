package dev.gpush.launch;

import dev.gpush.core.run.RunRequest;
import dev.gpush.core.run.RunView;
import dev.gpush.core.talk.Talk;
import dev.gpush.launch.plan.LaunchInput;
import dev.gpush.launch.plan.RunEnding;
import dev.gpush.testkit.fixture.Asked;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** The engine on two real agents of this machine, each with two slots and no GPU. */
abstract class TwoAgents {
  final FakeTalk talk = new FakeTalk();
  final FakeOutput output = new FakeOutput();
  AgentGang gang;
  Launcher launcher;

  @BeforeEach
  final void open() throws Exception {
    gang = new AgentGang(2, List.of("0", "1"));
    launcher = gang.launcher();
  }

  @AfterEach
  final void close() throws IOException {
    launcher.close();
    gang.close();
  }

  final RunRequest asked(String... words) {
    return Asked.run(gang.project(), words);
  }

  /** With these variables in the environment of the session. */
  final RunView launch(RunRequest request, Map<String, String> environment)
      throws InterruptedException {
    return launch(request, environment, talk);
  }

  final RunView launch(RunRequest request, Map<String, String> environment, Talk to)
      throws InterruptedException {
    return launcher.launch(
        request,
        new LaunchInput(
            1,
            Optional.of("python3"),
            environment,
            Map.of(),
            _ -> Optional.empty(),
            RunEnding.usual()),
        new FakeTurn(),
        to);
  }

  /** Until the run ends. */
  final Optional<Integer> follow(int run) throws InterruptedException {
    return launcher.follow(run, FakeOutput.UNTIL_ITS_END, output);
  }
}
