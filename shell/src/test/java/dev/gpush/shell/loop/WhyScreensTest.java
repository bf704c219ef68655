package dev.gpush.shell.loop;

import static dev.gpush.shell.why.WhyFixture.inCode;
import static dev.gpush.shell.why.WhyFixture.info;
import static dev.gpush.shell.why.WhyFixture.loading;
import static dev.gpush.shell.why.WhyFixture.moved;
import static dev.gpush.shell.why.WhyFixture.node;
import static dev.gpush.shell.why.WhyFixture.stepping;
import static dev.gpush.shell.why.WhyFixture.unseen;
import static dev.gpush.shell.why.WhyFixture.waiting;
import static dev.gpush.shell.why.WhyFixture.with;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.json.Json;
import dev.gpush.core.run.RunFailure;
import dev.gpush.core.run.RunTransport;
import dev.gpush.core.run.RunView;
import dev.gpush.core.sample.NodeStacks;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.Sessions.EndedRequest;
import dev.gpush.core.talk.Trace;
import dev.gpush.shell.command.Desk;
import dev.gpush.shell.command.ViewChange;
import dev.gpush.shell.loop.GoldenFile.Window;
import dev.gpush.shell.top.TopFixture;
import dev.gpush.shell.why.Explanation.Code;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jline.terminal.Size;
import org.jline.terminal.impl.LineDisciplineTerminal;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a user sees of each answer of why; of a small window also what has scrolled away. */
final class WhyScreensTest {
  private static final int ROWS = 30;

  /** Those that are said only of a run that is named. */
  private static final Set<Code> RUNS = Set.of(Code.DONE, Code.STOPPED, Code.UNKNOWN);

  @TempDir Path home;

  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"TINY", "HUGE"})
  void eachVerdict(Window window) throws Exception {
    var golden = new GoldenFile("why", window);
    for (Code code : Code.values()) {
      String expected = golden.next(code.word());
      golden.sees(code.word(), expected, look(code, window));
    }
    golden.ends();
  }

  private String look(Code code, Window window) throws IOException {
    var desk = new Desk();
    desk.sessions.change(ShellScene.session());
    desk.runs.readings.add(List.of());
    happens(code, desk);
    Size size = Size.of(window.size().getColumns(), ROWS);
    var seen = new SeenScreen(size);
    try (var terminal = new LineDisciplineTerminal("test", "xterm", seen, StandardCharsets.UTF_8)) {
      terminal.setSize(size);
      CommandRunner runner = new DeskRunner(desk).in(window.origin(home), terminal);
      List<String> line = RUNS.contains(code) ? List.of("why", "7") : List.of("why");
      String json = runner.ask(Stream.concat(line.stream(), Stream.of("--json")).toList()).out();
      assertEquals(Optional.of(code.word()), Json.parse(json).text("verdict"), json);
      desk.runs.readings.add(List.of());
      assertEquals(0, runner.run(line));
    }
    return seen.rows() + seen.styles();
  }

  private static void happens(Code code, Desk desk) {
    switch (code) {
      case QUEUED -> change(desk, of().queued("4 of 19" + Desk.WAITS));
      case STARTING -> change(desk, of().state(SessionState.GRANTED, "linking 2 nodes"));
      case NEEDS_LOGIN -> {
        SessionView.Status status =
            new SessionView.Status(
                SessionState.READY, "Duo for hpc", Optional.of("hpc"), false, Trace.none());
        change(desk, of().with(status));
      }
      case REFUSED -> {
        desk.sessions.all.clear();
        desk.sessions.ended.add(
            new EndedRequest(
                new SessionName("devbox"),
                desk.clock.now().minus(Duration.ofMinutes(3)),
                "hpc refuses 9 nodes: the partition gpu has 8"));
      }
      case DEGRADED -> change(desk, of().state(SessionState.DEGRADED, "node 1 is gone"));
      case ENDING -> change(desk, of().state(SessionState.LEAKED, "job 4711 is still there"));
      case IDLE -> desk.runs.add(7, "done", Optional.of(0), "train.py");
      case BUSY ->
          change(
              desk,
              of().with(
                      new SessionView.Lease(
                          Optional.of(Duration.ofHours(5)),
                          Optional.empty(),
                          "busy: python x.py uses GPU 0",
                          List.of())));
      case FAILED -> {
        desk.runs.add(7, "failed", Optional.of(1), "train.py");
        desk.runs.verdict = Optional.of(failure());
        desk.runs.output =
            output -> {
              for (String line :
                  List.of(
                      "Traceback (most recent call last):",
                      "  File \"/home/ann/gpush/devbox/proj/train.py\", line 9, in <module>",
                      "    data = sets[\"実験\"]\u001b[2J",
                      "KeyError: '実験'")) {
                output.line(1, 1, true, line.getBytes(StandardCharsets.UTF_8));
              }
            };
      }
      case DONE -> desk.runs.add(7, "done", Optional.of(0), "train.py");
      case STOPPED -> desk.runs.add(7, "stopped", Optional.of(130), "train.py");
      case UNKNOWN -> desk.runs.add(7, "unknown", Optional.empty(), "train.py");
      case UNREACHABLE ->
          runs(
              desk,
              NodeStacks.silent(info(0), "its link is cut"),
              NodeStacks.silent(info(1), "its link is cut"));
      case RANK_GONE -> ranks(desk, reduce(0), reduce(1), reduce(2), with(batch(3), "state", "T"));
      case RANK_APART -> ranks(desk, reduce(0), reduce(1), batch(2), reduce(3));
      case COLLECTIVES_DIFFER -> ranks(desk, reduce(0), reduce(1), broadcast(2), broadcast(3));
      case SAME_PLACE -> ranks(desk, reduce(0), reduce(1), reduce(2), reduce(3));
      case PLACES_DIFFER -> ranks(desk, reduce(0), reduce(1), batch(2), batch(3));
      case PARTLY_SEEN ->
          ranks(desk, reduce(0), reduce(1), batch(2), unseen(3, "S", 0, "late", ""));
      case NO_STACKS -> ranks(desk, bare(0), bare(1), bare(2), bare(3));
      case LOADER_BOUND -> ranks(desk, loading(0), moved(loading(1)), loading(2), batch(3));
      case BEHIND -> ranks(desk, reduce(0), reduce(1), moved(batch(2)), reduce(3));
      case STANDS_OUT ->
          ranks(desk, moved(batch(0)), moved(batch(1)), with(batch(2), "state", "T"), batch(3));
      case STORAGE -> ranks(desk, blocked(0), blocked(1), reduce(2), reduce(3));
      case SLOW -> {
        Json steps =
            with(
                TopFixture.progress(1200, 0.3, 4.03, 12.1, 190),
                "earlier",
                List.of(Json.object("run", 5, "rate", 12.3, "same_files", true)));
        NodeStacks first = stepping(node(0, 0.3, moved(batch(0)), batch(1)), steps);
        runs(desk, first, node(1, 4, moved(batch(2)), batch(3)));
      }
      case SLOW_NETWORK -> {
        Json steps =
            with(
                TopFixture.progress(1200, 0.3, 4.03, 4.1, new Json.Null()),
                "earlier",
                List.of(Json.object("run", 5, "rate", 12.3, "same_files", true)));
        NodeStacks first = stepping(node(0, 0.3, moved(batch(0)), batch(1)), steps);
        desk.runs.transport =
            Optional.of(
                new RunTransport(
                    "TCP over eth0",
                    "400G InfiniBand is there",
                    "NCCL cannot load libibverbs",
                    "install libibverbs1 or rdma-core in the image",
                    new RunTransport.Evidence("nccl", false, "")));
        runs(desk, first, node(1, 4, moved(batch(2)), batch(3)));
      }
      case WORKING -> ranks(desk, moved(batch(0)), batch(1), moved(batch(2)), batch(3));
    }
  }

  private static ViewChange of() {
    return new ViewChange(ShellScene.session());
  }

  private static void change(Desk desk, ViewChange change) {
    desk.sessions.change(change.view());
  }

  private static Json reduce(int rank) {
    return waiting(rank, "all_reduce", "train.py", 42);
  }

  private static Json batch(int rank) {
    return inCode(rank, "load_batch", "data.py", 17);
  }

  private static Json blocked(int rank) {
    return with(batch(rank), "state", "D", "wait", "rpc_wait_bit_killable");
  }

  private static Json broadcast(int rank) {
    return waiting(rank, "broadcast", "train.py", 50);
  }

  private static Json bare(int rank) {
    return unseen(rank, rank == 0 ? "R" : "S", rank == 0 ? 98 : 0, "none", "");
  }

  private static void ranks(Desk desk, Json rank0, Json rank1, Json rank2, Json rank3) {
    runs(desk, node(0, 660, rank0, rank1), node(1, 660, rank2, rank3));
  }

  /** Of a run of four ranks. */
  private static void runs(Desk desk, NodeStacks... nodes) {
    RunView two = desk.runs.add(7, "running", Optional.empty(), "train.py");
    var launched =
        new RunView.Launched(
            two.launched().words(),
            4,
            List.of("0:0", "0:1", "1:0", "1:1"),
            42,
            "torchrun",
            "/envs/llm/bin/python",
            false);
    desk.runs.all.set(
        0, new RunView(7, "devbox", two.kind(), two.progress(), launched, two.header()));
    desk.runs.stacks = List.of(nodes);
  }

  private static RunFailure failure() {
    return new RunFailure(
        1,
        new RunFailure.Where(1, "lab2", true, Optional.empty()),
        Optional.of(1),
        Optional.empty(),
        Json.object("code", "exception", "type", "KeyError", "message", "'実験'"),
        List.of(),
        List.of());
  }
}
