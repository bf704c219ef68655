package dev.gpush.link.hub;

import dev.gpush.core.machine.Pipe;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/** A program that does not exist, with the answer that a shell would give. */
record NoProgram(String name) implements Pipe {
  private static final int NOT_FOUND = 127;

  @Override
  public OutputStream input() {
    return OutputStream.nullOutputStream();
  }

  @Override
  public InputStream output() {
    return InputStream.nullInputStream();
  }

  @Override
  public InputStream errors() {
    return new ByteArrayInputStream((name + ": not found\n").getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public int await() {
    return NOT_FOUND;
  }

  @Override
  public void close() {}
}
