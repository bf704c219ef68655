package dev.gpush.gateway.session;

import java.nio.file.Path;

/**
 * Who this gateway is.
 *
 * @param owner who pays; stable over laptops
 * @param holder home and host: which gateway keeps a gang
 * @param incarnation 32 hex digits of this process
 * @param host this machine's name
 * @param boot changes when the machine restarts; empty where it cannot be known
 * @param home GPUSH_HOME
 */
public record Identity(
    String owner, String holder, String incarnation, String host, String boot, Path home) {}
