package dev.gpush.ssh;

import java.io.IOException;
import java.util.concurrent.locks.LockSupport;

/** Serves until stdin ends, for trying by hand and for measuring: prints the config to use. */
final class Served {
  private Served() {}

  public static void main(String[] arguments) throws IOException, InterruptedException {
    try (var rig = new SshGatewayFixture()) {
      System.out.println(rig.home().resolve("ssh_config"));
      while (System.in.read() >= 0) {
        LockSupport.parkNanos(1_000_000);
      }
    }
  }
}
