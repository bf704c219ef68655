/** How a command talks to the person who typed it: text, questions, progress, programs. */
@NullMarked
package dev.gpush.core.talk;

import org.jspecify.annotations.NullMarked;
