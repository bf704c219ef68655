package dev.gpush.gateway.session.history;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The address of a remote repository, as a node may know it. */
final class RemoteAddress {
  private static final Pattern WEB = Pattern.compile("(https?://)(?:[^/@]*@)?([^/@?#]+/[^@?#]*)");
  private static final Pattern SSH = Pattern.compile("ssh://(?:[^:/@]+@)?[^/@?#]+/[^@?#]*");
  private static final Pattern SHORT =
      Pattern.compile("(?:[^:/@\\s]+@)?[^:/@\\s]+:[^:@?#\\s][^@?#\\s]*");

  private RemoteAddress() {}

  /** Without a password or token; empty when it may have one in another place. */
  static Optional<String> withoutSecrets(String address) {
    Matcher web = WEB.matcher(address);
    if (web.matches()) {
      return Optional.of(web.group(1) + web.group(2));
    }
    boolean isPlain =
        SSH.matcher(address).matches()
            || (!address.contains("://") && SHORT.matcher(address).matches());
    return isPlain ? Optional.of(address) : Optional.empty();
  }
}
