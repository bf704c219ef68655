/**
 * The links of a session's nodes: {@code LinkMaker} makes one, {@code SessionLinks} opens all of a
 * session and watches them, {@code Tunnels} reaches the nodes of a large gang through node 0
 * ({@code TunnelPolicy} decides when). {@code PeerSetup} tells the agents where node 0 listens.
 * Thread-safe.
 */
@NullMarked
package dev.gpush.gateway.session.links;

import org.jspecify.annotations.NullMarked;
