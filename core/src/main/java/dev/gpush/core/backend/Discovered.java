package dev.gpush.core.backend;

import dev.gpush.core.gang.Gang;

/**
 * A gang with gpush's tag that a backend lists: for adoption after a lost laptop, and to find
 * leaks.
 */
public record Discovered(
    Gang gang, String session, String owner, String holder, boolean complete) {}
