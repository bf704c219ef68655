package dev.gpush.shell.command.reach;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.json.Json;
import dev.gpush.shell.command.Desk;
import dev.gpush.shell.command.FakeInvocation;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What of a command line is understood, and what the client is told to run. */
final class CopyCommandTest {
  private final Desk desk = new Desk();

  @BeforeEach
  void begin() {
    desk.sessions.add("devbox", Desk.PROJECT, 3, GpuRequest.none());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "a b devbox:c/ | true | [0] | a b c/",
        "-r a devbox-2:/x | true | [2] | a /x",
        "a :x | true | [0] | a x",
        "a 1:~/x | true | [1] | a ~/x",
        "a all: | true | [0,1,2] | a ''",
        "./a:b devbox:x | true | [0] | ./a:b x",
        "devbox:a devbox:b* . | false | [0] | a b* .",
        "1:a -s devbox /y | false | [1] | a /y",
      })
  void oneSideIsOnANode(String words, boolean isUp, String nodes, String paths) throws Exception {
    FakeInvocation client = desk.client("gpush cp " + words);
    client.spawnStatus(7);

    assertEquals(7, desk.call(client), client::both);

    List<String> line = client.spawned().getFirst();
    int program = line.indexOf("/home/ann/.gpush/copy.pyz");
    assertEquals("python3", line.getFirst());
    Json spec = Json.parse(line.get(program + 1));
    assertEquals(isUp, spec.flag("up"));
    assertEquals("devbox", spec.text("session").orElseThrow());
    assertEquals(nodes, spec.get("nodes").orElseThrow().write().strip());
    List<String> given = line.subList(program + 2, line.size());
    assertEquals(paths, String.join(" ", given).replace("\"", "").replaceFirst(" $", " ''"));
  }

  @Test
  void aDryRunIsOneForTheProgram() throws Exception {
    FakeInvocation client = desk.client("gpush cp --dry-run a :x");
    desk.call(client);

    List<String> line = client.spawned().getFirst();
    Json spec = Json.parse(line.get(line.indexOf("/home/ann/.gpush/copy.pyz") + 1));
    assertTrue(spec.object("options").flag("dry_run"));
    assertFalse(spec.object("options").flag("force"));
  }

  @Test
  void whatCannotBeIsRefused() {
    desk.expect(
        """
        $ gpush cp a
        2> gpush: gpush cp was not run
        2>   because it needs what to copy, and where to
        2>   try: gpush help cp
        ? 2
        $ gpush cp a ./b:c
        2> gpush: gpush cp was not run
        2>   because one side must be on a node, as in devbox:PATH or :PATH
        2>   try: gpush help cp
        ? 2
        $ gpush cp 1:a 2:b
        2> gpush: gpush cp was not run
        2>   because it copies to or from this machine, not from node to node
        2>   try: gpush help cp
        ? 2
        $ gpush cp 1:a 2:b here
        2> gpush: gpush cp was not run
        2>   because all sources must be on the same node
        2>   try: gpush help cp
        ? 2
        $ gpush cp all:a here
        2> gpush: gpush cp was not run
        2>   because files of all nodes would have the same names here; copy from one node at a time
        2>   try: gpush help cp
        ? 2
        $ gpush cp --streams 99 a :b
        2> gpush: --streams cannot be '99'
        2>   because it must be a number from 1 to 16
        2>   try: gpush help cp
        ? 2
        """);
    FakeInvocation client = desk.client("gpush cp a devbox-9:b");
    assertEquals(1, desk.call(client));
    assertTrue(client.both().contains("9"), client::both);
  }
}
