/**
 * A rack and what is free in it. {@code Host} is one machine, however it is reached; {@code
 * Surveys} asks hosts what they have and who holds it ({@code Survey}, by {@code survey.py} on the
 * host); {@code HostChoice} picks hosts and GPUs for a request. Thread-safe; surveys block.
 */
@NullMarked
package dev.gpush.backends.hosts.rack;

import org.jspecify.annotations.NullMarked;
