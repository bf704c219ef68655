package dev.gpush.shell.render;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.json.Json;
import dev.gpush.core.run.RunFailure;
import dev.gpush.core.session.SendReason;
import dev.gpush.shell.command.Desk;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class UnsentPathTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "FileNotFoundError | [Errno 2] No such file or directory: 'data/a b.json' | data/a b.json",
        "FileNotFoundError | [Errno 2] No such file or directory: 'a' -> 'b' | a",
        "FileNotFoundError | [Errno 2] No such file or directory: \"data/ann's.json\" | data/ann's.json",
        "FileNotFoundError | [Errno 2] No such file or directory: \"ann's\" -> 'b' | ann's",
        "FileNotFoundError | [Errno 2] No such file or directory: 'a\"b\\'s\\\\c' | a\"b's\\c",
        "FileNotFoundError | [Errno 2] No such file or directory: 'line\\nbreak' | ``",
        "FileNotFoundError | [Errno 2] Unable to open file (name = 'x.h5', errno = 2) | x.h5",
        "FileNotFoundError | [Errno 2] Unable to open file (name = 'ann's.h5', errno = 2) | ann's.h5",
        "OSError | [Errno 2] No such file or directory: '/w/0/proj/x' | /w/0/proj/x",
        "ModuleNotFoundError | No module named 'pkg.words' | pkg/words.py pkg/words/__init__.py",
        "ModuleNotFoundError | No module named 'pkg.words'; 'pkg' is not a package | pkg/words.py pkg/words/__init__.py",
        "ImportError | cannot import name 'x' from 'pkg' | ``",
        "KeyError | 'lr' | ``",
        "FileNotFoundError | no checkpoint in 'out' | ``",
      })
  void namesWhatTheRankMayHaveLookedFor(String type, String message, String names) {
    boolean isModule = type.startsWith("Module");
    assertEquals(
        names.isEmpty() ? List.of() : isModule ? List.of(names.split(" ")) : List.of(names),
        UnsentPath.named(failure(type, message)));
  }

  private static RunFailure failure(String type, String message) {
    return new RunFailure(
        0,
        new RunFailure.Where(0, "gpu1", true, Optional.empty()),
        Optional.of(1),
        Optional.empty(),
        Json.object("code", "exception", "type", type, "message", message),
        List.of(),
        List.of());
  }

  @Test
  void aRunThatLacksItSaysWhatSendsItAsItIsTypedThere() {
    var desk = new Desk();
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.runs.exit = Optional.of(1);
    desk.runs.verdict =
        Optional.of(
            failure("FileNotFoundError", "[Errno 2] No such file or directory: 'data/tok.json'"));
    desk.sendReason =
        _ ->
            new SendReason(
                "data/tok.json",
                SendReason.Kind.FILE,
                SendReason.Verdict.IGNORED,
                "data",
                Optional.of(new SendReason.Rule("data/", ".gitignore", 1)),
                "");
    String text =
        """
        $ gpush run -q train.py
        [0] hello
        2> [1] warning
        2> gpush: rank 0 (gpu1) failed first: FileNotFoundError: [Errno 2] No such file or directory: 'data/tok.json'
        2>   data/tok.json is not sent: data/ (.gitignore:1) ignores data
        2>   try: printf '%s\\n' '' '!/data/' '/data/*' '!/data/tok.json' >> .gpushignore
        ? 1
        """;

    desk.expect(text);
    desk.environment("GPUSH_SHELL", "4711");
    desk.expect(text.replace("try: ", "try: !"));
  }
}
