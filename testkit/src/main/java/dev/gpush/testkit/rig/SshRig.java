package dev.gpush.testkit.rig;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The ssh hosts of {@code src/test/rigs/ssh}; its first comment says what each host is. */
public final class SshRig {
  /** For {@code @ResourceLock}: its hosts are the same for all who use it. */
  public static final String NAME = "rig ssh";

  private final Path config;

  private SshRig(Path config) {
    this.config = config;
  }

  /**
   * The rig that is up. Without it the test is skipped; if rigs are required it is started, or the
   * test fails.
   */
  public static SshRig required() throws IOException, InterruptedException {
    boolean isRequired = Script.isRequired("ssh");
    Said said = script(List.of(isRequired ? "up" : "status"));
    assertTrue(said.status() == 0 || !isRequired, said::text);
    assumeTrue(said.status() == 0, said::text);
    List<String> lines = said.text().strip().lines().toList();
    return new SshRig(Path.of(lines.getLast()));
  }

  /** For {@code ssh -F}. */
  public Path config() {
    return config;
  }

  /** A file of a host's folder on this side: {@code gpus}, {@code log}, {@code code}. */
  public Path file(String host, String name) {
    return folder().resolve(host).resolve(name);
  }

  public Path askpass() {
    return folder().resolve("askpass");
  }

  private Path folder() {
    return Optional.ofNullable(config.getParent()).orElseThrow();
  }

  /** {@code cut}, {@code heal}, {@code stop}, {@code start}, {@code rekey}, {@code trust}. */
  public void with(String verb, String host) throws IOException, InterruptedException {
    Said said = script(List.of(verb, host));
    assertTrue(said.status() == 0, said::text);
  }

  /** One of the counters of the host's sshd: {@code connections}, {@code logins}, {@code asked}. */
  public int count(String host, String what) throws IOException, InterruptedException {
    Said said = script(List.of("count", host));
    for (String part : said.text().strip().split("\\s+", -1)) {
      if (part.startsWith(what + "=")) {
        return Integer.parseInt(part.substring(what.length() + 1));
      }
    }
    throw new AssertionError("no " + what + " in " + said.text());
  }

  /** The output of a command on the host as root, without its sshd. */
  public String in(String host, String... command) throws IOException, InterruptedException {
    var line = new ArrayList<>(List.of("in", host));
    line.addAll(List.of(command));
    return script(line).text();
  }

  /** Processes on the host's GPUs, a line each; see the rig. */
  public void gpus(String host, String text) throws IOException {
    Files.writeString(
        file(host, "gpus"), text, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING);
  }

  private record Said(int status, String text) {}

  private static Said script(List<String> words) throws IOException, InterruptedException {
    var line = new ArrayList<>(List.of(root().resolve("src/test/rigs/ssh").toString()));
    line.addAll(words);
    Process process = new ProcessBuilder(line).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Said(process.waitFor(), text);
  }

  private static Path root() {
    Path folder = Path.of("").toAbsolutePath();
    while (!Files.exists(folder.resolve("src/test/rigs"))) {
      folder = Optional.ofNullable(folder.getParent()).orElseThrow();
    }
    return folder;
  }
}
