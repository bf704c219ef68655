/**
 * The gateway's end of the control socket: {@link dev.gpush.control.server.ControlServer} accepts,
 * checks and greets, and gives each request as an {@link dev.gpush.control.server.Invocation} to
 * the one {@link dev.gpush.control.server.Handler}. Per connection there are three virtual threads:
 * one reads frames, one writes them, one runs the handler.
 */
@NullMarked
package dev.gpush.control.server;

import org.jspecify.annotations.NullMarked;
