package dev.gpush.app;

import dev.gpush.app.log.Log;
import dev.gpush.control.server.Incidents;

/** Writes failures of the control server to the log. */
record LoggedIncidents(Log to, Home home) implements Incidents {
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
    return home.log().toString();
  }
}
