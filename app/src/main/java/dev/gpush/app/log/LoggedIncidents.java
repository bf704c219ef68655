package dev.gpush.app.log;

import dev.gpush.control.server.Incidents;
import java.nio.file.Path;

/** Writes failures of the control server to the log. */
public record LoggedIncidents(Log to, Path file) implements Incidents {
  @Override
  public void bug(String during, Throwable bug) {
    to.error(bug, "bug", "during", during);
  }

  @Override
  public void refused(String why) {
    to.warn("control connection refused", "why", why);
  }

  @Override
  public String log() {
    return file.toString();
  }
}
