package dev.gpush.control.client;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.control.place.GatewayLock;
import dev.gpush.control.place.RunFolder;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GatewayEndTest {
  @TempDir private Path temporary;

  @Test
  void isNotReachedWhileTheGatewayRemovesItsFiles() throws Exception {
    var folder = new RunFolder(temporary.resolve("gpush-0/gateway-1"));
    GatewayLock gateway = GatewayLock.tryTake(folder, "a gateway").orElseThrow();
    try (GatewayEnd end = GatewayEnd.of(folder.lock())) {
      assertFalse(end.isReached());

      // As a gateway does at its end: the file first, the lock last.
      Files.move(folder.lock(), temporary.resolve("removed"));
      assertFalse(end.isReached());

      Files.move(temporary.resolve("removed"), folder.lock());
      gateway.close();
      assertTrue(end.isReached());
      assertFalse(Files.exists(folder.path()));
    }
  }

  @Test
  void isReachedWhereThereIsNoLock() {
    try (GatewayEnd end = GatewayEnd.of(temporary.resolve("gateway.lock"))) {
      assertTrue(end.isReached());
    }
    assertFalse(Files.exists(temporary.resolve("gateway.lock")));
  }
}
