/**
 * Who may log in, and what a login may do: {@code LoginKeys} judges keys and certificates from the
 * files that {@code AccessFiles} names, and {@code LoginReview} ends connections whose key was
 * removed.
 */
@NullMarked
package dev.gpush.ssh.access;

import org.jspecify.annotations.NullMarked;
