package dev.gpush.link.machine;

/**
 * The waits of a link in nanoseconds.
 *
 * @param ping PING is sent after this time without an answer
 * @param contact after this time without an answer a pipe is silent
 * @param wake how long a pipe has to answer after the process did not run for a while
 * @param greeting HELLO must be answered within this time
 * @param firstOpening the first pipe must be open within this time
 * @param opening the same for each later one
 * @param firstPause before the pipe that follows one that carried something
 * @param lastPause the pause doubles up to this
 */
public record LinkWaits(
    long ping,
    long contact,
    long wake,
    long greeting,
    long firstOpening,
    long opening,
    long firstPause,
    long lastPause) {}
