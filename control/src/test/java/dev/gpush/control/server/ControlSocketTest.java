package dev.gpush.control.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.control.client.Captured;
import dev.gpush.control.client.FakeConsole;
import dev.gpush.control.wire.ControlFrame;
import dev.gpush.control.wire.ControlFrameReader;
import dev.gpush.control.wire.Facts;
import dev.gpush.control.wire.Kind;
import dev.gpush.control.wire.Payload;
import dev.gpush.control.wire.Request;
import dev.gpush.core.task.Clock;
import dev.gpush.testkit.fake.ManualClock;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Server and client over a real socket, in one process. */
class ControlSocketTest {
  private static final Facts TERMINAL = new Facts(Facts.Terminals.all(), 80, 24, "xterm", 8);
  private static final int BULK = 20 * 1024 * 1024;

  @TempDir private Path home;

  @Test
  void carriesTheRequest() throws IOException {
    try (var gateway =
        TestGateway.with(
            home,
            call -> {
              print(call, call.arguments() + " " + call.folder());
              print(call, " " + call.environment());
              complain(call, call.facts().toString());
              return 7;
            })) {
      Captured answer = gateway.capture("run", "a b", "");

      assertEquals(7, answer.status());
      assertEquals("[run, a b, ] /somewhere {GREETING=hallo}", answer.out());
      assertEquals(Facts.NONE.toString(), answer.err());
    }
  }

  @Test
  void carriesTwentyMegabytesBothWays() throws IOException {
    long seed = Long.getLong("gpush.seed", new Random().nextLong());
    byte[] bytes = new byte[BULK];
    new Random(seed).nextBytes(bytes);
    var console = new FakeConsole(new ByteArrayInputStream(bytes));
    try (var gateway = TestGateway.with(home, ControlSocketTest::copy)) {
      int status = gateway.run(console, "cat");

      assertEquals(0, status, console::said);
      assertArrayEquals(bytes, console.printedBytes(), "seed " + seed);
    }
  }

  @Test
  void keepsOutputAndErrorApart() throws IOException {
    try (var gateway =
        TestGateway.with(
            home,
            call -> {
              for (int i = 0; i < 100; i++) {
                print(call, "o");
                complain(call, "e");
              }
              return 0;
            })) {
      Captured answer = gateway.capture("x");

      assertEquals("o".repeat(100), answer.out());
      assertEquals("e".repeat(100), answer.err());
    }
  }

  @Test
  void leavesInputAloneUnlessItIsWanted() throws IOException {
    var console = new FakeConsole(new ByteArrayInputStream(new byte[100]));
    try (var gateway = TestGateway.with(home, call -> 0)) {
      gateway.run(console, "ps");

      assertEquals(0, console.bytesRead.get());
    }
  }

  @Test
  void takesNoMoreInputThanItsWindow() throws IOException {
    var console = new FakeConsole(new ByteArrayInputStream(new byte[BULK]));
    try (var gateway =
        TestGateway.with(
            home,
            call -> {
              read(call.in());
              return 0;
            })) {
      gateway.run(console, "x");

      assertTrue(console.bytesRead.get() <= 256 * 1024, console.bytesRead::toString);
    }
  }

  @Test
  void signalsOvertakeInputThatNobodyReads() throws Exception {
    var console = new FakeConsole(new ByteArrayInputStream(new byte[BULK]));
    var heard = new LinkedBlockingQueue<String>();
    var wanted = new CountDownLatch(1);
    try (var gateway =
        TestGateway.with(
            home,
            call -> {
              call.onSignal(heard::add);
              read(call.in());
              wanted.countDown();
              return heard.take().equals("INT") ? 130 : 1;
            })) {
      var status = CompletableFuture.supplyAsync(() -> gateway.run(console, "x"));
      wanted.await();
      console.raise("INT");

      assertEquals(130, status.get());
    }
  }

  @Test
  void givesSignalsInAnyNumberToTheListener() throws Exception {
    var console = FakeConsole.empty();
    var heard = new LinkedBlockingQueue<String>();
    var ready = new CountDownLatch(1);
    try (var gateway =
        TestGateway.with(
            home,
            call -> {
              call.onSignal(heard::add);
              ready.countDown();
              for (String name : List.of("INT", "TERM", "HUP")) {
                console.raise(name);
                assertEquals(name, heard.take());
              }
              return 0;
            })) {
      assertEquals(0, gateway.run(console, "x"), console::said);
      assertEquals(0, ready.getCount());
    }
  }

  @Test
  void controlZDetachesAndIsNoSignal() throws Exception {
    var console = FakeConsole.empty();
    var heard = new LinkedBlockingQueue<String>();
    try (var gateway =
        TestGateway.with(
            home,
            call -> {
              console.raise("TSTP"); // Nothing happens without a listener.
              call.onSignal(heard::add);
              console.raise("INT");
              assertEquals("INT", heard.take());
              var detached = new CountDownLatch(1);
              call.onDetach(detached::countDown);
              console.raise("TSTP");
              detached.await();
              return heard.size();
            })) {
      assertEquals(0, gateway.run(console, "x"), console::said);
      assertEquals(List.of(), gateway.incidents);
    }
  }

  @Test
  void interruptsAHandlerThatHearsNoSignals() throws Exception {
    var console = FakeConsole.empty();
    try (var gateway =
        TestGateway.with(
            home,
            call -> {
              console.raise("INT");
              new CountDownLatch(1).await();
              return 0;
            })) {
      assertEquals(130, gateway.run(console, "x"));
      assertEquals(List.of(), gateway.incidents);
    }
  }

  @Test
  void tellsTheNewSize() throws Exception {
    var console = FakeConsole.empty().with(TERMINAL);
    var heard = new LinkedBlockingQueue<String>();
    try (var gateway =
        TestGateway.with(
            home,
            call -> {
              call.onSignal(heard::add);
              console.with(TERMINAL.withSize(132, 50));
              console.raise("WINCH");
              print(call, heard.take() + " " + call.terminal().orElseThrow().columns());
              return 0;
            })) {
      gateway.run(console, "x");

      assertEquals("WINCH 132", console.printed());
    }
  }

  @Test
  void thirdInterruptEndsAClientWhoseGatewayDoesNothing() throws Exception {
    var console = FakeConsole.empty();
    var stuck = new CountDownLatch(1);
    try (var gateway =
        TestGateway.with(
            home,
            call -> {
              call.onSignal(name -> {});
              stuck.countDown();
              new CountDownLatch(1).await();
              return 0;
            },
            new ManualClock())) {
      var status = CompletableFuture.supplyAsync(() -> gateway.run(console, "x"));
      stuck.await();
      for (int i = 0; i < 3; i++) {
        console.raise("INT");
      }

      assertEquals(130, status.get());
      console.gaveUp.await();
    }
  }

  @Test
  void interruptsTheHandlerOfAClientThatVanished() throws Exception {
    var interrupted = new CountDownLatch(1);
    var connected = new AtomicReference<Boolean>();
    try (var gateway =
        TestGateway.with(
            home,
            call -> {
              try {
                new CountDownLatch(1).await();
                return 0;
              } catch (InterruptedException gone) {
                connected.set(call.isConnected());
                interrupted.countDown();
                throw gone;
              }
            })) {
      try (var client = gateway.raw()) {
        client.writer().write(request("x").frame());
      }

      interrupted.await();
      assertEquals(false, connected.get());
    }
  }

  @Test
  void onlyCtrlCCancels() throws Exception {
    assertEquals(true, isCancelledBy("INT"));
    assertEquals(false, isCancelledBy("TERM"));
    assertEquals(false, isCancelledBy("HUP"));
    assertEquals(false, isCancelledBy("a connection that is lost"));
  }

  /** What a handler is told that waits until it is interrupted. */
  private boolean isCancelledBy(String what) throws Exception {
    var cancelled = new CompletableFuture<Boolean>();
    try (var gateway =
        TestGateway.with(
            home,
            call -> {
              try {
                new CountDownLatch(1).await();
                return 0;
              } catch (InterruptedException stop) {
                cancelled.complete(call.isCancelled());
                throw stop;
              }
            })) {
      try (var client = gateway.raw()) {
        client.writer().write(request("x").frame());
        if (List.of("INT", "TERM", "HUP").contains(what)) {
          client.writer().write(new Payload().text(what).frame(Kind.SIGNAL));
          return cancelled.get();
        }
      }
      return cancelled.get();
    }
  }

  @Test
  void failsReadsAndWritesOfAClientThatVanished() throws Exception {
    var outcome = new CompletableFuture<String>();
    try (var gateway =
        TestGateway.with(
            home,
            call -> {
              try {
                call.in().read();
                outcome.complete("read went on");
              } catch (IOException gone) {
                Thread.interrupted();
                outcome.complete(writeFails(call) ? "both failed" : "write went on");
              }
              return 0;
            })) {
      try (var client = gateway.raw()) {
        client.writer().write(request("x").frame());
        assertEquals(Kind.WANT, client.reader().next().orElseThrow().kind());
      }

      assertEquals("both failed", outcome.get());
    }
  }

  @Test
  void goesOnPrintingAfterItsHandlerWasInterrupted() throws IOException {
    try (var gateway =
        TestGateway.with(
            home,
            call -> {
              Thread.currentThread().interrupt();
              print(call, "still here");
              return 0;
            })) {
      Captured answer = gateway.capture("x");

      assertEquals("still here", answer.out());
      assertEquals(0, answer.status());
    }
  }

  @Test
  void tellsTheGatewayThatNobodyReadsTheOutput() throws Exception {
    var broken = new CompletableFuture<Boolean>();
    var console = FakeConsole.empty().withClosedOutput();
    try (var gateway =
        TestGateway.with(
            home,
            call -> {
              while (!writeFails(call)) {
                // Until the word arrives, what is written waits on its way.
              }
              broken.complete(true);
              return 0;
            })) {
      int status = gateway.run(console, "logs");

      assertEquals(141, status);
      assertTrue(broken.get());
      assertEquals("", console.said());
    }
  }

  @Test
  void makesABugOneLineAndStatusFour() throws IOException {
    try (var gateway =
        TestGateway.with(
            home,
            call -> {
              throw new IllegalStateException("two\nlines");
            })) {
      Captured answer = gateway.capture("up", "--now");

      assertEquals(4, answer.status());
      assertEquals(
          "gpush: bug: java.lang.IllegalStateException: two lines; log: /the/log\n", answer.err());
      assertEquals(List.of("bug during up --now: two\nlines"), gateway.incidents);
    }
  }

  @Test
  void asksThePersonAndNobody() throws IOException {
    Handler handler =
        call -> {
          print(call, call.ask("sure? ", true).orElse("nobody"));
          return 0;
        };
    var person = FakeConsole.empty().with(TERMINAL).answering("yes");
    var silent = FakeConsole.empty().with(TERMINAL);
    var nobody = FakeConsole.empty();
    try (var gateway = TestGateway.with(home, handler)) {
      for (FakeConsole console : List.of(person, silent, nobody)) {
        assertEquals(0, gateway.run(console, "down"), console::said);
      }
    }

    assertEquals("yes", person.printed());
    assertEquals(List.of("ask sure? true"), person.events);
    assertEquals("nobody", silent.printed());
    assertEquals("nobody", nobody.printed());
    assertEquals(List.of(), nobody.events);
  }

  @Test
  void runsAProgramOnTheClientsSide() throws IOException {
    var console = FakeConsole.empty().spawning(255);
    try (var gateway =
        TestGateway.with(home, call -> call.spawn(List.of("ssh", "devbox"), Map.of("A", "b")))) {
      assertEquals(255, gateway.run(console, "ssh"));
      assertEquals(List.of("spawn [ssh, devbox]{A=b}"), console.events);
    }
  }

  @Test
  void putsTheTerminalBackThoughTheHandlerForgot() throws IOException {
    var console = FakeConsole.empty().with(TERMINAL);
    try (var gateway =
        TestGateway.with(
            home,
            call -> {
              var _ = call.terminal().orElseThrow().raw();
              return 0;
            })) {
      gateway.run(console, "x");

      assertEquals(List.of("raw true", "raw false"), console.events);
    }
  }

  @Test
  void hasNoTerminalWhenInputOrOutputIsNone() throws IOException {
    try (var gateway =
        TestGateway.with(
            home,
            call -> {
              print(call, call.terminal().isPresent() ? "some" : "none");
              return 0;
            })) {
      var piped =
          FakeConsole.empty()
              .with(new Facts(new Facts.Terminals(false, true, true), 80, 24, "xterm", 8));
      gateway.run(piped, "x");

      assertEquals("none", piped.printed());
    }
  }

  @Test
  void refusesMoreConnectionsThanItsLimit() throws Exception {
    var limits = new Limits(2, Duration.ofMinutes(1));
    try (var gateway = TestGateway.with(home, call -> 0, limits)) {
      try (var _ = gateway.raw();
          var _ = gateway.raw()) {
        Captured third = gateway.capture("ps");

        assertEquals(3, third.status());
        assertEquals(
            """
            gpush: the gateway accepts no more commands
              because 2 are in progress
              try: the same command, when some have ended
            """,
            third.err());
      }
    }
  }

  @Test
  void refusesARequestThatNoFrameHolds() throws IOException {
    try (var gateway = TestGateway.with(home, call -> 0)) {
      Captured answer = gateway.capture("x".repeat(Request.MAX_BYTES));

      assertEquals(2, answer.status());
      assertTrue(answer.err().startsWith("gpush: the command line is too long\n"), answer::err);
    }
  }

  @Test
  void aBugDuringACommandIsNoTooLongCommandLine() throws IOException {
    var bug = new IllegalArgumentException("a bug");
    var console = FakeConsole.empty().withBug(bug);
    try (var gateway = TestGateway.with(home, call -> call.spawn(List.of("ssh"), Map.of()))) {
      assertSame(
          bug, assertThrows(IllegalArgumentException.class, () -> gateway.run(console, "ssh")));
    }
  }

  @Test
  void closesAConnectionThatSaysNothing() throws IOException {
    var limits = new Limits(10, Duration.ofMillis(1));
    try (var gateway = TestGateway.with(home, call -> 0, limits);
        var client = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      client.connect(UnixDomainSocketAddress.of(gateway.socket()));
      var reader = new ControlFrameReader(client);
      while (reader.next().isPresent()) {
        // The greeting, if it comes before the end.
      }
      assertTrue(gateway.incidents.contains("refused: a client that said nothing"));
    }
  }

  @Test
  void survivesClientsThatDoNotKeepToTheProtocol() throws IOException {
    List<ControlFrame> wrong =
        List.of(
            new Payload().number(0).frame(Kind.EXIT),
            new ControlFrame(Kind.REQUEST, new byte[] {1, 2, 3}),
            new Payload().text("INT").frame(Kind.SIGNAL));
    try (var gateway = TestGateway.with(home, call -> 0)) {
      for (ControlFrame frame : wrong) {
        try (var client = gateway.raw()) {
          client.writer().write(frame);
          assertTrue(client.reader().next().isEmpty());
        }
      }

      assertEquals(3, gateway.incidents.size(), gateway.incidents::toString);
      assertEquals(0, gateway.capture("ps").status());
    }
  }

  @Test
  void refusesInputThatWasNotWanted() throws Exception {
    var interrupted = new CountDownLatch(1);
    try (var gateway =
            TestGateway.with(
                home,
                call -> {
                  try {
                    new CountDownLatch(1).await();
                    return 0;
                  } finally {
                    interrupted.countDown();
                  }
                });
        var client = gateway.raw()) {
      client.writer().write(request("x").frame());
      client.writer().write(new ControlFrame(Kind.INPUT, new byte[1]));

      while (client.reader().next().isPresent()) {
        // It may still say that it was interrupted.
      }
      assertEquals(0, interrupted.getCount());
      assertEquals(1, gateway.incidents.size(), gateway.incidents::toString);
    }
  }

  @Test
  void survivesNoiseOnItsSocket() throws IOException {
    long seed = Long.getLong("gpush.seed", new Random().nextLong());
    var random = new Random(seed);
    try (var gateway = TestGateway.with(home, ControlSocketTest::copy)) {
      for (int round = 0; round < 50; round++) {
        try (var client = gateway.raw()) {
          byte[] noise = new byte[random.nextInt(300)];
          random.nextBytes(noise);
          client.channel().write(java.nio.ByteBuffer.wrap(noise));
        }
      }

      assertEquals(0, gateway.capture("ps").status(), "seed " + seed);
    }
  }

  @Test
  void servesManyAtOnce() throws Exception {
    var all = new CountDownLatch(20);
    try (var gateway =
        TestGateway.with(
            home,
            call -> {
              all.countDown();
              all.await();
              print(call, call.arguments().getFirst());
              return 0;
            })) {
      var answers = new ArrayList<CompletableFuture<Captured>>();
      for (int i = 0; i < 20; i++) {
        String word = "word-" + i;
        var answer = new CompletableFuture<Captured>();
        answers.add(answer);
        Thread.ofVirtual().start(() -> answer.complete(gateway.capture(word)));
      }
      for (int i = 0; i < 20; i++) {
        assertEquals("word-" + i, answers.get(i).get().out());
      }
    }
  }

  @Test
  void bindsAgainWhenItsSocketWasDeleted() throws IOException {
    try (var gateway = TestGateway.with(home, call -> 5)) {
      Files.delete(gateway.socket());
      gateway.server().ensureBound();

      assertEquals(5, gateway.capture("ps").status());
    }
  }

  @Test
  void servesWhoConnectedBeforeItsSocketWasDeleted() throws IOException {
    try (var gateway = TestGateway.unstarted(home, call -> 5);
        TestGateway.Raw early = gateway.connect()) {
      Files.delete(gateway.socket());
      gateway.start();

      assertEquals(Kind.HELLO, early.reader().next().orElseThrow().kind());
    }
  }

  @Test
  void leavesNoSocketWhenItIsLookedAfterAtItsEnd() throws IOException {
    var gateway = TestGateway.with(home, call -> 5);
    gateway.close();

    gateway.server().ensureBound();

    assertFalse(Files.exists(gateway.socket()));
  }

  @ParameterizedTest
  @CsvSource({"logs, 255", "ps, 3"})
  void tellsCommandsUnderWayThatItEnds(String command, int status) throws Exception {
    var looks = new AtomicInteger();
    var clock =
        new Clock() {
          @Override
          public Instant now() {
            return Instant.EPOCH;
          }

          /** The grace is over at the second look, and what handlers have to end is never over. */
          @Override
          public long nanos() {
            return looks.getAndIncrement() == 0 ? 0 : ControlServer.GRACE.toNanos();
          }
        };
    var begun = new CountDownLatch(1);
    var gateway =
        TestGateway.with(
            home,
            call -> {
              begun.countDown();
              try {
                new CountDownLatch(1).await();
                return 0;
              } catch (InterruptedException stop) {
                if (command.equals("ps")) {
                  throw stop;
                }
                return 130;
              }
            },
            clock);
    var answer = CompletableFuture.supplyAsync(() -> gateway.capture(command));
    begun.await();
    gateway.close();

    assertEquals(status, answer.get().status());
    assertTrue(answer.get().err().contains("the gateway has stopped"), answer.get()::err);
    assertFalse(Files.exists(gateway.socket()));
  }

  private static int copy(Invocation call) {
    try {
      call.in().transferTo(call.out());
      return 0;
    } catch (IOException gone) {
      throw new UncheckedIOException(gone);
    }
  }

  private static Request request(String... words) {
    return new Request(List.of(words), "/", Map.of(), Facts.NONE, 1);
  }

  private static boolean writeFails(Invocation call) {
    try {
      call.out().write(new byte[1000]);
      return false;
    } catch (IOException gone) {
      return true;
    }
  }

  private static void read(InputStream in) {
    try {
      assertEquals(0, in.read());
    } catch (IOException gone) {
      throw new UncheckedIOException(gone);
    }
  }

  private static void print(Invocation call, String text) {
    try {
      call.out().write(text.getBytes(StandardCharsets.UTF_8));
    } catch (IOException gone) {
      throw new UncheckedIOException(gone);
    }
  }

  private static void complain(Invocation call, String text) {
    try {
      call.err().write(text.getBytes(StandardCharsets.UTF_8));
    } catch (IOException gone) {
      throw new UncheckedIOException(gone);
    }
  }
}
