package dev.gpush.control.place;

import dev.gpush.control.wire.Facts;
import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.StringTokenizer;

/**
 * What the launcher passed to this process in system properties, and its environment.
 *
 * <p>gpush.build: the content hash; gpush.lib: the folder of all jars; gpush.gateway.aot: the
 * gateway's cache, or where to train it when gpush.train is true; gpush.tty: a 1 or 0 for each of
 * the three streams; gpush.size: rows and columns as stty prints them.
 */
public final class ThisProcess {
  /**
   * The gateway's memory: a limit, so that it stays small on a laptop. The collector is the one
   * with the smallest footprint; it begins small, keeps bytes that pass through in a young
   * generation which grows with a transfer, and gives back what is free when it collects
   * (HeapReturn says when).
   */
  private static final List<String> GATEWAY_FLAGS =
      List.of(
          "-XX:MinHeapSize=24m",
          "-XX:InitialHeapSize=28m",
          "-Xmx384m",
          "-XX:+UseSerialGC",
          "-XX:NewSize=12m",
          "-XX:MaxNewSize=48m",
          "-XX:NewRatio=1",
          "-XX:SurvivorRatio=3",
          "-XX:TargetSurvivorRatio=90",
          "-XX:MinHeapFreeRatio=10",
          "-XX:MaxHeapFreeRatio=20",
          "-XX:-ShrinkHeapInSteps",
          "-XX:TrimNativeHeapInterval=60000",
          "-XX:-UsePerfData",
          "-XX:+ExitOnOutOfMemoryError",
          "-Xlog:disable",
          // A thread that reads a pipe of a process holds a carrier: two for each node's relay.
          "-Djdk.virtualThreadScheduler.maxPoolSize=1024",
          "-Dstdout.encoding=UTF-8",
          "-Dstderr.encoding=UTF-8",
          "--enable-native-access=ALL-UNNAMED");

  private static final String GATEWAY_MAIN = "dev.gpush.app.Main";

  private ThisProcess() {}

  /** The home and build of this process. */
  public static Origin origin() {
    Map<String, String> environment = new HashMap<>(RawWords.environment(System.getenv()));
    restoreLocale(environment);
    String home = environment.getOrDefault("GPUSH_HOME", "");
    Path asked =
        home.isEmpty() ? Path.of(System.getProperty("user.home"), ".gpush") : Path.of(home);
    return new Origin(
        RunFolder.realHome(asked),
        System.getProperty("gpush.build", "unknown"),
        Path.of(System.getProperty("user.dir")),
        environment,
        processId(),
        gateway(flags(environment.getOrDefault("GPUSH_GATEWAY_FLAGS", ""))));
  }

  /** Undoes the launcher's change of the locale, which makes the JVM read names as UTF-8. */
  public static void restoreLocale(Map<String, String> environment) {
    String before = environment.remove("GPUSH_LC_ALL");
    if (before == null) {
      return;
    }
    if (before.isEmpty()) {
      environment.remove("LC_ALL");
    } else {
      environment.put("LC_ALL", before);
    }
  }

  /** What the streams are. */
  public static Facts facts() {
    String terminals = System.getProperty("gpush.tty", "000");
    String[] size = System.getProperty("gpush.size", "").split(" ", -1);
    return Facts.of(
        new Facts.Terminals(isSet(terminals, 0), isSet(terminals, 1), isSet(terminals, 2)),
        size.length == 2 ? number(size[1]) : 0,
        size.length == 2 ? number(size[0]) : 0,
        System.getenv());
  }

  /** The launcher knows it already; asking the JDK takes several milliseconds. */
  private static long processId() {
    Long known = Long.getLong("gpush.pid");
    return known == null ? ProcessHandle.current().pid() : known;
  }

  /** The user's flags come after ours: the JVM takes the last of two. The cache is for everyone. */
  private static List<String> gateway(List<String> more) {
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(GATEWAY_FLAGS);
    String cache = System.getProperty("gpush.gateway.aot", "");
    boolean train = Boolean.getBoolean("gpush.train");
    if (!train) {
      command.addAll(more);
    }
    if (train) {
      command.add("-XX:AOTCacheOutput=" + cache);
    } else if (new File(cache).exists()) {
      command.add("-XX:AOTCache=" + cache);
    }
    command.add("-Dgpush.build=" + System.getProperty("gpush.build", "unknown"));
    command.add("-cp");
    command.add(classPath());
    command.add(GATEWAY_MAIN);
    return command;
  }

  /**
   * All jars in the order of their names: the cache holds for one order only, and folders have
   * none.
   */
  private static String classPath() {
    String folder = System.getProperty("gpush.lib", "");
    String[] names = folder.isEmpty() ? null : new File(folder).list();
    if (names == null) {
      return System.getProperty("java.class.path");
    }
    Arrays.sort(names);
    var path = new StringBuilder();
    for (String name : names) {
      if (name.endsWith(".jar")) {
        path.append(path.isEmpty() ? "" : File.pathSeparator)
            .append(folder)
            .append('/')
            .append(name);
      }
    }
    return path.toString();
  }

  private static List<String> flags(String text) {
    var flags = new ArrayList<String>();
    var words = new StringTokenizer(text);
    while (words.hasMoreTokens()) {
      flags.add(words.nextToken());
    }
    return flags;
  }

  private static boolean isSet(String terminals, int index) {
    return terminals.length() > index && terminals.charAt(index) == '1';
  }

  private static int number(String text) {
    try {
      return Integer.parseInt(text);
    } catch (NumberFormatException none) {
      return 0;
    }
  }
}
