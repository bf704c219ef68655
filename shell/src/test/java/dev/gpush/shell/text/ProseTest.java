package dev.gpush.shell.text;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.failure.Message;
import java.util.List;
import org.junit.jupiter.api.Test;

final class ProseTest {
  private static final String TEXT = "gpush up --dry-run says what smaller request would start";

  @Test
  void linesEndBetweenWords() {
    assertEquals(
        List.of("  try: gpush up --dry-run says what", "      smaller request would start"),
        Prose.lines("  try: ", TEXT, 40));
    assertEquals(
        List.of("devbox has waited for 2", "    nodes on 東京", "    東京東京東京東京"),
        Prose.lines("", "devbox has waited for 2 nodes on 東京 東京東京東京東京", 26));
  }

  @Test
  void withoutATerminalAndInVeryNarrowOnesItIsOneLine() {
    assertEquals(List.of("  try: " + TEXT), Prose.lines("  try: ", TEXT, 0));
    assertEquals(List.of("  try: " + TEXT), Prose.lines("  try: ", TEXT, 24));
    assertEquals(List.of("  as  it  is"), Prose.lines("", "  as  it  is", 80));
  }

  /** A line that is torn between them is two commands when it is pasted. */
  @Test
  void optionsStayWithTheirCommand() {
    assertEquals(
        List.of("    look at it with", "        gpush exec -s devbox --on 0 -- df", "        -h ."),
        Prose.lines("    ", "look at it with gpush exec -s devbox --on 0 -- df -h .", 41));
    assertEquals(
        List.of("in the first", "    gpush --one --two --three", "    --four --five"),
        Prose.lines("", "in the first gpush --one --two --three --four --five", 29));
  }

  @Test
  void aFailureIsWrappedWhereItIsWritten() {
    Message message =
        Message.of(
            "rank 2 failed first: out of memory", "the kernel killed it", "gpush logs 7 --rank 2");

    assertEquals(
        """
        \u001b[31mgpush:\u001b[0m rank 2 failed
            first: out of memory
          because the kernel
              killed it
          try: gpush logs 7 --rank 2
        """,
        new Look(true, true, 0, 26).text(message));
    assertEquals(message.text(), new Look(false, false, 40, 0).text(message));
  }
}
