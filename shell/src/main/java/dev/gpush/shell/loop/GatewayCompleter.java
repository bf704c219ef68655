package dev.gpush.shell.loop;

import dev.gpush.control.client.Captured;
import dev.gpush.shell.text.Width;
import java.util.ArrayList;
import java.util.List;
import org.jline.reader.Candidate;
import org.jline.reader.Completer;
import org.jline.reader.LineReader;
import org.jline.reader.ParsedLine;

/** Asks the gateway for completions, as the completion scripts of other shells do. */
final class GatewayCompleter implements Completer {
  private static final String FILES = ":files";
  private static final String TAB = "\t";
  private static final String GAP = "  ";

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
    boolean isHere = line.words().getFirst().startsWith("!");
    if (line.words().size() > 1 && (isHere || line.words().getFirst().startsWith("@"))) {
      Branches.meant(line.words(), files.folder()).forEach(name -> candidates.add(file(name)));
    }
    if (line.words().size() > 1 && isHere) {
      files.startingWith(line.word()).forEach(path -> candidates.add(file(path)));
      return;
    }
    var question = new ArrayList<>(List.of("__complete", "--"));
    question.addAll(Line.completed(line.words()));
    // A gateway of another build is used as it is: Tab is no wish for another one.
    Captured answer = runner.askIfRunning(question).orElseGet(() -> runner.ask(question));
    if (answer.status() != 0) {
      return;
    }
    boolean areNodes = line.words().size() == 1 && line.word().startsWith("@");
    var words = new ArrayList<>(areNodes ? List.of("@all\tall nodes") : List.of());
    for (String candidate : answer.out().lines().toList()) {
      if (candidate.equals(FILES)) {
        files.startingWith(line.word()).forEach(path -> candidates.add(file(path)));
      } else {
        words.add((areNodes ? "@" : "") + candidate);
      }
    }
    int longest = words.stream().mapToInt(each -> Width.of(each.split(TAB, 2)[0])).max().orElse(0);
    int room = Math.max(0, reader.getTerminal().getColumns() - 1);
    words.forEach(each -> candidates.add(word(each, longest, room)));
  }

  /**
   * With what it is beside it, which JLine would align to the right. It fills the room, because
   * JLine puts several that are short into a row.
   */
  private static Candidate word(String line, int longest, int room) {
    String[] parts = line.split(TAB, 2);
    String word = parts[0];
    String shown =
        parts.length == 1
            ? word
            : padded(Width.cut(padded(word, longest) + GAP + parts[1], room), room);
    return new Candidate(word, shown, null, null, null, null, !word.endsWith("="));
  }

  private static String padded(String text, int columns) {
    return text + " ".repeat(Math.max(0, columns - Width.of(text)));
  }

  private static Candidate file(String path) {
    return new Candidate(path, path, null, null, null, null, !path.endsWith("/"));
  }
}
