/**
 * The screen of {@code gpush top}: a {@code TopPicture} and a {@code TopView} become lines in
 * {@code TopScreen}, which is pure; {@code Standouts} says what differs from its like, and {@code
 * TopLoop} draws and reads keys. {@code TopInbox} is thread-safe, all else belongs to one thread.
 */
@NullMarked
package dev.gpush.shell.top;

import org.jspecify.annotations.NullMarked;
