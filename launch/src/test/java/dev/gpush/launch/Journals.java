package dev.gpush.launch;

import dev.gpush.launch.journal.RunJournal;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Writes what supervisors write. */
public final class Journals {
  private Journals() {}

  public static byte[] record(int rank, int channel, byte[] payload) {
    return ByteBuffer.allocate(RunJournal.HEADER + payload.length)
        .putInt(payload.length)
        .putShort((short) rank)
        .put((byte) channel)
        .put((byte) 0)
        .putLong(1)
        .put(payload)
        .array();
  }

  public static byte[] out(int rank, String text) {
    return record(rank, 0, text.getBytes(StandardCharsets.UTF_8));
  }

  static byte[] err(int rank, String text) {
    return record(rank, 1, text.getBytes(StandardCharsets.UTF_8));
  }

  public static byte[] event(String json) {
    return record(RunJournal.LAUNCHER, RunJournal.EVENT, json.getBytes(StandardCharsets.UTF_8));
  }

  public static byte[] records(byte[]... records) {
    var all = new ByteArrayOutputStream();
    for (byte[] record : records) {
      all.writeBytes(record);
    }
    return all.toByteArray();
  }
}
