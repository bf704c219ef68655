package dev.gpush.core.fabric;

import dev.gpush.core.json.Json;
import dev.gpush.core.text.Worded;

/**
 * One thing that was looked at, or left out for a reason.
 *
 * @param name one word for programs, stable: {@code tcp}
 * @param detail what was looked at, or why it was left out: {@code 12 connections over eth0}
 */
public record CheckStep(String name, Outcome outcome, String detail) {
  /** How it went. */
  public enum Outcome implements Worded {
    PASSED,
    FAILED,
    SKIPPED
  }

  Json.Obj json() {
    return Json.object("step", name, "outcome", outcome.word(), "detail", detail);
  }
}
