package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Editors and clients: what issue 14 says in its lines 17 to 21, with the real programs. */
@Execution(ExecutionMode.CONCURRENT)
@Tag("gate")
final class ClientsIT {
  private static final byte[] NO_INPUT = new byte[0];

  /** The home's path alone is longer than a socket's may be. */
  private static final String DEEP = "a-home-that-lies-deep/".repeat(5) + "home";

  private static String ssh(World world) {
    return "ssh -F '" + world.sshConfig() + "'";
  }

  private static Result bash(World world, String line) throws Exception {
    return world.run(NO_INPUT, "bash", "-c", line);
  }

  @Test
  void line17TheConfigServesReadersThatTakeNoneForAHost() throws Exception {
    try (World world = World.asShipped(Map.of())) {
      world.gpush("up").succeeded();
      String written = Files.readString(world.sshConfig());
      Path config =
          world.file(
              "config",
              "Include \"%s\"%nHost *%n  ProxyJump nowhere.invalid%n".formatted(world.sshConfig()));

      Result inside = world.run(NO_INPUT, "ssh", "-F", config.toString(), "devbox", "echo inside");

      assertEquals("inside\n", inside.succeeded().out());
      String hosts = written.substring(written.indexOf("Host "), written.lastIndexOf("Match "));
      assertFalse(hosts.contains("none\n  Proxy"), hosts);
      assertFalse(hosts.contains("Proxy"), hosts);
    }
  }

  @Test
  void line18SocketsFitIntoTmpdirOfEverySessionInADeepHome() throws Exception {
    try (World world = World.withHome(DEEP)) {
      world.gpush("up").succeeded();
      String manager = "python3 -c 'import multiprocessing as m; print(m.Manager().list([7]))'";

      assertEquals("[7]\n", bash(world, ssh(world) + " devbox \"" + manager + "\"").out());
      assertEquals("[7]\n", world.run(bytes(manager), "ssh", "-F", config(world), "devbox").out());
      assertEquals("[7]\n", world.gpush("exec", manager).succeeded().out());
      assertEquals("[7]\n", world.gpush("exec", "--all", manager).out().replace("node 0: ", ""));
      String tmp = bash(world, ssh(world) + " devbox 'echo $TMPDIR'").succeeded().out().strip();
      assertTrue(tmp.length() < 40, tmp);

      world.gpush("down").succeeded();
      assertFalse(Files.exists(Path.of(tmp)), tmp);
    }
  }

  private static byte[] bytes(String text) {
    return (text + "\n").getBytes(StandardCharsets.UTF_8);
  }

  private static String config(World world) {
    return world.sshConfig().toString();
  }

  @Test
  void line19OutputOfWhatIsLeftInTheBackgroundIsNotLost() throws Exception {
    try (World world = World.asShipped(Map.of())) {
      world.gpush("up").succeeded();
      String late = "(sleep 0.5; echo late) & echo hi; exit 7";
      String through = "bash -c 'exec > >(sleep 0.5; cat); echo through'";

      assertEquals("hi\nlate\n", sshed(world, late).exits(7).out());
      assertEquals("through\n", sshed(world, through).succeeded().out());
      assertEquals("hi\nlate\n", world.gpush("exec", late).exits(7).out());
      assertEquals("through\n", world.gpush("exec", through).succeeded().out());
    }
  }

  private static Result sshed(World world, String command) throws Exception {
    return world.run(NO_INPUT, world.ssh("devbox", command).toArray(String[]::new));
  }

  @Test
  void line20BytesThatAreNotUtf8StayBytes() throws Exception {
    try (World world = World.asShipped(Map.of())) {
      world.gpush("up").succeeded();
      String gpush = "'" + world.launcher() + "'";
      byte[] raw = HexFormat.of().parseHex("636166e920ffc3a9");
      String word = "$'caf\\xe9 \\xff\\xc3\\xa9'";
      for (String line :
          List.of(
              gpush + " exec printf %s " + word,
              gpush + " exec $'printf %s \\'caf\\xe9 \\xff\\xc3\\xa9\\''",
              gpush + " ssh devbox $'printf %s \\'caf\\xe9 \\xff\\xc3\\xa9\\''",
              "LC_ALL=C " + gpush + " exec printf %s " + word,
              "LC_ALL=xx_XX.UTF-8 " + gpush + " exec printf %s " + word,
              ssh(world) + " devbox $'printf %s \\'caf\\xe9 \\xff\\xc3\\xa9\\''",
              "LC_TEST=" + word + " " + ssh(world) + " devbox 'printf %s \"$LC_TEST\"'",
              "LC_TEST=" + word + " " + gpush + " ssh devbox 'printf %s \"$LC_TEST\"'")) {
        assertArrayEquals(raw, world.bytes(NO_INPUT, 0, "bash", "-c", line), line);
      }

      String ran = gpush + " run -- printf '%s\\n' " + word + " | grep -a caf";
      byte[] output = world.bytes(NO_INPUT, 0, "bash", "-c", ran);
      assertTrue(
          HexFormat.of().formatHex(output).contains(HexFormat.of().formatHex(raw)),
          () -> HexFormat.of().formatHex(output));
    }
  }

  @Test
  void line20FilesKeepTheBytesOfTheirNames() throws Exception {
    try (World world = World.asShipped(Map.of())) {
      world.gpush("up").succeeded();
      String folder = world.gpush("exec", "mktemp", "-d").succeeded().out().strip();
      String with = " -q -F '" + world.sshConfig() + "' ";
      String script =
          """
          set -e
          echo content > $'caf\\xe9'
          scp %1$s $'caf\\xe9' devbox:%2$s/
          scp -O %1$s $'caf\\xe9' devbox:%2$s/$'old\\xe9'
          printf 'put "caf\\xe9" "%2$s/sftp\\xe9"\\nls -1 %2$s\\n' | sftp -b - %1$s devbox > listed
          rm $'caf\\xe9'
          scp %1$s devbox:%2$s/$'sftp\\xe9' $'back\\xe9'
          scp -O -T %1$s devbox:%2$s/$'old\\xe9' $'back too\\xe9'
          cat $'back\\xe9' $'back too\\xe9'
          ls -b %2$s
          """
              .formatted(with, folder);

      assertEquals(
          "content\ncontent\ncaf\\351\nold\\351\nsftp\\351\n",
          bash(world, script).succeeded().out());
    }
  }

  @Test
  void line21AHomeThatIsOpenIsClosedOrRefused() throws Exception {
    try (World world = World.asShipped(Map.of())) {
      Files.createDirectory(world.home());
      Files.writeString(world.home().resolve("config.yaml"), "");
      Files.setPosixFilePermissions(world.home(), PosixFilePermissions.fromString("rwxr-xr-x"));

      world.gpush("ps").succeeded();

      assertEquals(
          "rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(world.home())));
    }
    try (World world = World.asShipped(Map.of())) {
      Path other = Files.createDirectory(world.project().resolve("served"));
      Files.writeString(other.resolve("index.html"), "");

      Result refused = bash(world, "GPUSH_HOME='" + other + "' '" + world.launcher() + "' ps");

      assertEquals("", refused.exits(3).out());
      assertTrue(refused.err().contains("is open to others (rwxr-xr-x)"), refused::toString);
      assertEquals(List.of("index.html"), List.of(String.valueOf(other.toFile().list()[0])));
    }
  }

  @Test
  void line21NoSignalIsIgnoredInASession() throws Exception {
    try (World world = World.asShipped(Map.of())) {
      world.gpush("up").succeeded();
      String masks = "grep -E 'Sig(Blk|Ign)' /proc/self/status";

      String clean = "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n";
      assertEquals(clean, sshed(world, masks).succeeded().out());
      assertEquals(clean, world.gpush("exec", masks).succeeded().out());
    }
  }
}
