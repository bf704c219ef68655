package dev.gpush.shell.render;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

final class TableTest {
  @Test
  void alignsByTheWidthOnTheScreen() {
    Table table = new Table("NAME", "SHAPE", "X");
    table
        .row("实验", "2×8 H100", "a")
        .row("devbox", "", "b")
        .row("e\u0301e", "🚀", "c")
        .row("✅", "⏳", "d");

    assertEquals(
        """
        NAME    SHAPE     X
        实验    2×8 H100  a
        devbox  -         b
        e\u0301e      🚀        c
        ✅      ⏳        d\
        """,
        String.join("\n", table.lines(0)));
  }

  @Test
  void cutsAtTheWindow() {
    Table table = new Table("NAME", "FOLDER").row("devbox", "/a/very/long/path");

    assertEquals("devbox  /a…", table.lines(11).get(1));
    assertEquals("NAME    FO…", table.lines(11).get(0));
    assertEquals("devbox  /a/very/long/path", table.lines(25).get(1));
  }

  /** What tells the rows apart stands in the narrow columns, wherever the wide one is. */
  @Test
  void cutsTheWidestColumnFirst() {
    Table table =
        new Table("FOUND", "FROM", "BACKEND")
            .row("login", "~/.ssh/conf.d/university/cluster.conf:12", "login (new)")
            .row("here", "built in", "local");

    assertEquals(
        """
        FOUND  FROM                BACKEND
        login  ~/.ssh/conf.d/uni…  login (new)
        here   built in            local\
        """,
        String.join("\n", table.lines(38)));
  }

  @Test
  void lastCellLeavesNoSpaces() {
    assertEquals("A  B", new Table("A", "B").row("1", "").lines(0).get(0));
    assertEquals("1  -", new Table("A", "B").row("1", "").lines(0).get(1));
  }

  @Test
  void cellsCannotBreakTheTable() {
    assertEquals("a b c", new Table("A").row("a\nb\u001b[2Jc").lines(0).get(1));
  }

  @Test
  void countsItsCells() {
    assertThrows(IllegalArgumentException.class, () -> new Table("A", "B").row("1"));
  }
}
