/**
 * {@code gpush check}: {@code GangCheck} asks the nodes, the classes named Rule judge what they
 * say. Rules are pure functions; a check runs on the thread of its caller and forks from the
 * session's tasks.
 */
@NullMarked
package dev.gpush.launch.check;

import org.jspecify.annotations.NullMarked;
