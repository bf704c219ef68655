package dev.gpush.ssh.channel;

import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;

/** The encoded terminal modes of RFC 4254 section 8: opcode, 32 bit value, … and an end. */
public final class TerminalModes {
  private static final int END = 0;

  /** From here on arguments have no known length. */
  private static final int FIRST_UNKNOWN = 160;

  private TerminalModes() {}

  /** The modes that can be read; as with sshd, the rest of a broken encoding is ignored. */
  public static Map<Integer, Long> parse(byte[] encoded) {
    var modes = new LinkedHashMap<Integer, Long>();
    var bytes = ByteBuffer.wrap(encoded);
    while (bytes.remaining() > Integer.BYTES) {
      int opcode = Byte.toUnsignedInt(bytes.get());
      if (opcode == END || opcode >= FIRST_UNKNOWN) {
        break;
      }
      modes.put(opcode, Integer.toUnsignedLong(bytes.getInt()));
    }
    return modes;
  }
}
