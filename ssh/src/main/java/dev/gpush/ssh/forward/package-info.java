/**
 * Requests about a whole connection: keep-alive, and ports and sockets on the node whose
 * connections go back to the client.
 */
@NullMarked
package dev.gpush.ssh.forward;

import org.jspecify.annotations.NullMarked;
