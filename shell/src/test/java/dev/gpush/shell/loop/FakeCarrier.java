package dev.gpush.shell.loop;

import dev.gpush.control.client.Captured;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Remembers what it was given, and answers as it was told. */
final class FakeCarrier implements Carrier {
  final List<String> done = new ArrayList<>();
  final Map<String, Integer> statuses = new HashMap<>();
  final Map<String, Captured> answers = new HashMap<>();

  @Override
  public int run(List<String> words) {
    done.add(words.toString());
    return statuses.getOrDefault(words.toString(), 0);
  }

  @Override
  public Captured ask(List<String> words) {
    return answers.getOrDefault(String.join(" ", words), new Captured(3, "", "no gateway"));
  }

  @Override
  public int local(String line) {
    done.add("! " + line);
    return 0;
  }
}
