package dev.gpush.core.config;

import dev.gpush.core.json.Json;

/**
 * One effective value and where it came from ({@code gpush.yaml:3}, {@code --nodes}, {@code built
 * in}).
 */
public record Setting(String key, Json value, String origin) {}
