package dev.gpush.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What the launcher says when it finds no place for its files. Its java prints its last word. */
@Execution(ExecutionMode.CONCURRENT)
final class LauncherRefusalsTest {
  /** Mounts $1 on $2, and there runs the rest: once as it is, once with more room. */
  private static final String ON_A_DISK =
      """
      mount -t tmpfs -o "$1" gpush-test "$2" || exit 99
      disk=$2; shift 2
      "$@"; echo "status $?"
      mount -o remount,size=10m,nr_inodes=1000 "$disk"
      "$@"; echo "status $?"
      """;

  @TempDir private Path folder;
  private Path launcher;
  private Path cache;

  @BeforeEach
  void prepare() throws IOException {
    Path lib = Files.createDirectories(folder.resolve("checkout/app/target/gpush/lib"));
    launcher = Files.copy(LauncherIT.launcher(), folder.resolve("checkout/gpush"));
    for (String name : List.of("gpush-app-1", "gpush-control-1", "gpush-core-1")) {
      Files.write(lib.resolve(name + ".jar"), new byte[60_000]);
    }
    new FakePrograms(folder).add("jdk/bin/java", "for word; do last=$word; done; echo $last");
    Files.writeString(folder.resolve("jdk/release"), "JAVA_VERSION=\"25.0.2\"\n");
    cache = Files.createDirectories(folder.resolve("cache"));
  }

  private List<String> said(Map<String, String> environment, String... command)
      throws IOException, InterruptedException {
    var builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().clear();
    builder.environment().put("PATH", "/usr/bin:/bin:/usr/sbin:/sbin");
    builder.environment().put("GPUSH_AOT", "0");
    builder.environment().put("GPUSH_REBUILD", "0");
    builder.environment().put("GPUSH_JAVA_HOME", folder.resolve("jdk").toString());
    builder.environment().putAll(environment);
    Process process = builder.start();
    process.getOutputStream().close();
    var said = new ArrayList<String>();
    new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
        .lines()
        .forEach(said::add);
    said.add("exit " + process.waitFor());
    return said;
  }

  /** A command on this disk, and the same one once it has room. */
  private List<String> onADisk(String options) throws Exception {
    List<String> said =
        said(
            Map.of("XDG_CACHE_HOME", cache.toString()),
            "unshare",
            "--mount",
            "sh",
            "-c",
            ON_A_DISK,
            "sh",
            options,
            cache.toString(),
            launcher.toString(),
            "version");
    assumeTrue(said.getLast().equals("exit 0"), () -> "nothing can be mounted here: " + said);
    return said;
  }

  private static void assertSaid(List<String> expected, List<String> said) {
    int from = said.indexOf(expected.getFirst());
    assertTrue(from >= 0, said::toString);
    assertEquals(expected, said.subList(from, said.size()));
  }

  @Test
  void namesTheVariableWithoutAHome() throws Exception {
    List<String> refused =
        List.of(
            "gpush: cannot start",
            "  because neither HOME nor XDG_CACHE_HOME is set, so there is no folder for its files",
            "  try: export HOME=~",
            "exit 3");

    assertEquals(refused, said(Map.of(), launcher.toString(), "version"));
    assertEquals("exit 255", said(Map.of(), launcher.toString(), "run", "x.py").getLast());
    assertEquals(refused, said(Map.of("HOME", ""), launcher.toString(), "version"));
  }

  @Test
  void namesAnotherFolderIfTheCacheCannotBeMade() throws Exception {
    assertEquals(
        List.of(
            "gpush: cannot use the cache",
            "  because /dev/null/gpush cannot be made",
            "  try: set XDG_CACHE_HOME to a folder that you can write",
            "exit 3"),
        said(Map.of("XDG_CACHE_HOME", "/dev/null"), launcher.toString(), "version"));
  }

  @Test
  void aFullDiskIsNamedAndTheNextCommandWorks() throws Exception {
    List<String> said = onADisk("size=100k");

    assertSaid(
        List.of(
            "gpush: cannot install",
            "  because the jars of %s/app/target/gpush/lib cannot be copied to %s/gpush"
                .formatted(launcher.resolveSibling(".").normalize(), cache),
            "  try: check " + cache + "/gpush: its owner, free space",
            "status 3",
            "version",
            "status 0",
            "exit 0"),
        said);
  }

  @Test
  void aDiskThatTakesNoMoreFilesIsNamedAndTheNextCommandWorks() throws Exception {
    List<String> said = onADisk("size=10m,nr_inodes=5");

    String state = cache + "/gpush/launch/" + launcher.getParent().toString().replace('/', '%');
    assertSaid(
        List.of(
            "gpush: cannot use the cache",
            "  because " + state + ".new cannot be written",
            "  try: check " + cache + "/gpush: its owner, free space",
            "status 3",
            "version",
            "status 0",
            "exit 0"),
        said);
  }
}
