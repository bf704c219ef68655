/**
 * The gateway's side of the link as a state machine: frames, requests and the time go in, frames
 * and events come out. {@link dev.gpush.link.machine.LinkMachine} is the whole conversation, {@link
 * dev.gpush.link.machine.StreamState} one stream in it, {@link dev.gpush.link.machine.LinkEvent}
 * what the driver passes on to users, {@link dev.gpush.link.machine.PipeCommand} what the driver
 * does to pipes. Inside, {@code PipeCycle} decides when there is a pipe, {@code SendQueue} what
 * goes next, {@code FrameIntake} what a received frame means.
 *
 * <p>Threads: none, and no lock, no clock, no waiting. All methods return at once. The owner of a
 * machine calls it from one thread at a time; every reading of the clock comes with the call. So
 * the same machine runs under {@code dev.gpush.link.LinkDriver} with real pipes and in a simulator
 * with virtual time (decision 0045).
 */
@NullMarked
package dev.gpush.link.machine;

import org.jspecify.annotations.NullMarked;
