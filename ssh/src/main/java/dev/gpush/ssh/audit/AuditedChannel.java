package dev.gpush.ssh.audit;

import dev.gpush.core.json.Json;
import org.apache.sshd.common.channel.Channel;

/** A channel that can say what it is for. */
public interface AuditedChannel extends Channel {
  /** {@code kind} first, then what belongs to it. */
  Json.Obj purpose();

  /** Bytes from the client so far. */
  long bytesUp();

  /** Bytes to the client so far. */
  long bytesDown();
}
