package dev.gpush.ssh.access;

import java.math.BigInteger;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.regex.Pattern;

/**
 * Lists of addresses, as {@code from=} and {@code source-address} have them: {@code
 * 10.0.0.0/8,!10.1.2.3,192.168.*}. Names of hosts never match: as in sshd, nothing is looked up.
 */
final class AddressPatterns {
  private static final Pattern NUMERIC = Pattern.compile("[0-9a-fA-F:.]+");

  private AddressPatterns() {}

  /** A pattern with {@code !} that matches forbids it, wherever it is. */
  static boolean match(String list, InetAddress address) {
    boolean isAllowed = false;
    for (String each : list.split(",", -1)) {
      String pattern = each.strip();
      boolean forbids = pattern.startsWith("!");
      if (matchesOne(forbids ? pattern.substring(1) : pattern, address)) {
        if (forbids) {
          return false;
        }
        isAllowed = true;
      }
    }
    return isAllowed;
  }

  private static boolean matchesOne(String pattern, InetAddress address) {
    int slash = pattern.indexOf('/');
    if (slash >= 0) {
      return inNetwork(pattern.substring(0, slash), pattern.substring(slash + 1), address);
    }
    String expression = Pattern.quote(pattern).replace("*", "\\E.*\\Q").replace("?", "\\E.\\Q");
    return Pattern.matches(expression, address.getHostAddress());
  }

  private static boolean inNetwork(String network, String length, InetAddress address) {
    try {
      if (!NUMERIC.matcher(network).matches()) {
        return false;
      }
      byte[] first = InetAddress.getByName(network).getAddress();
      byte[] bytes = address.getAddress();
      int bits = Integer.parseInt(length);
      if (first.length != bytes.length || bits < 0 || bits > 8 * bytes.length) {
        return false;
      }
      int rest = 8 * bytes.length - bits;
      var one = new BigInteger(1, first).shiftRight(rest);
      return one.equals(new BigInteger(1, bytes).shiftRight(rest));
    } catch (UnknownHostException | NumberFormatException invalid) {
      return false;
    }
  }
}
