package dev.gpush.control.wire;

/**
 * The first frame of each end. This frame and HANDOVER never change their format, so that any two
 * builds can hand over.
 *
 * @param protocol ends with the same number can work together
 * @param build the content hash of the jars
 * @param home the real path of GPUSH_HOME, which must be the same on both ends
 */
public record Greeting(int protocol, String build, String home, long pid) {
  /** The protocol this build speaks. */
  public static final int PROTOCOL = 1;

  /** "gpsh": distinguishes gpush from other programs that connect. */
  private static final int MAGIC = 0x67707368;

  public static Greeting of(String build, String home, long pid) {
    return new Greeting(PROTOCOL, build, home, pid);
  }

  public ControlFrame frame() {
    return new Payload()
        .number(MAGIC)
        .number(protocol)
        .text(build)
        .text(home)
        .longNumber(pid)
        .frame(Kind.HELLO);
  }

  /** Reads a greeting. Ignores fields that a later protocol adds at the end. */
  public static Greeting of(ControlFrame frame) throws ControlProtocolException {
    if (frame.kind() != Kind.HELLO) {
      throw new ControlProtocolException("a conversation begins with HELLO, not " + frame);
    }
    Fields fields = frame.fields();
    if (fields.number() != MAGIC) {
      throw new ControlProtocolException("not a gpush control socket");
    }
    return new Greeting(fields.number(), fields.text(), fields.text(), fields.longNumber());
  }
}
