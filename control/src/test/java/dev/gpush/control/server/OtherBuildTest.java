package dev.gpush.control.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.control.client.Captured;
import dev.gpush.control.wire.Facts;
import dev.gpush.control.wire.Kind;
import dev.gpush.control.wire.Request;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A client meets a gateway that another build started. */
class OtherBuildTest {
  @TempDir private Path home;

  @Test
  void goesOnWithOneThatIsInUseAndSaysSo() throws IOException {
    try (var gateway = TestGateway.with(home, call -> 5)) {
      gateway.inUse = true;

      Captured answer = gateway.client("build-b").capture(List.of("ps"));

      assertEquals(5, answer.status());
      assertEquals(
          "gpush: the gateway (pid 4711) is another build and in use; using it until"
              + " gpush gateway stop\n",
          answer.err());
    }
  }

  @Test
  void goesOnWithOneThatHasAnotherClient() throws Exception {
    var begun = new CountDownLatch(1);
    var release = new CountDownLatch(1);
    try (var gateway =
        TestGateway.with(
            home,
            call -> {
              if (call.arguments().contains("wait")) {
                begun.countDown();
                release.await();
              }
              return 5;
            })) {
      var first = CompletableFuture.supplyAsync(() -> gateway.capture("wait"));
      begun.await();

      Captured answer = gateway.client("build-b").capture(List.of("ps"));
      release.countDown();

      assertEquals(5, answer.status());
      assertEquals(5, first.get().status());
      assertEquals(1, gateway.ended.getCount());
    }
  }

  @Test
  void aShellThatOnlyWatchesKeepsNoGateway() throws Exception {
    var begun = new CountDownLatch(1);
    try (var gateway =
        TestGateway.with(
            home,
            call -> {
              call.onlyWatches();
              begun.countDown();
              new CountDownLatch(1).await();
              return 5;
            })) {
      var watch =
          CompletableFuture.supplyAsync(
              () ->
                  gateway
                      .client("build-a")
                      .follow(List.of("__watch"), OutputStream.nullOutputStream()));
      begun.await();

      assertEquals(0, gateway.server().inUse());
      gateway.server().close();

      assertEquals(Optional.of(3), watch.get());
      assertEquals(
          Optional.empty(), gateway.client("build-a").captureIfRunning(List.of("__prompt")));
    }
  }

  @Test
  void endsOneThatNobodyUses() throws Exception {
    try (var gateway = TestGateway.with(home, call -> 5)) {
      // The old gateway is asked to end; the new one's program is not there, which is said.
      var closing =
          CompletableFuture.runAsync(
              () -> {
                try {
                  gateway.ended.await();
                  gateway.server().close();
                } catch (IOException | InterruptedException failed) {
                  throw new IllegalStateException(failed);
                }
              });

      Captured answer = gateway.client("build-b").capture(List.of("ps"));

      closing.get();
      assertEquals(3, answer.status());
      assertTrue(answer.err().startsWith("gpush: cannot start the gateway\n"), answer::err);
    }
  }

  @Test
  void aCommandThatHasEndedKeepsNoGateway() throws Exception {
    try (var gateway = TestGateway.with(home, call -> 5);
        TestGateway.Raw client = gateway.raw()) {
      client.writer().write(new Request(List.of("ps"), "/", Map.of(), Facts.NONE, 1).frame());
      assertEquals(Kind.EXIT, client.reader().next().orElseThrow().kind());

      // It knows its status, and the server cannot know that it leaves.
      try (TestGateway.Raw _ = gateway.raw()) {
        assertTrue(gateway.server().agreesToHandOver(false));
      }
    }
  }

  @Test
  void oneThatHasAgreedToEndAgreesAgain() throws Exception {
    try (var gateway = TestGateway.with(home, call -> 5);
        TestGateway.Raw _ = gateway.raw()) {
      assertTrue(gateway.server().agreesToHandOver(false));

      // The client closed its connection and is back, and the server has not seen the close yet.
      try (TestGateway.Raw _ = gateway.raw()) {
        assertEquals(2, gateway.server().inUse());
        assertTrue(gateway.server().agreesToHandOver(false));
      }
    }
  }

  @Test
  void asksTheRunningOneForItsStatusWithoutAWord() throws IOException {
    try (var gateway = TestGateway.with(home, call -> 0)) {
      Captured answer = gateway.client("build-b").capture(List.of("gateway", "status"));

      assertEquals("", answer.err());
      assertEquals(1, gateway.ended.getCount());
    }
  }

  @Test
  void cannotUseAnotherProtocol() throws IOException {
    try (var gateway = TestGateway.speaking(2, home, call -> 5)) {
      gateway.inUse = true;

      Captured answer = gateway.client("build-b").capture(List.of("ps"));

      assertEquals(3, answer.status());
      assertTrue(answer.err().contains("(build-a, protocol 2; this is build-b, protocol 1)"));
    }
  }

  @Test
  void stopsEvenOneOfAnotherProtocolThatIsInUse() throws Exception {
    try (var gateway = TestGateway.speaking(2, home, call -> 5)) {
      gateway.inUse = true;

      Captured answer = gateway.client("build-b").capture(List.of("gateway", "stop"));

      assertEquals(0, answer.status(), answer::err);
      gateway.ended.await();
    }
  }

  @Test
  void startsNothingToSayThatNothingRuns() throws IOException {
    TestGateway gone;
    try (var gateway = TestGateway.with(home, call -> 5)) {
      gone = gateway;
    }

    Captured status = gone.capture("gateway", "status");
    Captured json = gone.capture("gateway", "status", "--json");
    Captured stop = gone.capture("gateway", "stop");

    assertEquals(new Captured(3, "not running\n", ""), status);
    assertEquals(new Captured(3, "{\"running\":false}\n", ""), json);
    assertEquals(new Captured(0, "not running\n", ""), stop);
    assertFalse(java.nio.file.Files.exists(gone.socket()));
  }
}
