/**
 * The page that {@code gpush gateway page} serves on loopback. {@code PageServer} answers the
 * browser's requests, {@code PageGate} decides which of them are from the user's own page, {@code
 * PageStream} sends what commands say with {@code --json} as long as it changes, and {@code
 * PageActions} ends or extends something. Each request has a thread of its own.
 */
@NullMarked
package dev.gpush.shell.page;

import org.jspecify.annotations.NullMarked;
