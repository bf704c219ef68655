package dev.gpush.core.backend;

import java.util.List;

/**
 * What a queue considers before a request that waits in it.
 *
 * @param queue in words: {@code partition gpu}
 * @param jobs how many, of those that may be seen
 * @param who whose they are, or how they are called: a few words each, and a last one for the rest
 * @param othersHidden the site may hide jobs of other users
 */
public record JobsAhead(String queue, long jobs, List<String> who, boolean othersHidden) {
  public JobsAhead {
    who = List.copyOf(who);
  }
}
