package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;

/** What is edited on the laptop and what is edited on node 0, in the same file. */
final class EditsOfBothSides {
  private static final String FILE = "edited.txt";

  private EditsOfBothSides() {}

  /** On a ready session devbox of two nodes. */
  static void areEverywhere(World world) throws Exception {
    Path here = world.file(FILE, "begun here\n");
    awaitOnAllNodes(world, "begun here");

    Everywhere.ssh(world, "", "devbox", "echo 'edited there' >> $GPUSH_WORKSPACE/" + FILE)
        .succeeded();
    World.until(
        "the edit of node 0 is here", () -> world.text(FILE).equals("begun here\nedited there\n"));
    awaitOnAllNodes(world, "edited there");

    Files.writeString(here, world.text(FILE) + "edited here\n");
    awaitOnAllNodes(world, "edited here");
    Result run = world.gpush("run", "sh", "-c", "sed s/^/seen:/ " + FILE).succeeded();

    for (String line : new String[] {"begun here", "edited there", "edited here"}) {
      assertEquals(
          2,
          run.out().lines().filter(each -> each.endsWith("seen:" + line)).count(),
          run::toString);
    }
  }

  private static void awaitOnAllNodes(World world, String line) throws Exception {
    String look = "until grep -qsx '" + line + "' " + FILE + "; do sleep 0.1; done";
    world.gpush("exec", "--all", "sh", "-c", look).succeeded();
  }
}
