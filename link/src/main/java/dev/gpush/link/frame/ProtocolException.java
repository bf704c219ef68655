package dev.gpush.link.frame;

import java.io.IOException;

/** The peer broke a rule of the protocol: the pipe ends with BYE {@code protocol} and this rule. */
public final class ProtocolException extends IOException {
  private static final long serialVersionUID = 1;

  private final String rule;

  /**
   * @param rule one word of the specification: length, kind, flags, reserved, stream, sequence,
   *     json, depth, credit, gap, after-close, never-opened, unexpected
   */
  public ProtocolException(String rule, String facts) {
    super(rule + ": " + facts);
    this.rule = rule;
  }

  public String rule() {
    return rule;
  }
}
