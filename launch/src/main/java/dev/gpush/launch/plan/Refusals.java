package dev.gpush.launch.plan;

import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.failure.LaunchFailure.NoSnapshot;
import dev.gpush.core.json.Json;
import dev.gpush.launch.node.LaunchSite;
import java.util.List;

/** What a node's refusal of a run means to the person who typed its words. */
record Refusals(LaunchSite site, LaunchMaker.ResolvedRun run) {
  LaunchFailure of(String code, Json located) {
    int node = located.integer("node").orElse(0);
    Json facts = located.object("facts");
    return switch (code) {
      case "busy" ->
          new LaunchFailure.NoFreeSlots(
              run.options().claim().words(),
              facts.number("run").map(number -> "run " + number).stream().toList());
      case "not-found" -> notFound(node, facts);
      case "moved" -> new NoSnapshot(node, run.input().generation(), "");
      case "changed" ->
          new NoSnapshot(node, run.input().generation(), facts.text("path").orElse(""));
      default -> new LaunchFailure.Refused(node, code, facts.write());
    };
  }

  private LaunchFailure notFound(int node, Json facts) {
    String path = facts.text("path").orElse("");
    return switch (facts.text("what").orElse("")) {
      case "script" ->
          run.place()
              .script()
              .flatMap(script -> run.input().ignored().apply(site.root().relativize(script)))
              .<LaunchFailure>map(pattern -> new LaunchFailure.ScriptIgnored(path, pattern))
              .orElseGet(
                  () ->
                      new LaunchFailure.NoSuchScript(
                          path, "node " + node + ", " + folderThere(node), List.of()));
      case "python" -> new LaunchFailure.NoPython(node, List.of(path));
      default -> new LaunchFailure.Refused(node, "not-found", path);
    };
  }

  private String folderThere(int node) {
    String workspace = site.nodes().get(node).info().workspace();
    return run.place().relative().isEmpty() ? workspace : workspace + "/" + run.place().relative();
  }
}
