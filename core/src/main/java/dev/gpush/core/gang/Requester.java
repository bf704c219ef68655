package dev.gpush.core.gang;

/**
 * Who asks for a gang, and for what: written on the gang, so that another laptop finds it.
 *
 * @param owner who pays: stable over laptops
 * @param holder which gateway asks, as {@link dev.gpush.core.session.Holder} writes it
 * @param session the name people see
 * @param project the last part of the workspace path on a node
 */
public record Requester(String owner, String holder, String session, String project) {}
