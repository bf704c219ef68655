package dev.gpush.link.tunnel;

import dev.gpush.link.BlockingStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;

/** A stream of a link where the JDK's TLS wants a socket that is connected. */
final class StreamSocket extends Socket {
  private final BlockingStream stream;

  StreamSocket(BlockingStream stream) {
    this.stream = stream;
  }

  @Override
  public InputStream getInputStream() {
    return stream.output(0);
  }

  @Override
  public OutputStream getOutputStream() {
    return stream.input();
  }

  @Override
  public boolean isConnected() {
    return true;
  }

  @Override
  public InetAddress getInetAddress() {
    return InetAddress.getLoopbackAddress();
  }

  @Override
  public void setSoLinger(boolean isOn, int seconds) {}

  @Override
  public int getSoLinger() {
    return -1;
  }

  @Override
  public void setSoTimeout(int milliseconds) {}

  @Override
  public int getSoTimeout() {
    return 0;
  }

  @Override
  public void shutdownInput() {}

  @Override
  public void shutdownOutput() {
    stream.stream().end(0);
  }

  @Override
  public void close() {
    stream.close();
  }
}
