/**
 * How a command talks to the person who typed it (text, questions, progress, programs), and what it
 * sees of the gateway process: its status, stopping it, its ssh configuration.
 */
@NullMarked
package dev.gpush.core.talk;

import org.jspecify.annotations.NullMarked;
