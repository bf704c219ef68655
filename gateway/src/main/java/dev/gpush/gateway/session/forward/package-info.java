/** Ports of this machine that lead to ports of nodes, as long as the session lives. */
@NullMarked
package dev.gpush.gateway.session.forward;

import org.jspecify.annotations.NullMarked;
