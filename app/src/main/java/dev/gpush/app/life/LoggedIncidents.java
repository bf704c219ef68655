package dev.gpush.app.life;

import dev.gpush.control.server.Incidents;
import java.nio.file.Path;

/** Writes failures of the control server to the log. */
public record LoggedIncidents(Path file) implements Incidents {
  private static final System.Logger LOG = System.getLogger("gpush.main");

  @Override
  public void bug(String during, Throwable bug) {
    LOG.log(System.Logger.Level.ERROR, "bug during=" + during, bug);
  }

  @Override
  public void refused(String why) {
    LOG.log(System.Logger.Level.WARNING, "control connection refused why=\"" + why + "\"");
  }

  @Override
  public String log() {
    return file.toString();
  }
}
