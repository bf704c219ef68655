/**
 * Hosts that no scheduler manages as one backend: racks behind ssh, and this machine as a rack of
 * one. {@code HostsBackend} is the adapter, {@code RackSettings} makes a rack of what the
 * configuration says. {@code rack} is what hosts have and what is done with them; {@code local} and
 * {@code SshHost} are the two kinds of them. Thread-safe; everything blocks.
 */
@NullMarked
package dev.gpush.backends.hosts;

import org.jspecify.annotations.NullMarked;
