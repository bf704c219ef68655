package dev.gpush.sync.home;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A file of a node takes the place of one here, which a user may save at that moment. */
final class LocalMovesTest {
  @TempDir private Path base;
  private Path file;
  private Path come;

  @BeforeEach
  void write() throws IOException {
    file = Files.writeString(base.resolve("file"), "sent");
    come = Files.writeString(base.resolve(".file.gpush-part"), "come");
  }

  @FunctionalInterface
  private interface Saving {
    void run() throws IOException;
  }

  /** Whether it is in place; the user does this after the first look, which finds what was sent. */
  private boolean replace(Saving saving) throws IOException {
    return replace(saving, () -> {});
  }

  private boolean replace(Saving first, Saving second) throws IOException {
    var looks = new AtomicInteger();
    return LocalMoves.replace(
        come,
        file,
        at -> {
          boolean isAsSent = Files.exists(at) && Files.readString(at).equals("sent");
          if (looks.getAndIncrement() == 0) {
            first.run();
          } else {
            second.run();
          }
          return isAsSent;
        });
  }

  @Test
  void itTakesThePlaceOfWhatIsAsItWasSent() throws IOException {
    assertTrue(replace(() -> {}));

    assertEquals("come", Files.readString(file));
  }

  @Test
  void whatIsWrittenIntoItMeanwhileStays() throws IOException {
    assertFalse(replace(() -> Files.writeString(file, "saved")));

    assertEquals("saved", Files.readString(file));
    assertEquals("come", Files.readString(come));
  }

  @Test
  void whatAnEditorRenamesOverItMeanwhileStays() throws IOException {
    Path other = Files.writeString(base.resolve("other"), "saved");

    assertFalse(replace(() -> Files.move(other, file, StandardCopyOption.ATOMIC_MOVE)));

    assertEquals("saved", Files.readString(file));
  }

  /** The two have changed places by then. */
  @Test
  void ofTwoSavesMeanwhileTheLaterOneStays() throws IOException {
    Path other = Files.writeString(base.resolve("other"), "saved again");

    assertFalse(
        replace(
            () -> Files.writeString(file, "saved"),
            () -> Files.move(other, file, StandardCopyOption.ATOMIC_MOVE)));

    assertEquals("saved again", Files.readString(file));
  }

  @Test
  void aSaveWhoseNameIsMovedAwayMeanwhileIsNotLost() throws IOException {
    assertFalse(
        replace(
            () -> Files.writeString(file, "saved"),
            () -> Files.move(file, base.resolve("backup"), StandardCopyOption.ATOMIC_MOVE)));

    assertEquals("saved", Files.readString(file));
  }

  @Test
  void whatIsDeletedMeanwhileStaysDeleted() throws IOException {
    assertFalse(replace(() -> Files.delete(file)));

    assertFalse(Files.exists(file));
    assertEquals("come", Files.readString(come));
  }

  @Test
  void whatCannotBeLookedAtAgainGoesBack() throws IOException {
    var looks = new AtomicInteger();

    assertThrows(
        IOException.class,
        () ->
            LocalMoves.replace(
                come,
                file,
                _ -> {
                  if (looks.getAndIncrement() > 0) {
                    throw new IOException("a bad block");
                  }
                  return true;
                }));

    assertEquals("sent", Files.readString(file));
  }
}
