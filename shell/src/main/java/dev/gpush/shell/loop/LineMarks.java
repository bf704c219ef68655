package dev.gpush.shell.loop;

import dev.gpush.core.text.ShellWords;
import dev.gpush.core.text.ShellWords.Word;
import dev.gpush.shell.text.VerbWords;
import dev.gpush.shell.text.VerbWords.Value;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The words of a text that cannot be right, as far as that is known without asking: commands,
 * options, options without their value, sessions and nodes. The word that is being typed is wrong
 * only if nothing that goes on from it is right.
 */
final class LineMarks {
  private static final Pattern NUMBER = Pattern.compile("[0-9]{1,9}");

  /** What may come after a node's number in a list while it is typed. */
  private static final String SEPARATORS = ",-";

  /** What a pasted line may begin with. */
  private static final Set<String> NAME = Set.of("$", "gpush");

  private final KnownWords known;

  /** What may stand before the command. */
  private final VerbWords before;

  private final int end;
  private final List<Word> marked = new ArrayList<>();

  /** Words of the present line that name nodes, of a session that a later word may name. */
  private final List<Word> nodes = new ArrayList<>();

  private Optional<String> session = Optional.empty();
  private boolean isTyped;

  private LineMarks(KnownWords known, VerbWords before, int end) {
    this.known = known;
    this.before = before;
    this.end = end;
  }

  /**
   * The words to be marked, in order.
   *
   * @param isTyped the cursor is at the end of the text
   */
  static List<Word> of(String text, boolean isTyped, KnownWords known) {
    VerbWords before = known.verbs().get(KnownWords.LAST);
    if (before == null) {
      return List.of();
    }
    var marks = new LineMarks(known, before, text.length());
    for (ShellWords.Typed line : ShellWords.scan(text).lines()) {
      marks.isTyped = isTyped && text.indexOf('\n', line.placed().getLast().to()) < 0;
      marks.addLine(line.placed());
    }
    return marks.marked.stream().sorted(Comparator.comparingInt(Word::from)).toList();
  }

  private void addLine(List<Word> words) {
    String first = words.getFirst().text();
    session = known.session();
    nodes.clear();
    if (first.startsWith("@")) {
      nodes.add(words.getFirst());
    } else if (!first.startsWith("!")) {
      int begin = words.size() - Line.withoutName(texts(words)).size();
      addCommand(words.subList(begin, words.size()));
    }
    nodes.forEach(this::addNodes);
  }

  private static List<String> texts(List<Word> words) {
    return words.stream().map(Word::text).toList();
  }

  private void addCommand(List<Word> words) {
    int at = addOptions(before, words);
    if (at == words.size()) {
      return;
    }
    Word verb = words.get(at);
    VerbWords after = known.verbs().get(verb.text());
    if (after != null) {
      addOptions(after, words.subList(at + 1, words.size()));
    } else if (!Line.OWN.contains(verb.text().toLowerCase(Locale.ROOT))
        && !(isTyped && words.size() == 1 && NAME.contains(verb.text()))
        && !begins(verb, verb.text(), verbs())) {
      marked.add(verb);
    }
  }

  private List<String> verbs() {
    var verbs = new ArrayList<>(Line.OWN);
    verbs.addAll(NAME);
    verbs.addAll(known.verbs().keySet());
    return verbs;
  }

  /** Returns where the words begin that are not gpush's. */
  private int addOptions(VerbWords verb, List<Word> words) {
    int given = 0;
    int at = 0;
    while (at < words.size()) {
      String text = words.get(at).text();
      boolean isModule = verb.endsAtWord() && text.equals("-m");
      if (text.equals("--") || isModule) {
        return at;
      }
      if (text.startsWith("-") && !text.equals("-")) {
        at += 1 + addOption(verb, words, at);
        continue;
      }
      if (verb.endsAtWord()) {
        return at;
      }
      if (given < verb.labels().size()) {
        addValue(verb.labels().get(given), words.get(at), text);
      }
      given++;
      at++;
    }
    return at;
  }

  /** Returns how many of the words behind it are its value. */
  private int addOption(VerbWords verb, List<Word> words, int at) {
    Word word = words.get(at);
    String text = word.text();
    int equals = text.indexOf('=');
    if (text.startsWith("--")) {
      String name = equals < 0 ? text : text.substring(0, equals);
      Value value = verb.options().get(name);
      if (value == null) {
        if (equals >= 0 || !begins(word, text, verb.options().keySet())) {
          marked.add(word);
        }
        return 0;
      }
      if (equals < 0) {
        return addNext(verb, value, words, at);
      }
      addValue(value.label(), word, text.substring(equals + 1));
      return 0;
    }
    for (int letter = 1; letter < text.length(); letter++) {
      Value value = verb.options().get("-" + text.charAt(letter));
      if (value == null) {
        marked.add(word);
        return 0;
      }
      if (value.count() > 0) {
        String rest = text.substring(letter + 1);
        if (rest.isEmpty()) {
          return addNext(verb, value, words, at);
        }
        addValue(value.label(), word, rest.startsWith("=") ? rest.substring(1) : rest);
        return 0;
      }
    }
    return 0;
  }

  /** The value of the option at this place, in the words behind it. */
  private int addNext(VerbWords verb, Value value, List<Word> words, int at) {
    int count = Math.min(value.count(), words.size() - at - 1);
    for (int next = at + 1; next <= at + count; next++) {
      String text = words.get(next).text();
      if (verb.options().containsKey(text.split("=", 2)[0])) {
        marked.add(words.get(at));
        return next - at - 1;
      }
      addValue(value.label(), words.get(next), text);
    }
    if (count < value.count() && !isTyped) {
      marked.add(words.get(at));
    }
    return count;
  }

  private void addValue(String label, Word word, String text) {
    switch (label) {
      case "NAME" -> addSession(word, text);
      case VerbWords.NEW_NAME -> session = Optional.of(text);
      case "RUN|NAME" -> {
        if (!NUMBER.matcher(text).matches()) {
          addSession(word, text);
        }
      }
      case "NODE", "NODES" -> nodes.add(new Word("@" + text, word.from(), word.to()));
      default -> {}
    }
  }

  private void addSession(Word word, String text) {
    session = Optional.of(text);
    if (!known.sizes().containsKey(text) && !begins(word, text, known.sizes().keySet())) {
      marked.add(word);
    }
  }

  private void addNodes(Word word) {
    int size = session.map(name -> known.sizes().getOrDefault(name, 0)).orElse(0);
    String text = word.text().substring(1);
    if (size == 0 || text.equals("all") || begins(word, text, Set.of("all"))) {
      return;
    }
    String list = isOpen(word) ? text.replaceFirst("[" + SEPARATORS + "]$", "") : text;
    for (String number : list.split("[" + SEPARATORS + "]", -1)) {
      if (!NUMBER.matcher(number).matches() || Integer.parseInt(number) >= size) {
        marked.add(word);
        return;
      }
    }
  }

  /** It is being typed, and goes on to one of these. */
  private boolean begins(Word word, String text, Collection<String> words) {
    return isOpen(word) && words.stream().anyMatch(each -> each.startsWith(text));
  }

  private boolean isOpen(Word word) {
    return isTyped && word.to() == end;
  }
}
