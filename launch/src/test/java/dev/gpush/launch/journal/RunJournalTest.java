package dev.gpush.launch.journal;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.run.LineBlock;
import dev.gpush.launch.Journals;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class RunJournalTest {
  private record Given(int rank, int channel, String hex) {}

  private static Given given(int rank, int channel, byte[] payload) {
    return new Given(rank, channel, HexFormat.of().formatHex(payload));
  }

  private static void feed(RunJournal journal, byte[] bytes, RunJournal.Entries entries) {
    var in = new ByteArrayInputStream(bytes);
    try {
      while (journal.read(in, entries)) {}
    } catch (IOException never) {
      throw new UncheckedIOException(never);
    }
  }

  @Test
  void readsTheBytesOfTheSpecification() {
    byte[] bytes =
        HexFormat.of().parseHex("00000002" + "0003" + "01" + "00" + "0000000000000005" + "6162");
    var found = new ArrayList<Given>();

    feed(
        new RunJournal(0, 0),
        bytes,
        (rank, channel, payload) -> found.add(given(rank, channel, payload)));

    assertEquals(List.of(given(3, 1, "ab".getBytes(StandardCharsets.UTF_8))), found);
  }

  @Test
  void roundTripAtAnyChunking() {
    long seed = Long.getLong("gpush.seed", new Random().nextLong());
    var random = new Random(seed);
    var written = new ByteArrayOutputStream();
    var expected = new ArrayList<Given>();
    var offsets = new ArrayList<Long>(List.of(0L));
    for (int i = 0; i < 300; i++) {
      var payload = new byte[random.nextInt(i % 50 == 0 ? 66_000 : 200)];
      random.nextBytes(payload);
      int rank = random.nextInt(65_536);
      int channel = random.nextInt(2);
      written.writeBytes(Journals.record(rank, channel, payload));
      expected.add(given(rank, channel, payload));
      offsets.add((long) written.size());
    }
    byte[] whole = written.toByteArray();

    var found = new ArrayList<Given>();
    var journal = new RunJournal(0, 0);
    for (int at = 0; at < whole.length; ) {
      byte[] chunk =
          Arrays.copyOfRange(whole, at, Math.min(whole.length, at + 1 + random.nextInt(5_000)));
      feed(journal, chunk, (rank, channel, payload) -> found.add(given(rank, channel, payload)));
      at += chunk.length;
      assertEquals(offsets.get(found.size()), journal.offset(), "seed " + seed);
    }

    assertEquals(expected, found, "seed " + seed);
  }

  @Test
  void comesBackWhereItWas() {
    byte[] whole = Journals.records(Journals.out(0, "one"), Journals.out(0, "two"));
    var first = new RunJournal(0, 0);
    feed(first, Arrays.copyOf(whole, whole.length - 1), (_, _, _) -> {});

    var found = new ArrayList<String>();
    byte[] rest = Arrays.copyOfRange(whole, (int) first.offset(), whole.length);
    feed(
        new RunJournal(0, first.offset()),
        rest,
        (_, _, payload) -> found.add(new String(payload, StandardCharsets.UTF_8)));

    assertEquals(List.of("two"), found);
  }

  @Test
  void jumpIsNoRecordAndMovesTheOffset() {
    var found = new ArrayList<String>();
    var journal = new RunJournal(0, 0);
    byte[] bytes =
        Journals.records(
            Journals.event("{\"event\": \"at\", \"offset\": 1000}"), Journals.out(0, "x"));

    feed(journal, bytes, (_, _, payload) -> found.add(new String(payload, StandardCharsets.UTF_8)));

    assertEquals(List.of("x"), found);
    assertEquals(1000 + RunJournal.HEADER + 1, journal.offset());
  }

  @Test
  void refusesWhatIsNoJournal() {
    for (String hex :
        List.of(
            "ffffffff0000000000000000000000000",
            "00200000" + "000000000000000000000000",
            "00000001" + "0000" + "03" + "00" + "0000000000000000",
            "00000001" + "0000" + "00" + "01" + "0000000000000000")) {
      byte[] bytes = HexFormat.of().parseHex(hex.substring(0, 32));

      var failed =
          assertThrows(
              GpushException.class, () -> feed(new RunJournal(2, 0), bytes, (_, _, _) -> {}));

      assertTrue(failed.failure() instanceof AgentFailure.NotUnderstood, failed::toString);
    }
  }

  @Test
  void randomBytesNeverDoMoreThanBeRefused() {
    long seed = Long.getLong("gpush.seed", new Random().nextLong());
    var random = new Random(seed);
    for (int i = 0; i < 2_000; i++) {
      var bytes = new byte[random.nextInt(100)];
      random.nextBytes(bytes);
      if (bytes.length > 4 && random.nextBoolean()) {
        Arrays.fill(bytes, 0, 3, (byte) 0);
      }
      try {
        feed(new RunJournal(0, 0), bytes, (_, _, payload) -> RunEvent.parse(payload));
      } catch (GpushException refused) {
        assertTrue(refused.failure() instanceof AgentFailure.NotUnderstood, () -> "seed " + seed);
      }
    }
  }

  @Test
  void linesKeepTheirBytesAtAnyChunking() {
    long seed = Long.getLong("gpush.seed", new Random().nextLong());
    var random = new Random(seed);
    byte[] text = "a\rb\r\n\n\u00e9\u4e16\nlast".getBytes(StandardCharsets.UTF_8);
    text[0] = (byte) 0xff;
    for (int i = 0; i < 200; i++) {
      var lines = new ArrayList<byte[]>();
      var splitter = new LineSplitter(given(lines));
      for (int at = 0; at < text.length; ) {
        int end = Math.min(text.length, at + 1 + random.nextInt(6));
        splitter.feed(Arrays.copyOfRange(text, at, end));
        at = end;
      }
      splitter.end();

      assertEquals(4, lines.size(), "seed " + seed);
      assertArrayEquals(new byte[] {(byte) 0xff, '\r', 'b', '\r'}, lines.get(0));
      assertArrayEquals("\u00e9\u4e16".getBytes(StandardCharsets.UTF_8), lines.get(2));
      assertArrayEquals("last".getBytes(StandardCharsets.UTF_8), lines.get(3));
    }
  }

  @Test
  void whatIsNotKeptIsSaidAndTheOffsetStaysExact() {
    byte[] bytes =
        Journals.records(
            Journals.event("{\"event\": \"at\", \"offset\": 1073741824, \"dropped\": 1073741824}"),
            Journals.out(0, "x"));
    var journal = new RunJournal(1, 0);
    var said = new ArrayList<String>();

    feed(
        journal,
        bytes,
        (_, channel, payload) -> {
          if (channel == RunJournal.EVENT) {
            said.add(RunTalk.missing(1, RunEvent.parse(payload)).orElseThrow());
          }
        });

    assertEquals(
        List.of(
            "1074 MB of older output of node 1 are not kept: a node keeps the last 1 GB of a run"),
        said);
    assertEquals((1L << 30) + RunJournal.HEADER + 1, journal.offset());
  }

  private static Splitter.Lines given(List<byte[]> lines) {
    return new Splitter.Lines() {
      @Override
      public void line(byte[] text) {
        lines.add(text);
      }

      @Override
      public void lines(LineBlock block) {
        block.forEach(lines::add);
      }

      @Override
      public void rewriting(byte[] text) {
        throw new AssertionError("only for a screen");
      }
    };
  }

  @Test
  void linesThatComeTogetherAreGivenTogether() {
    var given = new ArrayList<String>();
    var splitter =
        new LineSplitter(
            new Splitter.Lines() {
              @Override
              public void line(byte[] text) {
                given.add(new String(text, StandardCharsets.UTF_8));
              }

              @Override
              public void lines(LineBlock lines) {
                given.add(
                    "block "
                        + new String(
                            lines.bytes(),
                            lines.from(),
                            lines.to() - lines.from(),
                            StandardCharsets.UTF_8));
              }

              @Override
              public void rewriting(byte[] text) {
                throw new AssertionError("only for a screen");
              }
            });

    for (String payload : List.of("a\n\nb\nbeg", "in", "ning\nc\nd", "\n", "e")) {
      splitter.feed(payload.getBytes(StandardCharsets.UTF_8));
    }
    splitter.end();

    assertEquals(List.of("block a\n\nb\n", "beginning", "block c\n", "d", "e"), given);
  }

  /** An agent keeps records short, but this must not depend on it. */
  @Test
  void longLineIsCutAlsoInOneRecord() {
    var lines = new ArrayList<byte[]>();
    byte[] payload = new byte[2 * LineSplitter.MOST + 10];
    payload[1] = '\n';
    payload[payload.length - 1] = '\n';

    new LineSplitter(given(lines)).feed(payload);

    assertEquals(
        List.of(1, LineSplitter.MOST, LineSplitter.MOST, 7),
        lines.stream().map(line -> line.length).toList());
  }

  @Test
  void longLineIsCut() {
    var lines = new ArrayList<byte[]>();
    var splitter = new LineSplitter(given(lines));

    splitter.feed(new byte[LineSplitter.MOST + 10]);
    splitter.feed(new byte[] {'\n'});
    splitter.feed(new byte[LineSplitter.MOST]);
    splitter.end();

    assertEquals(
        List.of(LineSplitter.MOST, 10, LineSplitter.MOST),
        lines.stream().map(line -> line.length).toList());
  }
}
