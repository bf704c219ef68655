/**
 * The link: the framed, multiplexed, resumable conversation between a gateway and the agent on one
 * node, as docs/technical/link.md specifies it. {@link dev.gpush.link.Link} owns one conversation,
 * {@link dev.gpush.link.LinkStream} one stream in it, {@link dev.gpush.link.AgentImage} starts the
 * agent. The frames ({@link dev.gpush.link.Frame}) know nothing of either.
 *
 * <p>Threads: a link has one thread that connects and reads and one that writes. Receivers are
 * called on the first and must not block.
 */
@NullMarked
package dev.gpush.link;

import org.jspecify.annotations.NullMarked;
