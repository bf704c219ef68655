package dev.gpush.shell.loop;

import dev.gpush.control.client.Captured;
import java.util.ArrayList;
import java.util.List;
import org.jline.reader.Candidate;
import org.jline.reader.Completer;
import org.jline.reader.LineReader;
import org.jline.reader.ParsedLine;

/** Asks the gateway for completions, as the completion scripts of other shells do. */
final class GatewayCompleter implements Completer {
  private static final String FILES = ":files";

  private final CommandRunner runner;
  private final LocalFiles files;

  GatewayCompleter(CommandRunner runner, LocalFiles files) {
    this.runner = runner;
    this.files = files;
  }

  @Override
  public void complete(LineReader reader, ParsedLine line, List<Candidate> candidates) {
    if (line.words().size() > 1 && line.words().getFirst().equals("cd")) {
      files.foldersStartingWith(line.word()).forEach(path -> candidates.add(file(path)));
      return;
    }
    var words = new ArrayList<>(List.of("__complete", "--"));
    words.addAll(Line.completed(line.words()));
    Captured answer = runner.ask(words);
    if (answer.status() != 0) {
      return;
    }
    String mark = line.words().size() == 1 && line.word().startsWith("@") ? "@" : "";
    if (!mark.isEmpty()) {
      candidates.add(word("@all\tall nodes"));
    }
    for (String candidate : answer.out().lines().toList()) {
      if (candidate.equals(FILES)) {
        files.startingWith(line.word()).forEach(path -> candidates.add(file(path)));
      } else {
        candidates.add(word(mark + candidate));
      }
    }
  }

  private static Candidate word(String line) {
    int tab = line.indexOf('\t');
    String word = tab < 0 ? line : line.substring(0, tab);
    String about = tab < 0 ? null : line.substring(tab + 1);
    return new Candidate(word, word, null, about, null, null, !word.endsWith("="));
  }

  private static Candidate file(String path) {
    return new Candidate(path, path, null, null, null, null, !path.endsWith("/"));
  }
}
