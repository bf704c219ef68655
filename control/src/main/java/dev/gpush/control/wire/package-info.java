/**
 * The control protocol: frames, their kinds and limits, and the payloads that are more than bytes.
 * JDK only; both ends use it. Values are immutable; a {@link
 * dev.gpush.control.wire.ControlFrameReader} belongs to one thread, a {@link
 * dev.gpush.control.wire.ControlFrameWriter} to all.
 */
@NullMarked
package dev.gpush.control.wire;

import org.jspecify.annotations.NullMarked;
