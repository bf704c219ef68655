/**
 * The agent as the gateway sees it: the archive that is sent, and what the agent says when it
 * starts.
 */
@NullMarked
package dev.gpush.link.agent;

import org.jspecify.annotations.NullMarked;
