package dev.gpush.core.gateway;

import java.net.URI;

/** The gateway's page for a browser of this machine. */
public interface GatewayPage {
  /**
   * The page's address with a token that logs one browser in, once. The first call starts to serve
   * the page, until the gateway ends.
   *
   * @throws dev.gpush.core.failure.GpushException it cannot be served on this machine
   */
  URI open();
}
