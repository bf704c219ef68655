/**
 * Machines reached through one link: {@code HubMachine}. A command there is a stream of the link,
 * so a hundred of them are one connection, and all survive when it is cut.
 */
@NullMarked
package dev.gpush.link.hub;

import org.jspecify.annotations.NullMarked;
