package dev.gpush.tidy;

import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The table of docs/architecture.md that names, for each behaviour, the code to read. */
final class BehaviourIndex {
  private static final String HEADING = "## Index of behaviours";

  private static final Pattern CODE = Pattern.compile("`([^`]+)`");

  private BehaviourIndex() {}

  /** What the second column names, once for each time that it is named. */
  static List<String> names(String page) {
    return page.lines()
        .dropWhile(line -> !line.equals(HEADING))
        .skip(1)
        .takeWhile(line -> !line.startsWith("## "))
        .filter(line -> line.startsWith("|"))
        .flatMap(BehaviourIndex::inSecondColumn)
        .toList();
  }

  private static Stream<String> inSecondColumn(String row) {
    return CODE.matcher(row.split("\\|", -1)[2]).results().map(found -> found.group(1));
  }
}
