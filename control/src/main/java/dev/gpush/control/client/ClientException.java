package dev.gpush.control.client;

import dev.gpush.control.wire.Refusal;
import dev.gpush.core.failure.ExitStatus;
import dev.gpush.core.failure.Message;
import dev.gpush.core.file.FileReason;
import java.io.IOException;
import java.nio.file.FileSystemException;

/**
 * The client cannot continue: what failed, because, and what to try. These few failures happen
 * before there is a gateway that could write their text.
 */
final class ClientException extends Exception {
  private final Message message;
  private final ExitStatus status;

  ClientException(String what, String because, String attempt, ExitStatus status) {
    super(what + ": " + because);
    this.message = new Message(what, because.lines().map(String::strip).toList(), attempt);
    this.status = status;
  }

  /** Environment: a tool is missing, something cannot be reached or is denied. */
  static ClientException environment(String what, String because, String attempt) {
    return new ClientException(what, because, attempt, ExitStatus.ENVIRONMENT);
  }

  static ClientException refused(Refusal refusal) {
    return environment(refusal.what(), refusal.because(), refusal.attempt());
  }

  /** The system's reason, after the file that it is about. */
  static String reason(IOException failed) {
    String why = FileReason.of(failed);
    return failed instanceof FileSystemException file ? file.getFile() + ": " + why : why;
  }

  String text() {
    return message.text();
  }

  ExitStatus status() {
    return status;
  }
}
