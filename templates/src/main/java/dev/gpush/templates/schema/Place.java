package dev.gpush.templates.schema;

/** The kinds of files, each with what it is for. */
public enum Place {
  PROJECT(
      "gpush.yaml",
      "Facts of the project, committed; gpush.local.yaml beside it has the same keys and is not"
          + " committed"),
  PERSON("config.yaml", "You and your backends, in $GPUSH_HOME (~/.gpush)"),
  SITE("site.yaml", "What a site provides for all its users, in /etc/gpush");

  private final String file;
  private final String purpose;

  Place(String file, String purpose) {
    this.file = file;
    this.purpose = purpose;
  }

  public String file() {
    return file;
  }

  public String purpose() {
    return purpose;
  }
}
