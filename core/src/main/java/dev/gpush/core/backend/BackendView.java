package dev.gpush.core.backend;

/**
 * A configured backend as {@code gpush backends} lists it.
 *
 * @param description what it has, or why it is not usable
 * @param origin the file and line that configure it
 */
public record BackendView(
    String name, String kind, boolean isUsable, String description, String origin) {}
