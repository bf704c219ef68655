package dev.gpush.core.config;

import dev.gpush.core.json.Json;

/** One block under {@code backends:}; {@code local} exists without one. */
public record BackendConfig(String name, String kind, Json.Obj values, String origin) {}
