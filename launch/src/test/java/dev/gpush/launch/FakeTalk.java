package dev.gpush.launch;

import dev.gpush.core.talk.Talk;
import dev.gpush.core.talk.Trace;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Remembers what was said. */
final class FakeTalk implements Talk {
  private final List<String> said = new CopyOnWriteArrayList<>();

  List<String> said() {
    return List.copyOf(said);
  }

  @Override
  public void say(String line) {
    said.add(line);
  }

  @Override
  public Step step(String what) {
    said.add(what);
    return Talk.silent().step(what);
  }

  /** Of those that every launch has nothing is remembered. */
  @Override
  public Step phase(Trace.Stage stage, String what) {
    return (stage == Trace.Stage.SLOTS ? this : Talk.silent()).step(what);
  }

  @Override
  public void confirm(String question, String flag) {
    throw new AssertionError("nothing is asked while launching: " + question);
  }
}
