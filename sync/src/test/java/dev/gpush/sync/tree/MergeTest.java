package dev.gpush.sync.tree;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.SyncFailure.HeldPath.Reason;
import dev.gpush.sync.tree.Merge.Editing;
import dev.gpush.sync.tree.Merge.Keep;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The decision about one path as tables. A version is written {@code -} for nothing, {@code 1} for
 * a file, {@code 1*} for an executable one, {@code @a} for a link, {@code ?} for a file that was
 * not read and {@code !} for what cannot come home.
 */
final class MergeTest {
  private static final List<String> ALL = List.of("-", "1", "1*", "2", "3", "@a", "@b", "?", "!");

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          # both had | here | node 0 | decision          | where changes of node 0 stay
          -          | -    | -      | leave             | leave
          1          | 1    | 1      | leave             | leave
          @a         | @a   | @a     | leave             | leave
          -          | 1    | -      | send              | send
          1          | 2    | 1      | send              | send
          1          | 1*   | 1      | send              | send
          1          | @a   | 1      | send              | send
          @a         | @b   | @a     | send              | send
          @a         | 1    | @a     | send              | send
          1          | -    | 1      | delete there      | delete there
          @a         | -    | @a     | delete there      | delete there
          -          | -    | 1      | come home         | hold STAYS_THERE
          1          | 1    | 2      | come home         | hold STAYS_THERE
          1          | 1    | 1*     | come home         | send
          1*         | 1*   | 1      | come home         | send
          1          | 1    | @a     | come home         | hold STAYS_THERE
          @a         | @a   | @b     | come home         | hold STAYS_THERE
          @a         | @a   | 1      | come home         | hold STAYS_THERE
          1          | 1    | ?      | come home         | hold STAYS_THERE
          1          | 1    | !      | hold CANNOT_COME  | hold STAYS_THERE
          1          | 1    | -      | delete here       | send
          @a         | @a   | -      | delete here       | send
          -          | 1    | 1      | adopt             | adopt
          1          | 2    | 2      | adopt             | adopt
          1          | 1*   | 1*     | adopt             | adopt
          1          | @a   | @a     | adopt             | adopt
          1          | -    | -      | adopt             | adopt
          -          | 1    | 2      | hold CHANGED_BOTH | hold CHANGED_BOTH
          1          | 2    | 3      | hold CHANGED_BOTH | hold CHANGED_BOTH
          1          | 2    | 1*     | hold CHANGED_BOTH | send
          1          | 1*   | 2      | hold CHANGED_BOTH | hold CHANGED_BOTH
          1          | 2    | @a     | hold CHANGED_BOTH | hold CHANGED_BOTH
          @a         | @b   | 1      | hold CHANGED_BOTH | hold CHANGED_BOTH
          1          | 2    | ?      | hold CHANGED_BOTH | hold CHANGED_BOTH
          1          | 2    | !      | hold CHANGED_BOTH | hold CHANGED_BOTH
          1          | -    | 2      | hold DELETED_HERE | hold DELETED_HERE
          1          | -    | 1*     | hold DELETED_HERE | delete there
          1          | -    | !      | hold DELETED_HERE | hold DELETED_HERE
          1          | 2    | -      | hold DELETED_THERE | send
          1          | 1*   | -      | hold DELETED_THERE | send
          """)
  void decides(String ancestor, String here, String there, String comesHome, String stays) {
    assertEquals(
        comesHome,
        words(Merge.of(version(ancestor), version(here), version(there), Editing.COMES_HOME)));
    assertEquals(
        stays, words(Merge.of(version(ancestor), version(here), version(there), Editing.STAYS)));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          # both had | here | node 0 | node 1 | wrote there | decision
          1          | 2    | 1      | -      | 1           | send
          1          | 2    | 1      | 2      | 1           | send
          1          | 2    | 1      | 1*     | 1           | send
          1          | 2    | 1      | 2*     | 1           | send
          1          | 2    | 1      | 3      | 1           | hold OTHER_NODE
          1          | 2    | 1      | 1      | 3           | hold OTHER_NODE
          1          | 2    | 1      | ?      | 1           | hold OTHER_NODE
          1          | 2    | 1      | @a     | 1           | hold OTHER_NODE
          1          | 1    | 1      | 3      | 1           | hold OTHER_NODE
          1          | 1    | 2      | 2      | 1           | come home
          1          | 1    | 2      | 3      | 1           | hold OTHER_NODE
          1          | 2    | 2      | 3      | 1           | hold OTHER_NODE
          1          | -    | 1      | 3      | 1           | delete there
          1          | 1    | -      | 3      | 1           | delete here
          1          | 2    | 3      | 2      | 1           | hold CHANGED_BOTH
          """)
  void whatAnotherNodeHasOfItsOwnIsNotReplaced(
      String ancestor, String here, String there, String other, String written, String decision) {
    Version laptop = version(here);
    Version node = version(there);
    Merge merge = Merge.of(version(ancestor), laptop, node, Editing.COMES_HOME);
    Version result =
        switch (merge) {
          case Merge.ComeHome _ -> node;
          case Merge.DeleteHere _, Merge.DeleteThere _ -> new Version.Absent();
          case Merge.Send _, Merge.Adopt _, Merge.Hold _, Merge.LeaveAlone _ -> laptop;
        };

    assertEquals(
        decision, words(merge.among(result, List.of(version(other)), List.of(version(written)))));
  }

  /** For all combinations: no version that only one side has is replaced without a decision. */
  @Test
  void noVersionOfAPersonIsLost() {
    for (String ancestor : ALL) {
      for (String here : ALL) {
        for (String there : ALL) {
          for (Editing editing : Editing.values()) {
            Version base = version(ancestor);
            Version laptop = version(here);
            Version node = version(there);
            Merge merge = Merge.of(base, laptop, node, editing);
            String facts = ancestor + " " + here + " " + there + " " + editing + ": " + merge;
            boolean isHereOnly = !laptop.isAbsent() && !laptop.is(base) && !laptop.is(node);
            boolean isThereOnly =
                !node.isAbsent() && !node.is(base) && !node.is(laptop) && !node.hasBytesOf(base);
            boolean goesHere = merge instanceof Merge.ComeHome || merge instanceof Merge.DeleteHere;
            boolean goesThere = merge instanceof Merge.Send || merge instanceof Merge.DeleteThere;
            assertTrue(!(isHereOnly && goesHere), facts);
            assertTrue(!(isThereOnly && goesThere), facts);
          }
        }
      }
    }
  }

  @Test
  void aUserDecidesForOneSide() {
    var words = new ArrayList<String>();
    for (String[] each : new String[][] {{"2", "3"}, {"-", "3"}, {"2", "-"}, {"2", "2"}}) {
      for (Keep keep : Keep.values()) {
        words.add(words(Merge.kept(keep, version(each[0]), version(each[1]))));
      }
    }

    assertEquals(
        List.of(
            "send",
            "come home",
            "delete there",
            "come home",
            "send",
            "delete here",
            "adopt",
            "adopt"),
        words);
  }

  private static String words(Merge merge) {
    return switch (merge) {
      case Merge.Send _ -> "send";
      case Merge.ComeHome _ -> "come home";
      case Merge.DeleteHere _ -> "delete here";
      case Merge.DeleteThere _ -> "delete there";
      case Merge.Adopt _ -> "adopt";
      case Merge.LeaveAlone _ -> "leave";
      case Merge.Hold(Reason reason) -> "hold " + reason;
    };
  }

  private static Version version(String word) {
    return switch (word) {
      case "-" -> new Version.Absent();
      case "?" -> new Version.Unread("");
      case "!" -> new Version.Unread("it is no file");
      default -> Version.of(Optional.of(entry(word)));
    };
  }

  private static Entry entry(String word) {
    if (word.startsWith("@")) {
      return new Entry.Link(word.substring(1));
    }
    String content = word.replace("*", "");
    return new Entry.File(
        1, word.endsWith("*"), Hashes.of(content.getBytes(StandardCharsets.UTF_8)));
  }
}
