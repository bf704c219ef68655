package dev.gpush.shell.command;

import java.util.List;

/**
 * The first screen, as product.md has it, with the commands that exist. A test compares the two.
 */
final class HelpScreen {
  /** One line of commands: its heading, its verbs and their subject. */
  record Group(String heading, List<String> verbs, String about) {}

  static final List<Group> GROUPS =
      List.of(
          new Group(
              "Session",
              List.of("up", "down", "ps", "extend", "adopt", "login"),
              "get, give back, list, lease, 2FA"),
          new Group(
              "Work",
              List.of("run", "stop", "runs", "logs", "exec"),
              "words after SCRIPT go to SCRIPT"),
          new Group(
              "Reach",
              List.of("ssh", "code", "jupyter", "forward"),
              "code --cursor | --zed | --jetbrains"),
          new Group(
              "Files", List.of("sync", "cp", "pull"), "code is sent by itself; cp moves data"),
          new Group(
              "Explain",
              List.of("why", "top", "check", "nodes"),
              "waiting, slow, hung, idle, failed"),
          new Group(
              "Set up",
              List.of(
                  "init",
                  "config",
                  "backends",
                  "templates",
                  "link",
                  "doctor",
                  "gateway",
                  "completion",
                  "version"),
              ""));

  private static final String HEAD =
      """
      gpush: GPU nodes anywhere, as if they were your own machine

        gpush up --nodes 2 --gpus H100:8   get a gang (GPUs per node); again: attach
        gpush run train.py --lr 3e-4       sync, launch all ranks, stream, exit status
        ssh devbox, or gpush code          the same machine, in a terminal or editor

      """;

  private static final String TAIL =
      """

      Session  -s NAME > $GPUSH_SESSION > the one of this folder > ask
      Gang     flags > gpush.local.yaml > gpush.yaml > last used here > config > site
      Python   --python > gpush.yaml > .venv or uv.lock > image > active conda
      Folder   your folder in the workspace; results go to $GPUSH_OUTPUT
      Options  -s NAME --json -q -v --yes --dry-run (where, when; no effect)

      gpush alone opens the shell. gpush help COMMAND | slurm | kubernetes | skypilot
      Exit 0 done, 1 failed, 2 usage, 3 environment, 4 bug; run, exec: theirs, or 255
      """;

  private HelpScreen() {}

  static String text() {
    var text = new StringBuilder(HEAD);
    for (Group group : GROUPS) {
      String verbs = String.join(" ", group.verbs());
      String line =
          group.about().isEmpty()
              ? String.format("%-8s %s", group.heading(), verbs)
              : String.format("%-8s %-33s %s", group.heading(), verbs, group.about());
      text.append(line).append('\n');
    }
    return text.append(TAIL).toString();
  }
}
