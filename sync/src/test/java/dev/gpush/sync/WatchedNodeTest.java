package dev.gpush.sync;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.sync.home.NodeWatch;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Node 0 says by itself when something has changed there, as long as its conversation is open. */
@EnabledOnOs(OS.LINUX)
final class WatchedNodeTest extends SyncFixture {
  private final Semaphore told = new Semaphore(0);

  /** A pipe that is read keeps the reader, unlike a link. */
  @AfterEach
  void endNodes() throws IOException {
    for (FakeNode node : nodes) {
      node.kill();
    }
  }

  private void await(BooleanSupplier condition) throws InterruptedException {
    while (!condition.getAsBoolean()) {
      told.acquire();
    }
  }

  private List<String> comesHome() throws Exception {
    return came().paths();
  }

  private Homecoming.Came came() throws Exception {
    sync.rescan(Optional.empty(), Set.of());
    return sync.comeHome(nodes.getFirst(), sync.there().looking());
  }

  private void pushWatched() throws IOException, InterruptedException {
    nodes(2);
    laptop.write("a.py", "1");
    sync.there().listen(told::release);
    push();
    told.acquire(); // It watches.
  }

  /** And the node has told of it. */
  private void watchedAndEdited(String text) throws Exception {
    pushWatched();
    assertEquals(List.of(), comesHome());
    nodes.getFirst().folder().write("a.py", text);
    await(() -> sync.there().isDue());
  }

  @Test
  void anEditIsToldAndComesHomeWithoutAPush() throws Exception {
    watchedAndEdited("there");
    int before = nodes.getFirst().flights.get();

    assertEquals(List.of("a.py"), comesHome());
    assertEquals(before, nodes.getFirst().flights.get(), "the file came with the news");
    assertEquals("there", laptop.read("a.py"));
    assertEquals("1", nodes.get(1).folder().read("a.py"));
    // It has come and is in no generation yet: it may come once more.
    nodes.getFirst().folder().write("a.py", "again");
    await(() -> sync.there().isDue());
    assertEquals(List.of("a.py"), comesHome());
    assertEquals("again", laptop.read("a.py"));
    assertAllHold(push());
  }

  @Test
  void whatWasToldBeforeAnAnswerIsOld() throws Exception {
    watchedAndEdited("there");
    NodeWatch.Due before = sync.there().looking();
    assertEquals(List.of("a.py"), comeHome().paths());
    nodes.getFirst().folder().write("a.py", "newer");
    sync.rescan(Optional.empty(), Set.of());

    assertEquals(List.of("a.py"), sync.comeHome(nodes.getFirst(), before).paths());

    assertEquals("newer", laptop.read("a.py"));
  }

  /** What came with the news is not what a user pulls later. */
  @Test
  void aPullAfterwardsBringsWhatIsThereNow() throws Exception {
    watchedAndEdited("there");
    assertEquals(List.of("a.py"), comesHome());
    nodes.getFirst().folder().write("a.py", "newer");
    talk.answer = FakeTalk.Answer.YES;

    sync.pull(nodes.getFirst(), "a.py", laptop.path().resolve("a.py"), talk);

    assertEquals("newer", laptop.read("a.py"));
  }

  @Test
  void aLargeFileIsToldWithoutItsContent() throws Exception {
    String large = "large".repeat(20_000);
    watchedAndEdited(large);

    assertEquals(List.of("a.py"), comesHome());

    assertEquals(large, laptop.read("a.py"));
  }

  /** Nothing else is looked at for an edit, and nothing at all for what is ignored. */
  @Test
  void anEditIsNamedAndWhatIsIgnoredIsNotTold() throws Exception {
    laptop.write(".gitignore", "*.out");
    pushWatched();
    assertEquals(List.of(), comesHome());
    WorkFolder there = nodes.getFirst().folder();
    there.write("train.out", "1");
    await(() -> sync.there().isDue());
    Homecoming.Came all = came();
    assertTrue(all.isOfAll());
    assertEquals(List.of(), all.paths());
    comeHome(); // The node answers after it has heard what is ignored.
    sync.there().looking();

    there.write("train.out", "2").write("a.py", "there");
    await(() -> sync.there().isDue());

    Homecoming.Came edit = came();
    assertFalse(edit.isOfAll());
    assertEquals(List.of("a.py"), edit.paths());
  }

  /** The node does not tell of names that were ignored. */
  @Test
  void whatIsNoLongerIgnoredComesHome() throws Exception {
    laptop.write(".gitignore", "notes.md").write("pkg/.gitignore", "made.py");
    pushWatched();
    WorkFolder there = nodes.getFirst().folder();
    there.write("notes.md", "1").write("pkg/made.py", "1");
    await(() -> sync.there().isDue());
    assertEquals(List.of(), comesHome());
    comeHome(); // The node answers after it has heard what is ignored.
    sync.there().looking();

    laptop.write(".gitignore", "").delete("pkg/.gitignore");
    sync.rescan(Optional.empty(), Set.of());

    assertTrue(sync.there().isDue());
    assertEquals(NodeWatch.Due.all(), sync.there().looking());
    push();
    assertEquals("1", laptop.read("notes.md"));
    assertEquals("1", laptop.read("pkg/made.py"));
  }

  @Test
  void whatWasChangedHereTooStaysHere() throws Exception {
    pushWatched();
    nodes.getFirst().folder().write("a.py", "there");
    laptop.write("a.py", "here");
    sync.rescan(Optional.empty(), Set.of());

    Homecoming.Came came = comeHome();

    assertEquals(List.of(), came.paths());
    assertTrue(came.isLeft());
    assertEquals("here", laptop.read("a.py"));
  }

  /** It may begin while another node cannot be reached, and then it opens no conversation. */
  @Test
  void aLaterGatewayLooksFirstAndIsToldFromThenOn() throws Exception {
    nodes(2);
    laptop.write("a.py", "1");
    push();
    nodes.getFirst().folder().write("a.py", "meanwhile");
    restartGateway();

    sync.there().listen(told::release);

    assertTrue(sync.there().isDue());
    assertEquals(List.of("a.py"), comesHome());
    assertEquals("meanwhile", laptop.read("a.py"));
    told.acquire(); // It watches.
  }

  @Test
  void afterItsEndTheNextLookOpensAnotherConversation() throws Exception {
    pushWatched();
    assertEquals(List.of(), comesHome());
    nodes.getFirst().kill();
    await(() -> sync.there().isDue());
    nodes.getFirst().folder().write("a.py", "meanwhile");

    assertEquals(List.of("a.py"), comesHome());

    assertEquals("meanwhile", laptop.read("a.py"));
    await(() -> sync.there().isDue()); // It watches again.
  }
}
