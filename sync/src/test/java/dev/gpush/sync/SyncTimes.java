package dev.gpush.sync;

import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.sync.git.GitPlaces;
import dev.gpush.sync.home.Editors;
import dev.gpush.sync.home.LocalTrash;
import dev.gpush.sync.node.SyncNode;
import dev.gpush.sync.scan.FolderListener;
import dev.gpush.sync.scan.ScanLimits;
import dev.gpush.sync.scan.TreeScan;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Measures whole pushes without a link: {@code java … SyncTimes FILES NODES}. Not a test: a number
 * says nothing about right or wrong.
 */
final class SyncTimes {
  private static final int ROUNDS = 60;

  private SyncTimes() {}

  /** Something that is timed. */
  @FunctionalInterface
  private interface Action {
    void run() throws Exception;
  }

  public static void main(String[] arguments) throws Exception {
    int files = Integer.parseInt(arguments[0]);
    int count = Integer.parseInt(arguments[1]);
    Path base = Files.createTempDirectory("sync-times");
    var folder = new WorkFolder(Files.createDirectories(base.resolve("laptop")));
    var random = new Random(1);
    for (int i = 0; i < files; i++) {
      folder.write("src/module" + i / 20 + "/file" + i + ".py", text(random));
    }
    var nodes = new ArrayList<FakeNode>();
    for (int i = 0; i < count; i++) {
      nodes.add(new FakeNode(i, base.resolve("node" + i + "/project"), base));
    }
    Tasks tasks = Tasks.named("times", (thread, failure) -> failure.printStackTrace());
    var places = GitPlaces.of(Map.of("HOME", base.toString(), "GIT_CONFIG_NOSYSTEM", "1"));
    var scan =
        new TreeScan(
            folder.path(),
            places,
            ScanLimits.standard(),
            base.resolve("cache"),
            new FolderListener() {},
            Clock.system(),
            tasks);
    var trash = new LocalTrash(base.resolve("trash"), Clock.system());
    try (var sync =
        new WorkspaceSync(scan, Editors.on(0), trash, 1_000_000, Clock.system(), tasks)) {
      List<SyncNode> all = List.copyOf(nodes);
      Action push = () -> sync.push(all, PushOptions.standard(), Talk.silent());
      System.out.printf("%d files, %d nodes%n", files, count);
      time("first push", 1, push);
      System.out.printf("  %.1f MB to the first node%n", nodes.getFirst().toNode.get() / 1e6);
      time("no change", ROUNDS, push);
      time("scan alone", ROUNDS, () -> scan.scan(Talk.silent()));
      time(
          "one save",
          ROUNDS,
          () -> {
            folder.write("src/module0/file0.py", text(random));
            push.run();
          });
      time(
          "one save, not verified",
          ROUNDS,
          () -> {
            folder.write("src/module0/file0.py", text(random));
            sync.push(all, PushOptions.save(), Talk.silent());
          });
    } finally {
      tasks.close();
      for (FakeNode node : nodes) {
        node.close();
      }
      new WorkFolder(base.getParent()).delete(base.getFileName().toString());
    }
  }

  private static String text(Random random) {
    var text = new StringBuilder();
    for (int i = 0; i < 100; i++) {
      text.append("value_").append(random.nextInt(1000)).append(" = ").append(random.nextInt());
      text.append("  # a line of a program\n");
    }
    return text.toString();
  }

  private static void time(String what, int rounds, Action action) throws Exception {
    var times = new ArrayList<Double>();
    for (int i = 0; i < rounds; i++) {
      long from = System.nanoTime();
      action.run();
      times.add((System.nanoTime() - from) / 1e6);
    }
    double first = times.getFirst();
    Collections.sort(times);
    Double[] sorted = times.toArray(Double[]::new);
    System.out.printf(
        "  %-24s first %7.1f  best %7.1f  p50 %7.1f  p90 %7.1f ms%n",
        what,
        first,
        sorted[0],
        sorted[rounds / 2],
        Arrays.stream(sorted).mapToDouble(d -> d).sorted().toArray()[rounds * 9 / 10]);
  }
}
