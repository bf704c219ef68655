/**
 * What terminals show, as asciicast: a channel hands its output to a {@code TerminalRecording},
 * {@code Recordings} writes on a thread of its own, {@code CastLines} makes the text. Input is
 * never recorded, and no terminal waits for the disk.
 */
@NullMarked
package dev.gpush.ssh.recording;

import org.jspecify.annotations.NullMarked;
