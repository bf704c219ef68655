package dev.gpush.backends.transport;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/**
 * What follows a line that is the marker. Where that never comes, the command never began, and what
 * was said instead is all there is to read.
 */
final class MarkedInput extends InputStream {
  /** Of what comes before; a login that prints more than this prints without end. */
  private static final int MOST_NOISE = 64 * 1024;

  private final InputStream from;
  private final byte[] marker;
  private final Object lock = new Object();
  // guarded by lock: whether what is next is the command's, and what is to be read before `from`
  private boolean isFound;
  private byte[] held = new byte[0];
  private int given;

  MarkedInput(InputStream from, String marker) {
    this.from = from;
    this.marker = (marker + "\n").getBytes(StandardCharsets.US_ASCII);
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] into, int offset, int length) throws IOException {
    if (length == 0) {
      return 0;
    }
    synchronized (lock) {
      if (!isFound) {
        find();
        isFound = true;
      }
      if (given < held.length) {
        int count = Math.min(length, held.length - given);
        System.arraycopy(held, given, into, offset, count);
        given += count;
        return count;
      }
    }
    return from.read(into, offset, length);
  }

  /** Reads up to the marker, byte by byte behind a match that may begin anywhere. */
  private void find() throws IOException {
    var noise = new ByteArrayOutputStream();
    byte[] part = new byte[8192];
    byte[] window = new byte[0];
    for (int read = from.read(part); read >= 0; read = from.read(part)) {
      byte[] all = joined(window, part, read);
      int at = indexOf(all);
      if (at >= 0) {
        int rest = at + marker.length;
        held = java.util.Arrays.copyOfRange(all, rest, all.length);
        return;
      }
      noise.write(part, 0, Math.min(read, Math.max(0, MOST_NOISE - noise.size())));
      int keep = Math.min(all.length, marker.length - 1);
      window = java.util.Arrays.copyOfRange(all, all.length - keep, all.length);
    }
    held = noise.toByteArray();
  }

  private static byte[] joined(byte[] window, byte[] part, int length) {
    byte[] all = java.util.Arrays.copyOf(window, window.length + length);
    System.arraycopy(part, 0, all, window.length, length);
    return all;
  }

  private int indexOf(byte[] all) {
    for (int at = 0; at + marker.length <= all.length; at++) {
      if (java.util.Arrays.equals(all, at, at + marker.length, marker, 0, marker.length)) {
        return at;
      }
    }
    return -1;
  }

  @Override
  public int available() throws IOException {
    synchronized (lock) {
      return isFound ? held.length - given + from.available() : 0;
    }
  }

  @Override
  public void close() throws IOException {
    from.close();
  }
}
