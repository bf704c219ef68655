/**
 * The link: the framed, multiplexed, resumable connection between a gateway and the agent on one
 * node, as docs/technical/link.md specifies it. {@link dev.gpush.link.Link} owns one connection,
 * {@link dev.gpush.link.LinkStream} one stream in it, {@link dev.gpush.link.agent.AgentImage}
 * starts the agent. The protocol itself is {@link dev.gpush.link.machine}, the format of frames
 * {@link dev.gpush.link.frame}.
 *
 * <p>Threads: a link has one thread that reads pipe after pipe, one that writes, one that watches
 * the time and one that opens a pipe ({@code LinkDriver}). Receivers are called on the first, the
 * listener on the first or the third; neither may block.
 */
@NullMarked
package dev.gpush.link;

import org.jspecify.annotations.NullMarked;
