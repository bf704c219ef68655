package dev.gpush.core.talk;

/** A talk that passes everything to another one, but for what a subclass changes. */
public abstract class TalkAround implements Talk {
  private final Talk talk;

  protected TalkAround(Talk talk) {
    this.talk = talk;
  }

  @Override
  public void say(String line) {
    talk.say(line);
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
