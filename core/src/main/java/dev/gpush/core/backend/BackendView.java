package dev.gpush.core.backend;

/**
 * A configured backend as {@code backends} lists it; {@code usable} is false when {@code describe}
 * says why not.
 */
public record BackendView(
    String name, String kind, boolean usable, String describe, String origin) {}
