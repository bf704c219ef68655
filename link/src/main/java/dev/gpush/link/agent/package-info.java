/**
 * The agent as the gateway sees it: the archive that is sent, and the messages of an agent that
 * starts.
 */
@NullMarked
package dev.gpush.link.agent;

import org.jspecify.annotations.NullMarked;
