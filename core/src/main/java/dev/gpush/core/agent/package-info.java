/** What a backend must know about starting the agent. */
@NullMarked
package dev.gpush.core.agent;

import org.jspecify.annotations.NullMarked;
