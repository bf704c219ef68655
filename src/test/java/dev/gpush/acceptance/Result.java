package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** How a command ended. */
record Result(String command, int exit, String out, String err) {
  Result succeeded() {
    assertEquals(0, exit, this::toString);
    return this;
  }

  Result exits(int status) {
    assertEquals(status, exit, this::toString);
    return this;
  }

  @Override
  public String toString() {
    return "$ " + command + "\n" + out + "--- stderr\n" + err + "--- exit " + exit;
  }
}
