/**
 * Links that reach their node through the agent of another one: {@code NodeTunnel}. What they say
 * is encrypted between this gateway and the node; the agent between copies it.
 * docs/technical/link.md section 9.
 */
@NullMarked
package dev.gpush.link.tunnel;

import org.jspecify.annotations.NullMarked;
