/**
 * Bytes of a channel in both directions: {@code Outlet} to the client, {@code Inlet} from it to a
 * {@code NodeInput}, mostly a stream of the node's link. Nothing here blocks.
 */
@NullMarked
package dev.gpush.ssh.flow;

import org.jspecify.annotations.NullMarked;
