package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpush.testkit.rig.SlurmRig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * The page {@code docs/guide/slurm-hour.md} is what a terminal shows: what is typed in its blocks
 * is typed here, in the same state of the prompt, and what is seen must be the same but for times,
 * hosts and measured numbers, which also move the ends of lines; a line {@code …} is any lines.
 * {@code -Dgpush.golden=write} writes what was seen where it is not the same.
 */
@Timeout(900)
@Tag("slurm")
@ResourceLock(SlurmRig.DEFAULT)
final class ShellHourIT {
  private static final Path PAGE = World.repository().resolve("docs/guide/slurm-hour.md");
  private static final boolean WRITES = "write".equals(System.getProperty("gpush.golden"));
  private static final String INDENT = "    ";

  /** A prompt, of bash or of the shell, and what is typed there. */
  private static final Pattern TYPED = Pattern.compile("(\\$|gpush >|devbox.* >) ([^ ].*)");

  private static final Pattern PROMPT = Pattern.compile("\\$|gpush >|devbox .* ✓G\\d+.* >");
  private static final Pattern TIME = Pattern.compile("\\b(\\d+(\\.\\d+)? ?(ms|s|m|h))+\\b");
  private static final Pattern HOST = Pattern.compile("gpu[1-4]|gpush/[0-9a-f]{16}");
  private static final String ANY = "…";

  /** The first word of a cell of a table that has no room for all of it. */
  private static final Pattern CUT = Pattern.compile("(?<=  )(\\S+)( \\S+)* ?…$");

  private static final Pattern NUMBER = Pattern.compile("\\d[\\d.]*[%kMGT/]*[\\d.]*[kMGT]?");

  private static final String TRAIN =
      """
      import sys, time, torch
      import torch.distributed as dist
      lr = 0.1
      dist.init_process_group("gloo")
      rank = dist.get_rank()
      numbers = [float(line) for line in open(f"{sys.argv[1]}/part{rank}.txt")]
      data, weight = torch.tensor(numbers), torch.zeros(1)
      for step in range(int(sys.argv[2])):
          gradient = (weight - data.mean()) / dist.get_world_size()
          dist.all_reduce(gradient)
          weight -= lr * gradient
          if rank == 0:
              print(f"step {step} weight {weight.item():.3f}", flush=True)
          time.sleep(0.5)
      dist.destroy_process_group()
      """;

  @Test
  void thePageIsWhatATerminalShows() throws Exception {
    Optional<String> missing = Terminal.missing();
    assumeTrue(missing.isEmpty(), missing.orElse(""));
    assumeTrue(Ranks.torch().isPresent(), "the torch rig is down: src/test/rigs/torch up");
    SlurmRig rig = SlurmRig.of("default");
    try (World world = World.withHome("person/.gpush");
        Terminal terminal = opened(world, rig)) {
      List<String> written = played(terminal, Files.readAllLines(PAGE));
      if (WRITES) {
        Files.write(PAGE, written);
      }
      assertEquals("", rig.ann("squeue", "-h"), "nothing is left");
    }
  }

  /** In a project of a user who has a Slurm login and a Python with torch. */
  private static Terminal opened(World world, SlurmRig rig) throws Exception {
    Path project = world.person().resolve("proj");
    write(world.home().resolve("config.yaml"), "backends: {hpc: {kind: slurm, login: login}}\n");
    write(world.person().resolve(".ssh/config"), Files.readString(rig.sshConfig()));
    write(project.resolve("gpush.yaml"), "python: /srv/torch/bin/python\nbackends: [hpc]\n");
    write(project.resolve("train.py"), TRAIN);
    for (int part = 0; part < 4; part++) {
      write(project.resolve("data/part" + part + ".txt"), "1.0\n" + part + ".5\n");
      write(project.resolve("new/part" + part + ".txt"), part == 2 ? "2.5\nn/a\n" : "1.0\n");
    }
    Map<String, String> environment =
        Map.of(
            "HOME",
            world.person().toString(),
            "PATH",
            World.repository() + ":/usr/bin:/bin",
            "LANG",
            "C.UTF-8",
            "SHELL",
            "/bin/bash",
            "XDG_CACHE_HOME",
            World.cache(),
            "GPUSH_AOT",
            "0");
    return Terminal.open(world, project, environment);
  }

  private static void write(Path file, String text) throws IOException {
    Files.createDirectories(file.resolveSibling("."));
    Files.writeString(file, text);
  }

  /** Types what the page types, and returns the page with what was seen. */
  private static List<String> played(Terminal terminal, List<String> page) throws Exception {
    var written = new ArrayList<String>();
    int at = 0;
    while (at < page.size()) {
      String text = page.get(at++);
      Matcher typed = TYPED.matcher(text.startsWith(INDENT) ? text.substring(4) : "");
      if (!typed.matches()) {
        written.add(text);
        continue;
      }
      var expected = new ArrayList<String>();
      while (at < page.size() && isOutput(page.get(at))) {
        expected.add(page.get(at++).substring(INDENT.length()));
      }
      String line = typed.group(2);
      String prompt = prompt(terminal, typed.group(1));
      List<String> seen = seen(terminal, line, expected);
      boolean isSame = isSame(expected, seen, line.equals("top"));
      if (!isSame && !WRITES) {
        assertEquals(String.join("\n", expected), String.join("\n", seen), line);
      }
      boolean isPrompt = isSame(List.of(typed.group(1)), List.of(prompt), false);
      written.add(INDENT + (isPrompt ? typed.group(1) : prompt) + " " + line);
      (isSame ? expected : seen).forEach(each -> written.add(INDENT + each));
    }
    return written;
  }

  private static boolean isOutput(String line) {
    return line.startsWith(INDENT) && !TYPED.matcher(line.substring(INDENT.length())).matches();
  }

  /** Waits until the prompt is that of the page: the shell moves it when something changes. */
  private static String prompt(Terminal terminal, String expected) throws Exception {
    return terminal
        .awaits(
            "the prompt " + expected,
            shown ->
                WRITES
                    ? PROMPT.matcher(shown.typed()).matches()
                    : masked(shown.typed(), false).equals(masked(expected, false)))
        .typed();
  }

  /** What is seen between a line that is typed and the next prompt, or in a screen of its own. */
  private static List<String> seen(Terminal terminal, String line, List<String> expected)
      throws Exception {
    terminal.press("-l", line);
    Terminal.Shown typed = terminal.awaits(line, shown -> shown.typed().endsWith(" " + line));
    terminal.press("Enter");
    var lines = new ArrayList<String>();
    boolean isTop = line.equals("top");
    if (isTop) {
      lines.addAll(terminal.awaits("top", shown -> isTop(shown, expected)).screen());
      terminal.press("q");
    }
    Terminal.Shown next =
        terminal.awaits(
            "the prompt after " + line,
            shown -> shown.row() > typed.row() && shown.typed().matches("\\$|.* >"));
    if (!isTop) { // What stays of it has been seen.
      lines.addAll(next.lines().subList(typed.row() + 1, next.row()));
    }
    // What gloo says of its connections comes between what the ranks print, each time elsewhere.
    lines.removeIf(each -> each.isBlank() || each.contains("[Gloo]"));
    return lines;
  }

  /** With steps and measured nodes, as on the page: at another second, a rank may compute. */
  private static boolean isTop(Terminal.Shown shown, List<String> expected) {
    String text = String.join("\n", shown.screen());
    return WRITES
        ? text.contains("q quit") && text.contains("/s ")
        : isSame(expected, shown.screen(), true);
  }

  private static boolean isSame(List<String> expected, List<String> seen, boolean isMeasured) {
    var pattern = new StringBuilder();
    for (String line : expected) {
      String quoted = Pattern.quote(words(List.of(line), isMeasured));
      pattern.append(line.equals(ANY) ? "(.* )??" : quoted);
    }
    return words(seen, isMeasured).matches(pattern.toString());
  }

  /** Each with a space after it: a time that is longer moves a word to the next line. */
  private static String words(List<String> lines, boolean isMeasured) {
    return lines.stream()
        .map(line -> masked(line, isMeasured))
        .filter(line -> !line.isEmpty())
        .map(line -> line + " ")
        .collect(Collectors.joining());
  }

  /** Without what differs between two hours. */
  private static String masked(String line, boolean isMeasured) {
    String whole = CUT.matcher(line.stripTrailing()).replaceFirst("$1…");
    String same = HOST.matcher(TIME.matcher(whole).replaceAll("TIME")).replaceAll("HOST");
    String text = isMeasured ? NUMBER.matcher(same).replaceAll("N") : same;
    return text.replaceAll(" +", " ").strip();
  }
}
