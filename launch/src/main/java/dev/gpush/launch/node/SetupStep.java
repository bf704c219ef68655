package dev.gpush.launch.node;

import java.util.List;

/**
 * A command that runs once on each node, and again when it or one of its files changes.
 *
 * @param name of the files that a node keeps about it
 * @param run as bash takes it, in the workspace
 * @param when files, relative to the workspace
 */
public record SetupStep(String name, String run, List<String> when) {
  public SetupStep {
    when = List.copyOf(when);
  }
}
