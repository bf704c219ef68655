package dev.gpush.app.log;

/**
 * The gateway's log, for diagnosis: an event, then key=value. Sparse, without secrets; debug
 * explains decisions.
 */
public final class Log {
  private final System.Logger logger;

  private Log(System.Logger logger) {
    this.logger = logger;
  }

  /** The log of one part of the gateway. */
  public static Log of(String part) {
    return new Log(System.getLogger("gpush." + part));
  }

  public void info(String event, Object... keysAndValues) {
    write(System.Logger.Level.INFO, event, keysAndValues);
  }

  public void warn(String event, Object... keysAndValues) {
    write(System.Logger.Level.WARNING, event, keysAndValues);
  }

  /** A bug or a broken machine, with its trace. */
  public void error(Throwable cause, String event, Object... keysAndValues) {
    logger.log(System.Logger.Level.ERROR, line(event, keysAndValues), cause);
  }

  private void write(System.Logger.Level level, String event, Object... keysAndValues) {
    if (logger.isLoggable(level)) {
      logger.log(level, line(event, keysAndValues));
    }
  }

  private static String line(String event, Object... keysAndValues) {
    var line = new StringBuilder(event);
    for (int i = 0; i + 1 < keysAndValues.length; i += 2) {
      line.append(' ').append(keysAndValues[i]).append('=');
      String value = String.valueOf(keysAndValues[i + 1]);
      boolean plain = !value.isEmpty() && value.chars().noneMatch(Character::isWhitespace);
      line.append(plain ? value : "\"" + value.replace("\"", "'") + "\"");
    }
    return line.toString();
  }
}
