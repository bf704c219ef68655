package dev.gpush.backends.kubernetes.api;

import dev.gpush.backends.remote.ClusterText;

/** The API server has refused a request. */
public final class ApiRefusal extends Exception {
  private static final long serialVersionUID = 1;

  private final int status;
  private final String reason;
  private final String words;

  /**
   * @param reason the server's reason, such as {@code AlreadyExists}
   */
  public ApiRefusal(int status, String reason, String words) {
    super(status + " " + reason + ": " + words);
    this.status = status;
    this.reason = reason;
    this.words = ClusterText.clean(words);
  }

  public boolean isNotFound() {
    return status == 404;
  }

  public boolean isForbidden() {
    return status == 403;
  }

  public boolean isOverQuota() {
    return isForbidden() && words.contains("exceeded quota");
  }

  public boolean alreadyExists() {
    return reason.equals("AlreadyExists");
  }

  /** Another client has changed the object meanwhile. */
  public boolean isConflict() {
    return status == 409;
  }

  /** The server's message. */
  public String words() {
    return words;
  }
}
