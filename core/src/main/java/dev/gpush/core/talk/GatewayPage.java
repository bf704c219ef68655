package dev.gpush.core.talk;

import java.net.URI;
import java.nio.file.Path;

/** The gateway's page for a browser of this machine. */
public interface GatewayPage {
  /**
   * The page's address with a token that logs one browser in, once. The first call starts to serve
   * the page, until the gateway ends.
   *
   * @throws dev.gpush.core.failure.GpushException it cannot be served on this machine
   */
  URI open();

  /**
   * A file that leads a browser to the address, for command lines, which other users see. It is its
   * user's alone, and replaces the one before.
   *
   * @throws dev.gpush.core.failure.GpushException it cannot be written
   */
  Path file(URI address);
}
