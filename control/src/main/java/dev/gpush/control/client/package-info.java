/**
 * The user's end of the control socket: finds or starts the gateway, sends one request, and relays
 * bytes, signals and the exit status. Uses the JDK, only {@code wire} and {@code place}, and of
 * core what they use, because every command pays for what is loaded here.
 *
 * <p>{@link dev.gpush.control.client.Client} is the program, {@link
 * dev.gpush.control.client.ControlClient} what the interactive loop shares with it. Threads: the
 * caller's reads frames; one daemon thread reads standard input once it is wanted; signals come on
 * the JDK's threads.
 */
@NullMarked
package dev.gpush.control.client;

import org.jspecify.annotations.NullMarked;
