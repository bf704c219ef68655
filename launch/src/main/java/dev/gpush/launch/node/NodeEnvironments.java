package dev.gpush.launch.node;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.json.Json;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.text.Resource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/**
 * Tells the nodes what the session's environment is, and runs its setup. The nodes make the
 * environment and remember it: shells and commands get it when no gateway runs. Thread-safe.
 */
public final class NodeEnvironments {
  private static final String USE = "environment.use";

  /** Of setup.sh: nothing has changed since it ran. */
  private static final int DONE_BEFORE = 97;

  private final LaunchSite site;
  private final Tasks tasks;

  /** What this gateway has prepared last, in words; empty before. */
  private final AtomicReference<String> activated = new AtomicReference<>("");

  /** What all nodes have, as they said last, where nothing had to be made for it. */
  private final AtomicReference<Optional<EnvironmentChoice>> had =
      new AtomicReference<>(Optional.empty());

  private final String script = Resource.text(NodeEnvironments.class, "setup.sh");

  public NodeEnvironments(LaunchSite site, Tasks tasks) {
    this.site = site;
    this.tasks = tasks;
  }

  /** Returns when these nodes know it; whether it works is known later. */
  public void tell(Set<Integer> nodes, EnvironmentChoice choice) throws InterruptedException {
    tasks.each(
        "environment",
        site.nodes(),
        node -> {
          if (nodes.contains(node.info().index()) && !node.calls().isLost()) {
            node.calls().call(USE, wanted(node, choice).with("wait", false));
          }
          return true;
        });
  }

  /**
   * Makes the environment on all nodes, after its setup.
   *
   * @throws GpushException with the first failure of a node
   */
  public void prepare(EnvironmentChoice choice, Talk talk) throws InterruptedException {
    sayDifference(choice, talk);
    if (choice.isPlain() && had.get().equals(Optional.of(choice))) {
      return; // An agent that is started again is told by itself.
    }
    had.set(Optional.empty());
    boolean hasRun = false;
    if (!choice.steps().isEmpty()) {
      // A step may make what is activated, and needs what can be activated already.
      use(choice, false, talk);
      for (SetupStep step : choice.steps()) {
        hasRun |= setUp(choice, step, talk);
      }
    }
    List<Optional<LaunchFailure>> failures = use(choice, hasRun, talk);
    failures.stream()
        .flatMap(Optional::stream)
        .findFirst()
        .ifPresent(
            failure -> {
              throw new GpushException(failure);
            });
    had.set(Optional.of(choice));
  }

  private void sayDifference(EnvironmentChoice choice, Talk talk) {
    String now = choice.activated();
    String before = activated.getAndSet(now);
    if (!before.isEmpty() && !before.equals(now)) {
      talk.say(
          "shells and runs on " + site.name() + " activate " + now + " from now on, not " + before);
    }
  }

  private List<Optional<LaunchFailure>> use(EnvironmentChoice choice, boolean fresh, Talk talk)
      throws InterruptedException {
    try (Talk.Step _ =
        talk.step(
            "making the environment"
                + (choice.conda().isPresent() ? " " + choice.conda().get() : ""))) {
      return tasks.each("environment", site.nodes(), node -> used(node, choice, fresh));
    }
  }

  private Optional<LaunchFailure> used(LaunchNode node, EnvironmentChoice choice, boolean fresh)
      throws InterruptedException {
    Json said = node.calls().call(USE, wanted(node, choice).with("fresh", fresh));
    return said.get("problem")
        .filter(problem -> problem instanceof Json.Obj)
        .map(
            problem ->
                new LaunchFailure.NoEnvironment(
                    node.info().index(),
                    problem.text("what").orElse(""),
                    problem.text("because").orElse("")));
  }

  private Json.Obj wanted(LaunchNode node, EnvironmentChoice choice) {
    PythonChoice python =
        PythonChoice.of(
            Optional.empty(),
            choice.python(),
            site.root(),
            site.root(),
            site.onThisMachine(),
            node.info().workspace());
    return choice.json(python.candidates());
  }

  /** Whether it ran on any node. */
  private boolean setUp(EnvironmentChoice choice, SetupStep step, Talk talk)
      throws InterruptedException {
    var detail = new AtomicReference<String>("");
    try (Talk.Step shown = talk.step("setup: " + step.run().lines().findFirst().orElse(""))) {
      List<Integer> statuses =
          tasks.each(
              "environment",
              site.nodes(),
              node -> {
                var last = new AtomicReference<String>("");
                int status =
                    run(
                        node,
                        step,
                        choice,
                        line -> {
                          last.set(line);
                          String text = "node " + node.info().index() + ": " + line;
                          if (!text.equals(detail.getAndSet(text))) {
                            shown.detail(text);
                          }
                        });
                if (status != 0 && status != DONE_BEFORE) {
                  throw new GpushException(
                      new LaunchFailure.SetupFailed(
                          node.info().index(), step.run(), status, last.get(), log(node, step)));
                }
                return status;
              });
      return statuses.contains(0);
    }
  }

  private static String log(LaunchNode node, SetupStep step) {
    return node.info().state() + "/setup/" + step.name() + ".log";
  }

  private int run(LaunchNode node, SetupStep step, EnvironmentChoice choice, Consumer<String> lines)
      throws InterruptedException {
    var words =
        new ArrayList<>(
            List.of(
                "/bin/sh",
                "-c",
                script,
                "sh",
                step.run(),
                node.info().workspace(),
                node.info().state() + "/setup",
                step.name(),
                choice.python().orElse("") + " " + choice.conda().orElse("")));
    words.addAll(step.when());
    var environment =
        Map.of("GPUSH_SESSION", site.name().text(), "GPUSH_WORKSPACE", node.info().workspace());
    return node.calls().watch(words, environment, lines);
  }
}
