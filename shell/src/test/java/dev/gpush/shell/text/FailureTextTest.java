package dev.gpush.shell.text;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.FailureText;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.failure.Message;
import dev.gpush.core.failure.SyncFailure;
import dev.gpush.core.failure.SyncFailure.HeldPath;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.text.Phrase;
import dev.gpush.core.text.SessionCommands;
import dev.gpush.shell.command.SuggestedCommands;
import dev.gpush.testkit.fixture.FailureSamples;
import dev.gpush.testkit.fixture.PlainEnglish;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

final class FailureTextTest {
  private static final Path GOLDEN = Path.of("../src/test/resources/golden/failures");

  /** What shows that data was printed instead of a sentence written. */
  private static final Pattern UNFIT =
      Pattern.compile(
          "null|Optional|\\[|\\]|[{}]|%[sd]|Failure|dev\\.gpush|\\$[0-9]|  |: *$|; *$|, *$|^ | ,");

  @Test
  void thereAreManyFailures() {
    assertTrue(
        FailureSamples.records().size() >= 50, "found only " + FailureSamples.records().size());
  }

  @Test
  void aFolderThatMacosProtectsNeedsAGrantOfTheUser() {
    var refused = new SyncFailure.Unreadable("/Users/ann/Documents/p", "Operation not permitted");

    String remedy = new FailureText(List.of("run", "train.py")).of(refused).remedy();

    assertEquals(
        "ls -l /Users/ann/Documents/p; on a Mac, allow your terminal in System Settings > Privacy & Security > Files and Folders,"
            + " then gpush gateway stop",
        remedy);
  }

  @Test
  void aNameThatTheConfigurationHasWrongIsNoSessionToTry() {
    var text = new FailureText(List.of("up", "--nodes", "2"));
    List<String> known = List.of("hpc");

    assertEquals(
        "gpush backends",
        text.of(new BackendFailure.Unknown("hcp", known, Optional.of("hpc"))).remedy());
    assertEquals(
        "gpush up --backend hpc",
        new FailureText(List.of("up", "--backend", "hcp"))
            .of(new BackendFailure.Unknown("hcp", known, Optional.of("hpc")))
            .remedy());
    assertEquals(
        "gpush run train.py",
        new FailureText(List.of("run"))
            .of(new LaunchFailure.NoSuchScript("tarin.py", "/p", List.of("train.py")))
            .remedy());
  }

  @TestFactory
  List<DynamicTest> everyFailureIsThreeSentences() {
    var tests = new ArrayList<DynamicTest>();
    for (Class<?> record : FailureSamples.records()) {
      for (boolean full : List.of(true, false)) {
        for (List<String> words : List.of(List.<String>of(), List.of("run", "-q", "train.py"))) {
          String name = record.getSimpleName() + (full ? " full " : " empty ") + words;
          tests.add(DynamicTest.dynamicTest(name, () -> check(record, full, words)));
        }
      }
    }
    return tests;
  }

  /** By the first word of their kinds, one file each. */
  @Test
  void everyFailureIsAsItWasRead() throws IOException {
    var files = new TreeMap<String, StringBuilder>();
    for (Class<?> record : FailureSamples.records()) {
      for (boolean full : List.of(true, false)) {
        Failure failure = FailureSamples.of(record, full);
        files
            .computeIfAbsent(failure.kind().replaceFirst("\\..*", ""), _ -> new StringBuilder())
            .append("## ")
            .append(failure.kind())
            .append(full ? "" : ", without what may be empty")
            .append(" (exit ")
            .append(failure.exit().number())
            .append(")\n")
            .append(new FailureText(List.of("run", "train.py")).of(failure).text())
            .append('\n');
      }
    }
    if ("write".equals(System.getProperty("gpush.golden"))) {
      Files.createDirectories(GOLDEN);
      for (var file : files.entrySet()) {
        Files.writeString(GOLDEN.resolve(file.getKey() + ".txt"), file.getValue());
      }
    }

    for (var file : files.entrySet()) {
      assertEquals(
          Files.readString(GOLDEN.resolve(file.getKey() + ".txt")), file.getValue().toString());
    }
    try (var golden = Files.list(GOLDEN)) {
      assertEquals(files.size(), golden.count(), "a file of failures that are gone");
    }
  }

  private static void check(Class<?> record, boolean full, List<String> words) {
    Failure failure = FailureSamples.of(record, full);

    Message message = new FailureText(words).of(failure);

    assertFalse(message.because().isEmpty());
    assertAll(
        () -> fit(message.what()),
        () -> message.because().forEach(FailureTextTest::fit),
        () -> fit(message.remedy()),
        () -> PlainEnglish.checkSentence(FailureText.clause("rack", failure)));
    assertTrue(message.text().matches("(?s)gpush: .+\n  because .+\n  try: .+\n"));
    assertTrue(failure.exit().number() > 0);
    assertTrue(failure.kind().matches("[a-z]+\\.[a-z-]+"));
  }

  /** Else it would be about the session of the folder: it could stop a run of that one. */
  @TestFactory
  List<DynamicTest> eachCommandIsAboutTheSessionThatWasNamed() {
    var tests = new ArrayList<DynamicTest>();
    for (Class<?> record : FailureSamples.records()) {
      tests.add(DynamicTest.dynamicTest(record.getSimpleName(), () -> checkCommands(record)));
    }
    return tests;
  }

  private static void checkCommands(Class<?> record) {
    // What is made from the typed words has the session already.
    var texts = new FailureText(List.of(), new SessionCommands(Optional.of("big")));
    var known = List.of("big", "the-session", "the-name").stream().map(Optional::of).toList();

    for (boolean full : List.of(true, false)) {
      String text = texts.of(FailureSamples.of(record, full)).text();
      assertTrue(known.containsAll(SuggestedCommands.check(text)), text);
    }
  }

  private static void fit(String text) {
    assertFalse(text.isBlank(), "a part is empty");
    assertFalse(UNFIT.matcher(text).find(), "not a sentence: '" + text + "'");
    PlainEnglish.check(text);
  }

  @Test
  void manyLinesAreCapped() {
    var held =
        IntStream.range(0, 25).mapToObj(i -> held("f" + i, HeldPath.Reason.CHANGED_BOTH)).toList();

    String text = new FailureText(List.of("run", "train.py")).of(new SyncFailure.Held(held)).text();

    assertEquals(13, text.lines().count());
    assertTrue(
        text.startsWith(
            "gpush: 25 files are held: all versions stay where they are\n"
                + "  because f0: changed here 2026-11-27T03:15:04Z and on node 0\n"
                + "    f1: changed"),
        text);
    assertTrue(text.contains("    and 15 more\n  try: gpush sync --keep laptop . sends"), text);
    String one =
        new FailureText(List.of("run", "train.py"))
            .of(new SyncFailure.Held(List.of(held("a b", HeldPath.Reason.DELETED_THERE))))
            .text();
    assertEquals(
        """
        gpush: a b is held: both versions stay where they are
          because a b: changed here 2026-11-27T03:15:04Z, and deleted on node 0
          try: gpush sync --keep laptop 'a b' sends what is here; gpush sync --keep node 'a b' takes what is there; the other version goes to a trash
        """,
        one);
  }

  private static HeldPath held(String path, HeldPath.Reason reason) {
    Instant here = Instant.parse("2026-11-27T03:15:04.5Z");
    return new HeldPath(path, reason, 0, Optional.of(here), Optional.empty(), "");
  }

  @Test
  void remoteTextIsCleaned() {
    String nasty =
        "\u001b[31mred\u001b[0m\r\nHF_TOKEN=hf_abc \u0007 Authorization: Bearer abc.def "
            + "x".repeat(5000);

    String text = new FailureText(List.of()).of(new AgentFailure.Died(nasty)).text();

    assertFalse(
        text.contains("\u001b")
            || text.contains("\u0007")
            || text.contains("hf_abc")
            || text.contains("abc.def"));
    assertTrue(text.length() < 700);
    assertEquals(3, text.lines().count());
  }

  @Test
  void remediesCanBePasted() {
    var none = new UsageFailure.NobodyToAsk("send it all?", "--yes");
    assertEquals(
        "gpush run --yes 'my script.py' '*'",
        new FailureText(List.of("run", "my script.py", "*")).of(none).remedy());
    assertEquals(
        "gpush run --python /opt/llm train.py",
        new FailureText(List.of("run", "train.py"))
            .of(new LaunchFailure.NoTorch("python3", List.of("/opt/llm")))
            .remedy());
    assertEquals(
        "gpush exec --all -- /opt/llm/bin/python -m pip install ray",
        new FailureText(List.of("run", "job.py"))
            .of(new LaunchFailure.NoPackage("/opt/llm/bin/python", "ray"))
            .remedy());
  }

  @Test
  void aBackendThatAFileNamesWronglyIsNoSession() {
    var unknown = new BackendFailure.Unknown("hpcc", List.of("hpc"), Optional.of("hpc"));

    assertEquals(
        "gpush up --backend hpc",
        new FailureText(List.of("up", "--backend", "hpcc")).of(unknown).remedy());
    assertEquals("gpush backends", new FailureText(List.of("up")).of(unknown).remedy());
  }

  @Test
  void whatIsToBeTriedOnAFullDiskWorksAfterTheSessionWasGivenBack() {
    assertEquals(
        """
        gpush: node 0 cannot write /scratch/devbox
          because its disk is full: No space left on device
          try: free some space there, then gpush up --nodes 2
        """,
        new FailureText(List.of("up", "--nodes", "2"))
            .of(
                new SyncFailure.NodeCannotWrite(
                    0, "no-space", "/scratch/devbox", "No space left on device"))
            .text());
  }

  @Test
  void whatKeepsChangingIsNamed() {
    var text = new FailureText(List.of("sync"));

    assertEquals(
        """
        gpush: the workspace could not be synced
          because files changed during each of 6 attempts, the last time model.py on node 0
          try: stop what writes to them, then gpush sync
        """,
        text.of(new SyncFailure.KeptChanging(6, 0, "model.py")).text());
    assertEquals(
        List.of("files changed during each of 6 attempts, the last time on node 1"),
        text.of(new SyncFailure.KeptChanging(6, 1, "")).because());
  }

  @Test
  void whatHasThePlaceOfAFileIsNamed() {
    assertEquals(
        """
        gpush: cannot write a.log
          because what is here is not sent: *.log (.gitignore:2) ignores it
          try: move that out of the workspace, then gpush sync --keep node a.log
        """,
        new FailureText(List.of("sync", "--keep", "node", "a.log"))
            .of(
                new SyncFailure.InTheWay(
                    "a.log", "what is here is not sent: *.log (.gitignore:2) ignores it"))
            .text());
  }

  @Test
  void onlyTheFirstWordIsRed() {
    String text =
        new String(
            new Look(true, true, 80, 80).bytes(Message.of("a", "b", "c")), StandardCharsets.UTF_8);

    assertEquals("\u001b[31mgpush:\u001b[0m a\n  because b\n  try: c\n", text);
  }

  @Test
  void sizesAreReadable() {
    assertEquals("0 B", Phrase.size(0));
    assertEquals("999 B", Phrase.size(999));
    assertEquals("1 kB", Phrase.size(1000));
    assertEquals("14 GB", Phrase.size(14_200_000_000L));
    assertEquals("1 MB", Phrase.size(999_999));
  }
}
