package dev.gpush.core.fabric;

import dev.gpush.core.json.Json;

/**
 * One thing that was looked at, or left out for a reason.
 *
 * @param name one word for programs, stable: {@code tcp}
 * @param detail what was looked at, or why it was left out: {@code 12 connections over eth0}
 */
public record CheckStep(String name, Outcome outcome, String detail) {
  /** How it went. */
  public enum Outcome {
    PASSED("passed"),
    FAILED("failed"),
    SKIPPED("skipped");

    private final String word;

    Outcome(String word) {
      this.word = word;
    }

    public String word() {
      return word;
    }
  }

  Json.Obj json() {
    return Json.object("step", name, "outcome", outcome.word(), "detail", detail);
  }
}
