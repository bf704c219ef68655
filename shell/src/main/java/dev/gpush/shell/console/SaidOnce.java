package dev.gpush.shell.console;

import dev.gpush.core.talk.Talk;
import dev.gpush.core.talk.TalkAround;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Says each line only the first time: for work that is repeated while the user watches it. */
public final class SaidOnce extends TalkAround {
  private final Set<String> said = ConcurrentHashMap.newKeySet();

  public SaidOnce(Talk talk) {
    super(talk);
  }

  @Override
  public void say(String line) {
    if (said.add(line)) {
      super.say(line);
    }
  }
}
