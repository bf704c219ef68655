package dev.gpush.shell.console;

import dev.gpush.core.talk.Talk;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Says each line only the first time: for work that is repeated while the user watches it. */
public final class SaidOnce implements Talk {
  private final Talk talk;
  private final Set<String> said = ConcurrentHashMap.newKeySet();

  public SaidOnce(Talk talk) {
    this.talk = talk;
  }

  @Override
  public void say(String line) {
    if (said.add(line)) {
      talk.say(line);
    }
  }

  @Override
  public Step step(String what) {
    return talk.step(what);
  }

  @Override
  public void confirm(String question, String flag) {
    talk.confirm(question, flag);
  }

  @Override
  public boolean isCancelled() {
    return talk.isCancelled();
  }

  @Override
  public boolean isAnswered(String flag) {
    return talk.isAnswered(flag);
  }
}
