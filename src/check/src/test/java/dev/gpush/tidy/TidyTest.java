package dev.gpush.tidy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.googlejavaformat.java.Main;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * What a machine can tell about tidiness. Each failure lists every place at once and what to do.
 *
 * <p>Format: {@code scripts/format} rewrites all Java files within seconds.
 */
final class TidyTest {
  private static final int MOST_LINES = 500;

  /** Tables and stories are long and simple; they are read from the top, once. */
  private static final int MOST_TEST_LINES = 750;

  /** Longer files, each with the reason why splitting it would make it harder to read. */
  private static final Map<String, String> LONGER =
      Map.of(
          "agent/gpush_agent/files/sftp.py",
          "one request after the other, as the protocol's draft lists them");

  /** Files of this name speak about the banned words themselves. */
  private static final String SELF = "TidyTest.java";

  private static final Tree TREE = Tree.aroundHere();

  @Test
  void javaIsFormatted() {
    // Without a look for long strings, which takes as long as all the rest.
    var arguments =
        new ArrayList<String>(
            List.of("--skip-reflowing-long-strings", "--dry-run", "--set-exit-if-changed"));
    TREE.javaFiles().forEach(file -> arguments.add(file.toString()));

    // The same entry as scripts/format, so that the two can never disagree.
    var out = new StringWriter();
    var err = new StringWriter();
    int status;
    try {
      status =
          new Main(new PrintWriter(out), new PrintWriter(err), InputStream.nullInputStream())
              .format(arguments.toArray(String[]::new));
    } catch (Exception wrong) {
      // A UsageException, which only the formatter's own package can name.
      throw new IllegalStateException("google-java-format refused its arguments", wrong);
    }

    String report = (out + "\n" + err).replace(TREE.root() + "/", "").strip();
    assertTrue(status == 0, () -> "run scripts/format; it would rewrite\n" + report);
  }

  @Test
  void seesTheSources() {
    assertTrue(TREE.javaFiles().size() >= 30, () -> "only " + TREE.javaFiles().size() + " files");
  }

  @Test
  void everyPackageSaysWhatItIsFor() {
    var silent = new LinkedHashSet<String>();
    for (Path file : TREE.files(name -> name.contains("/src/main/java/") && isJava(name))) {
      if (!Files.exists(file.resolveSibling("package-info.java"))) {
        silent.add(TREE.name(file.getParent()));
      }
    }

    assertNone("write a package-info.java with its purpose, main types and thread rule", silent);
  }

  @Test
  void filesAreShort() {
    var tooLong = new ArrayList<String>();
    for (Path file : TREE.files(name -> isJava(name) || name.endsWith(".py"))) {
      long lines = Tree.text(file).lines().count();
      boolean isTest =
          ("/" + TREE.name(file)).contains("/src/test/") || TREE.name(file).contains("/tests/");
      if (lines > (isTest ? MOST_TEST_LINES : MOST_LINES) && !LONGER.containsKey(TREE.name(file))) {
        tooLong.add(TREE.name(file) + " has " + lines + " lines");
      }
    }

    assertNone("more than " + MOST_LINES + " lines: find the second idea and move it", tooLong);
  }

  @Test
  void exceptionsAreStillNeeded() {
    List<String> needless =
        LONGER.keySet().stream()
            .filter(
                name -> {
                  Path file = TREE.root().resolve(name);
                  return !Files.exists(file) || Tree.text(file).lines().count() <= MOST_LINES;
                })
            .toList();

    assertNone("remove from LONGER: gone, or short by now", needless);
  }

  @Test
  void markdownLinksLeadSomewhere() {
    var dead = new ArrayList<String>();
    for (Path file : TREE.files(name -> name.endsWith(".md"))) {
      for (String target : MarkdownLinks.relativeTargets(Tree.text(file))) {
        if (!Files.exists(file.resolveSibling(target))) {
          dead.add(TREE.name(file) + " links to " + target);
        }
      }
    }

    assertNone("there is no such file", dead);
  }

  @Test
  void noUnfinishedWork() {
    banned(
        "finish it, or write down in docs why not",
        Pattern.compile("\\b(TODO|FIXME|XXX)\\b"),
        TREE.files(
            name ->
                Stream.of(".java", ".py", ".sh", ".md", ".yaml", ".yml", ".xml")
                        .anyMatch(name::endsWith)
                    || name.startsWith("scripts/")
                    || name.startsWith(".ci/")));
  }

  /** A test with a tag that no stage knows would run in none. */
  @Test
  void tagsOfTestsAreStages() {
    var stages = Pattern.compile("<test.tags.left.out>(.*)</test.tags.left.out>");
    var known = stages.matcher(Tree.text(TREE.root().resolve("pom.xml")));
    assertTrue(known.find());
    List<String> names = List.of(known.group(1).split(" \\| "));
    var unknown = new ArrayList<String>();
    for (Path file : TREE.javaFiles()) {
      Matcher tag = Pattern.compile("@Tag\\(\"([^\"]*)\"\\)").matcher(Tree.text(file));
      while (tag.find()) {
        if (!names.contains(tag.group(1))) {
          unknown.add(TREE.name(file) + ": " + tag.group(1));
        }
      }
    }

    assertNone("name it in the root pom.xml and in scripts/long", unknown);
  }

  @Test
  void testsDoNotSleep() {
    banned(
        "wait on a gate, or move a ManualClock",
        Pattern.compile("\\b(Thread|TimeUnit\\.\\w+|(NANO|MICRO|MILLI)?SECONDS)\\.sleep\\("),
        tests());
  }

  @Test
  void skippedTestsSayWhy() {
    banned(
        "give the reason, as in @Disabled(\"needs two hosts\")",
        Pattern.compile("@Disabled\\b(?!\\(\\s*\"\\S|\\w)"),
        tests());
  }

  @Test
  void noTestIsSwitchedOffByAnAssumption() {
    banned(
        "use @Disabled with a reason, or delete the test",
        Pattern.compile("assumeTrue\\(\\s*false|assumeFalse\\(\\s*true"),
        tests());
  }

  private static List<Path> tests() {
    return TREE.files(
        name ->
            isJava(name) && (name.contains("src/test/java/") || name.startsWith("testkit/src/")));
  }

  private static boolean isJava(String name) {
    return name.endsWith(".java");
  }

  private static void banned(String instead, Pattern pattern, List<Path> files) {
    var found = new ArrayList<String>();
    for (Path file : files) {
      if (file.endsWith(SELF)) {
        continue;
      }
      List<String> lines = Tree.text(file).lines().toList();
      for (int i = 0; i < lines.size(); i++) {
        if (pattern.matcher(lines.get(i)).find()) {
          found.add(TREE.name(file) + ":" + (i + 1) + " " + lines.get(i).strip());
        }
      }
    }

    assertNone(instead, found);
  }

  private static void assertNone(String advice, Iterable<String> places) {
    assertEquals("", String.join("\n", places), advice);
  }
}
