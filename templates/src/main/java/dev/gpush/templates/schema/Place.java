package dev.gpush.templates.schema;

/** The kinds of files, each with what it is for. */
public enum Place {
  PROJECT(
      "gpush.yaml",
      "Facts of the project, committed; gpush.local.yaml beside it takes the same and is not"),
  PERSON("config.yaml", "The person and the places, in $GPUSH_HOME (~/.gpush)"),
  SITE("site.yaml", "What a site gives to all its people, in /etc/gpush");

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
