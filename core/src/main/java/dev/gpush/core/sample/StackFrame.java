package dev.gpush.core.sample;

import dev.gpush.core.json.Json;

/**
 * One call of a stack.
 *
 * @param file inside the workspace or the library, or absolute
 * @param isOwn of the user's own code, not of a library
 */
public record StackFrame(String function, String file, long line, boolean isOwn) {
  public String place() {
    return file + ":" + line;
  }

  static StackFrame from(Json said) {
    return new StackFrame(
        said.text("name").orElse("?"),
        said.text("file").orElse("?"),
        said.number("line").orElse(0L),
        said.flag("own"));
  }
}
