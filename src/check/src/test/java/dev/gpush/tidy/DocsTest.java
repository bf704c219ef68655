package dev.gpush.tidy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Pages that list others list all of them, and what they say of the code is so. */
final class DocsTest {
  private static final Tree TREE = Tree.aroundHere();

  /** Of prose; scripts/wrap-docs has the same number. */
  private static final int MOST_COLUMNS = 120;

  /** Each page has the second of these, and others only in this order. */
  private static final List<String> DECISION_PARTS =
      List.of("Context", "Decision", "Reasons", "Consequences", "Alternatives");

  /** Far below what there is: it only tells that the table was found. */
  private static final int FEWEST_BEHAVIOURS = 40;

  /** {@code `key: {second: value}` in gpush.yaml}. */
  private static final Pattern ADVISED =
      Pattern.compile("`([a-z-]+): *(?:\\{([a-z-]+):)?[^`]*` in gpush\\.yaml");

  private static final int FEWEST_ADVISED = 10;

  private static final Pattern GATEWAY = Pattern.compile("gpush gateway ([a-z]+)");

  private static final Pattern DURATION_BY_HAND =
      Pattern.compile("to(Seconds|Minutes|Millis|Hours)\\(\\)\\s*\\+\\s*\" ?(s|ms|m|min|h)\\b");

  @Test
  void theIndexOfResultsHasAllPages() {
    assertEquals(pages("bench/results/"), listed("bench/results/README.md"));
  }

  @Test
  void theIndexOfDecisionsHasAllPages() {
    assertEquals(pages("docs/decisions/"), listed("docs/decisions/README.md"));
  }

  @Test
  void eachDecisionHasANumberOfItsOwnAndUnusedNumbersAreNamed() {
    List<Integer> used =
        pages("docs/decisions/").stream()
            .map(name -> Integer.valueOf(name.substring(0, 4)))
            .toList();
    assertEquals(used.size(), new TreeSet<>(used).size(), () -> "a number is taken twice: " + used);
    var unused = new ArrayList<String>();
    for (int number = 1; number < used.getLast(); number++) {
      if (!used.contains(number)) {
        unused.add("%04d".formatted(number));
      }
    }

    String says = text("docs/decisions/README.md").replace('\n', ' ');
    assertTrue(
        says.contains("Numbers that were never used: " + String.join(", ", unused) + "."),
        () -> "write that these were never used: " + unused);
  }

  @Test
  void decisionsHaveOneForm() {
    var wrong = new ArrayList<String>();
    for (String page : pages("docs/decisions/")) {
      String number = page.substring(0, 4);
      List<String> lines = text("docs/decisions/" + page).lines().toList();
      List<String> parts =
          lines.stream()
              .filter(line -> line.startsWith("## "))
              .map(line -> line.substring(3))
              .toList();
      if (!lines.getFirst().startsWith("# " + number + " ")
          || !lines.get(2).matches("\\*\\*Status:\\*\\* \\w+, 20\\d\\d-\\d\\d-\\d\\d.*")
          || !parts.contains("Decision")
          || !parts.equals(DECISION_PARTS.stream().filter(parts::contains).toList())) {
        wrong.add(page + " has " + parts);
      }
    }

    assertEquals(List.of(), wrong, "number and title, status and date, then " + DECISION_PARTS);
  }

  @Test
  void theIndexOfDecisionsHasTheirTitles() {
    String list = text("docs/decisions/README.md");
    List<String> missing =
        pages("docs/decisions/").stream()
            .map(
                page -> {
                  String title = text("docs/decisions/" + page).lines().findFirst().orElseThrow();
                  String number = title.substring(2, 6);
                  return "| [" + number + "](" + page + ") | " + title.substring(7) + " |";
                })
            .filter(row -> !list.contains(row + "\n"))
            .toList();

    assertEquals(List.of(), missing);
  }

  @Test
  void theArchitectureHasAllStatesOfASession() {
    String page = text("docs/architecture.md");
    int begin = page.indexOf("## States of a session");
    String picture = page.substring(begin, page.indexOf("`Backend.observe`", begin));

    List<String> states =
        Pattern.compile("^  ([A-Z]+)[,;]$", Pattern.MULTILINE)
            .matcher(text("core/src/main/java/dev/gpush/core/session/SessionState.java"))
            .results()
            .map(state -> state.group(1).toLowerCase(Locale.ROOT))
            .toList();
    assertTrue(states.size() > 5, states::toString);
    for (String state : states) {
      String word = "\\b" + state + "\\b";
      assertTrue(
          Pattern.compile("^ {4}.*" + word, Pattern.MULTILINE).matcher(picture).find(), word);
      assertTrue(picture.contains("`" + state + "`"), word);
    }
  }

  @Test
  void eachNameInTheIndexOfBehavioursExistsOnce() {
    List<String> names = BehaviourIndex.names(text("docs/architecture.md"));
    var wrong = new ArrayList<String>();
    for (String name : names) {
      List<String> found = sources(name);
      if (found.size() != 1) {
        wrong.add(name + " is " + found);
      }
    }

    assertTrue(names.size() >= FEWEST_BEHAVIOURS, () -> "only " + names.size() + " names");
    assertEquals(List.of(), wrong, "name the class that does it now in docs/architecture.md");
  }

  /** A key of a backend's block, for one, makes every command fail when it is in gpush.yaml. */
  @Test
  void whatIsAdvisedForAProjectIsAKeyOfItsFile() {
    String rows = text("templates/src/main/resources/dev/gpush/templates/schema/keys.txt");
    var keys = new TreeSet<String>();
    rows.lines().filter(row -> row.matches("(project|all) .*")).forEach(row -> keys.add(key(row)));
    var wrong = new ArrayList<String>();
    int advised = 0;
    for (Path file : TREE.files(name -> name.matches("(README|docs/.+)\\.md"))) {
      String page = Tree.text(file).replaceAll("\\s+", " ");
      for (Matcher found = ADVISED.matcher(page); found.find(); advised++) {
        String first = found.group(1);
        String whole = first + (found.group(2) == null ? "" : "." + found.group(2));
        boolean isKey = keys.stream().anyMatch(key -> (key + ".").startsWith(whole + "."));
        if (!isKey && !keys.contains(first)) {
          wrong.add(TREE.name(file) + ": " + found.group());
        }
      }
    }

    assertTrue(advised >= FEWEST_ADVISED, "only " + advised + " found");
    assertEquals(List.of(), wrong, "config.yaml has the keys of backends and of people");
  }

  @Test
  void eachActionOfTheGatewayThatIsNamedExists() {
    String command = text("shell/src/main/java/dev/gpush/shell/command/place/GatewayCommand.java");
    Matcher list = Pattern.compile("ACTIONS = List\\.of\\((.*?)\\)").matcher(command);
    assertTrue(list.find());
    var words = new TreeSet<>(List.of("is", "was"));
    words.addAll(List.of(list.group(1).replaceAll("[\" ]", "").split(",", -1)));
    var wrong = new ArrayList<String>();
    for (Path file :
        TREE.files(name -> name.matches("(README|docs/.+)\\.md|.+/src/main/.+\\.(java|txt)"))) {
      for (Matcher named = GATEWAY.matcher(Tree.text(file)); named.find(); ) {
        if (!words.contains(named.group(1))) {
          wrong.add(TREE.name(file) + ": " + named.group());
        }
      }
    }

    assertEquals(List.of(), wrong);
  }

  private static String key(String row) {
    return row.split(" \\| ", 3)[1];
  }

  /** A class of our own by its simple name, or a module of the agent by its file name. */
  private static List<String> sources(String name) {
    String file = name.endsWith(".py") ? name : name + ".java";
    return TREE
        .files(
            path ->
                path.endsWith("/" + file)
                    && !path.contains("/src/test/")
                    && !path.contains("/src/main/resources/")
                    && !path.contains("/tests/"))
        .stream()
        .map(TREE::name)
        .toList();
  }

  @Test
  void proseIsWrapped() {
    var tooLong = new ArrayList<String>();
    for (Path file : TREE.files(name -> name.matches("([^/]+|docs/.+)\\.md"))) {
      for (String line : MarkdownProse.longerThan(MOST_COLUMNS, Tree.text(file))) {
        tooLong.add(TREE.name(file) + ":" + line);
      }
    }

    assertEquals("", String.join("\n", tooLong), "run scripts/wrap-docs");
  }

  @Test
  void durationsAreWrittenByOneFormatter() {
    var places = new ArrayList<String>();
    for (Path file : TREE.files(name -> name.contains("/src/main/java/"))) {
      Matcher found = DURATION_BY_HAND.matcher(Tree.text(file));
      if (found.find()) {
        places.add(TREE.name(file) + ": " + found.group());
      }
    }

    assertEquals(List.of(), places, "use DurationText");
  }

  /** The names of all pages of a folder but the one that lists them. */
  private static List<String> pages(String folder) {
    return TREE
        .files(
            name -> name.startsWith(folder) && name.endsWith(".md") && !name.endsWith("README.md"))
        .stream()
        .map(file -> file.getFileName().toString())
        .toList();
  }

  private static List<String> listed(String page) {
    return MarkdownLinks.relativeTargets(text(page)).stream()
        .filter(target -> target.matches("[0-9].*\\.md"))
        .sorted()
        .toList();
  }

  private static String text(String page) {
    return Tree.text(TREE.root().resolve(page));
  }
}
