package dev.gpush.shell.loop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.gpush.control.client.Captured;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jline.reader.Candidate;
import org.jline.reader.CompletingParsedLine;
import org.jline.reader.EOFError;
import org.jline.reader.LineReader;
import org.jline.reader.LineReaderBuilder;
import org.jline.reader.Parser.ParseContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class LineParserTest {
  private final LineParser parser = new LineParser();

  private CompletingParsedLine at(String line) {
    return assertInstanceOf(
        CompletingParsedLine.class, parser.parse(line, line.length(), ParseContext.COMPLETE));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '>',
      quoteCharacter = '`',
      value = {
        "`` > [] > 0",
        "ru > [ru] > 2",
        "`run ` > [run, ] > 0",
        "run tr > [run, tr] > 2",
        "run 'my s > [run, my s] > 5",
        "run my\\ s > [run, my s] > 5",
        "run a'b'c > [run, abc] > 5",
      })
  void lastWordIsTheOneBeingTyped(String line, String words, int raw) {
    CompletingParsedLine parsed = at(line);

    assertEquals(words, parsed.words().toString());
    assertEquals(raw, parsed.rawWordCursor());
    assertEquals(parsed.words().getLast(), parsed.word());
  }

  @Test
  void onlyWhatIsBeforeTheCursorCounts() {
    assertEquals(
        List.of("run", "tr"), parser.parse("run train.py", 6, ParseContext.COMPLETE).words());
  }

  @Test
  void candidatesAreQuotedWhereNeeded() {
    assertEquals("'a b'", at("run ").escape("a b", true));
    assertEquals("train.py", at("run ").escape("train.py", true));
    assertEquals("~/x", at("run ").escape("~/x", true));
    assertEquals("~/'a b'", at("run ").escape("~/a b", true));
    assertEquals("~/", at("run ").escape("~/", true));
  }

  @Test
  void anUnfinishedLineIsNotAccepted() {
    assertThrows(EOFError.class, () -> parser.parse("run 'a", 6, ParseContext.ACCEPT_LINE));
    assertThrows(EOFError.class, () -> parser.parse("run \\", 5, ParseContext.ACCEPT_LINE));
    parser.parse("run 'a'", 7, ParseContext.ACCEPT_LINE);
  }

  @Test
  void completionAsksTheGateway(@org.junit.jupiter.api.io.TempDir Path folder) throws Exception {
    java.nio.file.Files.writeString(folder.resolve("train.py"), "");
    var runner = new FakeCommandRunner();
    runner.answers.put(
        "__complete -- up --n", new Captured(0, "--nodes\tnodes of the gang\n--session=\n", ""));
    runner.answers.put("__complete -- run tr", new Captured(0, ":files\n", ""));
    var completer = new GatewayCompleter(runner, new LocalFiles(folder, folder, ""));
    LineReader unused =
        LineReaderBuilder.builder()
            .terminal(
                new org.jline.terminal.impl.DumbTerminal(
                    new java.io.ByteArrayInputStream(new byte[0]),
                    new java.io.ByteArrayOutputStream()))
            .build();

    var options = new ArrayList<Candidate>();
    completer.complete(unused, at("gpush up --n"), options);
    assertEquals(List.of("--nodes", "--session="), options.stream().map(Candidate::value).toList());
    assertEquals("--nodes     nodes of the gang", options.getFirst().displ());
    var files = new ArrayList<Candidate>();
    completer.complete(unused, at("run tr"), files);
    assertEquals(List.of("train.py"), files.stream().map(Candidate::value).toList());
    java.nio.file.Files.createDirectory(folder.resolve("tests"));
    var folders = new ArrayList<Candidate>();
    completer.complete(unused, at("cd t"), folders);
    assertEquals(List.of("tests/"), folders.stream().map(Candidate::value).toList());
    var ours = new ArrayList<Candidate>();
    completer.complete(unused, at("!wc tr"), ours);
    assertEquals(List.of("train.py"), ours.stream().map(Candidate::value).toList());
    assertEquals(List.of(), runner.entered);
    var none = new ArrayList<Candidate>();
    completer.complete(unused, at("nosuch "), none);
    assertEquals(List.of(), none);
    assertEquals(List.of("[__complete, --, nosuch, ]"), runner.entered);
  }
}
