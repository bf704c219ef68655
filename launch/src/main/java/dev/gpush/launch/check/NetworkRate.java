package dev.gpush.launch.check;

import dev.gpush.core.fabric.FabricPlan;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the network of one node carries in one direction, as far as the plan's transport says it: it
 * is empty where nodes differ, where NVLink comes first, and where no rate is known.
 */
record NetworkRate(double gbits, boolean isRdma) {
  private static final Pattern RAILS = Pattern.compile("([0-9]+) rails? of ([0-9.]+)G [^,]+");
  private static final Pattern SOCKET = Pattern.compile("[A-Za-z]+ over \\S+ \\(([0-9.]+)G\\).*");

  static Optional<NetworkRate> of(FabricPlan plan) {
    String fabric = plan.fabric();
    if (plan.nodes() < 2 || fabric.contains(" or ")) {
      return Optional.empty();
    }
    Matcher rails = RAILS.matcher(fabric);
    if (rails.matches()) {
      double each = Double.parseDouble(rails.group(2));
      return Optional.of(new NetworkRate(Integer.parseInt(rails.group(1)) * each, true));
    }
    Matcher socket = SOCKET.matcher(fabric);
    return socket.matches()
        ? Optional.of(new NetworkRate(Double.parseDouble(socket.group(1)), false))
        : Optional.empty();
  }
}
