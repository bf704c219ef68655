package dev.gpush.shell.command.run;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.run.RunFailure;
import dev.gpush.core.run.RunOutput;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/** Passes on the lines in which a pattern is found, and what happens to the run. */
final class MatchingLines implements RunOutput {
  static final String OPTION = "--grep";

  /**
   * How often a pattern may look at a character of one line, about a second: one like (.*a){20}b
   * needs twice as many for each further character of the line, and nothing would end it.
   */
  private static final long MOST_STEPS = 30_000_000;

  private static final Pattern COLOUR = Pattern.compile("\u001b\\[[0-9;:]*m");

  private final RunOutput output;
  private final Matcher matcher;

  MatchingLines(RunOutput output, Pattern pattern) {
    this.output = output;
    this.matcher = pattern.matcher("");
  }

  static Pattern pattern(String text) {
    try {
      return Pattern.compile(text);
    } catch (PatternSyntaxException wrong) {
      throw new GpushException(
          new UsageFailure.BadValue(
              OPTION, text, "a regular expression: " + wrong.getDescription()),
          wrong);
    }
  }

  @Override
  public boolean isForPeople() {
    return output.isForPeople();
  }

  @Override
  public boolean isScreen() {
    return output.isScreen();
  }

  @Override
  public void line(int node, int rank, boolean error, byte[] text) {
    if (matches(text)) {
      output.line(node, rank, error, text);
    }
  }

  @Override
  public void rewriting(int node, int rank, boolean error, byte[] text) {
    if (matches(text)) {
      output.rewriting(node, rank, error, text);
    }
  }

  private boolean matches(byte[] text) {
    String line = new String(text, StandardCharsets.UTF_8);
    String plain = line.indexOf('\u001b') < 0 ? line : COLOUR.matcher(line).replaceAll("");
    try {
      return matcher.reset(new CountedText(plain)).find();
    } catch (StackOverflowError | TooManySteps tooComplex) {
      throw new GpushException(
          new UsageFailure.BadValue(
              OPTION, matcher.pattern().pattern(), "simpler: a line is too long for it"),
          tooComplex);
    }
  }

  private static final class TooManySteps extends RuntimeException {
    private static final long serialVersionUID = 1;

    TooManySteps() {
      super("more than " + MOST_STEPS, null, false, false);
    }
  }

  /** A line that a matcher can only read so often. */
  private static final class CountedText implements CharSequence {
    private final String text;
    private long steps;

    CountedText(String text) {
      this.text = text;
    }

    @Override
    public int length() {
      return text.length();
    }

    @Override
    public char charAt(int index) {
      if (steps++ >= MOST_STEPS) {
        throw new TooManySteps();
      }
      return text.charAt(index);
    }

    @Override
    public CharSequence subSequence(int start, int end) {
      return text.substring(start, end);
    }

    @Override
    public String toString() {
      return text;
    }
  }

  @Override
  public void restarting(int node, RunFailure failure, int restart, int most) {
    output.restarting(node, failure, restart, most);
  }

  @Override
  public void event(int node, String text) {
    output.event(node, text);
  }
}
