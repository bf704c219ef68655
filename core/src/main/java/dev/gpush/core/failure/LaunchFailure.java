package dev.gpush.core.failure;

import java.util.List;

/** A run could not be launched, found or followed. */
public sealed interface LaunchFailure extends Failure {
  record NoSuchScript(String script, String folder, List<String> nearest)
      implements LaunchFailure {}

  /** The script exists here but is not sent: the pattern and its file. */
  record ScriptIgnored(String script, String pattern) implements LaunchFailure {}

  record NothingToRepeat(String session) implements LaunchFailure {}

  /**
   * No run of the session began with these files.
   *
   * @param known generations with runs, the newest first
   */
  record NoGeneration(String session, long generation, List<Long> known) implements LaunchFailure {}

  /** All slots that were asked for are claimed by these runs. */
  record NoFreeSlots(String asked, List<String> runs) implements LaunchFailure {}

  record BadSlots(String asked, String rule) implements LaunchFailure {}

  record NoPython(int node, List<String> tried) implements LaunchFailure {}

  /** The requested Python exists but does not work. */
  record BrokenPython(int node, String python, String reason) implements LaunchFailure {}

  /** The session's environment cannot be activated on the node: what of it, and why. */
  record NoEnvironment(int node, String what, String because) implements LaunchFailure {}

  /**
   * A command of {@code setup:} has failed.
   *
   * @param said the last line it printed; empty when it printed nothing
   * @param log the file on the node with all of it
   */
  record SetupFailed(int node, String command, int status, String said, String log)
      implements LaunchFailure {}

  /** Torch is wanted and this Python has none; {@code others} are ones that have. */
  record NoTorch(String python, List<String> others) implements LaunchFailure {}

  /** This Python lacks what the run's launcher is. */
  record NoPackage(String python, String name) implements LaunchFailure {}

  /**
   * A node has no snapshot of the files for the run.
   *
   * @param path of which it has another content only; empty: it does not know the generation
   */
  record NoSnapshot(int node, long generation, String path) implements LaunchFailure {}

  /** The nodes' Pythons or packages differ. */
  record NodesDiffer(String what, List<String> values) implements LaunchFailure {}

  record UnknownRun(String session, String run, List<String> known) implements LaunchFailure {}

  /**
   * No Jupyter server runs on the node.
   *
   * @param said the end of its log; empty when it is not installed
   */
  record NoJupyter(int node, String program, String said) implements LaunchFailure {}

  record Refused(int node, String code, String detail) implements LaunchFailure {}

  /** The supervisor ended without a result: it was killed, or its machine restarted. */
  record Lost(int run, int node) implements LaunchFailure {}

  /** A node cannot read the rest of what its ranks have printed. */
  record CutOutput(int run, int node) implements LaunchFailure {}

  /** The nodes of the run cannot reach each other as NCCL needs it. */
  record NoFabric(List<Trouble> troubles) implements LaunchFailure {}

  /** What is wrong, what it would do to the run, and what to try, which may be empty. */
  record Trouble(String what, String cost, String remedy) {}

  @Override
  default ExitStatus exit() {
    return switch (this) {
      case NoPython _, BrokenPython _, NoEnvironment _, NoTorch _, NoPackage _, NoJupyter _ ->
          ExitStatus.ENVIRONMENT;
      case BadSlots _,
          UnknownRun _,
          NoSuchScript _,
          ScriptIgnored _,
          NothingToRepeat _,
          NoGeneration _ ->
          ExitStatus.USAGE;
      case NoFreeSlots _,
          NodesDiffer _,
          NoSnapshot _,
          SetupFailed _,
          Refused _,
          Lost _,
          CutOutput _,
          NoFabric _ ->
          ExitStatus.FAILED;
    };
  }
}
