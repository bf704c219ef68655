/**
 * The frames of the link (docs/technical/link.md section 2): their format, and reading and writing
 * them. They know nothing of streams, sequences or credit. {@link dev.gpush.link.frame.Frame} is a
 * value; a {@link dev.gpush.link.frame.FrameReader} and a {@link dev.gpush.link.frame.FrameWriter}
 * belong to one thread each.
 */
@NullMarked
package dev.gpush.link.frame;

import org.jspecify.annotations.NullMarked;
