package dev.gpush.shell.render;

import dev.gpush.core.backend.JobsAhead;
import dev.gpush.core.json.Json;
import dev.gpush.core.run.RunView;
import dev.gpush.core.sample.NodeStacks;
import dev.gpush.core.sample.RankStack;
import dev.gpush.core.sample.RunProgress;
import dev.gpush.core.sample.StackFrame;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.talk.Trace;
import dev.gpush.core.text.Clean;
import dev.gpush.shell.why.Explanation;
import dev.gpush.shell.why.Explanation.Evidence;
import dev.gpush.shell.why.StackGroup;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What {@code gpush why --json} prints; promised as {@link Documents} are. */
public final class WhyDocuments {
  private WhyDocuments() {}

  public static Json.Obj of(
      Optional<SessionView> session,
      Optional<RunView> run,
      Explanation answer,
      List<NodeStacks> nodes,
      Map<String, JobsAhead> ahead,
      Trace trace) {
    return Json.object(
        "session", session.map(view -> view.name().text()),
        "run", run.map(RunView::number),
        "verdict", answer.code().word(),
        "text", Clean.masked(answer.text()),
        "evidence", answer.evidence().stream().map(WhyDocuments::evidence).toList(),
        "try", answer.remedies().stream().map(Clean::masked).toList(),
        "groups", StackGroup.ofNodes(nodes).stream().map(WhyDocuments::group).toList(),
        "nodes", nodes.stream().map(WhyDocuments::node).toList(),
        "ahead",
            ahead.entrySet().stream().map(each -> ahead(each.getKey(), each.getValue())).toList(),
        "trace", Documents.trace(trace));
  }

  private static Json.Obj ahead(String backend, JobsAhead jobs) {
    return Json.object(
        "backend", backend,
        "queue", Clean.masked(jobs.queue()),
        "jobs", jobs.jobs(),
        "who", jobs.who().stream().map(Clean::masked).toList(),
        "others_hidden", jobs.othersHidden());
  }

  private static Json.Obj evidence(Evidence each) {
    return Json.object(
        "text", Clean.masked(each.text()),
        "lines", each.below().stream().map(Clean::masked).toList());
  }

  private static Json.Obj group(StackGroup group) {
    return Json.object(
        "ranks", group.ranks(),
        "kind", group.spot().kind().word(),
        "name", group.spot().name(),
        "file", group.spot().file(),
        "line", group.spot().line());
  }

  private static Json.Obj node(NodeStacks node) {
    return Json.object(
        "node", node.node().index(),
        "host", node.node().host(),
        "problem", Documents.text(node.problem()),
        "quiet_s", node.quiet().map(Duration::toSeconds),
        "progress", node.progress().map(WhyDocuments::progress),
        "ranks", node.ranks().stream().map(WhyDocuments::rank).toList());
  }

  private static Json.Obj progress(RunProgress progress) {
    return SampleDocuments.progress(progress)
        .with(
            "earlier",
            progress.pace().earlier().stream()
                .map(
                    each ->
                        Json.object(
                            "run", each.run(), "rate", each.rate(), "same_files", each.sameFiles()))
                .toList());
  }

  private static Json.Obj rank(RankStack rank) {
    return Json.object(
        "rank", rank.rank(),
        "pid", rank.process().pid(),
        "state", rank.process().state(),
        "cpu_percent", rank.process().cpuPercent(),
        "kernel_wait", rank.process().kernelWait(),
        "moved", rank.hasMoved(),
        "frames", rank.frames().stream().map(WhyDocuments::frame).toList(),
        "problem", rank.problem().map(each -> each.reason().word()),
        "said", rank.problem().flatMap(each -> Documents.text(each.said())),
        "workers",
            rank.workers().stream()
                .map(
                    each ->
                        Json.object(
                            "pid", each.pid(),
                            "frames", each.frames().stream().map(WhyDocuments::frame).toList()))
                .toList());
  }

  private static Json.Obj frame(StackFrame frame) {
    return Json.object(
        "name", frame.function(),
        "file", frame.file(),
        "line", frame.line(),
        "own", frame.isOwn());
  }
}
