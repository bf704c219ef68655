package dev.gpush.app.life;

import dev.gpush.core.file.LogRotation;
import dev.gpush.core.text.CleanText;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.temporal.ChronoUnit;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/**
 * Writes all log records of the process, the libraries' too, to one file that never grows beyond
 * its limit.
 */
public final class LogFile extends Handler implements AutoCloseable {
  /** Long enough for weeks; as {@link LogRotation} keeps them, all take 40 MiB at most. */
  static final long LIMIT_BYTES = 8 * 1024 * 1024;

  /** A longer line is cut. */
  private static final int LINE_CHARS = 4000;

  /**
   * sshj logs each connection that ends as an error with a trace; the failures have all that is
   * needed.
   */
  private static final String SSHJ = "net.schmizz.";

  private final Path path;
  private final SimpleFormatter messages = new SimpleFormatter();

  /**
   * Above the loggers of all modules. Kept, because a logger that nobody keeps is collected with
   * its level.
   */
  private final Logger gpush = Logger.getLogger("gpush");

  // guarded by this
  private OutputStream out;
  private long size;

  LogFile(Path path) throws IOException {
    this.path = path;
    this.out = open(path);
    this.size = Files.size(path);
  }

  /**
   * Sends all log records to this file: from libraries warnings and errors, from gpush info and, on
   * request, debug too.
   */
  public static void install(Path path, boolean debug) throws IOException {
    Files.createDirectories(path.resolveSibling("."));
    var file = new LogFile(path);
    LogManager.getLogManager().reset();
    Logger root = Logger.getLogger("");
    root.setLevel(Level.WARNING);
    root.addHandler(file);
    file.gpush.setLevel(debug ? Level.FINE : Level.INFO);
  }

  @Override
  public synchronized void publish(LogRecord record) {
    if (String.valueOf(record.getLoggerName()).startsWith(SSHJ)) {
      return;
    }
    try {
      byte[] line = line(record).getBytes(StandardCharsets.UTF_8);
      if (size + line.length > LIMIT_BYTES) {
        rotate();
      }
      out.write(line);
      size += line.length;
    } catch (IOException full) {
      // A full disk must not stop the gateway, and there is no other place to report it.
    }
  }

  @Override
  public void flush() {}

  @Override
  public synchronized void close() {
    try {
      out.close();
    } catch (IOException full) {
      // See above.
    }
  }

  private void rotate() throws IOException {
    out.close();
    LogRotation.rotate(path);
    out = open(path);
    size = 0;
  }

  private String line(LogRecord record) {
    var line = new StringBuilder();
    line.append(record.getInstant().truncatedTo(ChronoUnit.MILLIS)).append(' ');
    line.append(level(record.getLevel())).append(' ');
    String logger = String.valueOf(record.getLoggerName());
    line.append(logger.substring(logger.lastIndexOf('.') + 1)).append(' ');
    line.append(clean(messages.formatMessage(record))).append('\n');
    if (record.getThrown() != null) {
      var trace = new StringWriter();
      record.getThrown().printStackTrace(new PrintWriter(trace));
      trace
          .toString()
          .lines()
          .forEach(part -> line.append("    ").append(clean(part)).append('\n'));
    }
    return line.toString();
  }

  /** One record is one line, whatever a remote host put into its message. */
  private static String clean(String text) {
    return CleanText.line(text, LINE_CHARS);
  }

  private static String level(Level level) {
    if (level.intValue() >= Level.SEVERE.intValue()) {
      return "ERROR";
    }
    if (level.intValue() >= Level.WARNING.intValue()) {
      return "WARN ";
    }
    return level.intValue() >= Level.INFO.intValue() ? "INFO " : "DEBUG";
  }

  private static OutputStream open(Path path) throws IOException {
    return Files.newOutputStream(path, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }
}
