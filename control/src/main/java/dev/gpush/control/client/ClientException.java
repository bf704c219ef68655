package dev.gpush.control.client;

import dev.gpush.control.wire.Refusal;
import java.io.IOException;
import java.nio.file.FileSystemException;

/**
 * The client cannot go on: what failed, because of what, and what to try. The few failures that
 * happen with no gateway to render them.
 */
final class ClientException extends Exception {
  private final String what;
  private final String because;
  private final String attempt;
  private final int status;

  ClientException(String what, String because, String attempt, int status) {
    super(what + ": " + because);
    this.what = what;
    this.because = because;
    this.attempt = attempt;
    this.status = status;
  }

  /** Environment: a tool is missing, something cannot be reached or is denied. */
  static ClientException environment(String what, String because, String attempt) {
    return new ClientException(what, because, attempt, ControlClient.ENVIRONMENT);
  }

  static ClientException refused(Refusal refusal) {
    return environment(refusal.what(), refusal.because(), refusal.attempt());
  }

  /** What the system said, in as few words as it can be understood in. */
  static String reason(IOException failed) {
    if (failed instanceof FileSystemException file) {
      String why =
          file.getReason() != null
              ? file.getReason()
              : file.getClass().getSimpleName().replace("Exception", "");
      return file.getFile() + ": " + why;
    }
    return failed.getMessage() == null ? failed.toString() : failed.getMessage();
  }

  String text() {
    return "gpush: " + what + "\n  because " + because + "\n  try: " + attempt + "\n";
  }

  int status() {
    return status;
  }
}
