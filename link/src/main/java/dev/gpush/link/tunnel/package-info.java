/**
 * Links that reach their node through the agent of another one: {@code NodeTunnel}. Their bytes are
 * encrypted between this gateway and the node; the agent in between copies them.
 * docs/technical/link.md section 9.
 */
@NullMarked
package dev.gpush.link.tunnel;

import org.jspecify.annotations.NullMarked;
