package dev.gpush.core.setup;

import java.util.List;
import java.util.Optional;

/** Names hosts that another tool's files list. */
@FunctionalInterface
public interface HostSource {
  /** Those that the files list; files that cannot be read list none. */
  List<ListedHost> hosts(SetupQuestion question);

  /**
   * A host.
   *
   * @param host what one would type after {@code ssh}
   * @param group the name of the list that it is in
   * @param origin the file
   */
  record ListedHost(String host, Optional<String> group, String origin) {}
}
