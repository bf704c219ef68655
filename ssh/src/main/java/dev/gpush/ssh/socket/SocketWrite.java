package dev.gpush.ssh.socket;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.sshd.common.io.AbstractIoWriteFuture;

/** A packet that the kernel has not accepted whole, and its future. */
final class SocketWrite extends AbstractIoWriteFuture {
  final ByteBuffer bytes;

  SocketWrite(Object id, ByteBuffer bytes) {
    super(id, null);
    this.bytes = bytes;
  }

  void done() {
    setValue(true);
  }

  void failed(IOException reason) {
    setValue(reason);
  }
}
