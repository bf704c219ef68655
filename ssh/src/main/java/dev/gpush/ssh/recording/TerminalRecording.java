package dev.gpush.ssh.recording;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The recording of one terminal. Its methods return at once; what finds no room is counted, and the
 * file says where it is missing. Output must come from one thread at a time.
 */
public final class TerminalRecording {
  private final String name;
  private final Recordings recordings;
  private final CastFile file;
  private final AtomicLong lost = new AtomicLong();
  private final AtomicBoolean isClosed = new AtomicBoolean();

  TerminalRecording(String name, Recordings recordings, CastFile file) {
    this.name = name;
    this.recordings = recordings;
    this.file = file;
  }

  /** Of its file, in the folder of recordings. */
  public String name() {
    return name;
  }

  /** Bytes that go to the client now; they are copied. */
  public void output(byte[] source, int offset, int length) {
    if (isClosed.get()) {
      return;
    }
    if (!recordings.hasRoom(length)) {
      lost.addAndGet(length);
      return;
    }
    ByteBuffer copy = ByteBuffer.wrap(Arrays.copyOfRange(source, offset, offset + length));
    recordings.add(new Recordings.Piece.Output(file, recordings.nanos(), copy, lost.getAndSet(0)));
  }

  public void resized(long columns, long rows) {
    if (!isClosed.get() && columns > 0 && rows > 0) {
      var size = new RecordedTerminal.Size(columns, rows);
      recordings.add(new Recordings.Piece.Resize(file, recordings.nanos(), size));
    }
  }

  /** What comes later is not recorded. */
  public void end() {
    if (!isClosed.getAndSet(true)) {
      recordings.add(new Recordings.Piece.End(file, recordings.nanos(), lost.getAndSet(0)));
    }
  }
}
